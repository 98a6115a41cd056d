/*
 * assocs.c - copies of associations.
 */
#include "assocs.h"
#include "prefetch.h"

static void copy_recorded(shim_snapshot *snapshot, const slurmdb_assoc_usage_t *usage)
{
	shim_assoc_recorded *row = HOST_PUSH(snapshot, snapshot->recorded, 1);

	if (!row)
		return;
	*row = (shim_assoc_recorded) {
		.usage_norm = host_to_extended(usage->usage_norm),
		.usage_efctv = host_to_extended(usage->usage_efctv),
		.shares_norm = usage->shares_norm,
		.fs_factor = usage->fs_factor,
		.has_usage_norm = host_is_computed(usage->usage_norm),
		.has_usage_efctv = host_is_computed(usage->usage_efctv),
	};
}

/*
 * Only the number of usage is read, if that is enough: each further cache line is a miss. The
 * parent's id is in the association itself; if slurmctld does not find that parent, the association
 * is in no list of children.
 */
static void copy_row(shim_snapshot *snapshot, const shim_want *want,
		     const slurmdb_assoc_rec_t *assoc)
{
	shim_extended raw = host_to_extended(assoc->usage->usage_raw);
	shim_assoc *row = HOST_PUSH(snapshot, snapshot->assocs, 1);

	if (!row)
		return;
	*row = (shim_assoc) {
		.priority_norm = want->priority_norms ? assoc->usage->priority_norm : 0,
		.usage_mantissa = raw.mantissa,
		.wall = assoc->usage->grp_used_wall,
		.usage_sign_exponent = raw.sign_exponent,
		.shares_from_parent = assoc->shares_raw == SLURMDB_FS_USE_PARENT,
		.is_user = assoc->user != NULL,
		.id = assoc->id,
		.parent_id = assoc->parent_id,
		.shares_raw = assoc->shares_raw,
		.priority = assoc->priority,
	};
	if (want->recorded)
		copy_recorded(snapshot, assoc->usage);
	if (!row->is_user) {
		uint32_t *account = HOST_PUSH(snapshot, snapshot->accounts, 1);

		if (account)
			*account = (uint32_t) snapshot->assocs.len - 1;
	}
}

static int queue_child(void *assoc, void *arg)
{
	shim_snapshot *snapshot = arg;
	void **at = HOST_PUSH(snapshot, snapshot->assoc_at, 1);

	if (at)
		*at = assoc;
	return at ? 0 : -1;
}

void host_copy_assoc(shim_snapshot *snapshot, const shim_want *want,
		     const slurmdb_assoc_rec_t *assoc)
{
	if (queue_child((void *) assoc, snapshot) == 0)
		copy_row(snapshot, want, assoc);
}

static void prefetch_assoc(const slurmdb_assoc_rec_t *assoc)
{
	prefetch_l2(&assoc->id);
	prefetch_l2(&assoc->parent_id);
	prefetch_l2(&assoc->shares_raw);
	prefetch_l2(&assoc->usage);
	prefetch_l2(&assoc->user);
}

/* Prefetches the part of usage that is read; a user has no children. */
static void prefetch_read(const shim_want *want, const slurmdb_assoc_rec_t *assoc)
{
	if (!assoc->user)
		prefetch_l2(&assoc->usage->children_list);
	if (want->priority_norms)
		prefetch_l2(&assoc->usage->priority_norm);
	prefetch_l2(&assoc->usage->usage_raw);
}

/* Prefetches a batch of queued records; returns their number. */
static size_t prefetch_queued(const shim_want *want, void *const *at, size_t len)
{
	size_t some = len < PREFETCH_BATCH ? len : PREFETCH_BATCH;

	for (size_t i = 0; i < some; i++)
		prefetch_assoc(at[i]);
	for (size_t i = 0; i < some; i++)
		prefetch_read(want, at[i]);
	for (size_t i = 0; i < some; i++) {
		const slurmdb_assoc_rec_t *assoc = at[i];

		if (!assoc->user && assoc->usage->children_list)
			host_prefetch_list(assoc->usage->children_list);
	}
	return some;
}

/*
 * Level by level from the root. `assoc_at` is the queue of records still to visit, so that depth
 * needs no stack; it also shows early which records to prefetch.
 */
void host_copy_tree(shim_snapshot *snapshot, const shim_want *want)
{
	size_t most, fetched = 0;

	if (!assoc_mgr_assoc_list || !assoc_mgr_root_assoc)
		return;
	most = (size_t) list_count(assoc_mgr_assoc_list);
	(void) HOST_EXPECT(snapshot, snapshot->assocs, most);
	(void) HOST_EXPECT(snapshot, snapshot->assoc_at, most);
	if (want->recorded)
		(void) HOST_EXPECT(snapshot, snapshot->recorded, most);
	(void) queue_child(assoc_mgr_root_assoc, snapshot);
	for (size_t i = 0; i < snapshot->assoc_at.len && !snapshot->out_of_memory; i++) {
		slurmdb_assoc_rec_t *assoc;

		if (i == fetched)
			fetched += prefetch_queued(want, snapshot->assoc_at.at + i,
						   snapshot->assoc_at.len - i);
		assoc = snapshot->assoc_at.at[i];
		copy_row(snapshot, want, assoc);
		if (!assoc->user && assoc->usage->children_list)
			(void) list_for_each_ro(assoc->usage->children_list, queue_child, snapshot);
		if (snapshot->assoc_at.len > most) {
			snapshot->broken_tree = true;
			break;
		}
	}
}

void host_forget_records(shim_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->assoc_at.len; i++)
		snapshot->assoc_at.at[i] = host_mark(snapshot->assoc_at.at[i]);
	snapshot->qos_at.len = 0;
}
