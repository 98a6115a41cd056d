/* usage.h - usage in slurmctld's records: bound, faded, charged, published. */
#ifndef FAIRTREE_SHIM_USAGE_H
#define FAIRTREE_SHIM_USAGE_H

#include "snapshot.h"

/* What one job is charged. Its TRES counts are in the snapshot that it was made from. */
typedef struct {
	double wall_decayed;  /* seconds */
	double wall;
	double usage_decayed; /* billable TRES-seconds */
	double usage;
	double run_secs_scaled; /* the same with a fraction, cut off after the multiplication */
	uint64_t run_secs; /* seconds to take from the run-seconds, times what the job holds */
	uint32_t job_id;
	uint32_t user_id;
	uint32_t assoc; /* rows, or NONE */
	uint32_t qos;
	uint32_t partition_qos;
	uint32_t tres; /* index of its TRES counts, or NONE */
} shim_charge;

/* What a pass found for one association. */
typedef struct {
	shim_extended usage_efctv;
	shim_extended usage_norm;
	shim_extended level_fs;
	double fs_factor;
	uint32_t row;
	bool has_usage_efctv; /* else "not computed yet" is written */
	bool has_usage_norm;  /* else it stays */
	bool has_level_fs;    /* else "none" is written */
	bool has_fs_factor;   /* else it stays */
	bool keeps_level_fs;
} shim_assoc_factors;

/* Write locks of association and QOS usage, read lock of TRES. */
extern void shim_usage_lock(void);
extern void shim_usage_unlock(void);

/* The same, and what keeps slurmctld from saving usage; the latter is released on its own. */
extern void shim_usage_lock_unsaved(void);
extern void shim_unsaved_unlock(void);

/* The rest of this part needs the usage lock. */

/* Finds the records of a snapshot's associations and QOS; those that are gone become NULL. */
extern void shim_usage_bind(shim_snapshot *snapshot);
/* Multiplies all usage (not that of QOS with NoDecay) by `factor`. */
extern void shim_usage_decay(double factor);
/*
 * Charges a job to its QOS, its partition's QOS, and its association with all above it. Returns
 * how many run-second counters would have gone below zero (they are 0 now).
 */
extern uint32_t shim_usage_charge(const shim_snapshot *snapshot, const shim_charge *charge);
/* Forgets all usage. */
extern void shim_usage_reset(void);
/* Writes what a pass found. */
extern void shim_usage_publish(const shim_snapshot *snapshot, const shim_assoc_factors *factors,
			       size_t len);
/* Renormalises shares after PriorityFlags changed between Fair Tree and classic. */
extern void shim_shares_normalize(const shim_snapshot *snapshot);

#endif
