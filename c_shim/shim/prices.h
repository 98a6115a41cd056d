/* prices.h - priorities and their factors. */
#ifndef FAIRTREE_SHIM_PRICES_H
#define FAIRTREE_SHIM_PRICES_H

#include "snapshot.h"

/* The priority of one waiting job. */
typedef struct {
	uint32_t job_id;
	uint32_t priority;
	uint32_t seen_priority; /* the job's priority when it was copied */
	uint32_t row;		/* in `waiting` */
	uint32_t assoc;		/* in `assocs`, or NONE */
	uint32_t variants;	/* index of its priorities, partition by partition, QOS by QOS */
	uint32_t variants_len;
	bool seen_direct;
	bool seen_pending;
	bool notify; /* true: clients should request the job again once it is written */
} shim_price;

/* Terms of the priority of one job. */
typedef struct {
	double age;
	double assoc;
	double fairshare;
	double job_size;
	double partition;
	double qos;
	const double *tres;	    /* weighted TRES terms, or NULL */
	const double *tres_weights; /* the same number of weights */
	size_t tres_len;
	int32_t site;
	int32_t nice;
	bool clear; /* no factors: an administrator set the priority */
} shim_factors;

/*
 * Prefetches the data that pricing a job reads and writes. Returns the id of its association, 0
 * without one. The caller holds the job write lock.
 */
extern uint32_t shim_job_prefetch(const void *job);

/* Write lock of jobs, read locks of nodes and partitions. */
extern void shim_jobs_lock(void);
extern void shim_jobs_unlock(void);
/* Read lock of jobs. */
extern void shim_jobs_read_lock(void);
extern void shim_jobs_read_unlock(void);
/*
 * Finds jobs by their ids and writes the priorities of those that have not changed since they were
 * copied; the others have started, or their priority was set. Returns true if clients should
 * request one of the jobs again. Needs the job write lock and the read lock of partitions.
 */
extern bool shim_prices_write(const shim_snapshot *snapshot, const shim_price *prices, size_t len,
			      const uint32_t *variants);
/*
 * Finds some jobs by their ids and prefetches the data that shim_factors_write will access. NULL
 * for a job that is gone, or whose priority has changed since it was copied.
 */
extern void shim_factors_find(const shim_snapshot *snapshot, const shim_price *prices, void **jobs,
			      size_t len);
/*
 * Writes the factors of the jobs that were found. Both need the read lock of jobs, in one hold;
 * under it only the hooks of the plugin read or write factors.
 */
extern void shim_factors_write(void *const *jobs, const shim_factors *factors, size_t len);
/* Writes factors and variants of `job`, not its priority. Needs the job write lock. */
extern void shim_job_write_factors(const shim_snapshot *snapshot, void *job,
				   const shim_factors *factors, const uint32_t *variants,
				   size_t variants_len);
/* The present priority of the job. Needs the job lock. */
extern uint32_t shim_job_priority(const void *job, bool *unset);
/* Notifies clients that jobs changed. Needs the job lock. */
extern void shim_jobs_changed(void);
/*
 * Records that an ended job was charged up to its end, if it is still the run that began at
 * `start_time`. Needs the job lock.
 */
extern void shim_job_mark_charged(uint32_t job_id, int64_t start_time);
/* The same for a job that the caller has found. */
extern void shim_ending_job_mark_charged(void *job);
/*
 * Stores the billing that follows from a job's TRES and its partition's weights, as slurmctld's own
 * function does, if it is still the run that began at `start_time`. Needs the job write lock.
 */
extern void shim_job_keep_billable(uint32_t job_id, int64_t start_time, double billable_tres);
extern void shim_ending_job_keep_billable(void *job, double billable_tres);

#endif
