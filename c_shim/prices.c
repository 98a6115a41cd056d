/*
 * prices.c - writes priorities and their factors into slurmctld's jobs. Memory that slurmctld frees
 * later comes from its own allocator.
 */
#include "prefetch.h"
#include "records.h"

/* An xmalloc'ed copy of `from`, in the old array if that has the same size. */
static void keep_doubles(double **to, const double *from, size_t len)
{
	if (*to && (size_t) xsize(*to) != len * sizeof(**to))
		xfree(*to);
	if (!from || !len)
		return;
	if (!*to)
		*to = xcalloc(len, sizeof(**to));
	memcpy(*to, from, len * sizeof(**to));
}

static void clear_factors(HOST_FACTORS *factors)
{
	if (!factors)
		return;
	xfree(factors->tres_weights);
	xfree(factors->priority_tres);
	memset(factors, 0, sizeof(*factors));
}

static inline void write_factors(job_record_t *job, const shim_factors *from)
{
	HOST_FACTORS *factors;

	if (from->clear) {
		clear_factors(job->prio_factors);
		return;
	}
	if (!job->prio_factors)
		job->prio_factors = xmalloc(sizeof(*job->prio_factors));
	factors = job->prio_factors;
	factors->priority_age = from->age;
	factors->priority_assoc = from->assoc;
	factors->priority_fs = from->fairshare;
	factors->priority_js = from->job_size;
	factors->priority_part = from->partition;
	factors->priority_qos = from->qos;
	factors->priority_site = (uint32_t) (from->site + (int64_t) NICE_OFFSET);
	factors->nice = (uint32_t) (from->nice + (int64_t) NICE_OFFSET);
	if (from->tres) {
		keep_doubles(&factors->priority_tres, from->tres, from->tres_len);
		keep_doubles(&factors->tres_weights, from->tres_weights, from->tres_len);
	} else if (factors->tres_weights || factors->priority_tres) {
		xfree(factors->tres_weights);
		xfree(factors->priority_tres);
	}
	factors->tres_cnt = from->tres ? (uint32_t) from->tres_len : 0;
}

/* ---- several partitions, several QOS ------------------------------------------------------ */

/* Priorities of a job in its partitions and QOS, and the partitions they were made for. */
typedef struct {
	const uint32_t *at;
	size_t len;
	const uint64_t *keys;
	size_t keys_len;
} variants;

typedef struct {
	const variants *made;
	size_t next;
	bool same;
} comparison;

static int same_partition(void *part, void *arg)
{
	comparison *c = arg;

	if (c->next >= c->made->keys_len || c->made->keys[c->next++] != (uintptr_t) part) {
		c->same = false;
		return -1;
	}
	return 0;
}

/* Returns true if the job's list of partitions is the one for which the variants were made. */
static bool same_partitions(job_record_t *job, const variants *made)
{
	comparison c = { .made = made, .same = true };

	(void) list_for_each_ro(job->part_ptr_list, same_partition, &c);
	return c.same && c.next == made->keys_len;
}

/* Number of QOS in which slurmctld tries the job; 1 without a list of QOS. */
static size_t qos_tried(const job_record_t *job)
{
#if HOST_HAS_QOS_LISTS
	if (job->qos_list && list_count(job->qos_list) > 0)
		return (size_t) list_count(job->qos_list);
#else
	(void) job;
#endif
	return 1;
}

/*
 * Returns true if the partitions and the number of QOS of the job are still those for which the
 * variants were made. If not, slurmctld would look for elements that do not exist, so the job waits
 * for the next pass. Partition records are replaced by a reconfigure, which changes
 * last_part_update.
 */
static bool variants_fit(const shim_snapshot *snapshot, job_record_t *job, const variants *made)
{
	size_t partitions = made->keys_len ? made->keys_len : 1;

	if (made->len != partitions * qos_tried(job))
		return false;
	if (!job->part_ptr_list)
		return made->keys_len == 0;
	if (host_last_part_update() != snapshot->last_part_update)
		return false;
	if (same_partitions(job, made))
		return true;
#if HOST_SORTS_PARTITIONS
	return false;
#else
	/* Rarely: it takes the list apart and rebuilds it. */
	list_sort(job->part_ptr_list, priority_sort_part_tier);
	return same_partitions(job, made);
#endif
}

/* slurmctld's array for the variants, allocated or grown as needed. */
static uint32_t *room_for_variants(const shim_snapshot *snapshot, job_record_t *job, size_t len)
{
#if HOST_HAS_MULTIPLES
	if (!job->HOST_MULTIPLES)
		job->HOST_MULTIPLES = xmalloc(sizeof(*job->HOST_MULTIPLES));
	if (!job->HOST_MULTIPLES->priority_array ||
	    job->HOST_MULTIPLES->last_update < snapshot->last_part_update ||
	    (size_t) xsize(job->HOST_MULTIPLES->priority_array) < len * sizeof(uint32_t)) {
		xfree(job->HOST_MULTIPLES->priority_array);
		xfree(job->HOST_MULTIPLES->HOST_MULTIPLES_NAMES);
		if (job->part_ptr_list)
			job->HOST_MULTIPLES->HOST_MULTIPLES_NAMES =
				part_list_to_xstr(job->part_ptr_list);
		job->HOST_MULTIPLES->priority_array = xcalloc(len, sizeof(uint32_t));
		job->HOST_MULTIPLES->last_update = time(NULL);
	}
	return job->HOST_MULTIPLES->priority_array;
#else
	(void) snapshot;
	if (job->priority_array &&
	    (size_t) xsize(job->priority_array) < len * sizeof(uint32_t))
		xfree(job->priority_array);
	if (!job->priority_array)
		job->priority_array = xcalloc(len + 1, sizeof(uint32_t));
	return job->priority_array;
#endif
}

