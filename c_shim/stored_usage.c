/*
 * stored_usage.c - reads and restores usage in slurmctld's records, exactly, as plain rows.
 */
#include "stored_usage.h"

/* An array of long double in the form in which it is passed: the same memory. */
_Static_assert(sizeof(shim_extended) == sizeof(long double), "numbers lie at the same distance");

static void hand_over(shim_usage_sink sink, void *context, uint32_t id, long double usage_raw,
		      double wall, const long double *tres, uint32_t tres_cnt)
{
	const shim_usage_row row = {
		.usage_raw = host_to_extended(usage_raw),
		.wall = wall,
		.tres = (const shim_extended *) tres,
		.tres_len = tres ? tres_cnt : 0,
		.id = id,
	};

	sink(context, &row);
}

void host_store_assoc(const slurmdb_assoc_rec_t *assoc, shim_usage_sink sink, void *context)
{
	const slurmdb_assoc_usage_t *usage = assoc->leaf_usage;

	if (usage)
		hand_over(sink, context, assoc->id, usage->usage_raw, usage->grp_used_wall,
			  usage->usage_tres_raw, usage->tres_cnt);
}

typedef struct {
	shim_usage_sink sink;
	void *context;
} target;

static int store_assoc(void *assoc, void *arg)
{
	const target *to = arg;

	host_store_assoc(assoc, to->sink, to->context);
	return 0;
}

static int store_qos(void *arg_qos, void *arg)
{
	const slurmdb_qos_rec_t *qos = arg_qos;
	const slurmdb_qos_usage_t *usage = qos->usage;
	const target *to = arg;

	hand_over(to->sink, to->context, qos->id, usage->usage_raw, usage->grp_used_wall,
		  usage->usage_tres_raw, usage->tres_cnt);
	return 0;
}

/* The order of TRES changes with AccountingStorageTRES, their ids do not. */
size_t shim_tres_ids(uint32_t *ids, size_t len)
{
	for (uint32_t i = 0; i < g_tres_count && i < len; i++)
		ids[i] = assoc_mgr_tres_array[i]->id;
	return g_tres_count;
}

void shim_each_assoc_usage(shim_usage_sink sink, void *context)
{
	target to = { .sink = sink, .context = context };

	if (assoc_mgr_assoc_list)
		(void) list_for_each_ro(assoc_mgr_assoc_list, store_assoc, &to);
}

void shim_each_qos_usage(shim_usage_sink sink, void *context)
{
	target to = { .sink = sink, .context = context };

	if (assoc_mgr_qos_list)
		(void) list_for_each_ro(assoc_mgr_qos_list, store_qos, &to);
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
