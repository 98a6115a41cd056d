/*
 * factors.c - the rows that sprio prints.
 *
 * Where slurmctld packs the list under the locks that it called with, strings in a row are the
 * job's, the partition's and the QOS's own, and the list's destructor leaves them alone. In the
 * other releases the list outlives the locks, and the rows of a partition share a copy of its
 * name.
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

/* As in a snapshot: records are asked for ahead of their use, under the lock that they need. */
#define JOBS_ON_THE_WAY 32

typedef struct {
	bool (*each)(void *context, const shim_listed *job);
	void *context;
	job_record_t *job[JOBS_ON_THE_WAY];
	size_t seen;
} listing;

static void fetch_job(const job_record_t *job)
{
	__builtin_prefetch(&job->details);
	__builtin_prefetch(&job->job_id);
	__builtin_prefetch(&job->job_state);
	__builtin_prefetch(&job->part_ptr);
	__builtin_prefetch(&job->priority);
	__builtin_prefetch(&job->user_id);
#if !HOST_FACTORS_IN_ROW
	__builtin_prefetch(&job->account);
	__builtin_prefetch(&job->qos_ptr);
#endif
}

static void fetch_parts(const job_record_t *job)
{
	if (job->details) {
		__builtin_prefetch(&job->details->begin_time);
		__builtin_prefetch(&job->details->submit_time);
	}
	if (job->prio_factors) {
		__builtin_prefetch(job->prio_factors);
		__builtin_prefetch(&job->prio_factors->priority_qos);
		__builtin_prefetch((char *) (job->prio_factors + 1) - 1);
	}
}

static bool list_arrived(listing *l, size_t place)
{
	job_record_t *job = l->job[place % JOBS_ON_THE_WAY];
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

	return l->each(l->context, &row);
}

static int list_job(void *job, void *arg)
{
	listing *l = arg;
	size_t place = l->seen++;
	bool go_on = true;

	fetch_job(job);
	if (place >= JOBS_ON_THE_WAY / 2)
		fetch_parts(l->job[(place - JOBS_ON_THE_WAY / 2) % JOBS_ON_THE_WAY]);
	if (place >= JOBS_ON_THE_WAY)
		go_on = list_arrived(l, place - JOBS_ON_THE_WAY);
	l->job[place % JOBS_ON_THE_WAY] = job;
	return go_on ? 0 : -1;
}

