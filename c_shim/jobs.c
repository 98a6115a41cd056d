/*
 * jobs.c - copies of jobs: those that may get a priority, and those that may be charged; the walk
 * over all.
 */
#include "host.h"

void host_copy_site(shim_snapshot *snapshot)
{
	snapshot->tres_count = host_tres_count();
	snapshot->cluster_cpus = cluster_cpus;
	snapshot->cluster_nodes = HOST_NODE_COUNT > 0 ? (uint32_t) HOST_NODE_COUNT : 0;
	snapshot->last_part_update = host_last_part_update();
	snapshot->enforces_limits = shim_enforces_limits();
}

static int copy_partition_key(void *part, void *arg)
{
	shim_snapshot *snapshot = arg;
	uint64_t *key = HOST_PUSH(snapshot, snapshot->partition_keys, 1);

	if (key)
		*key = (uintptr_t) part;
	return 0;
}

/*
 * The keys of a job's partitions, highest tier first: slurmctld looks priorities up in that
 * order. Where it does not keep the list sorted, the copy is: stable, as its list_sort is.
 */
static void copy_partition_list(shim_snapshot *snapshot, const job_record_t *job,
				shim_lists *lists)
{
	size_t start = snapshot->partition_keys.len;
	uint64_t *keys;

	lists->partitions = (uint32_t) start;
	if (!job->part_ptr_list)
		return;
	(void) list_for_each_ro(job->part_ptr_list, copy_partition_key, snapshot);
	lists->partitions_len = (uint32_t) (snapshot->partition_keys.len - start);
	keys = snapshot->partition_keys.at + start;
	for (uint32_t i = 1; i < lists->partitions_len; i++) {
		uint64_t key = keys[i];
		uint16_t tier = ((part_record_t *) (uintptr_t) key)->priority_tier;
		uint32_t j = i;

		for (; j > 0; j--) {
			part_record_t *before = (part_record_t *) (uintptr_t) keys[j - 1];

			if (before->priority_tier >= tier)
				break;
			keys[j] = keys[j - 1];
		}
		keys[j] = key;
	}
}

#if HOST_HAS_QOS_LISTS
static int copy_qos_id(void *qos, void *arg)
{
	shim_snapshot *snapshot = arg;
	uint32_t *id = HOST_PUSH(snapshot, snapshot->qos_ids, 1);

	if (id)
		*id = ((slurmdb_qos_rec_t *) qos)->id;
	return 0;
}
#endif

static void copy_qos_list(shim_snapshot *snapshot, const job_record_t *job, shim_lists *lists)
{
	lists->qos = (uint32_t) snapshot->qos_ids.len;
#if HOST_HAS_QOS_LISTS
	if (!job->qos_list)
		return;
	(void) list_for_each_ro(job->qos_list, copy_qos_id, snapshot);
	lists->qos_len = (uint32_t) snapshot->qos_ids.len - lists->qos;
#else
	(void) job;
#endif
}

/* Few jobs have any. */
static uint32_t copy_lists(shim_snapshot *snapshot, const job_record_t *job)
{
	shim_lists *lists;

	if (!job->part_ptr_list && !host_has_qos_list(job))
		return SHIM_NONE;
	lists = HOST_PUSH(snapshot, snapshot->lists, 1);
	if (!lists)
		return SHIM_NONE;
	*lists = (shim_lists) { 0 };
	copy_partition_list(snapshot, job, lists);
	copy_qos_list(snapshot, job, lists);
	return (uint32_t) snapshot->lists.len - 1;
}

/* ---- rows of partitions and QOS ------------------------------------------------------------- */

/* Where the row of a record is remembered; several records may share a place. */
static host_row *place_of(host_row *places, const void *record)
{
	return &places[((uintptr_t) record >> 4) * 0x9e3779b97f4a7c15u >> 58];
}

static uint32_t find_partition(const shim_snapshot *snapshot, const part_record_t *part)
{
	for (uint32_t i = 0; i < snapshot->partitions.len; i++) {
		if (snapshot->partitions.at[i].key == (uintptr_t) part)
			return i;
	}
	return SHIM_NONE;
}

static uint32_t find_qos(const shim_snapshot *snapshot, uint32_t id)
{
	for (uint32_t i = 0; i < snapshot->qos.len; i++) {
		if (snapshot->qos.at[i].id == id)
			return i;
	}
	return SHIM_NONE;
}

