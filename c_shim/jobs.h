/* jobs.h - copies of jobs. */
#ifndef FAIRTREE_JOBS_H
#define FAIRTREE_JOBS_H

#include "records.h"

/* Prefetch what copying a job reads: of the job's record, and then of what that points to. */
extern void host_prefetch_job(const shim_want *want, const job_record_t *job);
extern void host_prefetch_parts(const shim_want *want, const job_record_t *job);
/* Which rows some records have, found before; all zero is none. */
typedef struct {
	const void *record;
	uint32_t id;
	uint32_t row;
} host_row;

typedef struct {
	host_row partition[64];
	host_row qos[64];
} host_rows;

/* Rows of `waiting` and `accruing`; `rows` is NULL where it is for one job. */
extern void host_copy_waiting(shim_snapshot *snapshot, const shim_want *want, host_rows *rows,
			      const job_record_t *job);
extern void host_copy_accruing(shim_snapshot *snapshot, const shim_want *want,
			       const job_record_t *job, size_t waiting);
/* Every job in the order of slurmctld's list. */
extern void host_copy_jobs(shim_snapshot *snapshot, const shim_want *want);

#endif
