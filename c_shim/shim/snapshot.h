/* snapshot.h - everything that a pass needs, copied. */
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
 * Everything that a pass needs, copied. Memory is kept from one use to the next. All zero is an
 * empty snapshot. Belongs to the caller; freed by shim_snapshot_free.
 */
typedef struct {
	shim_assoc_rows assocs;
	shim_assoc_recorded_rows recorded; /* as many as `assocs`, if wanted */
	shim_u32_rows row_of_id; /* rows of `assocs` by id; empty where ids lie too far apart */
	shim_place_rows by_id;	 /* then: the rows ascending by id */
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
	shim_u64_rows tres; /* runs of tres_count or weighed_len numbers, each from its index on */
	shim_u32_rows accounts;	 /* rows of `assocs` that are no users */
	shim_pointer_rows assoc_at; /* the shim's: records while they are locked, else marks of them */
	shim_pointer_rows qos_at;
	shim_pointer_rows qos_now_at;
	shim_u64_rows waiting_at; /* the shim's: where records of `waiting` were; never read */
	shim_u32_rows job_nodes; /* the shim's: where nodes of slurmctld's lists were last */
	shim_u32_rows child_nodes;
	shim_u32_rows assoc_nodes;
	uint32_t tres_count;
	uint32_t cluster_cpus;
	uint32_t cluster_nodes;
	uint32_t twins; /* associations whose id another one has, too: see shim_snapshot_index */
	int64_t last_part_update;
	bool enforces_limits;
	bool order_only;      /* as it was wanted, unless a QOS enforces its UsageThreshold */
	bool caches_assocs;   /* as it was wanted */
	bool priority_norms;  /* as it was wanted */
	bool assocs_cached;   /* they were not copied: the last pass has left them so */
	bool assoc_cache_valid; /* shim_usage_renew found, and made, them what the records hold */
	bool out_of_memory;
	bool broken_tree; /* more associations in the children lists than there are */
} shim_snapshot;

/* What to copy beyond the tables. */
typedef struct {
	bool assocs;
	bool cache_assocs;  /* with these: rows that agree with the records stay as they are */
	bool recorded;	    /* with these, what their records hold from earlier passes */
	bool priority_norms; /* with these, their normalised priority, for PriorityWeightAssoc */
	bool ancestors;	    /* of one job: with its association all above it */
	bool waiting_tres;  /* TRES counts of jobs and partitions, for PriorityWeightTRES: */
	const uint32_t *weighed; /* of the TRES in these places; NULL: of all */
	size_t weighed_len;
	bool queued;	    /* of waiting jobs what decides their place */
	bool billed;	    /* with what they will be billed */
	/*
	 * Waiting jobs have places in an order, and are not priced: of those whose priority nobody set
	 * only what an order reads is copied, beside that their partition and QOS, if these are wanted.
	 */
	bool order_only;
	bool order_partition;
	bool order_qos;
	bool variants;	    /* priorities that jobs have in their partitions and QOS */
	/* Of the whole: sets of states (1 << JOB_PENDING ...), 0 for no jobs. */
	uint32_t waiting_states;  /* jobs that are not held, to be priced */
	uint32_t accruing_states; /* jobs with a start time, to be charged: of these states, */
	bool accruing_completing; /* or completing */
	bool outcomes;	    /* with these, how long they ran, and how they ended */
	bool charged_ends;  /* with these, jobs charged to their end that ended after this: */
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
/* The associations alone once more; the rest stays. Needs the lock of associations. */
extern void shim_snapshot_take_assocs(shim_snapshot *snapshot, const shim_want *want);
/*
 * Makes associations findable by id; gives rows that share an id ids of their own, and counts
 * them in `twins`. Needs no lock.
 */
extern void shim_snapshot_index(shim_snapshot *snapshot);
/* The row of an association after that, or NONE. */
extern uint32_t shim_snapshot_row(const shim_snapshot *snapshot, uint32_t id);
/*
 * Copies one job as the only element of `waiting`, with the rows of the tables that it needs:
 * if `assocs` are wanted, its association is row 0, and `ancestors` follow. The caller holds the
 * job lock, and with `assocs` none of the association manager's; takes the read lock of QOS, with
 * `waiting_tres` that of TRES, and before these with `assocs` that of associations.
 */
extern void shim_snapshot_waiting_job(shim_snapshot *snapshot, const shim_want *want,
				      const void *job);
/*
 * Copies one job as the only element of `accruing`, and binds its association to row 0, its QOS
 * to row 0, its partition's QOS to row 1 of their tables. The caller holds the job write lock
 * and the usage lock.
 */
extern void shim_snapshot_ending_job(shim_snapshot *snapshot, const shim_want *want,
				     const void *job);

#endif
