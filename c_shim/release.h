/*
 * release.h - what differs between Slurm releases, one line each.
 *
 * Nothing else in the project tests SLURM_VERSION_NUMBER. A new release gets a block of its own;
 * the difference of two blocks is the list of what changed for this plugin.
 *
 * Include after Slurm's config.h.
 */
#ifndef FAIRTREE_RELEASE_H
#define FAIRTREE_RELEASE_H

#if SLURM_VERSION_NUMBER == 0x160508 /* 22.05.8 */

#define HOST_PRIORITY_HEADER "src/common/slurm_priority.h"
#define HOST_SITE_FACTOR_HEADER "src/common/site_factor.h"
#define HOST_MCS_HEADER "src/common/slurm_mcs.h"
#define HOST_HAS_QOS_LISTS 0		/* a job may name several QOS */
#define HOST_HAS_USED_LIMIT_SECS 0	/* run seconds are also kept per user and account of a QOS */
#define HOST_HAS_SITE_RECONFIG 1	/* the site factor plugin hears of a reconfigure */
#define HOST_FACTORS_LIST_HAS_REQUEST 1	/* sprio's filters reach the plugin, which locks for itself */
#define HOST_FACTORS_IN_ROW 1		/* sprio's row and the factors of a job are one struct */
#define HOST_SORTS_PARTITIONS 0		/* slurmctld keeps the partition lists of jobs sorted */
#define HOST_FACTORS priority_factors_object_t
#define HOST_NODE_COUNT node_record_count
#define HOST_SITE_INIT() (site_factor_plugin_init() == SLURM_SUCCESS)
#define HOST_SITE_FINI() ((void) site_factor_plugin_fini())
#define HOST_IS_COORDINATOR(uid, account) \
	assoc_mgr_is_user_acct_coord(acct_db_conn, (uid), (account))

#elif SLURM_VERSION_NUMBER == 0x180b05 /* 24.11.5 */

#define HOST_PRIORITY_HEADER "src/interfaces/priority.h"
#define HOST_SITE_FACTOR_HEADER "src/interfaces/site_factor.h"
#define HOST_MCS_HEADER "src/interfaces/mcs.h"
#define HOST_HAS_QOS_LISTS 1
#define HOST_HAS_USED_LIMIT_SECS 1
#define HOST_HAS_SITE_RECONFIG 0
#define HOST_FACTORS_LIST_HAS_REQUEST 0
#define HOST_FACTORS_IN_ROW 0
#define HOST_SORTS_PARTITIONS 1
#define HOST_FACTORS priority_factors_t
#define HOST_NODE_COUNT active_node_record_count
#define HOST_SITE_INIT() (site_factor_g_init() == SLURM_SUCCESS)
#define HOST_SITE_FINI() ((void) site_factor_g_fini())
#define HOST_IS_COORDINATOR(uid, account) \
	assoc_mgr_is_user_acct_coord(acct_db_conn, (uid), (account), false)

#else
#error "this Slurm release is not known to fairtree: compare its priority plugin interface with the blocks of c_shim/release.h and add one"
#endif

#endif
