/* host.h - state and settings of slurmctld. */
#ifndef FAIRTREE_SHIM_HOST_H
#define FAIRTREE_SHIM_HOST_H

#include "numbers.h"

/* slurm.conf's settings. The strings are slurmctld's: copy them at once. */
typedef struct {
	const char *priority_params;
	const char *priority_weight_tres;
	const char *state_save_location;
	const char *cluster_name;
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
/* True while slurmctld ends: it then checks for held locks before it saves its state. */
extern bool shim_is_ending(void);
extern bool shim_has_slurmdbd(void);
extern bool shim_has_root(void);
/* Sets the effective usage of the root to 1, if there is one. For init only: takes no lock. */
extern void shim_root_uses_all(void);
extern bool shim_enforces_limits(void);
extern bool shim_debug_priority(void);
extern void shim_settings_read(shim_settings *settings);
/* Configuration read lock, for a hook that is called without locks. */
extern void shim_settings_lock(void);
extern void shim_settings_unlock(void);
extern bool shim_log_enabled(shim_log_level level);
extern void shim_log(shim_log_level level, const char *message);
/* Calls `each` with the name of every TRES in Slurm's order. Takes the TRES read lock. */
extern void shim_each_tres(void (*each)(void *context, const char *name), void *context);
/* The version of Slurm's protocol, with which files of slurmctld begin. */
extern uint16_t shim_protocol_version(void);
/*
 * Makes slurmctld write its files of reservations, triggers and the federation, in releases that do
 * not restart without them. Takes the read lock of federations while the federation is copied; none
 * while it is written.
 */
extern void shim_first_states_save(void);
extern bool shim_site_init(void);
extern void shim_site_fini(void);
extern void shim_site_reconfig(void);
/* Calls the site factor plugin for the factor of one job. Needs the job write lock. */
extern void shim_site_set(void *job);
/* Lets the site factor plugin update all jobs. Takes the job write lock. */
extern void shim_site_update(void);

#endif
