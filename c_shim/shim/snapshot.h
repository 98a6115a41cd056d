/* snapshot.h - copies of all data that a pass needs. */
#ifndef FAIRTREE_SHIM_SNAPSHOT_H
#define FAIRTREE_SHIM_SNAPSHOT_H

#include "rows.h"

SHIM_ROWS(shim_assoc_rows, shim_assoc);
SHIM_ROWS(shim_assoc_recorded_rows, shim_assoc_recorded);
SHIM_ROWS(shim_place_rows, shim_assoc_place);
SHIM_ROWS(shim_qos_rows, shim_qos);
SHIM_ROWS(shim_partition_rows, shim_partition);
SHIM_ROWS(shim_waiting_rows, shim_waiting);
SHIM_ROWS(shim_queued_rows, shim_queued);
SHIM_ROWS(shim_lists_rows, shim_lists);
SHIM_ROWS(shim_accruing_rows, shim_accruing);

/*
 * Copies of all data that a pass needs. Memory is kept from one use to the next. All zero is an
 * empty snapshot. Belongs to the caller; freed by shim_snapshot_free.
 */
typedef struct {
	shim_assoc_rows assocs;
	shim_assoc_recorded_rows recorded; /* as many as `assocs`, if wanted */
	shim_u32_rows row_of_id; /* rows of `assocs` by id; empty if ids are too sparse */
	shim_place_rows by_id;	 /* in that case: the rows ascending by id */
	shim_qos_rows qos;
	shim_qos_rows qos_now; /* of shim_usage_take_qos */
	shim_partition_rows partitions;
	shim_waiting_rows waiting;
	shim_queued_rows queued; /* as many as `waiting`, if wanted */
	shim_accruing_rows accruing;
	shim_lists_rows lists;
	shim_u64_rows partition_keys;
	shim_u32_rows qos_ids;
	shim_u32_rows variants;
	shim_u64_rows tres; /* ranges of tres_count or weighed_len numbers, found by index */
	shim_u32_rows accounts;	 /* rows of `assocs` that are not users */
	shim_pointer_rows assoc_at; /* private: records while they are locked, else marks */
	shim_pointer_rows qos_at;
	shim_pointer_rows qos_now_at;
	shim_u64_rows waiting_at; /* private: addresses of records of `waiting`; never read */
	uint32_t tres_count;
	uint32_t cluster_cpus;
	uint32_t cluster_nodes;
	uint32_t twins; /* associations whose id is used twice: see shim_snapshot_index */
	int64_t last_part_update;
	bool enforces_limits;
	bool order_only;      /* as requested, unless a QOS enforces its UsageThreshold */
	bool caches_assocs;   /* as requested */
	bool priority_norms;  /* as requested */
	bool assocs_cached;   /* they were not copied: they are unchanged since the last pass */
	bool assoc_cache_valid; /* shim_usage_renew found them equal and updated them */
	bool out_of_memory;
	bool broken_tree; /* the children lists contain more associations than exist */
} shim_snapshot;

/* Data to copy besides the tables. */
typedef struct {
	bool assocs;
	bool cache_assocs;  /* for these: keep rows that are equal to the records */
	bool recorded;	    /* for these: values in their records from earlier passes */
	bool priority_norms; /* for these: their normalised priority, for PriorityWeightAssoc */
	bool ancestors;	    /* for one job: with its association all above it */
	bool waiting_tres;  /* TRES counts of jobs and partitions, for PriorityWeightTRES: */
	const uint32_t *weighed; /* only the TRES at these positions; NULL: all */
	size_t weighed_len;
	bool queued;	    /* for waiting jobs: fields that decide their place */
	bool billed;	    /* with the billing that they will have */
	/*
	 * Waiting jobs have places in an order, and are not priced: for those whose priority nobody
	 * set, only fields that an order reads are copied, and besides them the partition and QOS,
	 * if these are wanted.
	 */
	bool order_only;
	bool order_partition;
	bool order_qos;
	bool variants;	    /* present priorities of jobs in their partitions and QOS */
	/* For the whole snapshot: sets of states (1 << JOB_PENDING ...), 0 for no jobs. */
	uint32_t waiting_states;  /* jobs that are not held, to be priced */
	uint32_t accruing_states; /* jobs with a start time, to be charged: in these states, */
	bool accruing_completing; /* or completing */
	bool outcomes;	    /* for these, their run times, and how they ended */
	bool charged_ends;  /* also jobs charged to their end that ended after this time: */
	int64_t ended_after;
	uint32_t flags;	    /* PriorityFlags, for slurmctld's function of billing weights */
} shim_want;

/* Empties a snapshot and keeps its memory. */
extern void shim_snapshot_clear(shim_snapshot *snapshot);
extern void shim_snapshot_free(shim_snapshot *snapshot);
/* Read locks of jobs, nodes and partitions, then of associations, QOS and TRES. */
extern void shim_snapshot_lock(void);
extern void shim_snapshot_unlock(void);
/* Copies everything. Needs the snapshot lock. */
extern void shim_snapshot_take(shim_snapshot *snapshot, const shim_want *want);
/* Copies only the associations again; the rest does not change. Needs the lock of associations. */
extern void shim_snapshot_take_assocs(shim_snapshot *snapshot, const shim_want *want);
/*
 * Builds the index of associations by id; gives rows with the same id different ids, and counts
 * them in `twins`. Needs no lock.
 */
extern void shim_snapshot_index(shim_snapshot *snapshot);
/* The row of an association after that call, or NONE. */
extern uint32_t shim_snapshot_row(const shim_snapshot *snapshot, uint32_t id);
/*
 * Copies one job as the only element of `waiting`, with the rows of the tables that it needs: if
 * `assocs` are wanted, its association is row 0, and `ancestors` follow. The caller holds the job
 * lock and, with `assocs`, no lock of the association manager. Takes the read lock of QOS, with
 * `waiting_tres` also that of TRES, and, with `assocs`, before these the read lock of associations.
 */
extern void shim_snapshot_waiting_job(shim_snapshot *snapshot, const shim_want *want,
				      const void *job);
/*
 * Copies one job as the only element of `accruing`, and binds its association to row 0, its QOS to
 * row 0, and its partition's QOS to row 1 of their tables. The caller holds the job write lock and
 * the usage lock.
 */
extern void shim_snapshot_ending_job(shim_snapshot *snapshot, const shim_want *want,
				     const void *job);

#endif
