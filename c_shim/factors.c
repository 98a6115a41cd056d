/*
 * factors.c - the jobs that sprio lists: the walk over all, and who may see and asks for which.
 */
#include "host.h"

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

/*
 * As in a snapshot: records are asked for ahead of their use, under the lock that they need, then
 * what they point to, then what that points to.
 */
#define JOBS_PER_STEP 10
#define JOBS_ON_THE_WAY 32

typedef struct {
	bool (*each)(void *context, const shim_listed *job);
	void *context;
	bool since_submission;
	job_record_t *job[JOBS_ON_THE_WAY];
	size_t seen;
} listing;

/* One row per partition and QOS: they are priced, and so are copied as in a snapshot. */
static bool has_many_rows(const job_record_t *job)
{
	return job->part_ptr_list || host_has_qos_list(job);
}

static const shim_want priced = { .waiting = true, .waiting_tres = true };

static void fetch_job(const job_record_t *job)
{
	host_ask(&job->details);
	host_ask(&job->job_id);
	host_ask(&job->job_state);
	host_ask(&job->part_ptr);
	host_ask(&job->part_ptr_list);
	host_ask(&job->prio_factors);
	host_ask(&job->priority);
	host_ask(&job->user_id);
#if HOST_HAS_QOS_LISTS
	host_ask(&job->qos_list);
#endif
#if !HOST_FACTORS_IN_ROW
	host_ask(&job->account);
	host_ask(&job->qos_ptr);
#endif
}

static const time_t *since(const listing *l, const job_record_t *job)
{
	if (!job->details)
		return NULL;
	return l->since_submission ? &job->details->submit_time : &job->details->begin_time;
}

static void fetch_parts(const listing *l, const job_record_t *job)
{
	host_ask(since(l, job));
	if (job->prio_factors) {
		host_ask(job->prio_factors);
		host_ask(&job->prio_factors->priority_qos);
		host_ask((char *) (job->prio_factors + 1) - 1);
	}
	if (has_many_rows(job))
		host_fetch_job(&priced, job);
}

static void fetch_doubles(const double *at, size_t len)
{
	host_fetch(at, len * sizeof(*at));
	if (at && len)
		host_ask(at + len - 1);
}

static void fetch_tres(const job_record_t *job)
{
	const HOST_FACTORS *factors = job->prio_factors;

	if (factors) {
		fetch_doubles(factors->priority_tres, factors->tres_cnt);
		fetch_doubles(factors->tres_weights, factors->tres_cnt);
	}
	if (has_many_rows(job))
		host_fetch_parts(&priced, job);
}

static bool list_arrived(listing *l, size_t place)
{
	job_record_t *job = l->job[place % JOBS_ON_THE_WAY];
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

static int list_job(void *job, void *arg)
{
	listing *l = arg;
	size_t place = l->seen++;
	bool go_on = true;

	fetch_job(job);
	if (place >= JOBS_PER_STEP)
		fetch_parts(l, l->job[(place - JOBS_PER_STEP) % JOBS_ON_THE_WAY]);
	if (place >= 2 * JOBS_PER_STEP)
		fetch_tres(l->job[(place - 2 * JOBS_PER_STEP) % JOBS_ON_THE_WAY]);
	if (place >= JOBS_ON_THE_WAY)
		go_on = list_arrived(l, place - JOBS_ON_THE_WAY);
	l->job[place % JOBS_ON_THE_WAY] = job;
	return go_on ? 0 : -1;
}

void shim_each_listed(bool since_submission,
		      bool (*each)(void *context, const shim_listed *job), void *context)
{
	listing l = { .each = each, .context = context, .since_submission = since_submission };
	size_t place;

	if (!&job_list || !job_list || list_for_each_ro(job_list, list_job, &l) < 0)
		return;
	place = l.seen > JOBS_ON_THE_WAY ? l.seen - JOBS_ON_THE_WAY : 0;
	while (place < l.seen && list_arrived(&l, place))
		place++;
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
