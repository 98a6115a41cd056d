/* sprio.h - the list behind sprio. */
#ifndef FAIRTREE_SHIM_SPRIO_H
#define FAIRTREE_SHIM_SPRIO_H

#include "numbers.h"

/* A job that sprio may list, and what decides whether it does. */
typedef struct {
	void *job;
	int64_t since; /* when it was submitted, or may begin: see shim_each_listed */
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
	uint32_t number;    /* the place of the job in an order, instead of all factors; 0: none */
	const double *tres;	/* weighted TRES terms */
	const double *tres_again; /* where not 0: the job's own term times this instead */
	size_t tres_len;
	bool replaces_partition;
	bool replaces_qos;
	/* Before 23.02: of a job in several partitions the record's factors, not its set priority. */
	bool hides_direct;
} shim_factors_row;

/* The locks that the hook has to take by itself in this release; no-ops in the others. */
extern void shim_factors_lock(void);
extern void shim_factors_unlock(void);
/*
 * Every job in turn, since its submission or since it may begin; `each` returns false to stop.
 * Needs the job lock.
 */
extern void shim_each_listed(bool since_submission,
			     bool (*each)(void *context, const shim_listed *job), void *context);
/* May `user_id` see this job (PrivateData=jobs)? Needs the job lock. */
extern bool shim_may_see(const void *job, uint32_t user_id);
/* Does the request of sprio ask for this job, and for this partition of it (key, 0: its own)? */
extern bool shim_request_wants(const void *request, const void *job, uint64_t partition);
/* Rows on their way into a list. All zero is none. */
typedef struct {
	struct shim_row *at;
	size_t len;
	size_t cap;
	double *doubles; /* TRES terms of rows, and weights; where rows are made of copies */
	size_t doubles_len;
	size_t doubles_cap;
	size_t weights; /* where those are that a row had last */
	size_t weights_len;
	struct shim_row_names *names; /* of partitions that rows name */
} shim_factors_rows;

/* Makes room for a row of every job, with `tres` TRES terms. Needs the job lock. */
extern void shim_factors_begin(shim_factors_rows *rows, size_t tres);
/*
 * Writes to the room that was made, so that the system finds the memory now rather than under the
 * locks. Needs none.
 */
extern void shim_factors_touch(shim_factors_rows *rows);
/* Whether the request has no filter; NULL has none. */
extern bool shim_request_wants_all(const void *request);
/* Whether a user may see the jobs of all others. */
extern bool shim_may_see_all(uint32_t user_id);
/* Makes one more row. Needs the job lock. */
extern void shim_factors_add(shim_factors_rows *rows, const void *job,
			     const shim_factors_row *row);
/* The list of all rows, which are gone afterwards; NULL without rows. Needs no lock. */
extern void *shim_factors_list(shim_factors_rows *rows);

#endif