static void drop_variants(job_record_t *job)
{
#if HOST_HAS_MULTIPLES
	if (!job->HOST_MULTIPLES || job->part_ptr_list || host_has_qos_list(job))
		return;
	xfree(job->HOST_MULTIPLES->priority_array);
	xfree(job->HOST_MULTIPLES->HOST_MULTIPLES_NAMES);
	xfree(job->HOST_MULTIPLES);
#else
	(void) job;
#endif
}

static void write_variants(const shim_snapshot *snapshot, job_record_t *job,
			   const variants *made)
{
	uint32_t *to;

	if (!made->len) {
		drop_variants(job);
		return;
	}
	if (!variants_fit(snapshot, job, made))
		return;
	to = room_for_variants(snapshot, job, made->len);
	memcpy(to, made->at, made->len * sizeof(*to));
}

/* ---- jobs --------------------------------------------------------------------------------- */

/*
 * Number of jobs by which records are prefetched before they are looked up by job id. Without this
 * a pass takes 4 % more CPU time, and the hold of the job lock 25 to 50 % (100,000 jobs; 32fc6dc).
 */
#define JOBS_AHEAD 64

/*
 * Address of a waiting job's record when it was copied. It may be gone, or replaced by another
 * record: the address is only prefetched.
 */
static inline const job_record_t *was_at(const shim_snapshot *snapshot, size_t row)
{
	return (const job_record_t *) (uintptr_t) snapshot->waiting_at.at[row];
}

/*
 * Prefetches all data that pricing reads and writes before the first lock: locks serialise loads,
 * so misses before and after a lock would not overlap. Only the job itself is read; its association
 * needs another lock. `time_set`: 1.9 us per job, without this 6 us and more (32fc6dc, 10th
 * percentile).
 */
uint32_t shim_job_prefetch(const void *arg)
{
	const job_record_t *job = arg;
	const __typeof__(*job->details) *details = job->details;
	const HOST_FACTORS *factors = job->prio_factors;
	const slurmdb_assoc_rec_t *assoc = job->assoc_ptr;

	prefetch_l2(&job->priority);
	prefetch_l2(&job->part_ptr);
	prefetch_l2(&job->qos_ptr);
	prefetch_l2(&job->time_limit);
	prefetch_l2(&job->total_cpus);
	prefetch_l2(&job->site_factor);
	if (details) {
		prefetch_l2(&details->accrue_time);
		prefetch_l2(&details->min_nodes);
		prefetch_l2(&details->max_cpus);
		prefetch_l2(&details->nice);
	}
	if (factors) {
		prefetch_l2(&factors->priority_age);
		prefetch_l2(&factors->priority_qos);
		prefetch_l2(&factors->priority_tres);
		prefetch_l2(&factors->nice);
	}
	if (!assoc)
		return 0;
	prefetch_l2(&assoc->id);
	prefetch_l2(&assoc->priority);
	prefetch_l2(&assoc->shares_raw);
	prefetch_l2(&assoc->usage);
	prefetch_l2(&assoc->user);
	return job->assoc_id;
}

void shim_job_write_factors(const shim_snapshot *snapshot, void *arg, const shim_factors *factors,
			    const uint32_t *at, size_t len)
{
	job_record_t *job = arg;
	variants made = {
		.at = at,
		.len = len,
		.keys = snapshot->partition_keys.at,
		.keys_len = snapshot->partition_keys.len,
	};

	write_factors(job, factors);
	if (!factors->clear)
		write_variants(snapshot, job, &made);
}

static bool is_as_seen(const job_record_t *job, const shim_price *price)
{
	return job->priority == price->seen_priority &&
	       (job->direct_set_prio != 0) == price->seen_direct &&
	       IS_JOB_PENDING(job) == price->seen_pending;
}

static inline bool touches_variants(const job_record_t *job, const shim_price *price)
{
#if HOST_HAS_MULTIPLES
	if (job->HOST_MULTIPLES)
		return !price->seen_direct;
#else
	(void) job;
#endif
	return price->variants_len && !price->seen_direct;
}

/* Jobs whose variants must be written. */
typedef struct {
	const shim_snapshot *snapshot;
	const uint32_t *at;
	size_t len;
	job_record_t *job[PREFETCH_BATCH];
	const shim_price *price[PREFETCH_BATCH];
} variants_batch;

