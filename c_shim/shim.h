/*
 * shim.h - what the plugin may ask of slurmctld, in plain C types.
 *
 * This is all that the Rust side sees; Slurm's own headers stay inside the shim. The shim takes
 * locks, copies fields into flat rows, converts, copies back and logs. It decides nothing.
 *
 * Words used below:
 *   row    a position in one of the arrays of a shim_snapshot
 *   key    a number that identifies a partition while the partition lock is held; it may be
 *          compared with other keys, nothing else
 *   NONE   SHIM_NONE, where a row or an index may be missing; ids of 0 mean "none"
 *
 * Times are seconds since 1970. A number of the host that stands for "not set" or "infinite" is
 * split into the number and a flag here and goes no further.
 */
#ifndef FAIRTREE_SHIM_H
#define FAIRTREE_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHIM_NONE UINT32_MAX

/* x87's 80-bit number, as it lies in memory. */
typedef struct {
	uint64_t mantissa;
	uint16_t sign_exponent;
} shim_extended;

/* logl of the C library that slurmctld runs with. */
extern shim_extended shim_logl(shim_extended value);

/* ---- rows ----------------------------------------------------------------------------- */

/* An association. Children lists decide the order of siblings; the root comes first. */
typedef struct {
	shim_extended usage_raw;
	shim_extended usage_norm;
	shim_extended usage_efctv;
	double shares_norm;
	double priority_norm;
	double fs_factor; /* as published last */
	uint32_t id;
	uint32_t parent_id; /* direct parent; 0 for the root */
	uint32_t shares_raw;
	uint32_t priority;
	bool shares_from_parent;
	bool is_user;
	bool has_usage_norm; /* else never computed */
	bool has_usage_efctv; /* else to be computed when somebody asks */
} shim_assoc;

/* Where an association stands: `row` in the array of associations, NONE if it is not there. */
typedef struct {
	uint32_t id;
	uint32_t row;
} shim_assoc_place;

typedef struct {
	double norm_priority;
	double usage_factor; /* negative: not set */
	uint32_t id;
	uint32_t priority;
	bool no_decay;
} shim_qos;

typedef struct {
	uint64_t key;
	double norm_priority;
	uint32_t max_time; /* minutes */
	uint32_t qos_id;
	uint32_t tres; /* index of its TRES counts, or NONE */
	uint16_t priority_job_factor;
	bool max_time_infinite;
} shim_partition;

/* A job that may get a priority. */
typedef struct {
	const void *record; /* where it was: to be fetched ahead of its use, never followed */
	uint64_t partition; /* key, 0: none */
	int64_t accrue_time;
	uint32_t job_id;
	uint32_t assoc_id;
	uint32_t qos_id;
	uint32_t priority;
	uint32_t cpus;
	uint32_t nodes;
	uint32_t time_limit; /* minutes */
	int32_t nice;
	int32_t site_factor;
	uint32_t partitions; /* index of its partition list in partition_keys */
	uint32_t partitions_len;
	uint32_t qos_list; /* index of its QOS list in qos_ids */
	uint32_t qos_list_len;
	uint32_t tres;	/* index of its TRES counts, or NONE */
	uint32_t order; /* position in slurmctld's list of jobs */
	bool time_limit_infinite;
	bool time_limit_unset;
	bool direct; /* an administrator set the priority */
	bool has_details;
	bool pending;
	bool powering_up;
	bool ended; /* finished or completing */
	bool started;
	bool already_charged; /* up to its end */
} shim_waiting;

/* A job that may have used something since the last pass. */
typedef struct {
	int64_t start_time;
	int64_t end_time;
	int64_t end_time_exp; /* as charged so far: see already_charged */
	int64_t resize_time;
	double billable_tres; /* as the job's record has it: valid if billable_known */
	double billable_now;  /* what its TRES and its partition's weights give */
	uint32_t job_id;
	uint32_t user_id;
	uint32_t assoc_id;
	uint32_t qos_id;
	uint32_t partition_qos_id;
	uint32_t time_limit; /* minutes */
	uint32_t tres;	     /* index of its allocated TRES (not counted: 0), or NONE */
	uint32_t order;
	bool time_limit_infinite;
	bool already_charged; /* up to its end */
	bool billable_known;
	bool pending;
	bool running;
	bool suspended;
	bool finished;
	bool completing;
	bool resizing;
	bool powering_up;
} shim_accruing;

