/* usage.h - usage in slurmctld's records: bound, changed, charged, published. */
#ifndef FAIRTREE_SHIM_USAGE_H
#define FAIRTREE_SHIM_USAGE_H

#include "snapshot.h"
#include "state.h"

/*
 * The charge of one job, and to whom, as decided by the Rust side. Its TRES counts are in the
 * snapshot from which it was made.
 */
typedef struct {
	double wall;  /* seconds, to its association and all above it */
	double usage; /* billable TRES-seconds, to the same */
	double qos_wall;
	double qos_usage;
	double partition_qos_wall;
	double partition_qos_usage;
	uint64_t run_secs;	/* seconds to subtract from the run-seconds, times the job's TRES */
	double run_secs_scaled; /* the same with a fraction, truncated after the multiplication */
	int64_t start_time;	/* start of this run of the job */
	uint32_t job_id;
	uint32_t user_id;
	uint32_t assoc; /* rows, or NONE */
	uint32_t qos;
	uint32_t partition_qos;
	uint32_t tres; /* index of its TRES counts, or NONE */
	uint32_t next; /* charge of the same association, or NONE */
	bool is_done;  /* already charged in the meantime: skip it */
	void *from;    /* NULL; address at which shim_usage_renew must continue charging */
} shim_charge;

/* Charges in the order of the jobs. */
typedef struct {
	shim_charge *at;
	size_t len;
	const uint32_t *tres; /* positions of the TRES that are charged besides the billing */
	size_t tres_len;
} shim_charges;

/*
 * Change of usage of one association or QOS before it is charged: each of its numbers becomes
 * number * scale + the added number. With a scale of 0 the number is set.
 */
typedef struct {
	double scale;
	double add_wall;
	shim_extended add_usage;
	uint32_t add_tres; /* index of tres_count numbers in `tres` of the update, or NONE */
	uint32_t leaf;	   /* for an account: index in `assocs` of the change of usage left by
			      removed users; NONE: the same scale, and nothing is added */
	bool stays;	   /* with a scale of 0: it sets the values that the last pass has set */
} shim_usage_change;

/* Change of all usage. */
typedef struct {
	double scale; /* for associations without a change of their own, as those newer than
			 the rows; 1: unchanged */
	const shim_usage_change *assocs; /* NULL: none; else one per row, then those of `leaf` */
	size_t assocs_len;
	const shim_usage_change *qos; /* one per row of `qos_now`; NULL: all unchanged */
	const shim_extended *tres;
	size_t tres_len;
	bool changes_only; /* skips associations whose change `stays` */
} shim_usage_update;

/* Results of a pass for one association: three numbers as shim_extended, part by part. */
typedef struct {
	uint64_t usage_efctv;
	uint64_t usage_norm;
	uint64_t level_fs;
	double fs_factor;
	uint32_t first_charge; /* of this association, or NONE */
	uint16_t usage_efctv_exponent;
	uint16_t usage_norm_exponent;
	uint16_t level_fs_exponent;
	uint16_t flags; /* of shim_assoc_flag: */
} shim_assoc_factors;

typedef enum {
	SHIM_HAS_USAGE_EFCTV = 1 << 0, /* else "not computed yet" is written */
	SHIM_HAS_USAGE_NORM = 1 << 1,  /* else it is unchanged */
	SHIM_HAS_LEVEL_FS = 1 << 2,    /* else "none" is written, */
	SHIM_KEEPS_LEVEL_FS = 1 << 3,  /* or this: it is unchanged */
	SHIM_HAS_FS_FACTOR = 1 << 4,   /* else it is unchanged */
} shim_assoc_flag;

/* Write locks of association and QOS usage, read lock of TRES. */
extern void shim_usage_lock(void);
extern void shim_usage_unlock(void);

/* All functions below need the usage lock. */

/* Finds the records of a snapshot's associations and QOS; missing ones become NULL. */
extern void shim_usage_bind(shim_snapshot *snapshot);
/* Copies all QOS into `qos_now`, to which the changes of an update refer. */
extern void shim_usage_take_qos(shim_snapshot *snapshot);
/*
 * Writes the results of a pass. In one walk over all associations, finds their records, changes
 * their usage by `update`, writes the results (`factors`: one per row of the snapshot), charges
 * jobs, and passes each new usage to `sink`. Returns the result of shim_usage_charge. Charges are
 * linked by `first_charge` and `next`, in their order, with `from` NULL. QOS are changed, too. If
 * out of memory, changes nothing and returns 0. Call shim_usage_take_qos first.
 *
 * If the snapshot caches its associations, each row is compared with its record on the way, and
 * gets the record's new usage; `assoc_cache_valid` says if all were equal.
 *
 * Usage that should be set is kept if the record has lost usage since its row was made (a user some
 * of it, an account all): that was a reset.
 */
extern uint32_t shim_usage_renew(shim_snapshot *snapshot, const shim_usage_update *update,
				 const shim_assoc_factors *factors, const shim_charges *charges,
				 shim_usage_sink sink, void *context);
/*
 * Charges jobs, each to its QOS, its partition's QOS, and its association with all above it,
 * according to the present parents in the records, which may differ from those of the snapshot.
 * Returns the number of run-second counters that would have gone below zero (they are 0 now).
 */
extern uint32_t shim_usage_charge(const shim_snapshot *snapshot, const shim_charges *charges);
/* Resets all usage. */
extern void shim_usage_reset(void);
/* Renormalises shares after PriorityFlags changed between Fair Tree and classic. */
extern void shim_shares_normalize(const shim_snapshot *snapshot);

#endif
