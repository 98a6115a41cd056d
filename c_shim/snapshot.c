/*
 * snapshot.c - copies of associations, QOS, partitions and jobs, as flat rows.
 */
#include "host.h"

bool host_reserve(shim_snapshot *snapshot, void **array, size_t element, size_t len, size_t *cap,
		  size_t more)
{
	size_t want = len + more;
	void *grown;

	if (want <= *cap)
		return true;
	if (want < 2 * *cap)
		want = 2 * *cap;
	if (want < 64)
		want = 64;
	grown = reallocarray(*array, want, element);
	if (!grown) {
		snapshot->out_of_memory = true;
		return false;
	}
	*array = grown;
	*cap = want;
	return true;
}

void shim_snapshot_clear(shim_snapshot *snapshot)
{
	snapshot->assocs.len = 0;
	snapshot->listed.len = 0;
	snapshot->row_of_id.len = 0;
	snapshot->by_id.len = 0;
	snapshot->qos.len = 0;
	snapshot->partitions.len = 0;
	snapshot->waiting.len = 0;
	snapshot->accruing.len = 0;
	snapshot->partition_keys.len = 0;
	snapshot->qos_ids.len = 0;
	snapshot->tres.len = 0;
	snapshot->assoc_at.len = 0;
	snapshot->qos_at.len = 0;
	snapshot->out_of_memory = false;
	snapshot->broken_tree = false;
}

void shim_snapshot_free(shim_snapshot *snapshot)
{
	free(snapshot->assocs.at);
	free(snapshot->listed.at);
	free(snapshot->row_of_id.at);
	free(snapshot->by_id.at);
	free(snapshot->qos.at);
	free(snapshot->partitions.at);
	free(snapshot->waiting.at);
	free(snapshot->accruing.at);
	free(snapshot->partition_keys.at);
	free(snapshot->qos_ids.at);
	free(snapshot->tres.at);
	free(snapshot->assoc_at.at);
	free(snapshot->qos_at.at);
	*snapshot = (shim_snapshot) { 0 };
}

/* ---- associations ---------------------------------------------------------------------- */

void host_copy_assoc(shim_snapshot *snapshot, const slurmdb_assoc_rec_t *assoc)
{
	const slurmdb_assoc_rec_t *parent = assoc->usage->parent_assoc_ptr;
	shim_assoc *row = HOST_PUSH(snapshot, snapshot->assocs, 1);
	void **at = HOST_PUSH(snapshot, snapshot->assoc_at, 1);

	if (!row || !at)
		return;
	*at = (void *) assoc;
	*row = (shim_assoc) {
		.usage_raw = host_to_extended(assoc->usage->usage_raw),
		.usage_norm = host_to_extended(assoc->usage->usage_norm),
		.usage_efctv = host_to_extended(assoc->usage->usage_efctv),
		.shares_norm = assoc->usage->shares_norm,
		.priority_norm = assoc->usage->priority_norm,
		.fs_factor = assoc->usage->fs_factor,
		.id = assoc->id,
		.parent_id = parent ? parent->id : 0,
		.shares_raw = assoc->shares_raw,
		.priority = assoc->priority,
		.shares_from_parent = assoc->shares_raw == SLURMDB_FS_USE_PARENT,
		.is_user = assoc->user != NULL,
		.has_usage_norm = host_is_computed(assoc->usage->usage_norm),
		.has_usage_efctv = host_is_computed(assoc->usage->usage_efctv),
	};
}

static int copy_child(void *assoc, void *snapshot)
{
	host_copy_assoc(snapshot, assoc);
	return 0;
}

static int copy_listed(void *assoc, void *arg)
{
	shim_snapshot *snapshot = arg;
	shim_assoc_place *place = HOST_PUSH(snapshot, snapshot->listed, 1);

	if (place)
		*place = (shim_assoc_place) {
			.id = ((slurmdb_assoc_rec_t *) assoc)->id,
			.row = SHIM_NONE,
		};
	return 0;
}

/*
 * Level by level from the root: the rows themselves are the queue of what is still to be
 * visited, so that depth costs no stack.
 */
static void copy_tree(shim_snapshot *snapshot)
{
	size_t most;

	if (!assoc_mgr_assoc_list)
		return;
	most = (size_t) list_count(assoc_mgr_assoc_list);
	(void) list_for_each_ro(assoc_mgr_assoc_list, copy_listed, snapshot);
	if (!assoc_mgr_root_assoc)
		return;
	host_copy_assoc(snapshot, assoc_mgr_root_assoc);
	for (size_t i = 0; i < snapshot->assoc_at.len; i++) {
		slurmdb_assoc_rec_t *assoc = snapshot->assoc_at.at[i];

		if (snapshot->out_of_memory)
			return;
		if (snapshot->assocs.len > most) {
			snapshot->broken_tree = true;
			return;
		}
		if (assoc->usage->children_list)
			(void) list_for_each_ro(assoc->usage->children_list, copy_child, snapshot);
	}
}

