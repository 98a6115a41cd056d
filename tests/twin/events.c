/*
 * Events of jobs. An event that does not fit the state of its job does nothing,
 * so that any subset of a life's lines is a valid life.
 */
#include "host.h"

static bool is_live(const job_record_t *job)
{
	return (IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job)) &&
	       !IS_JOB_COMPLETING(job);
}

static bool is_waiting(const job_record_t *job)
{
	return IS_JOB_PENDING(job) && !IS_JOB_COMPLETING(job);
}

static void submit(const twin_line *line)
{
	job_record_t *job = twin_job_new(line);

	if (job && (job->priority == NO_VAL))
		twin_plugin_set(job);
}

static time_t end_of(const job_record_t *job, time_t start)
{
	return start + (time_t)job->time_limit * 60;
}

static void start(const twin_line *line)
{
	job_record_t *job = twin_job(twin_arg_u32(line));
	const char *part = twin_word(line, "part");

	if (!job || !is_waiting(job) || !job->priority)
		return;
	if (part)
		job->part_ptr = twin_part(part);
	if (job->time_limit == NO_VAL)
		job->time_limit = job->part_ptr->max_time;
	job->start_time = twin_clock_now();
	job->end_time = job->end_time_exp = end_of(job, job->start_time);
	job->resize_time = 0;
	job->tot_sus_time = job->pre_sus_time = job->suspend_time = 0;
	job->preempt_time = 0;
	twin_job_allocate(job, line);
	job->job_state = JOB_RUNNING;
	twin_policy_begin(job);
}

static void finish(job_record_t *job, uint32_t state)
{
	bool ran = is_live(job);

	job->job_state = state | (ran ? JOB_COMPLETING : 0);
	job->end_time = twin_clock_now();
	if (!ran) {
		/* A waiting job: slurmctld forgets its planned start. */
		job->start_time = job->end_time;
		return;
	}
	twin_policy_fini(job);
}

static void end(const twin_line *line)
{
	job_record_t *job = twin_job(twin_arg_u32(line));
	const char *state = twin_word(line, "state");

	if (!job || !is_live(job))
		return;
	if (state && !strcmp(state, "timeout"))
		finish(job, JOB_TIMEOUT);
	else if (state && !strcmp(state, "failed"))
		finish(job, JOB_FAILED);
	else
		finish(job, JOB_COMPLETE);
}

/* A waiting job may be cancelled because a different cluster of the federation
 * reports that it ran there. */
static void cancel(const twin_line *line)
{
	job_record_t *job = twin_job(twin_arg_u32(line));
	bool waits;

	if (!job || !(is_live(job) || is_waiting(job)))
		return;
	waits = is_waiting(job);
	finish(job, JOB_CANCELLED);
	if (waits)
		job->start_time -= twin_word_i64(line, "elsewhere", 0);
}

/* A requeued job is pending and completing until its nodes are clean. */
static void requeue(const twin_line *line)
{
	job_record_t *job = twin_job(twin_arg_u32(line));

	if (job && is_live(job))
		finish(job, JOB_PENDING);
}

static void clean(const twin_line *line)
{
	job_record_t *job = twin_job(twin_arg_u32(line));

	if (!job || !IS_JOB_COMPLETING(job))
		return;
	job->job_state &= ~JOB_COMPLETING;
	if (!IS_JOB_PENDING(job))
		return;
	job->start_time = job->end_time = job->end_time_exp = 0;
	twin_job_unallocate(job);
	job->details->submit_time = job->details->accrue_time =
		job->details->begin_time = twin_clock_now();
	if (TWIN_THREAD_START)
		twin_plugin_set(job);
}

static void purge(const twin_line *line)
{
	job_record_t *job = twin_job(twin_arg_u32(line));

	if (job && IS_JOB_FINISHED(job) && !IS_JOB_COMPLETING(job))
		twin_job_purge(job);
}

static void suspend(const twin_line *line)
{
	job_record_t *job = twin_job(twin_arg_u32(line));
	time_t now = twin_clock_now();

	if (!job || !is_live(job) || IS_JOB_SUSPENDED(job))
		return;
	job->pre_sus_time +=
		now - (job->suspend_time ? job->suspend_time : job->start_time);
	job->suspend_time = now;
	job->job_state = JOB_SUSPENDED;
}