/* `rows` is NULL where it is for one job. */
static uint32_t partition_row(const shim_snapshot *snapshot, host_rows *rows,
			      const part_record_t *part)
{
	host_row *place;

	if (!part || !rows)
		return part ? find_partition(snapshot, part) : SHIM_NONE;
	place = place_of(rows->partition, part);
	if (place->record != part)
		*place = (host_row) { .record = part, .row = find_partition(snapshot, part) };
	return place->row;
}

/* The job's own number of its QOS counts; nearly always it is the record's. */
static uint32_t qos_row(const shim_snapshot *snapshot, host_rows *rows,
			const job_record_t *job)
{
	host_row *place;

	if (!job->qos_ptr || !rows)
		return job->qos_ptr ? find_qos(snapshot, job->qos_id) : SHIM_NONE;
	place = place_of(rows->qos, job->qos_ptr);
	if (place->record != job->qos_ptr || place->id != job->qos_id)
		*place = (host_row) { .record = job->qos_ptr, .id = job->qos_id,
				      .row = find_qos(snapshot, job->qos_id) };
	return place->row;
}

/* Allocated TRES where there are any and they are counted, else requested ones. */
static uint32_t copy_wanted_tres(shim_snapshot *snapshot, const shim_want *want,
				 const job_record_t *job)
{
	host_tres allocated = host_tres_of(job->tres_alloc_cnt);
	host_tres requested = host_tres_of(job->tres_req_cnt);
	size_t start = snapshot->tres.len, len = host_weighed_len(snapshot, want);
	uint64_t *row;

	if (!len)
		return SHIM_NONE;
	row = HOST_PUSH(snapshot, snapshot->tres, len);
	if (!row)
		return SHIM_NONE;
	for (uint32_t i = 0; i < len; i++) {
		uint32_t place = want->weighed ? want->weighed[i] : i;
		uint64_t alloc = host_tres_at(allocated, place);

		if (allocated.at && alloc != NO_CONSUME_VAL64)
			row[i] = alloc;
		else
			row[i] = host_tres_at(requested, place);
	}
	return (uint32_t) start;
}

static uint32_t wanted_cpus(const job_record_t *job)
{
	if (job->total_cpus)
		return job->total_cpus;
	if (!job->details)
		return 0;
	return job->details->max_cpus != NO_VAL ? job->details->max_cpus : job->details->min_cpus;
}

/* Times of a job that waits say nothing, unless all jobs are to be charged. */
static bool may_have_run(const shim_want *want, const job_record_t *job)
{
	return job->job_state != JOB_PENDING || want->all_jobs;
}

/* May the job get a priority, or does it have one, and the caller asks for such? */
static bool is_waiting(const shim_want *want, const job_record_t *job)
{
	return want->waiting && job->priority != 0 && (IS_JOB_PENDING(job) || want->all_jobs);
}

static uint16_t flags_of(const shim_want *want, const job_record_t *job)
{
	unsigned int flags = 0;

	flags |= job->time_limit == INFINITE ? SHIM_TIME_LIMIT_INFINITE : 0;
	flags |= job->time_limit == NO_VAL ? SHIM_TIME_LIMIT_UNSET : 0;
	flags |= job->direct_set_prio ? SHIM_DIRECT : 0;
	flags |= job->details ? SHIM_HAS_DETAILS : 0;
	if (job->job_state == JOB_PENDING) {
		/* Nearly all. */
		flags |= SHIM_PENDING;
	} else {
		flags |= IS_JOB_PENDING(job) ? SHIM_PENDING : 0;
		flags |= IS_JOB_POWER_UP_NODE(job) ? SHIM_POWERING_UP : 0;
		flags |= IS_JOB_FINISHED(job) || IS_JOB_COMPLETING(job) ? SHIM_ENDED : 0;
	}
	if (may_have_run(want, job)) {
		flags |= job->start_time ? SHIM_STARTED : 0;
		flags |= job->end_time_exp == (time_t) NO_VAL ? SHIM_ALREADY_CHARGED : 0;
	}
#if HOST_HAS_MULTIPLES
	flags |= job->HOST_MULTIPLES ? SHIM_HAS_VARIANTS : 0;
#endif
	return (uint16_t) flags;
}

