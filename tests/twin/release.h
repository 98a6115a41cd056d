/*
 * Differences between the Slurm releases that the host can be built for; no
 * other file tests the version.
 */
#ifndef TWIN_RELEASE_H
#define TWIN_RELEASE_H

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
#include "src/common/job_record.h"
#include "src/common/part_record.h"
#include "src/common/state_save.h"
#include "src/interfaces/accounting_storage.h"
#include "src/interfaces/mcs.h"
#include "src/interfaces/priority.h"

typedef list_t *twin_list;
typedef list_itr_t *twin_itr;
typedef job_details_t twin_details;
typedef priority_factors_t twin_factors;

/* init, then jobs, then thread_start: all in one process per configuration. */
#define TWIN_THREAD_START 1
/* Associations carry their path. */
#define TWIN_LINEAGE 1
/* An update sets usage of a QOS to a number, or to 0 without one. */
#define TWIN_RESET_QOS_USAGE SLURMDB_UPDATE_QOS_USAGE
/* The association manager looks up its folder itself. */
#define twin_set_state_folder(args) ((void)(args))
/* A job may ask for several QOS; its priorities are one record. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 1) ||                   \
	(SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 7) &&             \
	 SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(25, 5, 0))
#define TWIN_PRIO_MULT(job) ((job)->prio_mult)
#else
#define TWIN_PRIO_MULT(job) ((job)->part_prio)
#endif
/* Run-seconds are also kept per user and per account of a QOS. */
#define TWIN_USED_LIMITS 1
/* The rows of sprio are packed under the locks that they were made under. */
#define TWIN_ROWS_OUTLIVE_LOCKS 0
#define twin_mcs_init mcs_g_init
#define twin_row_factors(row) ((row)->prio_factors)
#define twin_put_row_names(row)                                              \
	(twin_put_text("account", (row)->account),                           \
	 twin_put_text("qos_name", (row)->qos))
#define twin_factors_list(uid) priority_g_get_priority_factors_list(uid)
#define twin_factors_free slurm_destroy_priority_factors
#else
#include "src/common/slurm_accounting_storage.h"
#include "src/common/slurm_mcs.h"
#include "src/common/slurm_priority.h"

typedef List twin_list;
typedef ListIterator twin_itr;
typedef struct job_details twin_details;
typedef priority_factors_object_t twin_factors;

#define TWIN_THREAD_START 0
#define TWIN_LINEAGE 0
#define TWIN_RESET_QOS_USAGE SLURMDB_REMOVE_QOS_USAGE
#define twin_set_state_folder(args) \
	((args).state_save_location = &slurm_conf.state_save_location)
#define TWIN_USED_LIMITS 0
#define TWIN_ROWS_OUTLIVE_LOCKS 1
#define twin_mcs_init slurm_mcs_init
#define twin_row_factors(row) (row)
#define twin_put_row_names(row)
#define twin_factors_free slurm_destroy_priority_factors_object
#endif

/* Records of associations keep the classic factor, by which jobs are priced. */
#define TWIN_KEEPS_FACTOR (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0))
/* Jobs, and rows of sprio from 26.05 on, also have a step id. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
#define twin_job_name_step(job) ((void)((job)->step_id.job_id = (job)->job_id))
#else
#define twin_job_name_step(job) ((void)(job))
#endif
/* Backfill leaves a priority that an administrator set while it had let go of its locks. */
#define TWIN_KEEPS_DIRECT (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 3))

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
#define twin_row_job(row) ((row)->step_id.job_id)
#else
#define twin_row_job(row) ((row)->job_id)
#endif

#endif