static void resume(const twin_line *line)
{
	job_record_t *job = twin_job(twin_arg_u32(line));
	time_t now = twin_clock_now();

	if (!job || !is_live(job) || !IS_JOB_SUSPENDED(job))
		return;
	job->tot_sus_time += now - job->suspend_time;
	job->suspend_time = now;
	job->job_state = JOB_RUNNING;
	if (!job->preempt_time)
		job->end_time = job->end_time_exp =
			end_of(job, now) - job->pre_sus_time;
}

static void resize(const twin_line *line)
{
	job_record_t *job = twin_job(twin_arg_u32(line));

	if (!job || !is_live(job) || IS_JOB_SUSPENDED(job))
		return;
	job->job_state |= JOB_RESIZING;
	job->resize_time = twin_clock_now();
	twin_policy_fini(job);
	twin_job_allocate(job, line);
	twin_policy_begin(job);
	job->job_state &= ~JOB_RESIZING;
	job->end_time_exp = job->end_time;
}

static void hold(const twin_line *line)
{
	job_record_t *job = twin_job(twin_arg_u32(line));

	if (!job || !is_waiting(job))
		return;
	job->direct_set_prio = 1;
	job->priority = 0;
	job->details->accrue_time = 0;
	twin_job_fill_array(job, 0);
}

static void release(const twin_line *line)
{
	job_record_t *job = twin_job(twin_arg_u32(line));

	if (!job || !is_waiting(job) || job->priority)
		return;
	job->direct_set_prio = 0;
	job->details->accrue_time = twin_clock_now();
	twin_plugin_set(job);
}

/* An administrator's own priority; "inf" gives it back to the plugin. */
static void setprio(const twin_line *line)
{
	job_record_t *job = twin_job(twin_arg_u32(line));
	uint32_t priority = twin_word_u32(line, "prio", INFINITE);

	if (!job || !is_waiting(job) || !job->priority)
		return;
	job->details->nice = NICE_OFFSET;
	if (priority == INFINITE) {
		job->direct_set_prio = 0;
		twin_plugin_set(job);
		return;
	}
	job->direct_set_prio = 1;
	job->priority = priority;
	twin_job_fill_array(job, priority);
}

/* An update by `scontrol update`: afterwards the priority is set again. */
static void update(const twin_line *line)
{
	job_record_t *job = twin_job(twin_arg_u32(line));
	const char *parts = twin_word(line, "part");

	if (!job || !is_waiting(job))
		return;
	if (twin_word(line, "assoc"))
		twin_job_set_assoc(job, twin_word_u32(line, "assoc", 0));
	if (twin_word(line, "qos"))
		twin_job_set_qos(job, twin_word_u32(line, "qos", 0));
	/* slurmctld forgets the array of priorities with the former only. */
	if (parts)
		twin_job_set_parts(job, parts);
	if (twin_word(line, "qoslist"))
		twin_job_set_qos_list(job, twin_word(line, "qoslist"));
	if (twin_word(line, "nice"))
		job->details->nice =
			NICE_OFFSET + twin_word_i64(line, "nice", 0);
	if (twin_word(line, "site"))
		job->site_factor = NICE_OFFSET + twin_word_i64(line, "site", 0);
	if (job->priority)
		twin_plugin_set(job);
}

static void limit(const twin_line *line)
{
	job_record_t *job = twin_job(twin_arg_u32(line));
	uint32_t minutes = twin_word_u32(line, "limit", 60);

	if (!job || (!is_waiting(job) && !is_live(job)))
		return;
	twin_policy_new_limit(job, minutes);
	job->time_limit = minutes;
	if (is_waiting(job)) {
		if (job->priority)
			twin_plugin_set(job);
		return;
	}
	if (!job->preempt_time)
		job->end_time = end_of(job, job->start_time) + job->tot_sus_time;
	job->end_time_exp = job->end_time;
}

/* A different job needs its nodes: `grace` seconds are left. */
static void preempt(const twin_line *line)
{
	job_record_t *job = twin_job(twin_arg_u32(line));

	if (!job || !is_live(job) || job->preempt_time)
		return;
	job->preempt_time = twin_clock_now();
	job->end_time = twin_clock_now() + twin_word_i64(line, "grace", 0);
}