void host_copy_waiting(shim_snapshot *snapshot, const shim_want *want, host_rows *rows,
		       const job_record_t *job)
{
	const __typeof__(*job->details) *details = job->details;
	shim_waiting *row = HOST_PUSH(snapshot, snapshot->waiting, 1);
	uint64_t *at = HOST_PUSH(snapshot, snapshot->waiting_at, 1);

	if (!row || !at)
		return;
	*at = (uintptr_t) job;
	/* Field by field: a whole row would be put together elsewhere and copied. */
	row->accrue_time = details ? details->accrue_time : 0;
	row->job_id = job->job_id;
	row->assoc_id = job->assoc_ptr ? job->assoc_id : 0;
	row->partition = partition_row(snapshot, rows, job->part_ptr);
	row->qos = qos_row(snapshot, rows, job);
	row->priority = job->priority;
	row->cpus = wanted_cpus(job);
	row->nodes = details ? details->min_nodes : 1;
	row->time_limit = job->time_limit;
	row->nice = details ? (int32_t) (details->nice - NICE_OFFSET) : 0;
	row->site_factor = (int32_t) (job->site_factor - NICE_OFFSET);
	row->lists = copy_lists(snapshot, job);
	row->tres = SHIM_NONE;
	row->flags = flags_of(want, job);
	if (want->waiting_tres)
		row->tres = copy_wanted_tres(snapshot, want, job);
}

/* What calc_job_billable_tres of slurmctld would say, without keeping it in the job. */
static double billable_now(const job_record_t *job, uint32_t flags)
{
	const part_record_t *part = job->part_ptr;

	if (!part || !part->billing_weights)
		return job->total_cpus;
	return assoc_mgr_tres_weighted(job->tres_alloc_cnt, part->billing_weights,
				       (uint16_t) flags, true);
}

void host_copy_accruing(shim_snapshot *snapshot, const shim_want *want, const job_record_t *job,
			size_t waiting)
{
	const slurmdb_qos_rec_t *part_qos = job->part_ptr ? job->part_ptr->qos_ptr : NULL;
	shim_accruing *row = HOST_PUSH(snapshot, snapshot->accruing, 1);

	if (!row)
		return;
	*row = (shim_accruing) {
		.start_time = job->start_time,
		.end_time = job->end_time,
		.end_time_exp = job->end_time_exp,
		.resize_time = job->resize_time,
		.billable_tres = job->billable_tres,
		.job_id = job->job_id,
		.user_id = job->user_id,
		.assoc_id = job->assoc_ptr ? job->assoc_id : 0,
		.qos_id = job->qos_ptr ? job->qos_id : 0,
		.partition_qos_id = part_qos ? part_qos->id : 0,
		.time_limit = job->time_limit,
		.waiting = (uint32_t) waiting,
		.time_limit_infinite = job->time_limit == INFINITE,
		.already_charged = job->end_time_exp == (time_t) NO_VAL,
		.billable_known = !fuzzy_equal(job->billable_tres, NO_VAL),
		.pending = IS_JOB_PENDING(job),
		.running = IS_JOB_RUNNING(job),
		.suspended = IS_JOB_SUSPENDED(job),
		.finished = IS_JOB_FINISHED(job),
		.completing = IS_JOB_COMPLETING(job),
		.resizing = IS_JOB_RESIZING(job),
		.powering_up = IS_JOB_POWER_UP_NODE(job),
	};
	row->tres = host_copy_tres(snapshot, NULL, job->tres_alloc_cnt);
	if (job->tres_alloc_cnt && (!row->billable_known || job->resize_time))
		row->billable_now = billable_now(job, want->flags);
}

/* May the job be charged, or was it, and the caller asks for such? */
static bool is_accruing(const shim_want *want, const job_record_t *job)
{
	if (!may_have_run(want, job) || !job->start_time)
		return false;
	if (job->end_time_exp == (time_t) NO_VAL)
		return want->charged_ends && IS_JOB_FINISHED(job) &&
		       job->end_time > want->ended_after;
	return !IS_JOB_PENDING(job) || IS_JOB_COMPLETING(job) || want->all_jobs;
}

void host_fetch_job(const shim_want *want, const job_record_t *job)
{
	host_ask(&job->assoc_id);
	host_ask(&job->details);
	host_ask(&job->job_id);
	host_ask(&job->job_state);
	host_ask(&job->part_ptr_list);
	host_ask(&job->part_ptr);
	host_ask(&job->priority);
	host_ask(&job->qos_ptr);
	host_ask(&job->site_factor);
	host_ask(&job->time_limit);
	host_ask(&job->total_cpus);
#if HOST_HAS_QOS_LISTS
	host_ask(&job->qos_list);
#endif
	if (want->waiting_tres) {
		host_ask(&job->tres_req_cnt);
		host_ask(&job->tres_alloc_cnt);
	}
}

/* What is read of a job that may be priced. */
static void fetch_waiting(const shim_want *want, const job_record_t *job)
{
	if (job->details) {
		host_ask(&job->details->accrue_time);
		host_ask(&job->details->max_cpus);
		host_ask(&job->details->min_cpus);
		host_ask(&job->details->min_nodes);
		host_ask(&job->details->nice);
	}
	if (job->part_ptr_list)
		host_fetch_list(job->part_ptr_list);
	if (want->waiting_tres) {
		host_fetch(job->tres_req_cnt, host_tres_count() * sizeof(uint64_t));
		host_fetch(job->tres_alloc_cnt, host_tres_count() * sizeof(uint64_t));
	}
}

