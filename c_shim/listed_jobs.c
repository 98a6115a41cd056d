/*
 * listed_jobs.c - the jobs that sprio lists: the walk over all jobs, and the user's rights and
 * filters.
 */
#include "jobs.h"
#include "prefetch.h"

void shim_factors_lock(void)
{
#if HOST_FACTORS_LIST_LOCKS
	lock_slurmctld((slurmctld_lock_t) {
		.job = READ_LOCK, .node = READ_LOCK, .part = READ_LOCK });
#endif
}

void shim_factors_unlock(void)
{
#if HOST_FACTORS_LIST_LOCKS
	unlock_slurmctld((slurmctld_lock_t) {
		.job = READ_LOCK, .node = READ_LOCK, .part = READ_LOCK });
#endif
}

typedef struct {
	bool (*each)(void *context, const shim_listed *job);
	void *context;
	bool since_submission;
	pipeline jobs;
} listing;

/* One row per partition and QOS: these are priced, and so are copied as in a snapshot. */
static bool has_many_rows(const job_record_t *job)
{
	return job->part_ptr_list || host_has_qos_list(job);
}

static const shim_want priced = { .waiting_states = UINT32_MAX, .waiting_tres = true };

static void prefetch_record(const void *arg_job, void *arg)
{
	const job_record_t *job = arg_job;

	(void) arg;
	prefetch_l2(&job->details);
	prefetch_l2(&job->job_id);
	prefetch_l2(&job->job_state);
	prefetch_l2(&job->part_ptr);
	prefetch_l2(&job->part_ptr_list);
	prefetch_l2(&job->prio_factors);
	prefetch_l2(&job->priority);
	prefetch_l2(&job->user_id);
#if HOST_HAS_QOS_LISTS
	prefetch_l2(&job->qos_list);
#endif
#if !HOST_FACTORS_IN_ROW
	prefetch_l2(&job->account);
	prefetch_l2(&job->qos_ptr);
#endif
}

static const time_t *since(const listing *l, const job_record_t *job)
{
	if (!job->details)
		return NULL;
	return l->since_submission ? &job->details->submit_time : &job->details->begin_time;
}

static void prefetch_parts(const void *arg_job, void *arg)
{
	const job_record_t *job = arg_job;
	const listing *l = arg;

	prefetch_l2(since(l, job));
	if (job->prio_factors) {
		prefetch_l2(job->prio_factors);
		prefetch_l2(&job->prio_factors->priority_qos);
		prefetch_l2((char *) (job->prio_factors + 1) - 1);
	}
	if (has_many_rows(job))
		host_prefetch_job(&priced, job);
}

static void prefetch_doubles(const double *at, size_t len)
{
	prefetch_l2_range(at, len * sizeof(*at));
	if (at && len)
		prefetch_l2(at + len - 1);
}

static void prefetch_tres(const void *arg_job, void *arg)
{
	const job_record_t *job = arg_job;
	const HOST_FACTORS *factors = job->prio_factors;

	(void) arg;
	if (factors) {
		prefetch_doubles(factors->priority_tres, factors->tres_cnt);
		prefetch_doubles(factors->tres_weights, factors->tres_cnt);
	}
	if (has_many_rows(job))
		host_prefetch_parts(&priced, job);
}

static bool list_one(void *arg_job, void *arg)
{
	job_record_t *job = arg_job;
	const listing *l = arg;
	const time_t *at = since(l, job);
	shim_listed row = {
		.job = job,
		.since = at ? *at : 0,
		.job_id = job->job_id,
		.user_id = job->user_id,
		.priority = job->priority,
		.pending = IS_JOB_PENDING(job),
		.revoked = IS_JOB_REVOKED(job),
		.has_partition = job->part_ptr || job->part_ptr_list,
		.has_factors = job->prio_factors,
		.direct = job->direct_set_prio,
		.many = has_many_rows(job),
	};

	return l->each(l->context, &row);
}

static const pipeline_stages stages = {
	.prefetch = { prefetch_record, prefetch_parts, prefetch_tres },
	.process = list_one,
};

static int walk_to(void *job, void *arg)
{
	listing *l = arg;

	return pipeline_push(&l->jobs, &stages, job, l) ? 0 : -1;
}

void shim_each_listed(bool since_submission,
		      bool (*each)(void *context, const shim_listed *job), void *context)
{
	listing l = { .each = each, .context = context, .since_submission = since_submission };

	if (!&job_list || !job_list || list_for_each_ro(job_list, walk_to, &l) < 0)
		return;
	pipeline_drain(&l.jobs, &stages, &l);
}

bool shim_may_see_all(uint32_t user_id)
{
	return !(slurm_conf.private_data & PRIVATE_DATA_JOBS) || validate_operator(user_id);
}

bool shim_may_see(const void *arg, uint32_t user_id)
{
	const job_record_t *job = arg;

	if (job->user_id == user_id || shim_may_see_all(user_id))
		return true;
	if (slurm_mcs_get_privatedata())
		return mcs_g_check_mcs_label(user_id, job->mcs_label, false) == 0;
	return HOST_IS_COORDINATOR(user_id, job->account);
}

#if HOST_FACTORS_LIST_HAS_REQUEST
static int is_number(void *number, void *wanted)
{
	return *(uint32_t *) number == *(uint32_t *) wanted;
}

static bool numbers_want(host_list numbers, uint32_t number)
{
	return !numbers || list_find_first(numbers, is_number, &number);
}

static bool names_want(const char *names, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = names; at;) {
		const char *comma = strchr(at, ',');
		size_t here = comma ? (size_t) (comma - at) : strlen(at);

		if (here == len && !strncmp(at, name, len))
			return true;
		at = comma ? comma + 1 : NULL;
	}
	return !names;
}
#endif

bool shim_request_wants_all(const void *arg)
{
#if HOST_FACTORS_LIST_HAS_REQUEST
	const priority_factors_request_msg_t *request = arg;

	return !request ||
	       (!request->job_id_list && !request->uid_list && !request->partitions);
#else
	(void) arg;
	return true;
#endif
}

bool shim_request_wants(const void *arg_request, const void *arg_job, uint64_t partition)
{
#if HOST_FACTORS_LIST_HAS_REQUEST
	const priority_factors_request_msg_t *request = arg_request;
	const job_record_t *job = arg_job;
	const part_record_t *part = partition ? (part_record_t *) (uintptr_t) partition
					      : job->part_ptr;

	if (!request)
		return true;
	return numbers_want(request->job_id_list, job->job_id) &&
	       numbers_want(request->uid_list, job->user_id) &&
	       (!request->partitions || (part && names_want(request->partitions, part->name)));
#else
	(void) arg_request;
	(void) arg_job;
	(void) partition;
	return true;
#endif
}
