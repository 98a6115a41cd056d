/*
 * The calls into the plugin, through Slurm's own loader, with the locks that
 * slurmctld holds, and a check that the plugin leaves the locks unchanged.
 */
#include "host.h"

/* The first priority of slurmctld; only priority/basic counts down from it. */
#define FIRST_PRIORITY 0xffffffffu

/* Lets a thread that a hook has woken go back to sleep. */
static void done(uint64_t held, const char *hook)
{
	twin_locks_same(held, hook);
	twin_clock_settle();
}

void twin_plugin_start(void)
{
	uint64_t held = twin_locks_held();
#if TWIN_THREAD_START
	slurmctld_lock_t all = {
		.conf = WRITE_LOCK, .job = WRITE_LOCK, .node = WRITE_LOCK,
		.part = WRITE_LOCK,
	};

	lock_slurmctld(all);
	if (priority_g_init())
		twin_usage_error("the plugin does not load");
	twin_policy_restore();
	twin_trace_before("start", 0);
	priority_g_thread_start();
	unlock_slurmctld(all);
	twin_clock_settle();
	priority_g_recover(0);
	done(held, "priority_p_recover");
#else
	twin_policy_restore();
	twin_trace_before("start", 0);
	if (priority_g_init())
		twin_usage_error("the plugin does not load");
	done(held, "init");
#endif
	twin_trace_after();
}

void twin_plugin_stop(void)
{
	uint64_t held = twin_locks_held();

	twin_trace_before("stop", 0);
	priority_g_fini();
	done(held, "fini");
	twin_trace_after();
}

/* Like set_job_prio() of slurmctld; the caller holds the job lock. */
void twin_plugin_set(job_record_t *job)
{
	uint64_t held = twin_locks_held();

	if (IS_JOB_FINISHED(job))
		return;
	twin_trace_before("set", job->job_id);
	job->priority = priority_g_set(FIRST_PRIORITY, job);
	twin_locks_same(held, "priority_p_set");
	twin_trace_after();
}

void twin_plugin_job_end(job_record_t *job)
{
	uint64_t held = twin_locks_held();

	twin_trace_before("job_end", job->job_id);
	priority_g_job_end(job);
	twin_locks_same(held, "priority_p_job_end");
	twin_trace_after();
}

void twin_plugin_reconfig(bool assoc_clear)
{
	uint64_t held = twin_locks_held();

	twin_trace_before("reconfig", assoc_clear);
	priority_g_reconfig(assoc_clear);
	twin_locks_same(held, "priority_p_reconfig");
	twin_trace_after();
}