void host_fetch_parts(const shim_want *want, const job_record_t *job)
{
	if (is_waiting(want, job))
		fetch_waiting(want, job);
	if (may_have_run(want, job)) {
		/* Few are charged: their lines are not asked for together with those of all. */
		host_ask(&job->start_time);
		host_ask(&job->end_time_exp);
		host_ask(&job->resize_time);
		host_ask(&job->tres_alloc_cnt);
		host_ask(&job->user_id);
		host_ask(&job->billable_tres);
	}
}

/* What the parts point to. */
static void fetch_beyond(const shim_want *want, const job_record_t *job)
{
	if (job->part_ptr_list && is_waiting(want, job))
		host_fetch_first(job->part_ptr_list);
	if (may_have_run(want, job))
		host_fetch(job->tres_alloc_cnt, host_tres_count() * sizeof(uint64_t));
}

/* What is read of nearly every job, when it has been asked for. */
static void bring_job(const job_record_t *job)
{
	host_bring(&job->assoc_id);
	host_bring(&job->details);
	host_bring(&job->job_id);
	host_bring(&job->job_state);
	host_bring(&job->part_ptr_list);
	host_bring(&job->part_ptr);
	host_bring(&job->priority);
	host_bring(&job->qos_ptr);
	host_bring(&job->site_factor);
	host_bring(&job->time_limit);
	host_bring(&job->total_cpus);
	if (job->details) {
		host_bring(&job->details->accrue_time);
		host_bring(&job->details->max_cpus);
		host_bring(&job->details->min_cpus);
		host_bring(&job->details->nice);
	}
}

static void copy_job(shim_snapshot *snapshot, const shim_want *want, host_rows *rows,
		     const job_record_t *job)
{
	size_t waiting = snapshot->waiting.len;

	if (is_waiting(want, job))
		host_copy_waiting(snapshot, want, rows, job);
	if (want->accruing && is_accruing(want, job))
		host_copy_accruing(snapshot, want, job, waiting);
}

/* ---- all jobs -------------------------------------------------------------------------------- */

/* See HOST_PER_STAGE. The lock that the pointers need is held all the time. */
typedef struct {
	shim_snapshot *snapshot;
	const shim_want *want;
	const job_record_t *job[HOST_ON_THE_WAY]; /* NULL where there is none */
	size_t turns;
	host_rows rows;
} job_walk;

/* The job that was found so many turns ago; NULL: none. */
static const job_record_t *found_before(const job_walk *w, size_t turns)
{
	return w->job[(w->turns - turns) % HOST_ON_THE_WAY];
}

/* The job that is to go through a stage in this turn; NULL: none. */
static const job_record_t *due(const job_walk *w, size_t stage)
{
	return found_before(w, stage * HOST_PER_STAGE);
}

static void take_turn(job_walk *w, const job_record_t *job)
{
	w->job[w->turns % HOST_ON_THE_WAY] = job;
	if (job)
		host_fetch_job(w->want, job);
	job = due(w, 1);
	if (job)
		host_fetch_parts(w->want, job);
	job = due(w, 2);
	if (job)
		fetch_beyond(w->want, job);
	job = due(w, 3);
	if (job && job->part_ptr_list && is_waiting(w->want, job))
		host_fetch_second(job->part_ptr_list);
	job = found_before(w, HOST_LAST_STAGE * HOST_PER_STAGE - HOST_NEAR);
	if (job)
		bring_job(job);
	job = due(w, HOST_LAST_STAGE);
	if (job)
		copy_job(w->snapshot, w->want, &w->rows, job);
	w->turns++;
}

static int walk_to(void *job, void *arg)
{
	job_walk *w = arg;

	take_turn(w, job);
	return w->snapshot->out_of_memory ? -1 : 0;
}

void host_copy_jobs(shim_snapshot *snapshot, const shim_want *want)
{
	job_walk w = { .snapshot = snapshot, .want = want };
	host_trail trail;

	host_trail_begin(&trail, &snapshot->job_nodes, (size_t) list_count(job_list));
	(void) host_trail_walk(&trail, job_list, walk_to, &w);
	host_trail_end(&trail);
	for (size_t i = 0; i < HOST_LAST_STAGE * HOST_PER_STAGE; i++)
		take_turn(&w, NULL);
}
