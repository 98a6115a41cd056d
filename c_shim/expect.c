/*
 * expect.c - the shim's assumptions about Slurm's types and numbers, checked by the compiler. No
 * code. A line that fails after an update of Slurm shows what must be reviewed before the shim may
 * be used with that release.
 */
#include "host.h"

#define EXPECT_TYPE(what, type)									\
	_Static_assert(__builtin_types_compatible_p(__typeof__(what), type),			\
		       #what " is " #type)
#define EXPECT(record, member, type) EXPECT_TYPE(((record *) NULL)->member, type)
#define EXPECT_NUMBER(what, number)								\
	_Static_assert((unsigned long long) (what) == (number), #what " is " #number)

/* ---- hardening: as Debian builds Slurm ----------------------------------------------------- */

#if !defined(__OPTIMIZE__) || !defined(_FORTIFY_SOURCE) || _FORTIFY_SOURCE < 2
#error "the shim is built with optimisation and -D_FORTIFY_SOURCE=2: see build.rs"
#endif
#if !defined(__SSP_STRONG__) || !defined(__CET__)
#error "the shim is built with -fstack-protector-strong and -fcf-protection: see build.rs"
#endif

/* ---- jobs, partitions --------------------------------------------------------------------- */

EXPECT(job_record_t, job_id, uint32_t);
EXPECT(job_record_t, job_state, uint32_t);
EXPECT(job_record_t, assoc_id, uint32_t);
EXPECT(job_record_t, qos_id, uint32_t);
EXPECT(job_record_t, user_id, uint32_t);
EXPECT(job_record_t, priority, uint32_t);
EXPECT(job_record_t, site_factor, uint32_t);
EXPECT(job_record_t, time_limit, uint32_t);
EXPECT(job_record_t, total_cpus, uint32_t);
EXPECT(job_record_t, direct_set_prio, uint16_t);
EXPECT(job_record_t, start_time, time_t);
EXPECT(job_record_t, end_time, time_t);
EXPECT(job_record_t, end_time_exp, time_t);
EXPECT(job_record_t, resize_time, time_t);
EXPECT(job_record_t, preempt_time, time_t);
EXPECT(job_record_t, suspend_time, time_t);
EXPECT(job_record_t, pre_sus_time, time_t);
EXPECT(job_record_t, exit_code, uint32_t);
EXPECT(job_record_t, billable_tres, double);
EXPECT(job_record_t, tres_alloc_cnt, uint64_t *);
EXPECT(job_record_t, tres_req_cnt, uint64_t *);
EXPECT(job_record_t, assoc_ptr, slurmdb_assoc_rec_t *);
EXPECT(job_record_t, qos_ptr, slurmdb_qos_rec_t *);
EXPECT(job_record_t, part_ptr, part_record_t *);
EXPECT(job_record_t, part_ptr_list, host_list);
EXPECT(job_record_t, prio_factors, HOST_FACTORS *);
EXPECT(job_record_t, details->accrue_time, time_t);
EXPECT(job_record_t, details->begin_time, time_t);
EXPECT(job_record_t, details->submit_time, time_t);
EXPECT(job_record_t, details->nice, uint32_t);
EXPECT(job_record_t, details->min_nodes, uint32_t);
EXPECT(job_record_t, details->min_cpus, uint32_t);
EXPECT(job_record_t, details->max_cpus, uint32_t);
#if HOST_HAS_MULTIPLES
EXPECT(job_record_t, HOST_MULTIPLES->priority_array, uint32_t *);
EXPECT(job_record_t, HOST_MULTIPLES->last_update, time_t);
EXPECT(job_record_t, HOST_MULTIPLES->HOST_MULTIPLES_NAMES, char *);
#else
EXPECT(job_record_t, priority_array, uint32_t *);
#endif
#if HOST_HAS_QOS_LISTS
EXPECT(job_record_t, qos_list, host_list);
#endif

EXPECT(part_record_t, norm_priority, double);
EXPECT(part_record_t, priority_job_factor, uint16_t);
EXPECT(part_record_t, priority_tier, uint16_t);
EXPECT(part_record_t, max_time, uint32_t);
EXPECT(part_record_t, billing_weights, double *);
EXPECT(part_record_t, qos_ptr, slurmdb_qos_rec_t *);
EXPECT(part_record_t, tres_cnt, uint64_t *);

EXPECT(HOST_FACTORS, priority_fs, double);
EXPECT(HOST_FACTORS, priority_tres, double *);
EXPECT(HOST_FACTORS, tres_weights, double *);
EXPECT(HOST_FACTORS, tres_cnt, uint32_t);
EXPECT(HOST_FACTORS, priority_site, uint32_t);
EXPECT(HOST_FACTORS, nice, uint32_t);

/*
 * A series that nobody has reviewed: the build ends if the size of one of these records differs
 * from that in the last known series (26.05.3). The compiler has found every member above, but it
 * cannot know the purpose of a new one. docs/releases.md says how to add a series.
 */
#if HOST_IS_LATER_SERIES
#define EXPECT_SIZE(record, size)								\
	_Static_assert(sizeof(record) == (size),						\
		       #record " has changed its size since 26.05: see docs/releases.md")
EXPECT_SIZE(job_record_t, 1288);
EXPECT_SIZE(job_details_t, 560);
EXPECT_SIZE(part_record_t, 368);
EXPECT_SIZE(priority_mult_t, 24);
EXPECT_SIZE(priority_factors_t, 96);
EXPECT_SIZE(priority_factors_object_t, 80);
EXPECT_SIZE(slurmdb_assoc_rec_t, 328);
EXPECT_SIZE(slurmdb_assoc_usage_t, 208);
EXPECT_SIZE(slurmdb_qos_rec_t, 344);
EXPECT_SIZE(slurmdb_qos_usage_t, 128);
EXPECT_SIZE(slurmdb_used_limits_t, 64);
EXPECT_SIZE(slurmctld_lock_t, 24);
EXPECT_SIZE(assoc_mgr_lock_t, 28);
#endif

/* ---- associations, QOS --------------------------------------------------------------------- */

EXPECT(slurmdb_assoc_rec_t, id, uint32_t);
EXPECT(slurmdb_assoc_rec_t, parent_id, uint32_t);
EXPECT(slurmdb_assoc_rec_t, shares_raw, uint32_t);
EXPECT(slurmdb_assoc_rec_t, priority, uint32_t);
EXPECT(slurmdb_assoc_rec_t, acct, char *);
EXPECT(slurmdb_assoc_rec_t, user, char *);
EXPECT(slurmdb_assoc_rec_t, partition, char *);
EXPECT(slurmdb_assoc_rec_t, usage, slurmdb_assoc_usage_t *);
EXPECT(slurmdb_assoc_rec_t, leaf_usage, slurmdb_assoc_usage_t *);
EXPECT(slurmdb_assoc_usage_t, children_list, host_list);
EXPECT(slurmdb_assoc_usage_t, fs_factor, double);
EXPECT(slurmdb_assoc_usage_t, priority_norm, double);
EXPECT(slurmdb_assoc_usage_t, shares_norm, double);
EXPECT(slurmdb_assoc_usage_t, level_shares, uint32_t);
EXPECT(slurmdb_assoc_usage_t, tres_cnt, uint32_t);
EXPECT(slurmdb_assoc_usage_t, level_fs, long double);
EXPECT(slurmdb_assoc_usage_t, usage_efctv, long double);
EXPECT(slurmdb_assoc_usage_t, usage_norm, long double);
EXPECT(slurmdb_assoc_usage_t, usage_raw, long double);
EXPECT(slurmdb_assoc_usage_t, usage_tres_raw, long double *);
EXPECT(slurmdb_assoc_usage_t, grp_used_wall, double);
EXPECT(slurmdb_assoc_usage_t, grp_used_tres_run_secs, uint64_t *);
EXPECT(slurmdb_qos_rec_t, id, uint32_t);
EXPECT(slurmdb_qos_rec_t, priority, uint32_t);
EXPECT(slurmdb_qos_rec_t, usage_factor, double);
EXPECT(slurmdb_qos_rec_t, usage, slurmdb_qos_usage_t *);
EXPECT(slurmdb_qos_usage_t, norm_priority, double);
EXPECT(slurmdb_qos_usage_t, tres_cnt, uint32_t);
EXPECT(slurmdb_qos_usage_t, usage_raw, long double);
EXPECT(slurmdb_qos_usage_t, usage_tres_raw, long double *);
EXPECT(slurmdb_qos_usage_t, grp_used_wall, double);
EXPECT(slurmdb_qos_usage_t, grp_used_tres_run_secs, uint64_t *);
#if HOST_HAS_USED_LIMIT_SECS
EXPECT(slurmdb_used_limits_t, tres_run_secs, uint64_t *);
#endif

/* ---- settings and variables ----------------------------------------------------------------- */

EXPECT(slurm_conf_t, priority_decay_hl, uint32_t);
EXPECT(slurm_conf_t, priority_calc_period, uint32_t);
EXPECT(slurm_conf_t, priority_max_age, uint32_t);
EXPECT(slurm_conf_t, priority_weight_fs, uint32_t);
EXPECT(slurm_conf_t, priority_flags, uint16_t);
EXPECT(slurm_conf_t, priority_favor_small, uint16_t);
EXPECT(slurm_conf_t, priority_reset_period, uint16_t);
EXPECT(slurm_conf_t, fs_dampening_factor, uint16_t);
EXPECT(slurm_conf_t, priority_params, char *);
EXPECT(slurm_conf_t, cluster_name, char *);
EXPECT_TYPE(cluster_cpus, uint32_t);
EXPECT_TYPE(HOST_NODE_COUNT, int);
EXPECT_TYPE(slurmctld_tres_cnt, int);
EXPECT_TYPE(accounting_enforce, uint16_t);
EXPECT_TYPE(last_job_update, time_t);
EXPECT_TYPE(last_part_update, time_t);

/* ---- hooks, as slurmctld calls them ------------------------------------------------------------ */

#if HOST_NEEDS_ALL_STATES
EXPECT_TYPE(&fed_mgr_state_save, int (*)(void));
EXPECT_TYPE(&schedule_resv_save, void (*)(void));
EXPECT_TYPE(&schedule_trigger_save, void (*)(void));
#endif
EXPECT_TYPE(&priority_g_set, uint32_t (*)(uint32_t, job_record_t *));
EXPECT_TYPE(&priority_g_reconfig, void (*)(bool));
EXPECT_TYPE(&priority_g_set_assoc_usage, void (*)(slurmdb_assoc_rec_t *));
EXPECT_TYPE(&priority_g_job_end, void (*)(job_record_t *));
#if HOST_FACTORS_LIST_HAS_REQUEST
EXPECT_TYPE(&priority_g_get_priority_factors_list,
	    host_list (*)(priority_factors_request_msg_t *, uid_t));
#else
EXPECT_TYPE(&priority_g_get_priority_factors_list, host_list (*)(uid_t));
#endif

/* ---- numbers that the Rust side has, too ------------------------------------------------------- */

EXPECT_NUMBER(NO_VAL, 0xfffffffe);
EXPECT_NUMBER(INFINITE, 0xffffffff);
EXPECT_NUMBER(NICE_OFFSET, 0x80000000);
EXPECT_NUMBER(1 << JOB_PENDING, SHIM_STATE_PENDING);
EXPECT_NUMBER(JOB_END < 32, 1);
EXPECT_NUMBER(SLURMDB_FS_USE_PARENT, 0x7fffffff);
EXPECT_NUMBER(TRES_ARRAY_ENERGY, 2);
EXPECT_NUMBER(PRIORITY_RESET_NONE, 0);
EXPECT_NUMBER(PRIORITY_RESET_NOW, 1);
EXPECT_NUMBER(PRIORITY_RESET_DAILY, 2);
EXPECT_NUMBER(PRIORITY_RESET_WEEKLY, 3);
EXPECT_NUMBER(PRIORITY_RESET_MONTHLY, 4);
EXPECT_NUMBER(PRIORITY_RESET_QUARTERLY, 5);
EXPECT_NUMBER(PRIORITY_RESET_YEARLY, 6);
EXPECT_NUMBER(PRIORITY_FLAGS_ACCRUE_ALWAYS, 1 << 0);
EXPECT_NUMBER(PRIORITY_FLAGS_MAX_TRES, 1 << 1);
EXPECT_NUMBER(PRIORITY_FLAGS_SIZE_RELATIVE, 1 << 2);
EXPECT_NUMBER(PRIORITY_FLAGS_DEPTH_OBLIVIOUS, 1 << 3);
EXPECT_NUMBER(PRIORITY_FLAGS_CALCULATE_RUNNING, 1 << 4);
EXPECT_NUMBER(PRIORITY_FLAGS_FAIR_TREE, 1 << 5);
EXPECT_NUMBER(PRIORITY_FLAGS_INCR_ONLY, 1 << 6);
EXPECT_NUMBER(PRIORITY_FLAGS_NO_NORMAL_ASSOC, 1 << 7);
EXPECT_NUMBER(PRIORITY_FLAGS_NO_NORMAL_PART, 1 << 8);
EXPECT_NUMBER(PRIORITY_FLAGS_NO_NORMAL_QOS, 1 << 9);
EXPECT_NUMBER(PRIORITY_FLAGS_NO_NORMAL_TRES, 1 << 10);
#if HOST_HAS_MAX_TRES_GRES
EXPECT_NUMBER(PRIORITY_FLAGS_MAX_TRES_GRES, 1 << 11);
#elif defined(PRIORITY_FLAGS_MAX_TRES_GRES)
#error "this release has PRIORITY_FLAGS_MAX_TRES_GRES"
#endif
