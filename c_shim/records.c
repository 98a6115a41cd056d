/*
 * records.c - row arrays, the rows of records, and copies of QOS, partitions and TRES counts.
 */
#include "records.h"

/* ---- row arrays -------------------------------------------------------------------------- */

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

/* Grows by 1/16: these arrays are most of the plugin's memory, and they are kept. */
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

/* ---- associations by id ------------------------------------------------------------------ */

/*
 * A dense table from id to row is used while the highest id is at most this many times their
 * number.
 */
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
			/* Two rows have the same id: sort_by_id gives them different ones. */
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
 * Rows with the same id: each except the first gets an id above all others, in this snapshot only.
 * Their records are distinguished by their addresses.
 */
static void tell_apart(shim_snapshot *snapshot, shim_assoc_place *twins, size_t len,
		       uint32_t *highest)
{
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
 * slurmdbd never gives the same id twice, but a program of Slurm's testsuite does. Such
 * associations are all ranked; jobs and children that refer to the id belong to the first of them.
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
	if (snapshot->assocs_cached)
		return;
	snapshot->twins = 0;
	if (!make_table(snapshot))
		sort_by_id(snapshot);
}

slurmdb_assoc_rec_t *host_assoc_in(const shim_snapshot *snapshot, uint32_t row)
{
	void *at = row < snapshot->assoc_at.len ? snapshot->assoc_at.at[row] : NULL;

	return host_is_mark(at) ? NULL : at;
}

/* ---- copies -------------------------------------------------------------------------------- */

void host_copy_site(shim_snapshot *snapshot)
{
	snapshot->tres_count = host_tres_count();
	snapshot->cluster_cpus = cluster_cpus;
	snapshot->cluster_nodes = HOST_NODE_COUNT > 0 ? (uint32_t) HOST_NODE_COUNT : 0;
	snapshot->last_part_update = host_last_part_update();
	snapshot->enforces_limits = shim_enforces_limits();
}

void host_copy_qos_to(shim_snapshot *snapshot, shim_qos_rows *rows, shim_pointer_rows *records,
		      const slurmdb_qos_rec_t *qos)
{
	shim_qos *row = HOST_PUSH(snapshot, *rows, 1);
	void **at = HOST_PUSH(snapshot, *records, 1);
	shim_extended raw = { 0 };

	if (!row || !at)
		return;
	if (qos->usage)
		raw = host_to_extended(qos->usage->usage_raw);
	*at = (void *) qos;
	*row = (shim_qos) {
		.norm_priority = qos->usage ? qos->usage->norm_priority : 0,
		.usage_factor = qos->usage_factor,
		.id = qos->id,
		.priority = qos->priority,
		.usage_mantissa = raw.mantissa,
		.wall = qos->usage ? qos->usage->grp_used_wall : 0,
		.usage_sign_exponent = raw.sign_exponent,
		.no_decay = qos->flags & QOS_FLAG_NO_DECAY,
	};
}

void host_copy_qos(shim_snapshot *snapshot, const slurmdb_qos_rec_t *qos)
{
	host_copy_qos_to(snapshot, &snapshot->qos, &snapshot->qos_at, qos);
}

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
