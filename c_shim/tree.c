/*
 * tree.c - copies of associations, and which row is which.
 */
#include "host.h"

/* ---- copies ------------------------------------------------------------------------------ */

static void copy_kept(shim_snapshot *snapshot, const slurmdb_assoc_usage_t *usage)
{
	shim_assoc_kept *row = HOST_PUSH(snapshot, snapshot->kept, 1);

	if (!row)
		return;
	*row = (shim_assoc_kept) {
		.usage_norm = host_to_extended(usage->usage_norm),
		.usage_efctv = host_to_extended(usage->usage_efctv),
		.shares_norm = usage->shares_norm,
		.fs_factor = usage->fs_factor,
		.has_usage_norm = host_is_computed(usage->usage_norm),
		.has_usage_efctv = host_is_computed(usage->usage_efctv),
	};
}

/*
 * Of usage only the number is read, if that is enough: its other lines of memory are far away. Who
 * the parent is stands in the association itself, too: where slurmctld does not find that parent,
 * the association is in no list of children.
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
		.usage_sign_exponent = raw.sign_exponent,
		.shares_from_parent = assoc->shares_raw == SLURMDB_FS_USE_PARENT,
		.is_user = assoc->user != NULL,
		.id = assoc->id,
		.parent_id = assoc->parent_id,
		.shares_raw = assoc->shares_raw,
		.priority = assoc->priority,
	};
	if (want->kept)
		copy_kept(snapshot, assoc->usage);
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

static void fetch_assoc(const slurmdb_assoc_rec_t *assoc)
{
	host_ask(&assoc->id);
	host_ask(&assoc->parent_id);
	host_ask(&assoc->shares_raw);
	host_ask(&assoc->usage);
	host_ask(&assoc->user);
}

/* What is read of usage; a user has no children. */
static void fetch_read(const shim_want *want, const slurmdb_assoc_rec_t *assoc)
{
	if (!assoc->user)
		host_ask(&assoc->usage->children_list);
	if (want->priority_norms)
		host_ask(&assoc->usage->priority_norm);
	host_ask(&assoc->usage->usage_raw);
}

/* Asks for some of the records that are queued; how many. */
static size_t fetch_queued(const shim_want *want, void *const *at, size_t len)
{
	size_t some = len < HOST_TOGETHER ? len : HOST_TOGETHER;

	for (size_t i = 0; i < some; i++)
		fetch_assoc(at[i]);
	for (size_t i = 0; i < some; i++)
		fetch_read(want, at[i]);
	for (size_t i = 0; i < some; i++) {
		const slurmdb_assoc_rec_t *assoc = at[i];

		if (!assoc->user && assoc->usage->children_list)
			host_fetch_list(assoc->usage->children_list);
	}
	return some;
}

/*
 * Level by level from the root. The records that were found are the queue of those still to be
 * visited, so that depth costs no stack, and tell long before what will be read.
 */
void host_copy_tree(shim_snapshot *snapshot, const shim_want *want)
{
	host_trail trail;
	size_t most, fetched = 0;

	if (!assoc_mgr_assoc_list || !assoc_mgr_root_assoc)
		return;
	most = (size_t) list_count(assoc_mgr_assoc_list);
	(void) HOST_EXPECT(snapshot, snapshot->assocs, most);
	(void) HOST_EXPECT(snapshot, snapshot->assoc_at, most);
	if (want->kept)
		(void) HOST_EXPECT(snapshot, snapshot->kept, most);
	(void) queue_child(assoc_mgr_root_assoc, snapshot);
	host_trail_begin(&trail, &snapshot->child_nodes, most);
	for (size_t i = 0; i < snapshot->assoc_at.len && !snapshot->out_of_memory; i++) {
		slurmdb_assoc_rec_t *assoc;

		if (i == fetched)
			fetched += fetch_queued(want, snapshot->assoc_at.at + i,
						snapshot->assoc_at.len - i);
		assoc = snapshot->assoc_at.at[i];
		copy_row(snapshot, want, assoc);
		if (!assoc->user && assoc->usage->children_list)
			(void) host_trail_walk(&trail, assoc->usage->children_list, queue_child,
					       snapshot);
		if (snapshot->assoc_at.len > most) {
			snapshot->broken_tree = true;
			break;
		}
	}
	host_trail_end(&trail);
}

