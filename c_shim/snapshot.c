/*
 * snapshot.c - copies of QOS and partitions, of the whole, and of what one job needs, as flat rows.
 */
#include "host.h"

bool host_resize(shim_snapshot *snapshot, void **array, size_t element, size_t *cap, size_t want)
{
	void *grown = reallocarray(*array, want, element);

	if (!grown) {
		snapshot->out_of_memory = true;
		return false;
	}
	*array = grown;
	*cap = want;
	return true;
}

/* Hardly beyond what is needed: these are most of the plugin's memory, and they stay. */
bool host_reserve(shim_snapshot *snapshot, void **array, size_t element, size_t len, size_t *cap,
		  size_t more)
{
	size_t want = len + more;

	if (want <= *cap)
		return true;
	if (want < *cap + (*cap < 4096 ? *cap : *cap / 16))
		want = *cap + (*cap < 4096 ? *cap : *cap / 16);
	if (want < 64)
		want = 64;
	return host_resize(snapshot, array, element, cap, want);
}

/* Empties an array; one that was made for far more than its last use is given back. */
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
	EMPTY(snapshot->kept);
	EMPTY(snapshot->row_of_id);
	EMPTY(snapshot->by_id);
	EMPTY(snapshot->accounts);
	EMPTY(snapshot->assoc_at);
	snapshot->assocs_kept = false;
	snapshot->assocs_agree = false;
	snapshot->broken_tree = false;
}

static void clear_others(shim_snapshot *snapshot)
{
	EMPTY(snapshot->qos);
	EMPTY(snapshot->partitions);
	EMPTY(snapshot->waiting);
	EMPTY(snapshot->accruing);
	EMPTY(snapshot->lists);
	EMPTY(snapshot->partition_keys);
	EMPTY(snapshot->qos_ids);
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
	free(snapshot->kept.at);
	free(snapshot->row_of_id.at);
	free(snapshot->by_id.at);
	free(snapshot->qos.at);
	free(snapshot->partitions.at);
	free(snapshot->waiting.at);
	free(snapshot->accruing.at);
	free(snapshot->lists.at);
	free(snapshot->partition_keys.at);
	free(snapshot->qos_ids.at);
	free(snapshot->tres.at);
	free(snapshot->accounts.at);
	free(snapshot->assoc_at.at);
	free(snapshot->qos_at.at);
	free(snapshot->waiting_at.at);
	free(snapshot->job_nodes.at);
	free(snapshot->child_nodes.at);
	free(snapshot->assoc_nodes.at);
	*snapshot = (shim_snapshot) { 0 };
}

/* ---- QOS and partitions ---------------------------------------------------------------- */

void host_copy_qos(shim_snapshot *snapshot, const slurmdb_qos_rec_t *qos)
{
	shim_qos *row = HOST_PUSH(snapshot, snapshot->qos, 1);
	void **at = HOST_PUSH(snapshot, snapshot->qos_at, 1);

	if (!row || !at)
		return;
	*at = (void *) qos;
	*row = (shim_qos) {
		.norm_priority = qos->usage ? qos->usage->norm_priority : 0,
		.usage_factor = qos->usage_factor,
		.id = qos->id,
		.priority = qos->priority,
		.no_decay = qos->flags & QOS_FLAG_NO_DECAY,
	};
}

static int copy_qos(void *qos, void *snapshot)
{
	host_copy_qos(snapshot, qos);
	return 0;
}

/* Copies TRES counts, with `want` the weighed ones; not counted ones become 0. NONE for NULL. */
uint32_t host_copy_tres(shim_snapshot *snapshot, const shim_want *want, const uint64_t *counts)
{
	host_tres tres = host_tres_of(counts);
	size_t start = snapshot->tres.len, len = host_weighed_len(snapshot, want);
	uint64_t *row;

	if (!counts || !len)
		return SHIM_NONE;
	row = HOST_PUSH(snapshot, snapshot->tres, len);
	if (!row)
		return SHIM_NONE;
	for (uint32_t i = 0; i < len; i++) {
		uint64_t count = host_tres_at(tres, want && want->weighed ? want->weighed[i] : i);

		row[i] = count == NO_CONSUME_VAL64 ? 0 : count;
	}
	return (uint32_t) start;
}

void host_copy_partition(shim_snapshot *snapshot, const shim_want *want,
			 const part_record_t *part)
{
	const slurmdb_qos_rec_t *qos = part->qos_ptr;
	shim_partition *row = HOST_PUSH(snapshot, snapshot->partitions, 1);

	if (!row)
		return;
	*row = (shim_partition) {
		.key = (uintptr_t) part,
		.norm_priority = part->norm_priority,
		.max_time = part->max_time,
		.qos_id = qos ? qos->id : 0,
		.tres = SHIM_NONE,
		.priority_job_factor = part->priority_job_factor,
		.max_time_infinite = part->max_time == INFINITE,
	};
	if (want->waiting_tres)
		row->tres = host_copy_tres(snapshot, want, part->tres_cnt);
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
	snapshot->keeps_assocs = want->keep_assocs;
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

void shim_snapshot_take(shim_snapshot *snapshot, const shim_want *want)
{
	walk w = { .snapshot = snapshot, .want = want };
	bool keeps = want->keep_assocs && snapshot->assocs_agree &&
		     want->priority_norms == snapshot->priority_norms;

	clear_others(snapshot);
	host_copy_site(snapshot);
	if (keeps)
		snapshot->assocs_kept = true;
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
	 * sprio's hook comes with the QOS lock, after which nobody may ask for that of associations:
	 * who holds that one for writing may be waiting for the QOS lock.
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
