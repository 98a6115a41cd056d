/*
 * saved.c - usage out of and back into slurmctld's records, exactly, for the plugin's own state.
 *
 * What is stored is what slurmctld stores in assoc_usage and qos_usage: the usage of users and
 * what removed users left in their accounts. Accounts' own sums follow from it.
 */
#include "host.h"

static bool reserve(shim_saved *saved, void **array, size_t element, size_t len, size_t *cap,
		    size_t more)
{
	size_t want = len + more > 2 * *cap ? len + more : 2 * *cap;
	void *grown;

	if (len + more <= *cap)
		return true;
	grown = reallocarray(*array, want, element);
	if (!grown) {
		saved->out_of_memory = true;
		return false;
	}
	*array = grown;
	*cap = want;
	return true;
}

#define PUSH(saved, rows, count)								\
	(reserve((saved), (void **) &(rows).at, sizeof(*(rows).at), (rows).len, &(rows).cap,	\
		 (count)) ?									\
	 ((rows).len += (count), (rows).at + (rows).len - (count)) : NULL)

static uint32_t save_tres(shim_saved *saved, const long double *tres, uint32_t count)
{
	size_t start = saved->tres.len;
	shim_extended *row = PUSH(saved, saved->tres, count);

	for (uint32_t i = 0; row && i < count; i++)
		row[i] = host_to_extended(tres[i]);
	return (uint32_t) start;
}

static int save_assoc(void *arg_assoc, void *arg)
{
	const slurmdb_assoc_rec_t *assoc = arg_assoc;
	const slurmdb_assoc_usage_t *usage = assoc->leaf_usage;
	shim_saved *saved = arg;
	shim_saved_usage *row;

	if (!usage)
		return 0;
	row = PUSH(saved, saved->assocs, 1);
	if (!row)
		return -1;
	*row = (shim_saved_usage) {
		.usage_raw = host_to_extended(usage->usage_raw),
		.wall = usage->grp_used_wall,
		.id = assoc->id,
		.tres_len = usage->usage_tres_raw ? usage->tres_cnt : 0,
	};
	row->tres = save_tres(saved, usage->usage_tres_raw, row->tres_len);
	return saved->out_of_memory ? -1 : 0;
}

static int save_qos(void *arg_qos, void *arg)
{
	const slurmdb_qos_rec_t *qos = arg_qos;
	shim_saved *saved = arg;
	shim_saved_usage *row = PUSH(saved, saved->qos, 1);

	if (!row)
		return -1;
	*row = (shim_saved_usage) {
		.usage_raw = host_to_extended(qos->usage->usage_raw),
		.wall = qos->usage->grp_used_wall,
		.id = qos->id,
		.tres_len = qos->usage->usage_tres_raw ? qos->usage->tres_cnt : 0,
	};
	row->tres = save_tres(saved, qos->usage->usage_tres_raw, row->tres_len);
	return saved->out_of_memory ? -1 : 0;
}

/* The order of TRES changes with AccountingStorageTRES, their ids do not. */
void shim_saved_tres_ids(shim_saved *saved)
{
	uint32_t *ids;

	saved->tres_ids.len = 0;
	ids = PUSH(saved, saved->tres_ids, g_tres_count);
	for (uint32_t i = 0; ids && i < g_tres_count; i++)
		ids[i] = assoc_mgr_tres_array[i]->id;
}

void shim_saved_collect(shim_saved *saved)
{
	saved->assocs.len = 0;
	saved->qos.len = 0;
	saved->tres.len = 0;
	saved->out_of_memory = false;
	shim_saved_tres_ids(saved);
	if (assoc_mgr_assoc_list)
		(void) list_for_each_ro(assoc_mgr_assoc_list, save_assoc, saved);
	if (assoc_mgr_qos_list)
		(void) list_for_each_ro(assoc_mgr_qos_list, save_qos, saved);
}

void shim_saved_free(shim_saved *saved)
{
	free(saved->assocs.at);
	free(saved->qos.at);
	free(saved->tres.at);
	free(saved->tres_ids.at);
	*saved = (shim_saved) { 0 };
}

/* ---- back --------------------------------------------------------------------------------- */

typedef struct {
	const shim_saved_usage *at;
	size_t len;
	const shim_extended *tres;
	size_t tres_len;
} source;

static int by_id(const void *id, const void *row)
{
	uint32_t a = *(const uint32_t *) id, b = ((const shim_saved_usage *) row)->id;

	return (a > b) - (a < b);
}

static const shim_saved_usage *saved_of(const source *from, uint32_t id)
{
	const shim_saved_usage *row = from->len ? bsearch(&id, from->at, from->len,
							  sizeof(*from->at), by_id) : NULL;

	if (row && ((size_t) row->tres > from->tres_len ||
		    row->tres_len > from->tres_len - row->tres))
		return NULL;
	return row;
}

static void add_assoc_usage(slurmdb_assoc_usage_t *usage, const source *from,
			    const shim_saved_usage *row)
{
	usage->usage_raw += host_from_extended(row->usage_raw);
	usage->grp_used_wall += row->wall;
	for (uint32_t i = 0; usage->usage_tres_raw && i < usage->tres_cnt && i < row->tres_len; i++)
		usage->usage_tres_raw[i] += host_from_extended(from->tres[row->tres + i]);
}

static int restore_assoc(void *arg_assoc, void *arg)
{
	slurmdb_assoc_rec_t *assoc = arg_assoc;
	const source *from = arg;
	const shim_saved_usage *row = saved_of(from, assoc->id);

	if (!row)
		return 0;
	if (!assoc->leaf_usage)
		assoc->leaf_usage = slurmdb_create_assoc_usage((int) g_tres_count);
	add_assoc_usage(assoc->leaf_usage, from, row);
	if (assoc->leaf_usage == assoc->usage)
		assoc = assoc->usage->parent_assoc_ptr;
	for (; assoc; assoc = assoc->usage->parent_assoc_ptr)
		add_assoc_usage(assoc->usage, from, row);
	return 0;
}

static int restore_qos(void *arg_qos, void *arg)
{
	slurmdb_qos_rec_t *qos = arg_qos;
	const source *from = arg;
	const shim_saved_usage *row = saved_of(from, qos->id);
	slurmdb_qos_usage_t *usage = qos->usage;

	if (!row)
		return 0;
	usage->usage_raw = host_from_extended(row->usage_raw);
	usage->grp_used_wall = row->wall;
	for (uint32_t i = 0; usage->usage_tres_raw && i < usage->tres_cnt && i < row->tres_len; i++)
		usage->usage_tres_raw[i] = host_from_extended(from->tres[row->tres + i]);
	return 0;
}

void shim_saved_restore(const shim_saved_usage *assocs, size_t assocs_len,
			const shim_saved_usage *qos, size_t qos_len,
			const shim_extended *tres, size_t tres_len)
{
	source from = { .at = assocs, .len = assocs_len, .tres = tres, .tres_len = tres_len };

	shim_usage_reset();
	if (assoc_mgr_assoc_list)
		(void) list_for_each(assoc_mgr_assoc_list, restore_assoc, &from);
	from.at = qos;
	from.len = qos_len;
	if (assoc_mgr_qos_list)
		(void) list_for_each(assoc_mgr_qos_list, restore_qos, &from);
}
