/*
 * saved.c - usage out of and back into slurmctld's records, exactly, for the plugin's own state.
 *
 * What is stored is what slurmctld stores in assoc_usage and qos_usage: the usage of users and
 * what removed users left in their accounts. Accounts' own sums follow from it. A record goes
 * straight into the form that it has in the file: rows in between would take more memory and time
 * than all the rest of a pass takes for associations.
 */
#include "host.h"

static uint8_t *reserve(shim_stored *stored, shim_byte_rows *bytes, size_t more)
{
	size_t want = bytes->len + more;
	void *grown;

	if (want > bytes->cap) {
		/* Much more is nearly never needed, and pages once touched stay. */
		want += want / 16 + 4096;
		grown = realloc(bytes->at, want);
		if (!grown) {
			stored->out_of_memory = true;
			return NULL;
		}
		bytes->at = grown;
		bytes->cap = want;
	}
	return bytes->at + bytes->len;
}

static uint8_t *put_number(uint8_t *to, long double value)
{
	memcpy(to, &value, 10);
	return to + 10;
}

/* The form of a record: see src/slurm/state/state_file.rs. x86-64 is little-endian, as the file is. */
static void store(shim_stored *stored, shim_byte_rows *bytes, uint32_t *records, uint32_t id,
		  long double usage_raw, double wall, const long double *tres, uint32_t tres_len)
{
	uint8_t *to;

	while (tres_len && (!tres || !host_has_digits(&tres[tres_len - 1])))
		tres_len--;
	if (!host_has_digits(&usage_raw) && wall == 0 && !tres_len)
		return;
	to = reserve(stored, bytes, HOST_STORED_BYTES + (size_t) tres_len * 10);
	if (!to)
		return;
	memcpy(to, &id, 4);
	to = put_number(to + 4, usage_raw);
	memcpy(to, &wall, 8);
	memcpy(to + 8, &tres_len, 4);
	to += 12;
	for (uint32_t i = 0; i < tres_len; i++)
		to = put_number(to, tres[i]);
	bytes->len = (size_t) (to - bytes->at);
	(*records)++;
}

void host_store_assoc(shim_stored *stored, const slurmdb_assoc_rec_t *assoc)
{
	const slurmdb_assoc_usage_t *usage = assoc->leaf_usage;

	if (usage)
		store(stored, &stored->assocs, &stored->assocs_count, assoc->id, usage->usage_raw,
		      usage->grp_used_wall, usage->usage_tres_raw, usage->tres_cnt);
}

static void store_assoc(void *assoc, void *stored)
{
	host_store_assoc(stored, assoc);
}

static int store_qos(void *arg_qos, void *arg)
{
	const slurmdb_qos_rec_t *qos = arg_qos;
	const slurmdb_qos_usage_t *usage = qos->usage;
	shim_stored *stored = arg;

	store(stored, &stored->qos, &stored->qos_count, qos->id, usage->usage_raw,
	      usage->grp_used_wall, usage->usage_tres_raw, usage->tres_cnt);
	return 0;
}

/* The order of TRES changes with AccountingStorageTRES, their ids do not. */
void shim_stored_begin(shim_stored *stored)
{
	uint32_t *ids = stored->tres_ids.at;

	stored->assocs.len = stored->qos.len = stored->tres_ids.len = 0;
	stored->assocs_count = stored->qos_count = 0;
	stored->out_of_memory = false;
	if (g_tres_count > stored->tres_ids.cap) {
		ids = reallocarray(ids, g_tres_count, sizeof(*ids));
		if (!ids) {
			stored->out_of_memory = true;
			return;
		}
		stored->tres_ids.at = ids;
		stored->tres_ids.cap = g_tres_count;
	}
	for (uint32_t i = 0; i < g_tres_count; i++)
		ids[i] = assoc_mgr_tres_array[i]->id;
	stored->tres_ids.len = g_tres_count;
	if (assoc_mgr_assoc_list)
		(void) reserve(stored, &stored->assocs, (size_t) list_count(assoc_mgr_assoc_list) *
							HOST_STORED_BYTES);
}

void shim_stored_assocs(shim_stored *stored)
{
	static const host_assoc_visitor visitor = { .visit = store_assoc };

	host_walk_assocs(NULL, &visitor, stored);
}

void shim_stored_qos(shim_stored *stored)
{
	if (assoc_mgr_qos_list)
		(void) list_for_each_ro(assoc_mgr_qos_list, store_qos, stored);
}

void shim_stored_free(shim_stored *stored)
{
	free(stored->assocs.at);
	free(stored->qos.at);
	free(stored->tres_ids.at);
	*stored = (shim_stored) { 0 };
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
