/*
 * The actions of acct_policy around the plugin: it adds the run-seconds of
 * starting jobs, which the plugin subtracts again, and calls the hook at their
 * end.
 */
#include "host.h"

static bool enforced(const job_record_t *job)
{
	return (accounting_enforce & ACCOUNTING_ENFORCE_LIMITS) &&
	       job->assoc_ptr;
}

static uint64_t limit_seconds(const job_record_t *job, uint32_t minutes)
{
	uint64_t seconds = (uint64_t)minutes * 60;

	if (job->qos_ptr && (job->qos_ptr->usage_factor >= 0))
		seconds *= job->qos_ptr->usage_factor;
	return seconds;
}

static bool counted(const job_record_t *job, int tres)
{
	return (tres != TRES_ARRAY_ENERGY) && job->tres_alloc_cnt &&
	       (job->tres_alloc_cnt[tres] != NO_CONSUME_VAL64);
}

/* count += add - take, never below zero. */
static void move_count(uint64_t *count, uint64_t add, uint64_t take)
{
	*count += add;
	*count = (take > *count) ? 0 : *count - take;
}

static void move_qos(slurmdb_qos_rec_t *qos, job_record_t *job, int tres,
		     uint64_t add, uint64_t take)
{
	if (!qos)
		return;
	move_count(&qos->usage->grp_used_tres_run_secs[tres], add, take);
#if TWIN_USED_LIMITS
	move_count(&acct_policy_get_acct_used_limits(
			    &qos->usage->acct_limit_list, job->assoc_ptr->acct)
			    ->tres_run_secs[tres],
		   add, take);
	move_count(&acct_policy_get_user_used_limits(
			    &qos->usage->user_limit_list, job->user_id)
			    ->tres_run_secs[tres],
		   add, take);
#else
	(void)job;
#endif
}

/* Adds and subtracts seconds times the allocation, in all their counters. */
static void move_run_secs(job_record_t *job, uint64_t add_s, uint64_t take_s)
{
	assoc_mgr_lock_t locks = { .assoc = WRITE_LOCK, .qos = WRITE_LOCK,
				   .tres = READ_LOCK };
	slurmdb_qos_rec_t *part_qos = job->part_ptr->qos_ptr;

	if (part_qos == job->qos_ptr)
		part_qos = NULL;
	assoc_mgr_lock(&locks);
	for (int i = 0; i < slurmctld_tres_cnt; i++) {
		uint64_t add, take;

		if (!counted(job, i))
			continue;
		add = job->tres_alloc_cnt[i] * add_s;
		take = job->tres_alloc_cnt[i] * take_s;
		move_qos(job->qos_ptr, job, i, add, take);
		move_qos(part_qos, job, i, add, take);
		for (slurmdb_assoc_rec_t *up = job->assoc_ptr; up;
		     up = up->usage->parent_assoc_ptr)
			move_count(&up->usage->grp_used_tres_run_secs[i], add,
				   take);
	}
	assoc_mgr_unlock(&locks);
}

void twin_policy_begin(job_record_t *job)
{
	if (enforced(job))
		move_run_secs(job, limit_seconds(job, job->time_limit), 0);
}

void twin_policy_fini(job_record_t *job)
{
	if ((job->end_time_exp != (time_t)NO_VAL) && enforced(job))
		twin_plugin_job_end(job);
}

void twin_policy_new_limit(job_record_t *job, uint32_t minutes)
{
	if (IS_JOB_RUNNING(job) && enforced(job))
		move_run_secs(job, limit_seconds(job, minutes),
			      limit_seconds(job, job->time_limit));
}

static int restore(void *each, void *unused)
{
	job_record_t *job = each;

	(void)unused;
	if (IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job))
		twin_policy_begin(job);
	return 0;
}

void twin_policy_restore(void)
{
	assoc_mgr_clear_used_info();
	if ((accounting_enforce & ACCOUNTING_ENFORCE_LIMITS) && job_list)
		list_for_each(job_list, restore, NULL);
}
