/* The jobs, and the fields of their records that a plugin reads. */
#include "host.h"

static job_record_t **job_of_id;
static uint32_t ids_room;

job_record_t *twin_job(uint32_t id)
{
	return (id < ids_room) ? job_of_id[id] : NULL;
}

static void remember(job_record_t *job)
{
	if (job->job_id >= ids_room) {
		uint32_t room = job->job_id * 2 + 64;

		xrecalloc(job_of_id, room, sizeof(*job_of_id));
		ids_room = room;
	}
	job_of_id[job->job_id] = job;
	if (!job_list)
		job_list = list_create(NULL);
	list_append(job_list, job);
}

static job_record_t *blank(uint32_t id)
{
	job_record_t *job = xmalloc(sizeof(*job));
	twin_details *details = xmalloc(sizeof(*details));

	job->magic = JOB_MAGIC;
	details->magic = DETAILS_MAGIC;
	job->details = details;
	job->job_id = id;
	twin_job_name_step(job);
	job->array_task_id = NO_VAL;
	job->prio_factors = xmalloc(sizeof(twin_factors));
	job->site_factor = NICE_OFFSET;
	job->billable_tres = (double)NO_VAL;
	job->priority = NO_VAL;
	return job;
}

/* Fills TRES counts from keys that are the names of TRES. */
static void count_tres(uint64_t *count, const twin_line *line)
{
	for (int i = 0; i < slurmctld_tres_cnt; i++)
		count[i] = twin_word_u64(line, assoc_mgr_tres_name_array[i],
					 count[i]);
}

void twin_job_set_assoc(job_record_t *job, uint32_t assoc_id)
{
	slurmdb_assoc_rec_t key = { .id = assoc_id };

	job->assoc_ptr = NULL;
	job->assoc_id = 0;
	if (!assoc_id ||
	    assoc_mgr_fill_in_assoc(NULL, &key, 0, &job->assoc_ptr, false) ||
	    !job->assoc_ptr)
		return;
	job->assoc_id = assoc_id;
	xfree(job->account);
	job->account = xstrdup(job->assoc_ptr->acct);
	if (job->assoc_ptr->user)
		job->user_id = job->assoc_ptr->uid;
}

void twin_job_set_qos(job_record_t *job, uint32_t qos_id)
{
	job->qos_id = qos_id;
	job->qos_ptr = qos_id ? list_find_first(assoc_mgr_qos_list,
						slurmdb_find_qos_in_list,
						&job->qos_id) :
				NULL;
	if (!job->qos_ptr)
		job->qos_id = 0;
}

void twin_job_set_parts(job_record_t *job, const char *names)
{
	FREE_NULL_LIST(job->part_ptr_list);
	job->part_ptr_list = twin_part_list(names, &job->part_ptr);
	xfree(job->partition);
	job->partition = xstrdup(names);
	twin_job_drop_array(job);
}

#ifdef TWIN_PRIO_MULT
/* "1,2" as the list of a job, by priority; the first is the job's own QOS. */
void twin_job_set_qos_list(job_record_t *job, const char *ids)
{
	FREE_NULL_LIST(job->qos_list);
	job->details->qos_req = (char *)ids;
	while (ids && *ids) {
		uint32_t id = strtoul(ids, (char **)&ids, 10);
		slurmdb_qos_rec_t *qos = list_find_first(
			assoc_mgr_qos_list, slurmdb_find_qos_in_list, &id);

		if (!job->qos_list)
			job->qos_list = list_create(NULL);
		if (qos && !list_find_first(job->qos_list,
					    slurmdb_find_qos_in_list, &id))
			list_append(job->qos_list, qos);
		ids += (*ids == ',');
	}
	if (job->qos_list && (list_count(job->qos_list) < 2))
		FREE_NULL_LIST(job->qos_list);
	if (!job->qos_list)
		return;
	list_sort(job->qos_list, priority_sort_qos_desc);
	job->qos_ptr = list_peek(job->qos_list);
	job->qos_id = job->qos_ptr->id;
}


/* After the association manager's records were rebuilt. */
static void relink_qos_list(job_record_t *job)
{
	if (job->qos_list)
		twin_job_set_qos_list(job, job->details->qos_req);
}

static void copy_qos_list(job_record_t *to, job_record_t *from)
{
	if (from->qos_list)
		to->qos_list = list_shallow_copy(from->qos_list);
}

static void free_qos_list(job_record_t *job)
{
	FREE_NULL_LIST(job->qos_list);
}
#else
void twin_job_set_qos_list(job_record_t *job, const char *ids)
{
	(void)job, (void)ids;
}

static void relink_qos_list(job_record_t *job)
{
	(void)job;
}

static void copy_qos_list(job_record_t *to, job_record_t *from)
{
	(void)to, (void)from;
}

static void free_qos_list(job_record_t *job)
{
	(void)job;
}
#endif

