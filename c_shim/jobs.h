/* jobs.h - copies of jobs. */
#ifndef FAIRTREE_JOBS_H
#define FAIRTREE_JOBS_H

#include "records.h"

/* Prefetch the data that copying a job reads: the job's record, then the data it points to. */
extern void host_prefetch_job(const shim_want *want, const job_record_t *job);
extern void host_prefetch_parts(const shim_want *want, const job_record_t *job);
/* Cache of the rows of some records; all zero is empty. */
typedef struct {
	const void *record;
	uint32_t id;
	uint32_t row;
} host_row;

typedef struct {
	host_row partition[64];
	host_row qos[64];
} host_rows;

/* Copy to rows of `waiting` and `accruing`; `rows` is NULL for a single job. */
extern void host_copy_waiting(shim_snapshot *snapshot, const shim_want *want, host_rows *rows,
			      const job_record_t *job);
extern void host_copy_accruing(shim_snapshot *snapshot, const shim_want *want,
			       const job_record_t *job, size_t waiting);
/* Copies every job in the order of slurmctld's list. */
extern void host_copy_jobs(shim_snapshot *snapshot, const shim_want *want);

#endif
