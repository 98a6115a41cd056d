/*
 * host.c - state and settings of slurmctld: settings, log, TRES names, site factor plugin.
 */
#include "host.h"

bool shim_in_slurmctld(void)
{
	return &cluster_cpus != NULL;
}

uint32_t host_tres_count(void)
{
	return &slurmctld_tres_cnt && slurmctld_tres_cnt > 0 ? (uint32_t) slurmctld_tres_cnt : 0;
}

time_t host_last_part_update(void)
{
	return &last_part_update ? last_part_update : 0;
}

bool shim_is_ending(void)
{
	return &slurmctld_config && slurmctld_config.shutdown_time;
}

bool shim_has_slurmdbd(void)
{
	return slurm_with_slurmdbd();
}

bool shim_has_root(void)
{
	return assoc_mgr_root_assoc != NULL;
}

bool shim_enforces_limits(void)
{
	return &accounting_enforce && (accounting_enforce & ACCOUNTING_ENFORCE_LIMITS);
}

bool shim_debug_priority(void)
{
	return slurm_conf.debug_flags & DEBUG_FLAG_PRIO;
}

shim_extended shim_logl(shim_extended value)
{
	return host_to_extended(logl(host_from_extended(value)));
}

void shim_settings_read(shim_settings *settings)
{
	*settings = (shim_settings) {
		.priority_params = slurm_conf.priority_params,
		.priority_weight_tres = slurm_conf.priority_weight_tres,
		.state_save_location = slurm_conf.state_save_location,
		.cluster_name = slurm_conf.cluster_name,
		.priority_calc_period = slurm_conf.priority_calc_period,
		.priority_decay_hl = slurm_conf.priority_decay_hl,
		.priority_max_age = slurm_conf.priority_max_age,
		.priority_weight_age = slurm_conf.priority_weight_age,
		.priority_weight_assoc = slurm_conf.priority_weight_assoc,
		.priority_weight_fs = slurm_conf.priority_weight_fs,
		.priority_weight_js = slurm_conf.priority_weight_js,
		.priority_weight_part = slurm_conf.priority_weight_part,
		.priority_weight_qos = slurm_conf.priority_weight_qos,
		.min_job_age = slurm_conf.min_job_age,
		.priority_flags = slurm_conf.priority_flags,
		.priority_favor_small = slurm_conf.priority_favor_small,
		.priority_reset_period = slurm_conf.priority_reset_period,
		.fs_dampening_factor = slurm_conf.fs_dampening_factor,
	};
}

void shim_settings_lock(void)
{
	lock_slurmctld((slurmctld_lock_t) { .conf = READ_LOCK });
}

void shim_settings_unlock(void)
{
	unlock_slurmctld((slurmctld_lock_t) { .conf = READ_LOCK });
}

static log_level_t host_level(shim_log_level level)
{
	switch (level) {
	case SHIM_LOG_ERROR:
		return LOG_LEVEL_ERROR;
	case SHIM_LOG_INFO:
		return LOG_LEVEL_INFO;
	case SHIM_LOG_VERBOSE:
		return LOG_LEVEL_VERBOSE;
	case SHIM_LOG_DEBUG:
		return LOG_LEVEL_DEBUG;
	case SHIM_LOG_DEBUG2:
		break;
	}
	return LOG_LEVEL_DEBUG2;
}

bool shim_log_enabled(shim_log_level level)
{
	return get_log_level() >= (int) host_level(level);
}

/*
 * libslurmfull's other name for its error(): as long as libslurmfull is not linked, the linker
 * would use glibc's function of the name error(). No header declares it.
 */
extern int slurm_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

void shim_log(shim_log_level level, const char *message)
{
	if (level == SHIM_LOG_ERROR)
		slurm_error("%s", message);
	else if (shim_log_enabled(level))
		log_var(host_level(level), "%s", message);
}

void shim_each_tres(void (*each)(void *context, const char *name), void *context)
{
	assoc_mgr_lock_t locks = { .tres = READ_LOCK };

	assoc_mgr_lock(&locks);
	for (uint32_t i = 0; i < host_tres_count(); i++)
		each(context, assoc_mgr_tres_name_array[i]);
	assoc_mgr_unlock(&locks);
}

bool shim_site_init(void)
{
	return HOST_SITE_INIT() == SLURM_SUCCESS;
}

void shim_site_fini(void)
{
	(void) HOST_SITE_FINI();
}

void shim_site_reconfig(void)
{
#if HOST_HAS_SITE_RECONFIG
	site_factor_g_reconfig();
#endif
}

void shim_site_set(void *job)
{
	site_factor_g_set(job);
}

void shim_site_update(void)
{
	shim_jobs_lock();
	site_factor_g_update();
	shim_jobs_unlock();
}

void shim_jobs_lock(void)
{
	lock_slurmctld((slurmctld_lock_t) {
		.job = WRITE_LOCK, .node = READ_LOCK, .part = READ_LOCK });
}

void shim_jobs_unlock(void)
{
	unlock_slurmctld((slurmctld_lock_t) {
		.job = WRITE_LOCK, .node = READ_LOCK, .part = READ_LOCK });
}

uint16_t shim_protocol_version(void)
{
	return SLURM_PROTOCOL_VERSION;
}

void shim_first_states_save(void)
{
#if HOST_NEEDS_ALL_STATES
	if (schedule_resv_save && schedule_trigger_save) {
		schedule_resv_save();
		schedule_trigger_save();
	}
	if (fed_mgr_state_save)
		(void) fed_mgr_state_save();
#endif
}

void shim_jobs_read_lock(void)
{
	lock_slurmctld((slurmctld_lock_t) { .job = READ_LOCK });
}

void shim_jobs_read_unlock(void)
{
	unlock_slurmctld((slurmctld_lock_t) { .job = READ_LOCK });
}

void shim_usage_lock(void)
{
	assoc_mgr_lock_t locks = { .assoc = WRITE_LOCK, .qos = WRITE_LOCK, .tres = READ_LOCK };

	assoc_mgr_lock(&locks);
}

void shim_usage_unlock(void)
{
	assoc_mgr_lock_t locks = { .assoc = WRITE_LOCK, .qos = WRITE_LOCK, .tres = READ_LOCK };

	assoc_mgr_unlock(&locks);
}