static void write_variants_of(const variants_batch *b, job_record_t *job, const shim_price *price)
{
	const shim_waiting *row = &b->snapshot->waiting.at[price->row];
	variants made = { .at = b->at + price->variants,
			  .len = price->variants_len };

	if (made.len && row->lists != SHIM_NONE) {
		const shim_lists *lists = &b->snapshot->lists.at[row->lists];

		made.keys = b->snapshot->partition_keys.at + lists->partitions;
		made.keys_len = lists->partitions_len;
	}
	write_variants(b->snapshot, job, &made);
}

static void prefetch_variants(const job_record_t *job)
{
#if HOST_HAS_MULTIPLES
	prefetch_l2(job->HOST_MULTIPLES);
#else
	/* xsize reads the header before the array. */
	if (job->priority_array) {
		prefetch_l2(job->priority_array);
		prefetch_l2((const char *) job->priority_array - 16);
	}
#endif
	if (job->part_ptr_list)
		host_prefetch_list(job->part_ptr_list);
}

static void write_batch(variants_batch *b)
{
	for (size_t i = 0; i < b->len; i++)
		prefetch_variants(b->job[i]);
	for (size_t i = 0; i < b->len; i++)
		write_variants_of(b, b->job[i], b->price[i]);
	b->len = 0;
}

/*
 * The loop is short, so that out-of-order execution overlaps cache misses of several jobs. Jobs
 * with several partitions, which need more work, are collected and written in batches.
 */
bool shim_prices_write(const shim_snapshot *snapshot, const shim_price *prices, size_t len,
		       const uint32_t *at)
{
	variants_batch with = { .snapshot = snapshot, .at = at };
	bool notify = false;

	for (size_t i = 0; i < len; i++) {
		const shim_price *price = &prices[i];
		job_record_t *job;

		if (i + JOBS_AHEAD < len) {
			const job_record_t *later = was_at(snapshot, price[JOBS_AHEAD].row);

			prefetch_l2(&later->direct_set_prio);
			prefetch_l2(&later->job_id);
			prefetch_l2(&later->job_state);
			prefetch_l2(&later->priority);
		}
		job = find_job_record(price->job_id);
		if (!job || !is_as_seen(job, price))
			continue;
		if (touches_variants(job, price)) {
			prefetch_l2(&snapshot->waiting.at[price->row]);
			with.job[with.len] = job;
			with.price[with.len++] = price;
			if (with.len == PREFETCH_BATCH)
				write_batch(&with);
		}
		notify |= price->notify;
		job->priority = price->priority;
	}
	write_batch(&with);
	return notify;
}

/* First all jobs are looked up, then the data to which they point is prefetched. */
void shim_factors_find(const shim_snapshot *snapshot, const shim_price *prices, void **jobs,
		       size_t len)
{
	for (size_t i = 0; i < len; i++) {
		/* Nearly every job of the snapshot is priced, so this row will be needed soon. */
		size_t row = (size_t) prices[i].row + JOBS_AHEAD;
		job_record_t *job;

		if (row < snapshot->waiting_at.len) {
			const job_record_t *later = was_at(snapshot, row);

			prefetch_l2(&later->job_id);
			prefetch_l2(&later->prio_factors);
			prefetch_l2(&later->priority);
		}
		job = find_job_record(prices[i].job_id);
		jobs[i] = job && job->priority == prices[i].seen_priority ? job : NULL;
	}
	for (size_t i = 0; i < len; i++) {
		const job_record_t *job = jobs[i];

		if (job && job->prio_factors) {
			prefetch_l2(&job->prio_factors->priority_age);
			prefetch_l2(&job->prio_factors->priority_qos);
			prefetch_l2(&job->prio_factors->priority_tres);
			prefetch_l2(&job->prio_factors->nice);
		}
	}
}

void shim_factors_write(void *const *jobs, const shim_factors *factors, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (jobs[i])
			write_factors(jobs[i], &factors[i]);
	}
}

uint32_t shim_job_priority(const void *job, bool *unset)
{
	uint32_t priority = ((const job_record_t *) job)->priority;

	*unset = priority == NO_VAL;
	return priority;
}

void shim_jobs_changed(void)
{
	last_job_update = time(NULL);
}

void shim_job_mark_charged(uint32_t job_id, int64_t start_time)
{
	job_record_t *job = find_job_record(job_id);

	if (job && job->start_time == start_time &&
	    (IS_JOB_FINISHED(job) || IS_JOB_COMPLETING(job)))
		job->end_time_exp = (time_t) NO_VAL;
}

void shim_ending_job_mark_charged(void *job)
{
	((job_record_t *) job)->end_time_exp = (time_t) NO_VAL;
}

void shim_job_keep_billable(uint32_t job_id, int64_t start_time, double billable_tres)
{
	job_record_t *job = find_job_record(job_id);

	if (job && job->start_time == start_time)
		shim_ending_job_keep_billable(job, billable_tres);
}

void shim_ending_job_keep_billable(void *job, double billable_tres)
{
	((job_record_t *) job)->billable_tres = billable_tres;
}