void shim_each_listed(bool (*each)(void *context, const shim_listed *job), void *context)
{
	listing l = { .each = each, .context = context };
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

#if HOST_FACTORS_IN_ROW
/* Allocated for the list only when the locks are gone. */
typedef struct shim_row {
	priority_factors_object_t row;
} made_row;

static priority_factors_object_t *begin_row(made_row *made)
{
	memset(made, 0, sizeof(*made));
	return &made->row;
}

static void *finish_row(const made_row *made)
{
	priority_factors_object_t *row = xmalloc_nz(sizeof(*row));

	*row = made->row;
	return row;
}

/* A partition's name, and how many rows of a list have it. */
typedef struct {
	size_t rows;
	char text[];
} shared_name;

typedef struct shim_row_names {
	const part_record_t *part;
	shared_name *name;
	struct shim_row_names *next;
} row_names;

/* slurm_destroy_priority_factors_object of this release leaves the strings alone. */
static void free_row(void *arg)
{
	priority_factors_object_t *row = arg;
	shared_name *name = row->partition ? (shared_name *) (void *) (row->partition -
					     offsetof(shared_name, text)) : NULL;

	if (name && !--name->rows)
		free(name);
	slurm_destroy_priority_factors_object(row);
}

static HOST_FACTORS *copy_factors(priority_factors_object_t *row, const job_record_t *job)
{
	slurm_copy_priority_factors_object(row, job->prio_factors);
	return row;
}

static shared_name *copy_name(shim_factors_rows *rows, const part_record_t *part)
{
	row_names *known = malloc(sizeof(*known));
	shared_name *name = malloc(sizeof(*name) + strlen(part->name) + 1);

	if (!known || !name) {
		free(known);
		free(name);
		return NULL;
	}
	name->rows = 0;
	strcpy(name->text, part->name);
	*known = (row_names) { .part = part, .name = name, .next = rows->names };
	rows->names = known;
	return name;
}

static char *partition_name(shim_factors_rows *rows, const part_record_t *part)
{
	row_names *known = rows->names;
	shared_name *name;

	while (known && known->part != part)
		known = known->next;
	name = known ? known->name : copy_name(rows, part);
	if (!name)
		return NULL;
	name->rows++;
	return name->text;
}

static void free_names(row_names *names)
{
	while (names) {
		row_names *next = names->next;

		free(names);
		names = next;
	}
}
#else
typedef struct shim_row {
	priority_factors_object_t *row;
} made_row;

static priority_factors_object_t *begin_row(made_row *made)
{
	return made->row = xmalloc(sizeof(*made->row));
}

static void *finish_row(const made_row *made)
{
	return made->row;
}

/* The strings are not the row's. */
static void free_row(void *arg)
{
	priority_factors_object_t *row = arg;

	slurm_destroy_priority_factors(row->prio_factors);
	xfree(row);
}

static HOST_FACTORS *copy_factors(priority_factors_object_t *row, const job_record_t *job)
{
	row->prio_factors = xmalloc(sizeof(*row->prio_factors));
	slurm_copy_priority_factors(row->prio_factors, job->prio_factors);
	return row->prio_factors;
}

static char *partition_name(shim_factors_rows *rows, const part_record_t *part)
{
	(void) rows;
	return part->name;
}

static void free_names(struct shim_row_names *names)
{
	(void) names;
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
	return qos ? qos->name : NULL;
}
#endif

static bool reserve_rows(shim_factors_rows *rows, size_t cap)
{
	made_row *grown;

	if (cap <= rows->cap)
		return true;
	grown = reallocarray(rows->at, cap, sizeof(*grown));
	if (!grown)
		return false;
	rows->at = grown;
	rows->cap = cap;
	return true;
}

/* Where few rows come, most of the memory is never touched. */
void shim_factors_begin(shim_factors_rows *rows)
{
	if (&job_list && job_list)
		(void) reserve_rows(rows, (size_t) list_count(job_list));
}

void shim_factors_touch(shim_factors_rows *rows)
{
	if (rows->cap)
		memset(rows->at, 0, rows->cap * sizeof(*rows->at));
}

void shim_factors_add(shim_factors_rows *rows, const void *arg, const shim_factors_row *row)
{
	const job_record_t *job = arg;
	const part_record_t *part = row->partition ? (part_record_t *) (uintptr_t) row->partition
						   : job->part_ptr;
	priority_factors_object_t *out;

	if (rows->len == rows->cap && !reserve_rows(rows, 2 * rows->cap + 64))
		return;
	out = begin_row(&rows->at[rows->len++]);
	if (job->direct_set_prio && !(HOST_FACTORS_IN_ROW && job->part_ptr_list))
		out->direct_prio = job->priority;
	else if (job->prio_factors)
		replace_terms(copy_factors(out, job), row);
	HOST_ROW_NAME_JOB(out, job);
	out->partition = part ? partition_name(rows, part) : NULL;
	out->user_id = job->user_id;
#if !HOST_FACTORS_IN_ROW
	out->account = job->account;
	out->qos = qos_name(job, row->qos_id);
#endif
}

void *shim_factors_list(shim_factors_rows *rows)
{
	host_list list = rows->len ? list_create(free_row) : NULL;

	for (size_t i = 0; i < rows->len; i++)
		list_append(list, finish_row(&rows->at[i]));
	free(rows->at);
	free_names(rows->names);
	*rows = (shim_factors_rows) { 0 };
	return list;
}
