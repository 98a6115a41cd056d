/* rows.h - copies of slurmctld's records. */
#ifndef FAIRTREE_SHIM_ROWS_H
#define FAIRTREE_SHIM_ROWS_H

#include "numbers.h"

/* An association. Lists of children give the order of siblings; the root comes first. */
typedef struct {
	double priority_norm;
	uint64_t usage_mantissa; /* raw usage, as shim_extended */
	double wall; /* seconds */
	uint16_t usage_sign_exponent;
	bool shares_from_parent;
	bool is_user;
	uint32_t id;
	uint32_t parent_id; /* direct parent; 0 for the root */
	uint32_t shares_raw;
	uint32_t priority;
} shim_assoc;

/* Values in its record from earlier passes. */
typedef struct {
	shim_extended usage_norm;
	shim_extended usage_efctv;
	double shares_norm;
	double fs_factor; /* last published one */
	bool has_usage_norm; /* false: never computed */
	bool has_usage_efctv; /* false: must be computed on demand */
} shim_assoc_recorded;

/* Position of an association: `row` in the array of associations. */
typedef struct {
	uint32_t id;
	uint32_t row;
} shim_assoc_place;

typedef struct {
	double norm_priority;
	double usage_factor; /* negative: not set */
	uint32_t id;
	uint32_t priority;
	uint64_t usage_mantissa; /* raw usage: together with the exponent a shim_extended */
	double wall; /* seconds */
	uint16_t usage_sign_exponent;
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

/* States of jobs, as bits of a set; all other states: the remaining bits. */
typedef enum {
	SHIM_STATE_PENDING = 1 << 0,
} shim_job_state;

typedef enum {
	SHIM_TIME_LIMIT_INFINITE = 1 << 0,
	SHIM_TIME_LIMIT_UNSET = 1 << 1,
	SHIM_DIRECT = 1 << 2, /* an administrator set the priority */
	SHIM_HAS_DETAILS = 1 << 3,
	SHIM_PENDING = 1 << 4,
	SHIM_POWERING_UP = 1 << 5,
	SHIM_ENDED = 1 << 6, /* finished or completing */
	/* These two are not set for a job that only waits, unless all jobs are wanted: */
	SHIM_STARTED = 1 << 7,
	SHIM_ALREADY_CHARGED = 1 << 8, /* up to its end */
	SHIM_HAS_VARIANTS = 1 << 9, /* has a record of its priorities in partitions and QOS */
} shim_waiting_flag;

/* A job that may get a priority. */
typedef struct {
	int64_t accrue_time;
	uint32_t job_id;
	uint32_t assoc_id;
	uint32_t partition; /* row, or NONE */
	uint32_t qos;	    /* row, or NONE */
	uint32_t priority;
	uint32_t cpus;
	uint32_t nodes;
	uint32_t time_limit; /* minutes */
	int32_t nice;
	int32_t site_factor;
	uint32_t lists; /* index of its lists of partitions and QOS, or NONE */
	uint32_t tres;	/* index of its TRES counts, or NONE */
	uint16_t flags; /* of shim_waiting_flag */
} shim_waiting;

/* Fields that decide a job's place, if jobs have an order. */
typedef struct {
	int64_t submit_time;
	uint64_t billing; /* billing TRES that it requests, or 0 if not wanted */
} shim_queued;

/* The lists of a job that requested several partitions or QOS. */
typedef struct {
	uint32_t partitions; /* index in partition_keys */
	uint32_t partitions_len;
	uint32_t qos; /* index in qos_ids */
	uint32_t qos_len;
	/* Its present priorities in these, if wanted and if slurmctld would keep their array: */
	uint32_t variants; /* index in variants */
	uint32_t variants_len;
} shim_lists;

/* A job that may have used resources since the last pass. */
typedef struct {
	int64_t start_time;
	int64_t end_time;
	int64_t end_time_exp; /* end charged so far: see already_charged */
	int64_t resize_time;
	double billable_tres; /* value in the job's record: valid if billable_known */
	double billable_now;  /* value that follows from its TRES and its partition's weights */
	uint32_t job_id;
	uint32_t user_id;
	uint32_t assoc_id;
	uint32_t qos_id;
	uint32_t partition_qos_id;
	uint32_t time_limit; /* minutes */
	uint32_t tres;	     /* index of its allocated TRES (not counted: 0), or NONE */
	uint32_t waiting; /* number of elements of `waiting` before this job */
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
	/* If wanted, its run time, and how it ended: */
	bool preempted;
	uint32_t state;	       /* with its flags */
	uint32_t exit_code;    /* wait status */
	int64_t suspend_time;  /* last time it was suspended or resumed; 0: never */
	int64_t ran_before;    /* seconds that it ran before that time */
} shim_accruing;

#endif