/* ---- snapshot -------------------------------------------------------------------------- */

#define SHIM_ROWS(name, type)									\
	typedef struct {									\
		type *at;									\
		size_t len;									\
		size_t cap;									\
	} name

SHIM_ROWS(shim_assoc_rows, shim_assoc);
SHIM_ROWS(shim_place_rows, shim_assoc_place);
SHIM_ROWS(shim_qos_rows, shim_qos);
SHIM_ROWS(shim_partition_rows, shim_partition);
SHIM_ROWS(shim_waiting_rows, shim_waiting);
SHIM_ROWS(shim_accruing_rows, shim_accruing);
SHIM_ROWS(shim_u32_rows, uint32_t);
SHIM_ROWS(shim_u64_rows, uint64_t);
SHIM_ROWS(shim_pointer_rows, void *);

/*
 * Everything that a pass needs, copied. Memory is kept from one use to the next. All zero is an
 * empty snapshot. Belongs to the caller; freed by shim_snapshot_free.
 */
typedef struct {
	shim_assoc_rows assocs;
	shim_place_rows listed; /* every association in the order of slurmctld's flat list */
	shim_u32_rows row_of_id; /* rows of `assocs` by id; empty where ids lie too far apart */
	shim_place_rows by_id;	 /* then: the rows ascending by id */
	shim_qos_rows qos;
	shim_partition_rows partitions;
	shim_waiting_rows waiting;
	shim_accruing_rows accruing;
	shim_u64_rows partition_keys;
	shim_u32_rows qos_ids;
	shim_u64_rows tres; /* runs of tres_count numbers, each from its index on */
	shim_pointer_rows assoc_at; /* set by the shim while usage is locked */
	shim_pointer_rows qos_at;
	uint32_t tres_count;
	uint32_t cluster_cpus;
	uint32_t cluster_nodes;
	uint32_t twins; /* associations whose id another one has, too: see shim_snapshot_index */
	int64_t last_part_update;
	bool enforces_limits;
	bool out_of_memory;
	bool broken_tree; /* more associations in the children lists than there are */
} shim_snapshot;

/* What to copy beyond the tables. */
typedef struct {
	bool assocs;
	bool waiting;	    /* jobs that may get a priority */
	bool waiting_tres;  /* TRES counts of jobs and partitions, for PriorityWeightTRES */
	bool all_jobs;	    /* PriorityFlags=CALCULATE_RUNNING */
	bool accruing;	    /* jobs that may be charged */
	bool charged_ends;  /* with these, jobs charged to their end that ended after this: */
	int64_t ended_after;
	uint32_t flags;	    /* PriorityFlags, for the billing weights */
} shim_want;

/* Empties a snapshot and keeps its memory. */
extern void shim_snapshot_clear(shim_snapshot *snapshot);
extern void shim_snapshot_free(shim_snapshot *snapshot);
/* Read locks of jobs, nodes and partitions, then of associations, QOS and TRES. */
extern void shim_snapshot_lock(void);
extern void shim_snapshot_unlock(void);
/* Copies everything. Needs the snapshot lock. */
extern void shim_snapshot_take(shim_snapshot *snapshot, const shim_want *want);
/*
 * Makes associations findable by id, and fills the rows in `listed`; gives rows that share an id
 * ids of their own, and counts them in `twins`. Needs no lock.
 */
extern void shim_snapshot_index(shim_snapshot *snapshot);
/* The row of an association after that, or NONE. */
extern uint32_t shim_snapshot_row(const shim_snapshot *snapshot, uint32_t id);
/*
 * Copies one job as the only element of `waiting`, with the rows of the tables that it needs:
 * if `assocs` are wanted, its association is row 0, followed by all above it. The caller holds
 * the job lock, and with `assocs` none of the association manager's; takes read locks of QOS and
 * TRES, before these with `assocs` that of associations.
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

/* ---- usage ----------------------------------------------------------------------------- */

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

