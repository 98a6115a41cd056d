/* assoc.h - one association, for the hooks that are asked about it. */
#ifndef FAIRTREE_SHIM_ASSOC_H
#define FAIRTREE_SHIM_ASSOC_H

#include "numbers.h"

/* Usage of one association and of those it depends on, as their records have it now. */
typedef struct {
	shim_extended usage_raw;
	shim_extended usage_norm;
	shim_extended usage_efctv;
	shim_extended root_usage_raw;
	shim_extended parent_usage_efctv;
	shim_extended level_usage_norm; /* sum over the level's entries with shares of their own */
	double shares_norm;
	double parent_shares_norm;
	uint32_t id;
	uint32_t shares_raw;
	uint32_t level_shares;
	bool shares_from_parent;
	bool has_parent; /* that its shares are taken from */
	bool below_root; /* and that is the root */
	bool has_usage_efctv;	     /* else to be computed on demand */
	bool has_parent_usage_efctv;
} shim_assoc_usage;

/*
 * The ids of accounts by name, in any case of letters; 0 where there is none. Takes the read lock
 * of associations.
 */
extern void shim_account_ids(const char *const *names, uint32_t *ids, size_t len);
/*
 * Calls `each` with the names of every association; NULL where it has none. Takes the read lock of
 * associations; the names are valid during the call.
 */
extern void shim_each_assoc_name(void (*each)(void *context, uint32_t id, const char *account,
					      const char *user, const char *partition),
				 void *context);
/* Read lock of associations, for a hook that comes without. */
extern void shim_assocs_lock(void);
extern void shim_assocs_unlock(void);
/* The next two need no more than a read lock of associations. */
extern void shim_assoc_read_usage(const void *assoc, bool level, shim_assoc_usage *usage);
extern void shim_assoc_write_usage(void *assoc, shim_extended usage_efctv,
				   shim_extended usage_norm);
/* The association that a job's fair share comes from: its own, or where that takes its shares. */
extern void *shim_job_fs_assoc(const void *job);
/* Is effective usage a number? The rest needs no more than a read lock of associations, either. */
extern bool shim_assoc_is_computed(const void *assoc);
/* Where an association's usage and shares come from: itself, or where it takes its shares. */
extern const void *shim_assoc_payer(const void *assoc);
extern void *shim_job_assoc(const void *job);
/*
 * The association of each job, in the order of slurmctld's list of jobs; not once more where the
 * job before has the same. Needs the read locks of jobs and associations.
 */
extern void shim_each_job_assoc(void (*visit)(void *context, void *assoc), void *context);
/* The factor that its record keeps. */
extern double shim_assoc_read_factor(const void *assoc);
extern void shim_assoc_write_factor(void *assoc, double fs_factor);

#endif
