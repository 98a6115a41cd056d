/*
 * jobs.c - copies of jobs: those that may get a priority, and those that may be charged; the walk
 * over all jobs.
 */
#include "jobs.h"
#include "prefetch.h"

static int copy_partition_key(void *part, void *arg)
{
	shim_snapshot *snapshot = arg;
	uint64_t *key = HOST_PUSH(snapshot, snapshot->partition_keys, 1);

	if (key)
		*key = (uintptr_t) part;
	return 0;
}

/*
 * The keys of a job's partitions, highest tier first: slurmctld looks priorities up in that order.
 * If slurmctld does not keep the list sorted, the copy is sorted: stable, as its list_sort.
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

/* The array of a job's priorities in these lists, unless slurmctld would rebuild it. */
static const uint32_t *variants_of(const shim_snapshot *snapshot, const job_record_t *job)
{
#if HOST_HAS_MULTIPLES
	if (!job->HOST_MULTIPLES || job->HOST_MULTIPLES->last_update < snapshot->last_part_update)
		return NULL;
	return job->HOST_MULTIPLES->priority_array;
#else
	(void) snapshot;
	return job->priority_array;
#endif
}

static void copy_variants(shim_snapshot *snapshot, const job_record_t *job, shim_lists *lists)
{
	const uint32_t *from = variants_of(snapshot, job);
	size_t len = from ? (size_t) xsize((void *) from) / sizeof(*from) : 0;
	uint32_t *to;

	lists->variants = (uint32_t) snapshot->variants.len;
	to = len ? HOST_PUSH(snapshot, snapshot->variants, len) : NULL;
	if (!to)
		return;
	memcpy(to, from, len * sizeof(*to));
	lists->variants_len = (uint32_t) len;
}

/* Few jobs have lists. */
static uint32_t copy_lists(shim_snapshot *snapshot, const shim_want *want,
			   const job_record_t *job)
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
	if (want->variants)
		copy_variants(snapshot, job, lists);
	return (uint32_t) snapshot->lists.len - 1;
}

/* ---- rows of partitions and QOS ------------------------------------------------------------- */

/* Slot that caches the row of a record; several records may share a slot. */
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

/* `rows` is NULL for a single job. */
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

/* The number of the QOS in the job counts; it nearly always equals that of the record. */
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

/* Allocated TRES if there are any and they are counted, otherwise requested ones. */
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

static bool is_in(const job_record_t *job, uint32_t states)
{
	return states >> (job->job_state & JOB_STATE_BASE) & 1;
}

/* Times of a waiting job have no meaning, unless such jobs must be charged. */
static bool may_have_run(const shim_want *want, const job_record_t *job)
{
	return job->job_state != JOB_PENDING || (want->accruing_states & SHIM_STATE_PENDING);
}

static bool is_waiting(const shim_want *want, const job_record_t *job)
{
	return job->priority != 0 && is_in(job, want->waiting_states);
}

