/*
 * factors.c - the rows that sprio prints. Strings in a row are copies: the list outlives the
 * locks.
 */
#include "host.h"

#include "src/common/xstring.h"

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
} listing;

static int list_job(void *arg_job, void *arg)
{
	job_record_t *job = arg_job;
	listing *l = arg;
	shim_listed row = {
		.job = job,
		.submit_time = job->details ? job->details->submit_time : 0,
		.begin_time = job->details ? job->details->begin_time : 0,
		.job_id = job->job_id,
		.user_id = job->user_id,
		.priority = job->priority,
		.pending = IS_JOB_PENDING(job),
		.revoked = IS_JOB_REVOKED(job),
		.has_partition = job->part_ptr || job->part_ptr_list,
		.has_factors = job->prio_factors,
		.direct = job->direct_set_prio,
		.many = job->part_ptr_list || host_has_qos_list(job),
	};

	return l->each(l->context, &row) ? 0 : -1;
}

void shim_each_listed(bool (*each)(void *context, const shim_listed *job), void *context)
{
	listing l = { .each = each, .context = context };

	if (&job_list && job_list)
		(void) list_for_each_ro(job_list, list_job, &l);
}

bool shim_may_see(const void *arg, uint32_t user_id)
{
	const job_record_t *job = arg;

	if (!(slurm_conf.private_data & PRIVATE_DATA_JOBS) || job->user_id == user_id ||
	    validate_operator(user_id))
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

#if HOST_FACTORS_IN_ROW
/* slurm_destroy_priority_factors_object of this release leaves the strings alone. */
static void free_row(void *arg)
{
	priority_factors_object_t *row = arg;

	xfree(row->partition);
	slurm_destroy_priority_factors_object(row);
}

static HOST_FACTORS *copy_factors(priority_factors_object_t *row, const job_record_t *job)
{
	slurm_copy_priority_factors_object(row, job->prio_factors);
	return row;
}
#else
#define free_row slurm_destroy_priority_factors_object

static HOST_FACTORS *copy_factors(priority_factors_object_t *row, const job_record_t *job)
{
	row->prio_factors = xmalloc(sizeof(*row->prio_factors));
	slurm_copy_priority_factors(row->prio_factors, job->prio_factors);
	return row->prio_factors;
}
#endif

static void replace_tres(HOST_FACTORS *factors, const shim_factors_row *row)
{
	if (!factors->priority_tres || row->tres_len > factors->tres_cnt)
		return;
	for (size_t i = 0; i < row->tres_len; i++) {
		if (row->tres_again[i] != 0)
			factors->priority_tres[i] *= row->tres_again[i];
		else
			factors->priority_tres[i] = row->tres[i];
	}
}

static void replace_terms(HOST_FACTORS *factors, const shim_factors_row *row)
{
	if (row->replaces_partition) {
		factors->priority_part = row->partition_term;
		replace_tres(factors, row);
	}
	if (row->replaces_qos)
		factors->priority_qos = row->qos_term;
}

#if HOST_HAS_QOS_LISTS
static int has_id(void *qos, void *id)
{
	return ((slurmdb_qos_rec_t *) qos)->id == *(uint32_t *) id;
}
#endif

#if !HOST_FACTORS_IN_ROW
static char *qos_name(const job_record_t *job, uint32_t qos_id)
{
	slurmdb_qos_rec_t *qos = job->qos_ptr;

#if HOST_HAS_QOS_LISTS
	if (qos_id && job->qos_list)
		qos = list_find_first_ro(job->qos_list, has_id, &qos_id);
#else
	(void) qos_id;
#endif
	return qos ? xstrdup(qos->name) : NULL;
}
#endif

void shim_factors_append(void **list, const void *arg, const shim_factors_row *row)
{
	const job_record_t *job = arg;
	const part_record_t *part = row->partition ? (part_record_t *) (uintptr_t) row->partition
						   : job->part_ptr;
	priority_factors_object_t *out = xmalloc(sizeof(*out));

	if (job->direct_set_prio && !(HOST_FACTORS_IN_ROW && job->part_ptr_list))
		out->direct_prio = job->priority;
	else if (job->prio_factors)
		replace_terms(copy_factors(out, job), row);
	HOST_ROW_NAME_JOB(out, job);
	out->partition = part ? xstrdup(part->name) : NULL;
	out->user_id = job->user_id;
#if !HOST_FACTORS_IN_ROW
	out->account = xstrdup(job->account);
	out->qos = qos_name(job, row->qos_id);
#endif
	if (!*list)
		*list = list_create(free_row);
	list_append(*list, out);
}
