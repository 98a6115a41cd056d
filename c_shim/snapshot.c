/*
 * snapshot.c - copies of all data, or of the data for one job, as flat rows.
 */
#include "assocs.h"
#include "jobs.h"
#include "records.h"

/* Empties an array; frees it if it is much larger than its last use. */
#define EMPTY(rows)										\
	do {											\
		if ((rows).len && (rows).len < (rows).cap / 8 && (rows).cap > 4096) {		\
			free((rows).at);							\
			(rows).at = NULL;							\
			(rows).cap = 0;								\
		}										\
		(rows).len = 0;									\
	} while (0)

static void clear_assocs(shim_snapshot *snapshot)
{
	EMPTY(snapshot->assocs);
	EMPTY(snapshot->recorded);
	EMPTY(snapshot->row_of_id);
	EMPTY(snapshot->by_id);
	EMPTY(snapshot->accounts);
	EMPTY(snapshot->assoc_at);
	snapshot->assocs_cached = false;
	snapshot->assoc_cache_valid = false;
	snapshot->broken_tree = false;
}

static void clear_others(shim_snapshot *snapshot)
{
	EMPTY(snapshot->qos);
	EMPTY(snapshot->partitions);
	EMPTY(snapshot->waiting);
	EMPTY(snapshot->queued);
	EMPTY(snapshot->accruing);
	EMPTY(snapshot->lists);
	EMPTY(snapshot->partition_keys);
	EMPTY(snapshot->qos_ids);
	EMPTY(snapshot->variants);
	EMPTY(snapshot->tres);
	EMPTY(snapshot->qos_at);
	EMPTY(snapshot->waiting_at);
	snapshot->out_of_memory = false;
}

void shim_snapshot_clear(shim_snapshot *snapshot)
{
	clear_assocs(snapshot);
	clear_others(snapshot);
}

void shim_snapshot_free(shim_snapshot *snapshot)
{
	free(snapshot->assocs.at);
	free(snapshot->recorded.at);
	free(snapshot->row_of_id.at);
	free(snapshot->by_id.at);
	free(snapshot->qos.at);
	free(snapshot->partitions.at);
	free(snapshot->waiting.at);
	free(snapshot->queued.at);
	free(snapshot->accruing.at);
	free(snapshot->lists.at);
	free(snapshot->partition_keys.at);
	free(snapshot->qos_ids.at);
	free(snapshot->tres.at);
	free(snapshot->accounts.at);
	free(snapshot->assoc_at.at);
	free(snapshot->qos_at.at);
	free(snapshot->qos_now.at);
	free(snapshot->qos_now_at.at);
	free(snapshot->variants.at);
	free(snapshot->waiting_at.at);
	*snapshot = (shim_snapshot) { 0 };
}

/* ---- QOS and partitions ---------------------------------------------------------------- */

static int copy_qos(void *qos, void *snapshot)
{
	host_copy_qos(snapshot, qos);
	return 0;
}

typedef struct {
	shim_snapshot *snapshot;
	const shim_want *want;
} walk;

static int copy_partition(void *part, void *arg)
{
	walk *w = arg;

	host_copy_partition(w->snapshot, w->want, part);
	return 0;
}

/* ---- the whole ------------------------------------------------------------------------- */

static const slurmctld_lock_t job_locks = {
	.job = READ_LOCK, .node = READ_LOCK, .part = READ_LOCK };

void shim_snapshot_lock(void)
{
	assoc_mgr_lock_t locks = { .assoc = READ_LOCK, .qos = READ_LOCK, .tres = READ_LOCK };

	lock_slurmctld(job_locks);
	assoc_mgr_lock(&locks);
}

void shim_snapshot_unlock(void)
{
	assoc_mgr_lock_t locks = { .assoc = READ_LOCK, .qos = READ_LOCK, .tres = READ_LOCK };

	assoc_mgr_unlock(&locks);
	unlock_slurmctld(job_locks);
}

static void copy_assocs(shim_snapshot *snapshot, const shim_want *want)
{
	clear_assocs(snapshot);
	snapshot->caches_assocs = want->cache_assocs;
	snapshot->priority_norms = want->priority_norms;
	if (want->assocs)
		host_copy_tree(snapshot, want);
}

void shim_snapshot_take_assocs(shim_snapshot *snapshot, const shim_want *want)
{
	snapshot->out_of_memory = false;
	copy_assocs(snapshot, want);
	host_forget_records(snapshot);
}

