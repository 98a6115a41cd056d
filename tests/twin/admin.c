/* Events of the daemon, its configuration and its associations. */
#include "host.h"

static bool booted;

static void before_boot(const twin_line *line)
{
	if (booted)
		twin_usage_error("line %d: %s after boot", line->number,
				 line->verb);
}

/* ---- before boot ---------------------------------------------------------------- */

static void clock_is(const twin_line *line)
{
	before_boot(line);
	twin_clock_step(twin_arg_i64(line) - twin_clock_now());
}

static void zone(const twin_line *line)
{
	before_boot(line);
	setenv("TZ", line->arg ? line->arg : "UTC", 1);
	tzset();
}

static void cluster(const twin_line *line)
{
	before_boot(line);
	cluster_cpus = twin_word_u32(line, "cpus", 1);
	node_record_count = twin_word_u32(line, "nodes", 1);
#if TWIN_THREAD_START
	active_node_record_count = node_record_count;
#endif
}

static void settings(const twin_line *line)
{
	for (int i = 0; i < line->count; i++)
		twin_conf_set(line->key[i], line->value[i]);
}

static void conf(const twin_line *line)
{
	before_boot(line);
	settings(line);
}

static void define_tres(const twin_line *line)
{
	before_boot(line);
	twin_database_tres(line);
}

static void define_qos(const twin_line *line)
{
	before_boot(line);
	twin_database_qos(line);
}

static void define_part(const twin_line *line)
{
	before_boot(line);
	twin_part_define(line);
}

static void define_assoc(const twin_line *line)
{
	before_boot(line);
	twin_database_assoc(line);
}

static void define_usage(const twin_line *line)
{
	before_boot(line);
	twin_database_usage(line);
}

/* ---- start and stop ----------------------------------------------------------------- */

static void start_daemon(bool again)
{
	slurmctld_config.shutdown_time = 0;
	twin_conf_load(twin_option.state, twin_option.plugin, again);
	twin_database_connect();
	twin_parts_ready();
	if (!again) {
		twin_database_first_usage();
		if (!job_list)
			job_list = list_create(NULL);
		if (twin_mcs_init())
			twin_usage_error("no MCS plugin");
	}
	twin_jobs_relink();
	twin_plugin_start();
}

static void boot(const twin_line *line)
{
	before_boot(line);
	booted = true;
	start_daemon(false);
}

static void start_again(const twin_line *line)
{
	twin_damage_apply();
	twin_clock_step(line->arg ? twin_arg_i64(line) : 0);
	start_daemon(true);
}

/* slurmctld's own files of usage. */
static void save_usage(void)
{
	dump_assoc_mgr_state();
	twin_damage_date();
	twin_trace_mark("saved");
}

/* slurmctld must end, and has not begun to save; `ending off`: it continues. */
static void ending(const twin_line *line)
{
	slurmctld_config.shutdown_time = line->arg ? 0 : twin_clock_now();
}

static void restart(const twin_line *line)
{
	save_usage();
	twin_plugin_stop();
	assoc_mgr_fini(false);
	start_again(line);
}

/* Nothing is saved, and the next start finds the current files. */
static void crash(const twin_line *line)
{
	twin_state_keep();
	twin_trace_mark("crash");
	twin_plugin_stop();
	assoc_mgr_fini(false);
	twin_state_put_back();
	start_again(line);
}

/*
 * The daemon dies in the middle of a pass: at the moment when the plugin has
 * changed the records and begins to write its files. slurmctld writes its own
 * files at that moment, unless a lock prevents it.
 */
static void crash_in_pass(const twin_line *line)
{
	twin_clock_step(line->arg ? twin_arg_i64(line) : 0);
	twin_state_keep_in_pass();
	twin_clock_pass();
	twin_plugin_stop();
	assoc_mgr_fini(false);
	twin_state_put_back();
	start_daemon(true);
}

static void save(const twin_line *line)
{
	(void)line;
	save_usage();
}