job_record_t *twin_job_new(const twin_line *line)
{
	uint32_t id = twin_arg_u32(line);
	const char *parts = twin_word(line, "part");
	job_record_t *job;
	twin_details *details;

	if (twin_job(id))
		return NULL;
	if (!parts)
		twin_usage_error("line %d: a job needs part=", line->number);
	job = blank(id);
	details = job->details;
	job->user_id = twin_word_u32(line, "uid", 10000);
	twin_job_set_assoc(job, twin_word_u32(line, "assoc", 0));
	twin_job_set_qos(job, twin_word_u32(line, "qos", 0));
	twin_job_set_parts(job, parts);
	job->time_limit = twin_word_u32(line, "limit", NO_VAL);
	job->site_factor = NICE_OFFSET + twin_word_i64(line, "site", 0);
	details->nice = NICE_OFFSET + twin_word_i64(line, "nice", 0);
	details->submit_time = twin_clock_now();
	details->begin_time = twin_clock_now() + twin_word_i64(line, "begin", 0);
	details->accrue_time = twin_word_i64(line, "accrue", 1) ?
				       twin_clock_now() : 0;
	job->tres_req_cnt = xcalloc(slurmctld_tres_cnt, sizeof(uint64_t));
	count_tres(job->tres_req_cnt, line);
	details->min_cpus = job->tres_req_cnt[TRES_ARRAY_CPU];
	details->max_cpus = twin_word_u32(line, "maxcpus", NO_VAL);
	details->min_nodes = job->tres_req_cnt[TRES_ARRAY_NODE];
	twin_job_set_qos_list(job, twin_word(line, "qoslist"));
	job->direct_set_prio = twin_word_u32(line, "direct", 0) != 0;
	job->priority = twin_word_u32(line, "direct", NO_VAL);
	remember(job);
	return job;
}

void twin_job_allocate(job_record_t *job, const twin_line *line)
{
	size_t size = slurmctld_tres_cnt * sizeof(uint64_t);

	if (!job->tres_alloc_cnt) {
		job->tres_alloc_cnt =
			xcalloc(slurmctld_tres_cnt, sizeof(uint64_t));
		memcpy(job->tres_alloc_cnt, job->tres_req_cnt, size);
	}
	count_tres(job->tres_alloc_cnt, line);
	job->tres_alloc_cnt[TRES_ARRAY_ENERGY] = NO_VAL64;
	job->total_cpus = job->tres_alloc_cnt[TRES_ARRAY_CPU];
	job->total_nodes = job->tres_alloc_cnt[TRES_ARRAY_NODE];
	job->tres_alloc_cnt[TRES_ARRAY_BILLING] =
		calc_job_billable_tres(job, job->start_time, false);
}

void twin_job_unallocate(job_record_t *job)
{
	xfree(job->tres_alloc_cnt);
	job->total_cpus = 0;
	job->billable_tres = (double)NO_VAL;
}

/* ---- priorities per partition ------------------------------------------------ */

#ifdef TWIN_PRIO_MULT
static uint32_t *array_of(job_record_t *job)
{
	return TWIN_PRIO_MULT(job) ? TWIN_PRIO_MULT(job)->priority_array : NULL;
}

void twin_job_drop_array(job_record_t *job)
{
	if (!TWIN_PRIO_MULT(job))
		return;
	xfree(TWIN_PRIO_MULT(job)->priority_array);
	xfree(TWIN_PRIO_MULT(job)->priority_array_names);
	xfree(TWIN_PRIO_MULT(job));
}

static void copy_array(job_record_t *to, job_record_t *from)
{
	size_t size = xsize(array_of(from));

	TWIN_PRIO_MULT(to) = xmalloc(sizeof(*TWIN_PRIO_MULT(to)));
	TWIN_PRIO_MULT(to)->priority_array = xmalloc(size);
	memcpy(array_of(to), array_of(from), size);
	TWIN_PRIO_MULT(to)->priority_array_names =
		xstrdup(TWIN_PRIO_MULT(from)->priority_array_names);
}
#else
static uint32_t *array_of(job_record_t *job)
{
	return job->priority_array;
}

void twin_job_drop_array(job_record_t *job)
{
	xfree(job->priority_array);
}

static void copy_array(job_record_t *to, job_record_t *from)
{
	size_t size = xsize(array_of(from));

	to->priority_array = xmalloc(size);
	memcpy(to->priority_array, from->priority_array, size);
}
#endif

void twin_job_check_array(job_record_t *job)
{
	if (array_of(job))
		twin_memory_check(array_of(job), "the priority array of job",
				  job->job_id);
}

/* Only the first entries for a job with several QOS, as in slurmctld. */
void twin_job_fill_array(job_record_t *job, uint32_t priority)
{
	if (!job->part_ptr_list || !array_of(job))
		return;
	for (int i = 0; i < list_count(job->part_ptr_list); i++)
		array_of(job)[i] = priority;
}

