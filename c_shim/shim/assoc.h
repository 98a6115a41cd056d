/* assoc.h - one association, for hooks that concern it. */
#ifndef FAIRTREE_SHIM_ASSOC_H
#define FAIRTREE_SHIM_ASSOC_H

#include "numbers.h"

/* Usage of one association and of those it depends on, from their present records. */
typedef struct {
	shim_extended usage_raw;
	shim_extended usage_norm;
	shim_extended usage_efctv;
	shim_extended root_usage_raw;
	shim_extended parent_usage_efctv;
	shim_extended level_usage_norm; /* sum over entries of the level with own shares */
	double shares_norm;
	double parent_shares_norm;
	uint32_t id;
	uint32_t shares_raw;
	uint32_t level_shares;
	bool shares_from_parent;
	bool has_parent; /* from which its shares are taken */
	bool below_root; /* and that parent is the root */
	bool has_usage_efctv;	     /* false: must be computed on demand */
	bool has_parent_usage_efctv;
} shim_assoc_usage;

/*
 * Ids of accounts by name, ignoring case; 0 for a name without an account. Takes the read lock of
 * associations.
 */
extern void shim_account_ids(const char *const *names, uint32_t *ids, size_t len);
/*
 * Calls `each` with the names of every association; NULL for a missing name. Takes the read lock of
 * associations; the names are valid during the call.
 */
extern void shim_each_assoc_name(void (*each)(void *context, uint32_t id, const char *account,
					      const char *user, const char *partition),
				 void *context);
/* Read lock of associations, for a hook that is called without it. */
extern void shim_assocs_lock(void);
extern void shim_assocs_unlock(void);
/* The next two need only a read lock of associations. */
extern void shim_assoc_read_usage(const void *assoc, bool level, shim_assoc_usage *usage);
extern void shim_assoc_write_usage(void *assoc, shim_extended usage_efctv,
				   shim_extended usage_norm);
/* The association of a job's fair share: its own, or the one from which that takes its shares. */
extern void *shim_job_fs_assoc(const void *job);
/* Is effective usage a number? The functions below need only a read lock of associations, too. */
extern bool shim_assoc_is_computed(const void *assoc);
/*
 * The association whose usage and shares count: itself, or the one from which it takes its shares.
 */
extern const void *shim_assoc_payer(const void *assoc);
extern void *shim_job_assoc(const void *job);
/*
 * Calls `visit` with the association of each job, in the order of slurmctld's list of jobs; skips
 * an association equal to that of the job before. Needs the read locks of jobs and associations.
 */
extern void shim_each_job_assoc(void (*visit)(void *context, void *assoc), void *context);
/* The factor in its record. */
extern double shim_assoc_read_factor(const void *assoc);
extern void shim_assoc_write_factor(void *assoc, double fs_factor);

#endif