/* Newer releases reconfigure by a restart. */
static void reconfig(const twin_line *line)
{
#if TWIN_THREAD_START
	save_usage();
	twin_plugin_stop();
	assoc_mgr_fini(false);
	settings(line);
	start_daemon(true);
#else
	slurmctld_lock_t locks = {
		.conf = WRITE_LOCK, .job = WRITE_LOCK, .node = WRITE_LOCK,
		.part = WRITE_LOCK, .fed = WRITE_LOCK,
	};

	settings(line);
	lock_slurmctld(locks);
	twin_conf_load(twin_option.state, twin_option.plugin, true);
	twin_policy_restore();
	unlock_slurmctld(locks);
	twin_plugin_reconfig(true);
#endif
}

/* Calls that only notify the plugin of a possible change. */
static void retell(uint16_t dampening)
{
	slurmctld_lock_t locks = {
		.conf = WRITE_LOCK, .job = WRITE_LOCK, .node = READ_LOCK,
		.part = READ_LOCK, .fed = READ_LOCK,
	};

	lock_slurmctld(locks);
	slurm_conf.fs_dampening_factor = dampening;
	twin_plugin_reconfig(false);
	unlock_slurmctld(locks);
}

static void debugflags(const twin_line *line)
{
	(void)line;
	retell(slurm_conf.fs_dampening_factor);
}

static void dampening(const twin_line *line)
{
	retell(twin_arg_u32(line));
}

/* ---- time ------------------------------------------------------------------------------ */

static void step(const twin_line *line)
{
	twin_clock_step(twin_arg_i64(line));
}

static void pass(const twin_line *line)
{
	twin_clock_step(line->arg ? twin_arg_i64(line) : 0);
	twin_trace_before("pass", 0);
	twin_during_pass();
	twin_trace_after();
}

static void look(const twin_line *line)
{
	twin_clock_look(twin_arg_i64(line));
}

/* The plugin's thread wakes whenever it is due. */
static void elapse(const twin_line *line)
{
	twin_dump_passes(twin_clock_elapse(twin_arg_i64(line)));
}

/* Nothing is dumped while it is set: for the many jobs of a large life. */
static bool silent;

static void quiet(const twin_line *line)
{
	(void)line;
	silent = true;
}

static void loud(const twin_line *line)
{
	(void)line;
	silent = false;
}

/* ---- questions ------------------------------------------------------------------------- */

static void sprio(const twin_line *line)
{
	twin_dump_ask_sprio(line);
}

static void sshare(const twin_line *line)
{
	(void)line;
	twin_dump_ask_sshare();
}

bool twin_booted(void)
{
	return booted;
}

bool twin_dumping(void)
{
	return booted && !silent;
}

twin_event twin_admin_event(const char *verb)
{
	static const struct {
		const char *verb;
		twin_event event;
		bool early;
	} table[] = {
		{ "clock", clock_is, true },
		{ "zone", zone, true },
		{ "cluster", cluster, true },
		{ "conf", conf, true },
		{ "tres", define_tres, true },
		{ "qos", define_qos, true },
		{ "part", define_part, true },
		{ "assoc", define_assoc, true },
		{ "usage", define_usage, true },
		{ "boot", boot, true },
		{ "step", step, false },
		{ "pass", pass, false },
		{ "elapse", elapse, false },
		{ "look", look, false },
		{ "ending", ending, false },
		{ "restart", restart, false },
		{ "crash", crash, false },
		{ "crash_in_pass", crash_in_pass, false },
		{ "save", save, false },
		{ "damage", twin_damage_note, false },
		{ "disk", twin_damage_disk, true },
		{ "reconfig", reconfig, false },
		{ "debugflags", debugflags, false },
		{ "dampening", dampening, false },
		{ "assoc_add", twin_database_assoc_add, false },
		{ "assoc_set", twin_database_assoc_set, false },
		{ "assoc_del", twin_database_assoc_del, false },
		{ "assoc_zero", twin_database_assoc_zero, false },
		{ "qos_set", twin_database_qos_set, false },
		{ "qos_del", twin_database_qos_del, false },
		{ "qos_zero", twin_database_qos_zero, false },
		{ "part_del", twin_part_delete, false },
		{ "part_qos", twin_part_qos, false },
		{ "quiet", quiet, true },
		{ "loud", loud, true },
		{ "sprio", sprio, false },
		{ "sshare", sshare, false },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(table[i].verb, verb))
			return (booted || table[i].early) ? table[i].event :
							    NULL;
	return NULL;
}