/* ---- associations by id ------------------------------------------------------------------ */

/* Ids per association up to which a table with a place for every id is worth its memory. */
#define SPARSE 8

static bool make_table(shim_snapshot *snapshot)
{
	size_t len = snapshot->assocs.len;
	uint32_t last = 0, *table;

	for (size_t i = 0; i < len; i++) {
		if (snapshot->assocs.at[i].id > last)
			last = snapshot->assocs.at[i].id;
	}
	if (!len || last / SPARSE > len + 1000)
		return false;
	table = HOST_PUSH(snapshot, snapshot->row_of_id, (size_t) last + 1);
	if (!table)
		return false;
	memset(table, 0xff, ((size_t) last + 1) * sizeof(*table)); /* SHIM_NONE */
	for (size_t i = 0; i < len; i++) {
		uint32_t *row = &table[snapshot->assocs.at[i].id];

		if (*row != SHIM_NONE) {
			/* Two of one id: the other way tells them apart. */
			snapshot->row_of_id.len = 0;
			return false;
		}
		*row = (uint32_t) i;
	}
	return true;
}

static int by_id(const void *a, const void *b)
{
	const shim_assoc_place *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int by_id_and_row(const void *a, const void *b)
{
	const shim_assoc_place *x = a, *y = b;
	int order = by_id(a, b);

	return order ? order : (x->row > y->row) - (x->row < y->row);
}

/*
 * Rows of one id: each but the first gets an id above all others, in this snapshot only. The
 * records in slurmctld's list are told apart by their order.
 */
static void tell_apart(shim_snapshot *snapshot, shim_assoc_place *twins, size_t len,
		       uint32_t *highest)
{
	size_t next = 0;

	for (size_t i = 0; i < snapshot->listed.len && next < len; i++) {
		if (snapshot->listed.at[i].id == twins[0].id)
			snapshot->listed.at[i].row = twins[next++].row;
	}
	for (size_t i = 1; i < len; i++) {
		if (*highest == UINT32_MAX) {
			snapshot->broken_tree = true;
			return;
		}
		twins[i].id = ++*highest;
		snapshot->assocs.at[twins[i].row].id = twins[i].id;
		snapshot->twins++;
	}
}

/*
 * slurmdbd gives no id twice, but a program of Slurm's testsuite does. Such associations are all
 * ranked; jobs and children that name the id belong to the first of them.
 */
static void tell_all_apart(shim_snapshot *snapshot, shim_assoc_place *places, size_t len)
{
	uint32_t highest = len ? places[len - 1].id : 0;
	size_t first = 0;

	snapshot->twins = 0;
	for (size_t i = 1; i <= len; i++) {
		if (i < len && places[i].id == places[first].id)
			continue;
		if (i - first > 1)
			tell_apart(snapshot, places + first, i - first, &highest);
		first = i;
	}
	if (snapshot->twins)
		qsort(places, len, sizeof(*places), by_id_and_row);
}

static void sort_by_id(shim_snapshot *snapshot)
{
	shim_assoc_place *places = HOST_PUSH(snapshot, snapshot->by_id, snapshot->assocs.len);

	if (!places)
		return;
	for (size_t i = 0; i < snapshot->assocs.len; i++)
		places[i] = (shim_assoc_place) {
			.id = snapshot->assocs.at[i].id,
			.row = (uint32_t) i,
		};
	qsort(places, snapshot->assocs.len, sizeof(*places), by_id_and_row);
	for (size_t i = 0; i < snapshot->listed.len; i++) {
		shim_assoc_place *place = &snapshot->listed.at[i];
		shim_assoc_place *found = bsearch(place, places, snapshot->by_id.len,
						  sizeof(*places), by_id);

		if (found)
			place->row = found->row;
	}
	tell_all_apart(snapshot, places, snapshot->assocs.len);
}

uint32_t shim_snapshot_row(const shim_snapshot *snapshot, uint32_t id)
{
	shim_assoc_place key = { .id = id };
	const shim_assoc_place *found;

	if (snapshot->row_of_id.len)
		return id < snapshot->row_of_id.len ? snapshot->row_of_id.at[id] : SHIM_NONE;
	if (!snapshot->by_id.len)
		return SHIM_NONE;
	found = bsearch(&key, snapshot->by_id.at, snapshot->by_id.len, sizeof(key), by_id);
	return found ? found->row : SHIM_NONE;
}

void shim_snapshot_index(shim_snapshot *snapshot)
{
	snapshot->twins = 0;
	if (!make_table(snapshot)) {
		sort_by_id(snapshot);
		return;
	}
	for (size_t i = 0; i < snapshot->listed.len; i++)
		snapshot->listed.at[i].row = shim_snapshot_row(snapshot,
							       snapshot->listed.at[i].id);
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

uint64_t host_tres_at(const uint64_t *counts, uint32_t i)
{
	if (!counts || i >= (size_t) xsize((void *) counts) / sizeof(*counts))
		return 0;
	return counts[i];
}

/* Copies TRES counts; not counted ones become 0. NONE for NULL. */
uint32_t host_copy_tres(shim_snapshot *snapshot, const uint64_t *counts)
{
	size_t start = snapshot->tres.len;
	uint64_t *row;

	if (!counts || !snapshot->tres_count)
		return SHIM_NONE;
	row = HOST_PUSH(snapshot, snapshot->tres, snapshot->tres_count);
	if (!row)
		return SHIM_NONE;
	for (uint32_t i = 0; i < snapshot->tres_count; i++) {
		uint64_t count = host_tres_at(counts, i);

		row[i] = count == NO_CONSUME_VAL64 ? 0 : count;
	}
	return (uint32_t) start;
}

void host_copy_partition(shim_snapshot *snapshot, const part_record_t *part, bool tres)
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
	if (tres)
		row->tres = host_copy_tres(snapshot, part->tres_cnt);
}

typedef struct {
	shim_snapshot *snapshot;
	const shim_want *want;
} walk;

static int copy_partition(void *part, void *arg)
{
	walk *w = arg;

	host_copy_partition(w->snapshot, part, w->want->waiting_tres);
	return 0;
}

/* ---- the whole ------------------------------------------------------------------------- */

/*
 * Records lie anywhere in memory. Each is asked for when the walk comes to it, what it points to
 * some jobs later, and it is read when both have arrived; the lock that the pointers need is held
 * all the time.
 */
#define JOBS_ON_THE_WAY 32

typedef struct {
	shim_snapshot *snapshot;
	const shim_want *want;
	const job_record_t *job[JOBS_ON_THE_WAY];
	uint32_t seen; /* jobs that the walk has come to */
} job_walk;

static void copy_arrived(job_walk *w, uint32_t order)
{
	host_copy_job(w->snapshot, w->want, w->job[order % JOBS_ON_THE_WAY], order);
}

static int copy_job(void *job, void *arg)
{
	job_walk *w = arg;
	uint32_t order = w->seen++;

	host_fetch_job(w->want, job);
	if (order >= JOBS_ON_THE_WAY / 2)
		host_fetch_parts(w->want, w->job[(order - JOBS_ON_THE_WAY / 2) % JOBS_ON_THE_WAY]);
	if (order >= JOBS_ON_THE_WAY)
		copy_arrived(w, order - JOBS_ON_THE_WAY);
	w->job[order % JOBS_ON_THE_WAY] = job;
	return w->snapshot->out_of_memory ? -1 : 0;
}

static void copy_jobs(shim_snapshot *snapshot, const shim_want *want)
{
	job_walk w = { .snapshot = snapshot, .want = want };

	(void) list_for_each_ro(job_list, copy_job, &w);
	if (snapshot->out_of_memory)
		return;
	for (uint32_t order = w.seen > JOBS_ON_THE_WAY ? w.seen - JOBS_ON_THE_WAY : 0;
	     order < w.seen; order++)
		copy_arrived(&w, order);
}

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

void shim_snapshot_take(shim_snapshot *snapshot, const shim_want *want)
{
	walk w = { .snapshot = snapshot, .want = want };

	shim_snapshot_clear(snapshot);
	host_copy_site(snapshot);
	if (want->assocs)
		copy_tree(snapshot);
	if (assoc_mgr_qos_list)
		(void) list_for_each_ro(assoc_mgr_qos_list, copy_qos, snapshot);
	if (&part_list && part_list)
		(void) list_for_each_ro(part_list, copy_partition, &w);
	if (&job_list && job_list)
		copy_jobs(snapshot, want);
	/* The records may go away after the lock: shim_usage_bind finds those that remain. */
	snapshot->assoc_at.len = 0;
	snapshot->qos_at.len = 0;
}
