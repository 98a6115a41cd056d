/* usage.h - usage in slurmctld's records: bound, faded, charged, published. */
#ifndef FAIRTREE_SHIM_USAGE_H
#define FAIRTREE_SHIM_USAGE_H

#include "snapshot.h"
#include "state.h"

/* What one job is charged. Its TRES counts are in the snapshot that it was made from. */
typedef struct {
	double wall_decayed;  /* seconds */
	double wall;
	double usage_decayed; /* billable TRES-seconds */
	double usage;
	double run_secs_scaled; /* the same with a fraction, cut off after the multiplication */
	uint64_t run_secs; /* seconds to take from the run-seconds, times what the job holds */
	int64_t start_time; /* of this run of the job */
	uint32_t job_id;
	uint32_t user_id;
	uint32_t assoc; /* rows, or NONE */
	uint32_t qos;
	uint32_t partition_qos;
	uint32_t tres; /* index of its TRES counts, or NONE */
	uint32_t next; /* charge of the same association, or NONE */
	bool is_done; /* meanwhile: it is passed over */
	void *from; /* NULL; where shim_usage_renew is to go on charging */
} shim_charge;

/* What a pass found for one association: three numbers as shim_extended, part by part. */
typedef struct {
	uint64_t usage_efctv;
	uint64_t usage_norm;
	uint64_t level_fs;
	double fs_factor;
	uint32_t first_charge; /* of this association, or NONE */
	uint16_t usage_efctv_exponent;
	uint16_t usage_norm_exponent;
	uint16_t level_fs_exponent;
	uint16_t flags; /* of shim_found: */
} shim_assoc_factors;

typedef enum {
	SHIM_HAS_USAGE_EFCTV = 1 << 0, /* else "not computed yet" is written */
	SHIM_HAS_USAGE_NORM = 1 << 1,  /* else it stays */
	SHIM_HAS_LEVEL_FS = 1 << 2,    /* else "none" is written, */
	SHIM_KEEPS_LEVEL_FS = 1 << 3,  /* or this: it stays */
	SHIM_HAS_FS_FACTOR = 1 << 4,   /* else it stays */
} shim_found;

/* Write locks of association and QOS usage, read lock of TRES. */
extern void shim_usage_lock(void);
extern void shim_usage_unlock(void);

/* The same, and what keeps slurmctld from saving usage; the latter is released on its own. */
extern void shim_usage_lock_unsaved(void);
extern void shim_unsaved_unlock(void);

/* The rest of this part needs the usage lock. */

/* Finds the records of a snapshot's associations and QOS; those that are gone become NULL. */
extern void shim_usage_bind(shim_snapshot *snapshot);
/*
 * The same for what a pass writes: in one walk over all associations finds them, multiplies
 * their usage by `factor`, writes what the pass found (`factors`: one per row of the snapshot),
 * charges jobs and returns what shim_usage_charge does, and appends all to `stored`. Charges are
 * linked by `first_charge` and `next`, in their order, with `from` NULL. Fades QOS, too, but not
 * those with NoDecay. Without memory for all it changes nothing and returns 0.
 *
 * Where the snapshot is to keep its associations, each row is compared with its record on the way,
 * and gets the usage that the record has afterwards; `assocs_agree` says whether all were alike.
 */
extern uint32_t shim_usage_renew(shim_snapshot *snapshot, double factor,
				 const shim_assoc_factors *factors, shim_charge *charges,
				 size_t len, shim_stored *stored);
/*
 * Charges jobs, each to its QOS, its partition's QOS, and its association with all above it.
 * Returns how many run-second counters would have gone below zero (they are 0 now).
 */
extern uint32_t shim_usage_charge(const shim_snapshot *snapshot, const shim_charge *charges,
				  size_t len);
/* Forgets all usage. */
extern void shim_usage_reset(void);
/* Renormalises shares after PriorityFlags changed between Fair Tree and classic. */
extern void shim_shares_normalize(const shim_snapshot *snapshot);

#endif