static uint16_t flags_of(const shim_want *want, const job_record_t *job, uint32_t time_limit)
{
	unsigned int flags = 0;

	flags |= time_limit == INFINITE ? SHIM_TIME_LIMIT_INFINITE : 0;
	flags |= time_limit == NO_VAL ? SHIM_TIME_LIMIT_UNSET : 0;
	flags |= job->direct_set_prio ? SHIM_DIRECT : 0;
	flags |= job->details ? SHIM_HAS_DETAILS : 0;
	if (job->job_state == JOB_PENDING) {
		/* Nearly all jobs. */
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

static void copy_queued(shim_snapshot *snapshot, const shim_want *want, const job_record_t *job)
{
	shim_queued *row = HOST_PUSH(snapshot, snapshot->queued, 1);

	if (!row)
		return;
	row->submit_time = job->details ? job->details->submit_time : 0;
	row->billing = 0;
	if (!want->billed)
		return;
	/*
	 * slurmctld counts it when the job is submitted, by the weights of its partition. Its
	 * position is within every array of TRES, however old.
	 */
	row->billing = job->tres_req_cnt ? job->tres_req_cnt[TRES_ARRAY_BILLING] : 0;
	if (!row->billing)
		row->billing = wanted_cpus(job);
}

/* True if no pass prices the job, because it has a place in an order. Nearly all pending jobs. */
static bool is_placed_only(const shim_want *want, const job_record_t *job)
{
	return want->order_only && job->job_state == JOB_PENDING && !job->direct_set_prio;
}

/* Copies fields that only pricing reads. */
static void copy_priced(shim_snapshot *snapshot, const shim_want *want, const job_record_t *job,
			shim_waiting *row)
{
	const __typeof__(*job->details) *details = job->details;

	row->accrue_time = details ? details->accrue_time : 0;
	row->cpus = wanted_cpus(job);
	row->nodes = details ? details->min_nodes : 1;
	row->site_factor = (int32_t) (job->site_factor - NICE_OFFSET);
	if (want->waiting_tres)
		row->tres = copy_wanted_tres(snapshot, want, job);
}

void host_copy_waiting(shim_snapshot *snapshot, const shim_want *want, host_rows *rows,
		       const job_record_t *job)
{
	bool prices = !is_placed_only(want, job);
	const __typeof__(*job->details) *details = job->details;
	shim_waiting *row = HOST_PUSH(snapshot, snapshot->waiting, 1);
	uint64_t *at = HOST_PUSH(snapshot, snapshot->waiting_at, 1);

	if (!row || !at)
		return;
	*at = (uintptr_t) job;
	/* Field by field: the compiler would build a whole row on the stack and copy it. */
	row->accrue_time = 0;
	row->job_id = job->job_id;
	row->assoc_id = job->assoc_ptr ? job->assoc_id : 0;
	row->partition = (prices || want->order_partition) ?
			 partition_row(snapshot, rows, job->part_ptr) : SHIM_NONE;
	row->qos = (prices || want->order_qos) ? qos_row(snapshot, rows, job) : SHIM_NONE;
	row->priority = job->priority;
	row->cpus = row->nodes = 0;
	row->time_limit = (prices || want->billed) ? job->time_limit : NO_VAL;
	row->nice = details ? (int32_t) (details->nice - NICE_OFFSET) : 0;
	row->site_factor = 0;
	row->lists = copy_lists(snapshot, want, job);
	row->tres = SHIM_NONE;
	row->flags = flags_of(want, job, row->time_limit);
	if (prices)
		copy_priced(snapshot, want, job, row);
	if (want->queued)
		copy_queued(snapshot, want, job);
}

/* Result that slurmctld's calc_job_billable_tres would give, without storing it in the job. */
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
	if (want->outcomes) {
		row->preempted = job->preempt_time != 0;
		row->state = job->job_state;
		row->exit_code = job->exit_code;
		row->suspend_time = job->suspend_time;
		row->ran_before = job->pre_sus_time;
	}
	row->tres = host_copy_tres(snapshot, NULL, job->tres_alloc_cnt);
	if (job->tres_alloc_cnt && (!row->billable_known || job->resize_time))
		row->billable_now = billable_now(job, want->flags);
}

/* True if the job may be charged; also if it was charged and the caller wants such jobs. */
static bool is_accruing(const shim_want *want, const job_record_t *job)
{
	if (!want->accruing_states || !may_have_run(want, job) || !job->start_time)
		return false;
	if (job->end_time_exp == (time_t) NO_VAL)
		return want->charged_ends && IS_JOB_FINISHED(job) &&
		       job->end_time > want->ended_after;
	return is_in(job, want->accruing_states) ||
	       (want->accruing_completing && IS_JOB_COMPLETING(job));
}

/*
 * `queued`: a constant, so that a pass without an order has none of the tests of one with an order:
 * with them a pass over 1,000,000 scattered jobs took 380 to 500 ms instead of 380.
 */
static inline __attribute__((always_inline)) void
prefetch_fields(const shim_want *want, const job_record_t *job, bool queued)
{
	bool prices = !queued || !want->order_only;

	prefetch_l2(&job->assoc_id);
	prefetch_l2(&job->details);
	prefetch_l2(&job->job_id);
	prefetch_l2(&job->job_state);
	prefetch_l2(&job->part_ptr_list);
	prefetch_l2(&job->priority);
#if HOST_HAS_QOS_LISTS
	prefetch_l2(&job->qos_list);
#endif
	if (prices || want->order_partition)
		prefetch_l2(&job->part_ptr);
	if (prices || want->order_qos)
		prefetch_l2(&job->qos_ptr);
	if (prices || want->billed)
		prefetch_l2(&job->time_limit);
	if (prices) {
		prefetch_l2(&job->site_factor);
		prefetch_l2(&job->total_cpus);
	}
	if (queued && want->billed)
		prefetch_l2(&job->tres_req_cnt);
	if (want->waiting_tres) {
		prefetch_l2(&job->tres_req_cnt);
		prefetch_l2(&job->tres_alloc_cnt);
	}
}

/* Prefetches the fields that are read of a job that may be priced. */
static inline __attribute__((always_inline)) void
prefetch_waiting(const shim_want *want, const job_record_t *job, bool queued)
{
	if (job->details) {
		prefetch_l2(&job->details->nice);
		if (!queued || !want->order_only) {
			prefetch_l2(&job->details->accrue_time);
			prefetch_l2(&job->details->max_cpus);
			prefetch_l2(&job->details->min_cpus);
			prefetch_l2(&job->details->min_nodes);
		}
		if (queued)
			prefetch_l2(&job->details->submit_time);
	}
	if (job->part_ptr_list)
		host_prefetch_list(job->part_ptr_list);
	if (queued && want->billed && job->tres_req_cnt)
		prefetch_l2(&job->tres_req_cnt[TRES_ARRAY_BILLING]);
	if (want->waiting_tres) {
		prefetch_l2_range(job->tres_req_cnt, host_tres_count() * sizeof(uint64_t));
		prefetch_l2_range(job->tres_alloc_cnt, host_tres_count() * sizeof(uint64_t));
	}
}

static inline __attribute__((always_inline)) void
prefetch_pointed(const shim_want *want, const job_record_t *job, bool queued)
{
	if (is_waiting(want, job))
		prefetch_waiting(want, job, queued);
	if (may_have_run(want, job)) {
		/* Few jobs are charged, so their lines are not prefetched for all jobs. */
		prefetch_l2(&job->start_time);
		prefetch_l2(&job->end_time_exp);
		prefetch_l2(&job->resize_time);
		prefetch_l2(&job->tres_alloc_cnt);
		prefetch_l2(&job->user_id);
		prefetch_l2(&job->billable_tres);
	}
}

void host_prefetch_job(const shim_want *want, const job_record_t *job)
{
	prefetch_fields(want, job, want->queued);
}

void host_prefetch_parts(const shim_want *want, const job_record_t *job)
{
	prefetch_pointed(want, job, want->queued);
}

/* ---- all jobs -------------------------------------------------------------------------------- */

/* The lock that the pointers need is held during the whole walk. */
typedef struct {
	shim_snapshot *snapshot;
	const shim_want *want;
	pipeline jobs;
	host_rows rows;
} job_walk;

static void prefetch_record(const void *job, void *arg)
{
	prefetch_fields(((const job_walk *) arg)->want, job, false);
}

static void prefetch_parts(const void *job, void *arg)
{
	prefetch_pointed(((const job_walk *) arg)->want, job, false);
}

static void prefetch_queued_record(const void *job, void *arg)
{
	prefetch_fields(((const job_walk *) arg)->want, job, true);
}

static void prefetch_queued_parts(const void *job, void *arg)
{
	prefetch_pointed(((const job_walk *) arg)->want, job, true);
}

/* Prefetches the data to which the fields point. */
static void prefetch_beyond(const void *arg_job, void *arg)
{
	const shim_want *want = ((const job_walk *) arg)->want;
	const job_record_t *job = arg_job;

	if (may_have_run(want, job))
		prefetch_l2_range(job->tres_alloc_cnt, host_tres_count() * sizeof(uint64_t));
}

static bool copy_job(void *arg_job, void *arg)
{
	const job_record_t *job = arg_job;
	job_walk *w = arg;
	size_t waiting = w->snapshot->waiting.len;

	if (is_waiting(w->want, job))
		host_copy_waiting(w->snapshot, w->want, &w->rows, job);
	if (is_accruing(w->want, job))
		host_copy_accruing(w->snapshot, w->want, job, waiting);
	return !w->snapshot->out_of_memory;
}

static const pipeline_stages stages = {
	.prefetch = { prefetch_record, prefetch_parts, prefetch_beyond },
	.process = copy_job,
};

/* Of passes with an order. */
static const pipeline_stages queued_stages = {
	.prefetch = { prefetch_queued_record, prefetch_queued_parts, prefetch_beyond },
	.process = copy_job,
};

static int walk_to(void *job, void *arg)
{
	job_walk *w = arg;

	return pipeline_push(&w->jobs, &stages, job, w) ? 0 : -1;
}

static int walk_queued_to(void *job, void *arg)
{
	job_walk *w = arg;

	return pipeline_push(&w->jobs, &queued_stages, job, w) ? 0 : -1;
}

void host_copy_jobs(shim_snapshot *snapshot, const shim_want *want)
{
	job_walk w = { .snapshot = snapshot, .want = want };

	if (want->queued) {
		(void) list_for_each_ro(job_list, walk_queued_to, &w);
		pipeline_drain(&w.jobs, &queued_stages, &w);
	} else {
		(void) list_for_each_ro(job_list, walk_to, &w);
		pipeline_drain(&w.jobs, &stages, &w);
	}
}