void host_forget_records(shim_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->assoc_at.len; i++)
		snapshot->assoc_at.at[i] = host_mark(snapshot->assoc_at.at[i]);
	snapshot->qos_at.len = 0;
}

/* ---- a walk along slurmctld's list ------------------------------------------------------- */

/* See HOST_PER_STAGE. */
typedef struct {
	const host_assoc_visitor *visitor;
	void *arg;
	slurmdb_assoc_rec_t *assoc[HOST_ON_THE_WAY]; /* NULL where there is none */
	size_t turns;
} assoc_walk;

static void bring_assoc(const slurmdb_assoc_rec_t *assoc)
{
	const slurmdb_assoc_usage_t *usage = assoc->usage;

	host_bring(&assoc->id);
	host_bring(&assoc->parent_id);
	host_bring(&assoc->user);
	if (!usage)
		return;
	host_bring(&usage->fs_factor);
	host_bring(&usage->usage_efctv);
	host_bring(&usage->level_fs);
	host_bring_all(usage->usage_tres_raw, usage->tres_cnt * sizeof(long double));
}

static void fetch_record(const slurmdb_assoc_rec_t *assoc)
{
	host_ask(&assoc->id);
	host_ask(&assoc->leaf_usage);
	host_ask(&assoc->parent_id);
	host_ask(&assoc->usage);
}

static void fetch_usage(const slurmdb_assoc_usage_t *usage)
{
	if (!usage)
		return;
	host_ask(&usage->fs_factor);
	host_ask(&usage->usage_efctv);
	host_ask(&usage->usage_norm);
	host_ask(&usage->level_fs);
}

static void fetch_tres(const slurmdb_assoc_usage_t *usage)
{
	if (usage)
		host_fetch(usage->usage_tres_raw, usage->tres_cnt * sizeof(long double));
}

/* The association that was found so many turns ago; NULL: none. */
static slurmdb_assoc_rec_t *found_before(const assoc_walk *w, size_t turns)
{
	return w->assoc[(w->turns - turns) % HOST_ON_THE_WAY];
}

/* One goes through its first stage, and others, found before it, each through another. */
static void take_turn(assoc_walk *w, slurmdb_assoc_rec_t *assoc)
{
	const host_assoc_visitor *visitor = w->visitor;

	w->assoc[w->turns % HOST_ON_THE_WAY] = assoc;
	if (assoc)
		fetch_record(assoc);
	assoc = found_before(w, HOST_PER_STAGE);
	if (assoc)
		fetch_usage(assoc->usage);
	assoc = found_before(w, 2 * HOST_PER_STAGE);
	if (assoc)
		fetch_tres(assoc->usage);
	if (assoc && visitor->expect)
		visitor->expect(assoc, w->arg);
	assoc = found_before(w, 3 * HOST_PER_STAGE);
	if (assoc && visitor->expect_more)
		visitor->expect_more(assoc, w->arg);
	assoc = found_before(w, HOST_LAST_STAGE * HOST_PER_STAGE - HOST_NEAR);
	if (assoc)
		bring_assoc(assoc);
	assoc = found_before(w, HOST_LAST_STAGE * HOST_PER_STAGE);
	if (assoc)
		visitor->visit(assoc, w->arg);
	w->turns++;
}

static int walk_to(void *assoc, void *arg)
{
	take_turn(arg, assoc);
	return 0;
}

void host_walk_assocs(shim_snapshot *snapshot, const host_assoc_visitor *visitor, void *arg)
{
	assoc_walk w = { .visitor = visitor, .arg = arg };
	host_trail trail;

	if (!assoc_mgr_assoc_list)
		return;
	if (snapshot) {
		host_trail_begin(&trail, &snapshot->assoc_nodes,
				 (size_t) list_count(assoc_mgr_assoc_list));
		(void) host_trail_walk(&trail, assoc_mgr_assoc_list, walk_to, &w);
		host_trail_end(&trail);
	} else {
		(void) list_for_each_ro(assoc_mgr_assoc_list, walk_to, &w);
	}
	for (size_t i = 0; i < HOST_LAST_STAGE * HOST_PER_STAGE; i++)
		take_turn(&w, NULL);
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
 * Rows of one id: each but the first gets an id above all others, in this snapshot only. Their
 * records are told apart by where they are.
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
	if (snapshot->assocs_kept)
		return;
	snapshot->twins = 0;
	if (!make_table(snapshot))
		sort_by_id(snapshot);
}