/* Usage of an association or a QOS, for the plugin's own state file. */
typedef struct {
	shim_extended usage_raw;
	double wall;
	uint32_t id;
	uint32_t tres; /* index into the array that comes with it */
	uint32_t tres_len;
} shim_saved_usage;

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
	bool has_usage_efctv;	     /* else to be computed when somebody asks */
	bool has_parent_usage_efctv;
} shim_assoc_usage;

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
/* The factor that its record keeps. */
extern double shim_assoc_read_factor(const void *assoc);
extern void shim_assoc_write_factor(void *assoc, double fs_factor);
/* Renormalises shares after PriorityFlags changed between Fair Tree and classic. */
extern void shim_shares_normalize(const shim_snapshot *snapshot);

SHIM_ROWS(shim_saved_rows, shim_saved_usage);
SHIM_ROWS(shim_extended_rows, shim_extended);

/* Usage records that are stored (users, and what removed users left in accounts). */
typedef struct {
	shim_saved_rows assocs;
	shim_saved_rows qos;
	shim_extended_rows tres;
	shim_u32_rows tres_ids; /* which TRES the numbers of a record are of, in their order */
	bool out_of_memory;
} shim_saved;

/* Fills `tres_ids` alone, with the TRES of now. */
extern void shim_saved_tres_ids(shim_saved *saved);
extern void shim_saved_collect(shim_saved *saved);
extern void shim_saved_free(shim_saved *saved);
/*
 * Forgets all usage, puts stored usage back and sums it up the tree. Rows ascend by id; those of
 * records that are gone are skipped. Their numbers are in the order of the TRES of now.
 */
extern void shim_saved_restore(const shim_saved_usage *assocs, size_t assocs_len,
			       const shim_saved_usage *qos, size_t qos_len,
			       const shim_extended *tres, size_t tres_len);

/* ---- priorities ------------------------------------------------------------------------ */

/* The priority of one waiting job. */
typedef struct {
	const void *record; /* as in shim_waiting */
	uint32_t job_id;
	uint32_t priority;
	uint32_t seen_priority; /* what the job had when it was copied */
	uint32_t row;		/* in `waiting` */
	uint32_t variants;	/* index of its priorities, partition by partition, QOS by QOS */
	uint32_t variants_len;
	bool seen_direct;
	bool seen_pending;
	bool written; /* set by shim_prices_write */
} shim_price;

/* How the priority of one job came about. */
typedef struct {
	double age;
	double assoc;
	double fairshare;
	double job_size;
	double partition;
	double qos;
	const double *tres;	    /* weighted TRES terms, or NULL */
	const double *tres_weights; /* as many */
	size_t tres_len;
	int32_t site;
	int32_t nice;
	bool clear; /* no factors: the priority is an administrator's */
} shim_factors;

/* Write lock of jobs, read locks of nodes and partitions. */
extern void shim_jobs_lock(void);
extern void shim_jobs_unlock(void);
/* Read lock of jobs. */
extern void shim_jobs_read_lock(void);
extern void shim_jobs_read_unlock(void);
/*
 * Finds the jobs by their numbers and writes the priorities of those that are as they were when
 * they were copied; the others have started, or someone set another priority. With `only_raise`
 * elements of the jobs' variants only grow. True if a job's priority was written that clients
 * should ask for again. Needs the job write lock and the read lock of partitions.
 */
extern bool shim_prices_write(const shim_snapshot *snapshot, shim_price *prices, size_t len,
			      const uint32_t *variants, bool only_raise);
/*
 * Writes the factors of those jobs that still have the priority that shim_prices_write gave
 * them. Needs the read lock of jobs; between the job write lock and this, nobody else reads or
 * writes factors but the hooks of the plugin.
 */
extern void shim_factors_write(const shim_price *prices, const shim_factors *factors, size_t len);
/* Writes factors and variants of `job`, not its priority. Needs the job write lock. */
extern void shim_job_write_factors(const shim_snapshot *snapshot, void *job,
				   const shim_factors *factors, const uint32_t *variants,
				   size_t variants_len, bool only_raise);
/* The job's priority now. Needs the job lock. */
extern uint32_t shim_job_priority(const void *job, bool *unset);
/* Tells clients that jobs changed. Needs the job lock. */
extern void shim_jobs_changed(void);
/*
 * Notes that an ended job was charged up to its end, if it is still the run that began at
 * `start_time`. Needs the job lock.
 */
