/*
 * prices.c - priorities and their factors, written into slurmctld's jobs. Whatever slurmctld
 * frees later comes from its own allocator.
 */
#include "host.h"

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

static void write_factors(job_record_t *job, const shim_price *price)
{
	HOST_FACTORS *factors;

	if (price->clear) {
		clear_factors(job->prio_factors);
		return;
	}
	if (!job->prio_factors)
		job->prio_factors = xmalloc(sizeof(*job->prio_factors));
	factors = job->prio_factors;
	factors->priority_age = price->age;
	factors->priority_assoc = price->assoc;
	factors->priority_fs = price->fairshare;
	factors->priority_js = price->job_size;
	factors->priority_part = price->partition;
	factors->priority_qos = price->qos;
	factors->priority_site = (uint32_t) (price->site + (int64_t) NICE_OFFSET);
	factors->nice = (uint32_t) (price->nice + (int64_t) NICE_OFFSET);
	if (!price->tres) {
		xfree(factors->tres_weights);
		xfree(factors->priority_tres);
	} else {
		keep_doubles(&factors->priority_tres, price->tres, price->tres_len);
		keep_doubles(&factors->tres_weights, price->tres_weights, price->tres_len);
	}
	factors->tres_cnt = price->tres ? (uint32_t) price->tres_len : 0;
}

/* ---- several partitions, several QOS ------------------------------------------------------ */

typedef struct {
	const shim_price *price;
	size_t next;
	bool same;
} comparison;

static int same_partition(void *part, void *arg)
{
	comparison *c = arg;

	if (c->next >= c->price->partitions_len ||
	    c->price->partitions[c->next++] != (uintptr_t) part) {
		c->same = false;
		return -1;
	}
	return 0;
}

/* How many QOS slurmctld tries the job in; without a list of them it is one. */
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
 * Are partitions and number of QOS of the job still those that the variants were made for? If
 * not, slurmctld would look for elements that are not there; then the next pass will do.
 * Partition records are replaced by a reconfigure, which moves last_part_update.
 */
static bool variants_fit(const shim_snapshot *snapshot, job_record_t *job,
			 const shim_price *price)
{
	comparison c = { .price = price, .same = true };
	size_t partitions = price->partitions_len ? price->partitions_len : 1;

	if (price->variants_len != partitions * qos_tried(job))
		return false;
	if (!job->part_ptr_list)
		return price->partitions_len == 0;
	if (host_last_part_update() != snapshot->last_part_update)
		return false;
#if !HOST_SORTS_PARTITIONS
	list_sort(job->part_ptr_list, priority_sort_part_tier);
#endif
	(void) list_for_each_ro(job->part_ptr_list, same_partition, &c);
	return c.same && c.next == price->partitions_len;
}

/* The array of slurmctld's that the variants go to, made or grown as needed. */
static uint32_t *variants_of(const shim_snapshot *snapshot, job_record_t *job, size_t len)
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
	if (job->part_ptr_list || host_has_qos_list(job) || !job->HOST_MULTIPLES)
		return;
	xfree(job->HOST_MULTIPLES->priority_array);
	xfree(job->HOST_MULTIPLES->HOST_MULTIPLES_NAMES);
	xfree(job->HOST_MULTIPLES);
#else
	(void) job;
#endif
}

static void write_variants(const shim_snapshot *snapshot, job_record_t *job,
			   const shim_price *price)
{
	uint32_t *variants;

	if (!price->variants_len) {
		drop_variants(job);
		return;
	}
	if (!variants_fit(snapshot, job, price))
		return;
	variants = variants_of(snapshot, job, price->variants_len);
	for (size_t i = 0; i < price->variants_len; i++) {
		if (!price->only_raise || variants[i] < price->variants[i])
			variants[i] = price->variants[i];
	}
}

/* ---- jobs --------------------------------------------------------------------------------- */

void shim_price_write_factors(const shim_snapshot *snapshot, void *arg, const shim_price *price)
{
	job_record_t *job = arg;

	write_factors(job, price);
	if (!price->clear)
		write_variants(snapshot, job, price);
}

shim_outcome shim_price_write(const shim_snapshot *snapshot, const shim_price *price)
{
	job_record_t *job = find_job_record(price->job_id);

	if (!job)
		return SHIM_GONE;
	if (job->priority != price->seen_priority ||
	    (job->direct_set_prio != 0) != price->seen_direct ||
	    IS_JOB_PENDING(job) != price->seen_pending)
		return SHIM_CHANGED;
	shim_price_write_factors(snapshot, job, price);
	job->priority = price->priority;
	return SHIM_WRITTEN;
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