/* ---- copies and ends ----------------------------------------------------------- */

job_record_t *twin_job_split(job_record_t *job, uint32_t id)
{
	size_t size = slurmctld_tres_cnt * sizeof(uint64_t);
	job_record_t *copy;

	if (twin_job(id))
		return NULL;
	copy = blank(id);
	*copy->details = *job->details;
	copy->job_state = job->job_state;
	copy->account = xstrdup(job->account);
	copy->assoc_id = job->assoc_id;
	copy->assoc_ptr = job->assoc_ptr;
	copy->qos_id = job->qos_id;
	copy->qos_ptr = job->qos_ptr;
	copy->part_ptr = job->part_ptr;
	copy->partition = xstrdup(job->partition);
	copy->user_id = job->user_id;
	copy->time_limit = job->time_limit;
	copy->priority = job->priority;
	copy->direct_set_prio = job->direct_set_prio;
	copy->site_factor = job->site_factor;
	copy->tres_req_cnt = xmalloc(size);
	memcpy(copy->tres_req_cnt, job->tres_req_cnt, size);
#ifdef TWIN_PRIO_MULT
	slurm_copy_priority_factors(copy->prio_factors, job->prio_factors);
#else
	slurm_copy_priority_factors_object(copy->prio_factors,
					   job->prio_factors);
#endif
	copy_qos_list(copy, job);
	if (job->part_ptr_list)
		copy->part_ptr_list = list_shallow_copy(job->part_ptr_list);
	if (array_of(job))
		copy_array(copy, job);
	remember(copy);
	return copy;
}

static int is_same(void *a, void *b)
{
	return a == b;
}

void twin_job_purge(job_record_t *job)
{
	list_delete_all(job_list, is_same, job);
	job_of_id[job->job_id] = NULL;
	twin_job_drop_array(job);
	FREE_NULL_LIST(job->part_ptr_list);
	free_qos_list(job);
	twin_factors_free(job->prio_factors);
	xfree(job->tres_req_cnt);
	xfree(job->tres_alloc_cnt);
	xfree(job->account);
	xfree(job->partition);
	xfree(job->details);
	xfree(job);
}

/* ---- pointers into the association manager ----------------------------------- */

static int relink(void *each, void *unused)
{
	job_record_t *job = each;

	(void)unused;
	twin_job_set_assoc(job, job->assoc_id);
	twin_job_set_qos(job, job->qos_id);
	relink_qos_list(job);
	/* The saved state of a job has no factors. */
	twin_factors_free(job->prio_factors);
	job->prio_factors = xmalloc(sizeof(twin_factors));
	twin_job_drop_array(job);
	return 0;
}

void twin_jobs_relink(void)
{
	if (job_list)
		list_for_each(job_list, relink, NULL);
}

static int unlink_assoc(void *each, void *assoc)
{
	job_record_t *job = each;

	if (job->assoc_ptr != assoc)
		return 0;
	if (IS_JOB_PENDING(job))
		job->priority = 0;
	job->assoc_ptr = NULL;
	job->assoc_id = 0;
	return 0;
}

void twin_jobs_unlink_assoc(slurmdb_assoc_rec_t *assoc)
{
	slurmctld_lock_t locks = { .job = WRITE_LOCK };

	if (!job_list)
		return;
	lock_slurmctld(locks);
	list_for_each(job_list, unlink_assoc, assoc);
	unlock_slurmctld(locks);
}

static int unlink_qos(void *each, void *qos)
{
	job_record_t *job = each;

	if (job->qos_ptr != qos)
		return 0;
	if (IS_JOB_PENDING(job))
		job->priority = 0;
	job->qos_ptr = NULL;
	job->qos_id = 0;
	return 0;
}

void twin_jobs_unlink_qos(slurmdb_qos_rec_t *qos)
{
	slurmctld_lock_t locks = { .job = WRITE_LOCK };

	if (!job_list)
		return;
	lock_slurmctld(locks);
	list_for_each(job_list, unlink_qos, qos);
	unlock_slurmctld(locks);
}

/* A pending job stays in its other partitions, or is cancelled without one. */
static int unlink_part(void *each, void *part)
{
	job_record_t *job = each;

	if (job->part_ptr_list &&
	    list_delete_all(job->part_ptr_list, is_same, part))
		twin_job_drop_array(job);
	if (job->part_ptr != part)
		return 0;
	job->part_ptr = job->part_ptr_list ? list_peek(job->part_ptr_list) :
					     NULL;
	if (!job->part_ptr && IS_JOB_PENDING(job)) {
		job->job_state = JOB_CANCELLED;
		job->start_time = job->end_time = twin_clock_now();
	}
	return 0;
}

void twin_jobs_unlink_part(part_record_t *part)
{
	if (job_list)
		list_for_each(job_list, unlink_part, part);
}
