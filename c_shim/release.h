/*
 * release.h - differences between Slurm's releases, one line each.
 *
 * No other file in the project tests SLURM_VERSION_NUMBER. Each line names the first release with a
 * feature; docs/releases.md says how to add a series. Names only: the layout of Slurm's records
 * also changes within a series, and comes from the headers of the exact release.
 *
 * Include after Slurm's config.h.
 */
#ifndef FAIRTREE_RELEASE_H
#define FAIRTREE_RELEASE_H

#define HOST_SINCE(year, month, micro)								\
	(SLURM_VERSION_NUMBER >= ((year) << 16 | (month) << 8 | (micro)))
#define HOST_IS_SERIES(year, month)								\
	(SLURM_VERSION_NUMBER >> 8 == ((year) << 8 | (month)))

/* A later series counts as the last known one; expect.c then checks more. */
#define HOST_IS_LATER_SERIES (SLURM_VERSION_NUMBER >> 8 > (26 << 8 | 5))

#if !HOST_IS_SERIES(22, 5) && !HOST_IS_SERIES(23, 2) && !HOST_IS_SERIES(23, 11) &&		\
	!HOST_IS_SERIES(24, 5) && !HOST_IS_SERIES(24, 11) && !HOST_IS_SERIES(25, 5) &&		\
	!HOST_IS_SERIES(25, 11) && !HOST_IS_SERIES(26, 5) && !HOST_IS_LATER_SERIES
#error "this series of Slurm is not known to fairtree: see docs/releases.md"
#endif

/* A job may name several QOS. */
#define HOST_HAS_QOS_LISTS HOST_SINCE(24, 11, 0)
/* Run-seconds are also kept per user and per account of a QOS. */
#define HOST_HAS_USED_LIMIT_SECS HOST_SINCE(24, 5, 0)
/* slurmctld keeps the partition lists of jobs sorted; before, each user of a list sorts it. */
#define HOST_SORTS_PARTITIONS HOST_SINCE(24, 11, 0)
/* A job's priorities in its partitions and QOS are in a separate record, with their age. */
#define HOST_HAS_MULTIPLES HOST_SINCE(24, 5, 0)
/* That record was renamed in the middle of two series. */
#define HOST_MULTIPLES_RENAMED									\
	(HOST_SINCE(25, 5, 1) || (HOST_SINCE(24, 11, 7) && HOST_IS_SERIES(24, 11)))
/* The site factor plugin is informed of a reconfigure. */
#define HOST_HAS_SITE_RECONFIG (!HOST_SINCE(24, 5, 0))
/* The factors of a job and a row of sprio have the same struct type. */
#define HOST_FACTORS_IN_ROW (!HOST_SINCE(23, 2, 0))
/* sprio's filters are passed to the plugin (NULL: no filters). */
#define HOST_FACTORS_LIST_HAS_REQUEST (!HOST_SINCE(24, 5, 0))
/* The hook for sprio is called without locks. */
#define HOST_FACTORS_LIST_LOCKS (!HOST_SINCE(23, 2, 0))
/*
 * Coordinators are looked up by a function with an argument that says if its caller has the lock.
 */
#define HOST_COORDINATOR_ASKS_LOCK HOST_SINCE(23, 11, 6)
/* PriorityFlags=MAX_TRES_GRES. */
#define HOST_HAS_MAX_TRES_GRES HOST_SINCE(25, 5, 0)
/* slurmctld does not restart without all files of its state. */
#define HOST_NEEDS_ALL_STATES HOST_SINCE(25, 5, 0)
/* A row of sprio identifies its job by a step id. */
#define HOST_ROW_HAS_STEP_ID HOST_SINCE(26, 5, 0)

#if HOST_SINCE(23, 2, 0)
#define HOST_PRIORITY_HEADER "src/interfaces/priority.h"
#define HOST_SITE_FACTOR_HEADER "src/interfaces/site_factor.h"
#define HOST_MCS_HEADER "src/interfaces/mcs.h"
#define HOST_SITE_INIT() site_factor_g_init()
#define HOST_SITE_FINI() site_factor_g_fini()
#define HOST_NODE_COUNT active_node_record_count
#else
#define HOST_PRIORITY_HEADER "src/common/slurm_priority.h"
#define HOST_SITE_FACTOR_HEADER "src/common/site_factor.h"
#define HOST_MCS_HEADER "src/common/slurm_mcs.h"
#define HOST_SITE_INIT() site_factor_plugin_init()
#define HOST_SITE_FINI() site_factor_plugin_fini()
#define HOST_NODE_COUNT node_record_count
#endif

#if HOST_FACTORS_IN_ROW
#define HOST_FACTORS priority_factors_object_t
#else
#define HOST_FACTORS priority_factors_t
#endif

#if HOST_COORDINATOR_ASKS_LOCK
#define HOST_IS_COORDINATOR(uid, account)							\
	assoc_mgr_is_user_acct_coord(acct_db_conn, (uid), (account), false)
#else
#define HOST_IS_COORDINATOR(uid, account)							\
	assoc_mgr_is_user_acct_coord(acct_db_conn, (uid), (account))
#endif

#if HOST_MULTIPLES_RENAMED
#define HOST_MULTIPLES prio_mult
#else
#define HOST_MULTIPLES part_prio
#endif

#if HOST_SINCE(24, 11, 0)
#define HOST_MULTIPLES_NAMES priority_array_names
#else
#define HOST_MULTIPLES_NAMES priority_array_parts
#endif

#if HOST_ROW_HAS_STEP_ID
#define HOST_ROW_NAME_JOB(row, job) ((void) ((row)->step_id = (job)->step_id))
#else
#define HOST_ROW_NAME_JOB(row, job) ((void) ((row)->job_id = (job)->job_id))
#endif

#endif