extern void shim_job_mark_charged(uint32_t job_id, int64_t start_time);
/* The same for a job that the caller has. */
extern void shim_ending_job_mark_charged(void *job);
/*
 * Keeps what a job's TRES and its partition's weights give, as slurmctld's own function does, if
 * it is still the run that began at `start_time`. Needs the job write lock.
 */
extern void shim_job_keep_billable(uint32_t job_id, int64_t start_time, double billable_tres);
extern void shim_ending_job_keep_billable(void *job, double billable_tres);

/* ---- sprio ----------------------------------------------------------------------------- */

/* A job that sprio may list, and what decides whether it does. */
typedef struct {
	void *job;
	int64_t submit_time;
	int64_t begin_time;
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
	const double *tres;	/* weighted TRES terms */
	const double *tres_again; /* where not 0: the job's own term times this instead */
	size_t tres_len;
	bool replaces_partition;
	bool replaces_qos;
} shim_factors_row;

/* The locks that the hook has to take by itself in this release; no-ops in the others. */
extern void shim_factors_lock(void);
extern void shim_factors_unlock(void);
/* Every job in turn; `each` returns false to stop. Needs the job lock. */
extern void shim_each_listed(bool (*each)(void *context, const shim_listed *job), void *context);
/* May `user_id` see this job (PrivateData=jobs)? Needs the job lock. */
extern bool shim_may_see(const void *job, uint32_t user_id);
/* Does the request of sprio ask for this job, and for this partition of it (key, 0: its own)? */
extern bool shim_request_wants(const void *request, const void *job, uint64_t partition);
/* Rows on their way into a list. All zero is none. */
typedef struct {
	struct shim_row *at;
	size_t len;
	size_t cap;
	struct shim_row_names *names; /* of partitions that rows name */
} shim_factors_rows;

/* Makes room for a row of every job. Needs the job lock. */
extern void shim_factors_begin(shim_factors_rows *rows);
/* Makes one more row. Needs the job lock. */
extern void shim_factors_add(shim_factors_rows *rows, const void *job,
			     const shim_factors_row *row);
/* The list of all rows, which are gone afterwards; NULL without rows. Needs no lock. */
extern void *shim_factors_list(shim_factors_rows *rows);

/* ---- host ------------------------------------------------------------------------------ */

/* slurm.conf's settings. The strings are slurmctld's: copy them at once. */
typedef struct {
	const char *priority_params;
	const char *priority_weight_tres;
	const char *state_save_location;
	uint32_t priority_calc_period;
	uint32_t priority_decay_hl;
	uint32_t priority_max_age;
	uint32_t priority_weight_age;
	uint32_t priority_weight_assoc;
	uint32_t priority_weight_fs;
	uint32_t priority_weight_js;
	uint32_t priority_weight_part;
	uint32_t priority_weight_qos;
	uint32_t min_job_age;
	uint16_t priority_flags;
	uint16_t priority_favor_small;
	uint16_t priority_reset_period;
	uint16_t fs_dampening_factor;
} shim_settings;

typedef enum {
	SHIM_LOG_ERROR,
	SHIM_LOG_INFO,
	SHIM_LOG_VERBOSE,
	SHIM_LOG_DEBUG,
	SHIM_LOG_DEBUG2,
} shim_log_level;

extern bool shim_in_slurmctld(void);
extern bool shim_has_slurmdbd(void);
extern bool shim_has_root(void);
/* Sets the effective usage of the root to 1, if there is one. For init only: takes no lock. */
extern void shim_root_uses_all(void);
extern bool shim_enforces_limits(void);
extern bool shim_debug_priority(void);
extern void shim_settings_read(shim_settings *settings);
/* Configuration read lock, for a hook that comes without locks. */
extern void shim_settings_lock(void);
extern void shim_settings_unlock(void);
extern bool shim_log_enabled(shim_log_level level);
extern void shim_log(shim_log_level level, const char *message);
/* Calls `each` with the name of every TRES in Slurm's order. Takes the TRES read lock. */
extern void shim_each_tres(void (*each)(void *context, const char *name), void *context);
extern bool shim_site_init(void);
extern void shim_site_fini(void);
extern void shim_site_reconfig(void);
/* Asks the site factor plugin for the factor of one job. Needs the job write lock. */
extern void shim_site_set(void *job);
/* Lets the site factor plugin update all jobs. Takes the job write lock. */
extern void shim_site_update(void);

#endif