static void split(const twin_line *line)
{
	job_record_t *job = twin_job(twin_arg_u32(line));

	if (job && is_waiting(job))
		twin_job_split(job, twin_word_u32(line, "new", 0));
}

/*
 * Backfill's check of a heterogeneous job: the end of a job that never began is
 * played through, and everything is restored. Its start was planned earlier:
 * now or, with start=-SECONDS, before backfill yielded the locks for a while.
 */
static void pretend(const twin_line *line)
{
	job_record_t *job = twin_job(twin_arg_u32(line));
	job_record_t saved;

	if (!job || !is_waiting(job))
		return;
	saved = *job;
	if (job->time_limit == NO_VAL)
		job->time_limit = job->part_ptr->max_time;
	job->start_time = twin_clock_now() + twin_word_i64(line, "start", 0);
	twin_job_allocate(job, line);
	twin_policy_begin(job);
	job->end_time = job->start_time;
	job->end_time_exp = twin_clock_now();
	job->job_state = JOB_COMPLETE | JOB_COMPLETING;
	twin_policy_fini(job);
	twin_job_unallocate(job);
	job->start_time = saved.start_time;
	job->end_time = saved.end_time;
	job->end_time_exp = saved.end_time_exp;
	job->time_limit = saved.time_limit;
	job->job_state = saved.job_state;
}

/*
 * Limits of a heterogeneous job at its submission: a waiting part begins with
 * its requested size, in usage that is discarded, and ends. Its record stays as
 * it is then.
 */
static void try_limits(const twin_line *line)
{
	job_record_t *job = twin_job(twin_arg_u32(line));

	if (!job || !is_waiting(job) || job->tres_alloc_cnt)
		return;
	job->tres_alloc_cnt = job->tres_req_cnt;
	twin_policy_fini(job);
	job->tres_alloc_cnt = NULL;
}

/* Backfill records a planned start of a waiting job; that time may pass unused. */
static void plan(const twin_line *line)
{
	job_record_t *job = twin_job(twin_arg_u32(line));

	if (job && is_waiting(job))
		job->start_time = twin_clock_now() + twin_word_i64(line, "start", 0);
}

/* Priorities that backfill took into its queue, by job. */
static struct {
	uint32_t job_id;
	uint32_t priority;
} queued[64];
static size_t queued_len;

/* Backfill takes a waiting job into its queue, with its priority, and lets others have the locks. */
static void queue(const twin_line *line)
{
	job_record_t *job = twin_job(twin_arg_u32(line));

	if (!job || !is_waiting(job) ||
	    queued_len == sizeof(queued) / sizeof(queued[0]))
		return;
	queued[queued_len].job_id = job->job_id;
	queued[queued_len++].priority = job->priority;
}

/*
 * Backfill looks at the jobs of its queue, in this order, and gives each the priority that
 * it had there; held ones are passed over.
 */
static void write_back(const twin_line *line)
{
	(void)line;
	for (size_t i = 0; i < queued_len; i++) {
		job_record_t *job = twin_job(queued[i].job_id);

		if (job && is_waiting(job) && job->priority &&
		    (!TWIN_KEEPS_DIRECT || !job->direct_set_prio))
			job->priority = queued[i].priority;
	}
	queued_len = 0;
}

twin_event twin_job_event(const char *verb)
{
	static const struct {
		const char *verb;
		twin_event event;
	} table[] = {
		{ "submit", submit },	{ "start", start },
		{ "end", end },		{ "cancel", cancel },
		{ "requeue", requeue }, { "clean", clean },
		{ "purge", purge },	{ "suspend", suspend },
		{ "resume", resume },	{ "resize", resize },
		{ "hold", hold },	{ "release", release },
		{ "setprio", setprio }, { "update", update },
		{ "limit", limit },	{ "split", split },
		{ "pretend", pretend },	{ "preempt", preempt },
		{ "plan", plan },	{ "try", try_limits },
		{ "queue", queue },	{ "write_back", write_back },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(table[i].verb, verb))
			return table[i].event;
	return NULL;
}