/*
 * slurmctld compares the threshold with FAIRSHARE in the job's factors, so these must be written.
 */
static int enforces_threshold(void *arg, void *any)
{
	const slurmdb_qos_rec_t *qos = arg;

	if (!(qos->flags & QOS_FLAG_ENFORCE_USAGE_THRES) || fuzzy_equal(qos->usage_thres, NO_VAL))
		return 0;
	*(bool *) any = true;
	return -1;
}

static bool has_enforced_threshold(void)
{
	bool any = false;

	if (assoc_mgr_qos_list)
		(void) list_for_each_ro(assoc_mgr_qos_list, enforces_threshold, &any);
	return any;
}

void shim_snapshot_take(shim_snapshot *snapshot, const shim_want *given)
{
	shim_want wanted = *given;
	const shim_want *want = &wanted;
	walk w = { .snapshot = snapshot, .want = want };
	bool keeps = want->cache_assocs && snapshot->assoc_cache_valid &&
		     want->priority_norms == snapshot->priority_norms;

	wanted.order_only = given->order_only && !has_enforced_threshold();
	snapshot->order_only = wanted.order_only;
	clear_others(snapshot);
	host_copy_site(snapshot);
	if (keeps)
		snapshot->assocs_cached = true;
	else
		copy_assocs(snapshot, want);
	if (assoc_mgr_qos_list)
		(void) list_for_each_ro(assoc_mgr_qos_list, copy_qos, snapshot);
	if (&part_list && part_list)
		(void) list_for_each_ro(part_list, copy_partition, &w);
	if (&job_list && job_list)
		host_copy_jobs(snapshot, want);
	host_forget_records(snapshot);
}

/* ---- one job, for the hooks ------------------------------------------------------------ */

static int copy_listed_partition(void *part, void *arg)
{
	const shim_want want = { .waiting_tres = true };

	host_copy_partition(arg, &want, part);
	return 0;
}

#if HOST_HAS_QOS_LISTS
static int copy_listed_qos(void *qos, void *snapshot)
{
	host_copy_qos(snapshot, qos);
	return 0;
}
#endif

void shim_snapshot_waiting_job(shim_snapshot *snapshot, const shim_want *want, const void *arg)
{
	const job_record_t *job = arg;
	/*
	 * sprio's hook is called with the QOS lock held. The lock of associations must not be taken
	 * after it: a thread that holds that lock for writing may be waiting for the QOS lock.
	 */
	assoc_mgr_lock_t locks = { .assoc = want->assocs ? READ_LOCK : NO_LOCK,
				   .qos = READ_LOCK,
				   .tres = want->waiting_tres ? READ_LOCK : NO_LOCK };

	shim_snapshot_clear(snapshot);
	assoc_mgr_lock(&locks);
	host_copy_site(snapshot);
	for (const slurmdb_assoc_rec_t *assoc = want->assocs ? job->assoc_ptr : NULL; assoc;
	     assoc = want->ancestors ? assoc->usage->parent_assoc_ptr : NULL)
		host_copy_assoc(snapshot, want, assoc);
	if (job->qos_ptr)
		host_copy_qos(snapshot, job->qos_ptr);
	if (job->part_ptr)
		host_copy_partition(snapshot, want, job->part_ptr);
	if (job->part_ptr_list)
		(void) list_for_each_ro(job->part_ptr_list, copy_listed_partition, snapshot);
#if HOST_HAS_QOS_LISTS
	if (job->qos_list)
		(void) list_for_each_ro(job->qos_list, copy_listed_qos, snapshot);
#endif
	host_copy_waiting(snapshot, want, NULL, job);
	assoc_mgr_unlock(&locks);
	host_forget_records(snapshot);
}

void shim_snapshot_ending_job(shim_snapshot *snapshot, const shim_want *want, const void *arg)
{
	const job_record_t *job = arg;

	shim_snapshot_clear(snapshot);
	host_copy_site(snapshot);
	if (job->assoc_ptr)
		host_copy_assoc(snapshot, want, job->assoc_ptr);
	if (job->qos_ptr)
		host_copy_qos(snapshot, job->qos_ptr);
	if (job->part_ptr && job->part_ptr->qos_ptr)
		host_copy_qos(snapshot, job->part_ptr->qos_ptr);
	host_copy_accruing(snapshot, want, job, 0);
}
