/* sprio.h - the list for sprio. */
#ifndef FAIRTREE_SHIM_SPRIO_H
#define FAIRTREE_SHIM_SPRIO_H

#include "numbers.h"

/* A job that sprio may list, and the fields that decide if it does. */
typedef struct {
	void *job;
	int64_t since; /* submit time, or time from which it may begin: see shim_each_listed */
	uint32_t job_id;
	uint32_t user_id;
	uint32_t priority;
	bool pending;
	bool revoked;
	bool has_partition;
	bool has_factors;
	bool direct;
	bool many; /* one row per partition (and QOS) */
} shim_listed;

/* One row of sprio. */
typedef struct {
	uint64_t partition; /* key, 0: the job's own */
	uint32_t qos_id;    /* 0: the job's own */
	double partition_term;
	double qos_term;
	uint32_t number;    /* number of the job in an order, instead of all factors; 0: none */
	const double *tres;	/* weighted TRES terms */
	const double *tres_again; /* where not 0: multiply the job's own term by this instead */
	size_t tres_len;
	bool replaces_partition;
	bool replaces_qos;
	/* Before 23.02: of a job in several partitions the record's factors, not its set priority. */
	bool hides_direct;
} shim_factors_row;

/* The locks that the hook must take itself in this release; no-ops in the others. */
extern void shim_factors_lock(void);
extern void shim_factors_unlock(void);
/*
 * Calls `each` for every job, with its submit time or the time from which it may begin; `each`
 * returns false to stop. Needs the job lock.
 */
extern void shim_each_listed(bool since_submission,
			     bool (*each)(void *context, const shim_listed *job), void *context);
/* May `user_id` see this job (PrivateData=jobs)? Needs the job lock. */
extern bool shim_may_see(const void *job, uint32_t user_id);
/* Does sprio's request include this job, and this partition of it (key, 0: the job's own)? */
extern bool shim_request_wants(const void *request, const void *job, uint64_t partition);
/* Rows for a new list. All zero is empty. */
typedef struct {
	struct shim_row *at;
	size_t len;
	size_t cap;
	double *doubles; /* TRES terms of rows, and weights; used if rows are copies */
	size_t doubles_len;
	size_t doubles_cap;
	size_t weights; /* position of the weights of the last row */
	size_t weights_len;
	struct shim_row_names *names; /* names of partitions used in rows */
} shim_factors_rows;

/* Makes room for a row of every job, with `tres` TRES terms. Needs the job lock. */
extern void shim_factors_begin(shim_factors_rows *rows, size_t tres);
/*
 * Writes to the room that was made, so that the system allocates the pages now instead of under the
 * locks. Needs none.
 */
extern void shim_factors_touch(shim_factors_rows *rows);
/* Returns true if the request has no filter; NULL has none. */
extern bool shim_request_wants_all(const void *request);
/* Returns true if a user may see the jobs of all others. */
extern bool shim_may_see_all(uint32_t user_id);
/* Appends a row. Needs the job lock. */
extern void shim_factors_add(shim_factors_rows *rows, const void *job,
			     const shim_factors_row *row);
/* Converts all rows to a list and removes them; NULL without rows. Needs no lock. */
extern void *shim_factors_list(shim_factors_rows *rows);

#endif
