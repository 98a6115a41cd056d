/* usage.h - usage in slurmctld's records: bound, changed, charged, published. */
#ifndef FAIRTREE_SHIM_USAGE_H
#define FAIRTREE_SHIM_USAGE_H

#include "snapshot.h"
#include "state.h"

/*
 * What one job is charged, to whom, as the Rust side decided. Its TRES counts are in the snapshot
 * that it was made from.
 */
typedef struct {
	double wall;  /* seconds, to its association and all above it */
	double usage; /* billable TRES-seconds, to the same */
	double qos_wall;
	double qos_usage;
	double partition_qos_wall;
	double partition_qos_usage;
	uint64_t run_secs;	/* seconds to take from the run-seconds, times what the job holds */
	double run_secs_scaled; /* the same with a fraction, cut off after the multiplication */
	int64_t start_time;	/* of this run of the job */
	uint32_t job_id;
	uint32_t user_id;
	uint32_t assoc; /* rows, or NONE */
	uint32_t qos;
	uint32_t partition_qos;
	uint32_t tres; /* index of its TRES counts, or NONE */
	uint32_t next; /* charge of the same association, or NONE */
	bool is_done;  /* meanwhile: it is passed over */
	void *from;    /* NULL; where shim_usage_renew is to go on charging */
} shim_charge;

/* Charges in the order of the jobs. */
typedef struct {
	shim_charge *at;
	size_t len;
	const uint32_t *tres; /* positions of the TRES that are charged beside the billing */
	size_t tres_len;
} shim_charges;

/*
 * How usage of one association or QOS changes before it is charged: each of its numbers becomes
 * number * scale + what is added. With a scale of 0 the number is set.
 */
typedef struct {
	double scale;
	double add_wall;
	shim_extended add_usage;
	uint32_t add_tres; /* index of tres_count numbers in `tres` of the update, or NONE */
	uint32_t leaf;	   /* of an account: index in `assocs` of the change of what removed users
			      left in it; NONE: the same scale, and nothing is added */
	bool stays;	   /* with a scale of 0: what it sets is what the last pass has set */
} shim_usage_change;

/* How all usage changes. */
typedef struct {
	double scale; /* of associations without a change of their own, as of those that came
			 after the rows; 1: they stay */
	const shim_usage_change *assocs; /* NULL: none has; else one per row, then those of `leaf` */
	size_t assocs_len;
	const shim_usage_change *qos; /* one per row of `qos_now`; NULL: all stay */
	const shim_extended *tres;
	size_t tres_len;
	bool changes_only; /* associations whose change `stays` are left alone */
} shim_usage_update;

/* What a pass computed for one association: three numbers as shim_extended, part by part. */
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
	SHIM_HAS_USAGE_NORM = 1 << 1,  /* else it stays */
	SHIM_HAS_LEVEL_FS = 1 << 2,    /* else "none" is written, */
	SHIM_KEEPS_LEVEL_FS = 1 << 3,  /* or this: it stays */
	SHIM_HAS_FS_FACTOR = 1 << 4,   /* else it stays */
} shim_assoc_flag;

/* Write locks of association and QOS usage, read lock of TRES. */
extern void shim_usage_lock(void);
extern void shim_usage_unlock(void);

/* The rest of this part needs the usage lock. */

/* Finds the records of a snapshot's associations and QOS; those that are gone become NULL. */
extern void shim_usage_bind(shim_snapshot *snapshot);
/* Copies all QOS into `qos_now`: the ones that an update is about. */
extern void shim_usage_take_qos(shim_snapshot *snapshot);
/*
 * What a pass writes: in one walk over all associations finds their records, changes their usage by
 * `update`, writes what the pass computed (`factors`: one per row of the snapshot), charges jobs
 * and returns what shim_usage_charge does, and hands each usage as it is then to `sink`. Charges
 * are linked by `first_charge` and `next`, in their order, with `from` NULL. QOS change, too.
 * Without memory for all it changes nothing and returns 0. After shim_usage_take_qos.
 *
 * Where the snapshot caches its associations, each row is compared with its record on the way, and
 * gets the usage that the record has afterwards; `assoc_cache_valid` says whether all were equal.
 *
 * Usage that is to be set stays where the record has lost it since its row was made (a user some of
 * it, an account all): that was a reset.
 */
extern uint32_t shim_usage_renew(shim_snapshot *snapshot, const shim_usage_update *update,
				 const shim_assoc_factors *factors, const shim_charges *charges,
				 shim_usage_sink sink, void *context);
/*
 * Charges jobs, each to its QOS, its partition's QOS, and its association with all above it: those
 * that the records name as parents now, which may not be the ones of the snapshot any more.
 * Returns how many run-second counters would have gone below zero (they are 0 now).
 */
extern uint32_t shim_usage_charge(const shim_snapshot *snapshot, const shim_charges *charges);
/* Forgets all usage. */
extern void shim_usage_reset(void);
/* Renormalises shares after PriorityFlags changed between Fair Tree and classic. */
extern void shim_shares_normalize(const shim_snapshot *snapshot);

#endif
