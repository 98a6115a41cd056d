/*
 * The association manager: the database's rows fill it, and later changes are
 * sent to it as slurmdbd sends them.
 */
#include "database.h"

/* ---- start --------------------------------------------------------------------------- */

static void assoc_was_removed(slurmdb_assoc_rec_t *assoc)
{
	twin_jobs_unlink_assoc(assoc);
}

static void qos_was_removed(slurmdb_qos_rec_t *qos)
{
	twin_jobs_unlink_qos(qos);
}

void twin_database_connect(void)
{
	static uint16_t cached = RUNNING_CACHE_STATE_NOTRUNNING;
	assoc_init_args_t args = {
		.cache_level = ASSOC_MGR_CACHE_ALL,
		.running_cache = &cached,
		.remove_assoc_notify = assoc_was_removed,
		.remove_qos_notify = qos_was_removed,
	};

	twin_set_state_folder(args);
	if (slurm_with_slurmdbd() && !twin_assoc_row_at(0))
		twin_usage_error("slurmdbd, but no association");
	if (assoc_mgr_init(NULL, &args, SLURM_SUCCESS))
		twin_usage_error("assoc_mgr_init failed");
	slurmctld_tres_cnt = g_tres_count;
	load_assoc_usage();
	load_qos_usage();
}

static int add_usage(void *each, void *unused)
{
	slurmdb_assoc_rec_t *assoc = each;
	const twin_assoc_row *of = twin_assoc_row_of(assoc->id);

	(void)unused;
	if (!of || (!of->raw && !of->wall))
		return 0;
	for (; assoc; assoc = assoc->usage->parent_assoc_ptr) {
		assoc->usage->usage_raw += of->raw;
		assoc->usage->usage_tres_raw[TRES_ARRAY_CPU] += of->raw;
		assoc->usage->grp_used_wall += of->wall;
	}
	return 0;
}

/* Record by record: looking up many by id takes the association manager long. */
void twin_database_first_usage(void)
{
	assoc_mgr_lock_t locks = { .assoc = WRITE_LOCK };

	assoc_mgr_lock(&locks);
	if (assoc_mgr_assoc_list)
		list_for_each(assoc_mgr_assoc_list, add_usage, NULL);
	assoc_mgr_unlock(&locks);
}

/* ---- changes while slurmctld runs ---------------------------------------------------- */

/* An update that changes nothing. */
static slurmdb_assoc_rec_t *empty_update(const twin_assoc_row *of)
{
	slurmdb_assoc_rec_t *rec = xmalloc(sizeof(*rec));

	slurmdb_init_assoc_rec(rec, false);
	rec->id = of->id;
	rec->parent_id = 0;
	rec->cluster = xstrdup(TWIN_CLUSTER);
	return rec;
}

static void push(uint16_t type, twin_list objects)
{
	twin_list updates;
	slurmdb_update_object_t *update;

	/* Without slurmdbd there are no updates. */
	if (!slurm_with_slurmdbd()) {
		FREE_NULL_LIST(objects);
		return;
	}
	updates = list_create(slurmdb_destroy_update_object);
	update = xmalloc(sizeof(*update));
	update->type = type;
	update->objects = objects;
	list_append(updates, update);
	assoc_mgr_update(updates, false);
	FREE_NULL_LIST(updates);
}

static void push_one(uint16_t type, slurmdb_assoc_rec_t *rec)
{
	twin_list objects = list_create(slurmdb_destroy_assoc_rec);

	list_append(objects, rec);
	push(type, objects);
}

static bool has_children(uint32_t id)
{
	const twin_assoc_row *of;

	for (uint32_t i = 0; (of = twin_assoc_row_at(i)); i++)
		if (!of->gone && (of->parent == id))
			return true;
	return false;
}

void twin_database_assoc_add(const twin_line *line)
{
	const twin_assoc_row *parent = twin_assoc_row_of(twin_word_u32(line, "parent", 0));

	if (twin_assoc_row_of(twin_arg_u32(line)) || !parent || parent->user)
		return;
	push_one(SLURMDB_ADD_ASSOC, twin_assoc_record(twin_assoc_row_new(line)));
}

/* Returns true if the association is in the branch that starts at `top`. */
static bool in_branch(const twin_assoc_row *of, uint32_t top)
{
	for (; of; of = twin_assoc_row_of(of->parent))
		if (of->id == top)
			return true;
	return false;
}

static void move(twin_assoc_row *of, uint32_t parent_id, slurmdb_assoc_rec_t *rec)
{
	const twin_assoc_row *parent = twin_assoc_row_of(parent_id);

	if (!parent || parent->user || of->user || !of->parent ||
	    in_branch(parent, of->id))
		return;
	of->parent = parent_id;
	rec->parent_id = parent_id;
	rec->parent_acct = xstrdup(parent->acct);
}

/* Sends every path of a moved branch. */
static void push_lineages(twin_list objects, uint32_t top)
{
#if TWIN_LINEAGE
	const twin_assoc_row *of;

	for (uint32_t i = 0; top && (of = twin_assoc_row_at(i)); i++)
		if (!of->gone && in_branch(of, top)) {
			slurmdb_assoc_rec_t *rec = empty_update(of);

			rec->lineage = twin_lineage_of(of);
			list_append(objects, rec);
		}
#else
	(void)objects, (void)top;
#endif
}

void twin_database_assoc_set(const twin_line *line)
{
	twin_assoc_row *of = twin_assoc_row_of(twin_arg_u32(line));
	uint32_t parent = twin_word_u32(line, "parent", 0);
	twin_list objects;
	slurmdb_assoc_rec_t *rec;

	if (!of)
		return;
	objects = list_create(slurmdb_destroy_assoc_rec);
	rec = empty_update(of);
	if (twin_word(line, "shares"))
		rec->shares_raw = of->shares = twin_shares_of(line, 1);
	if (twin_word(line, "prio"))
		rec->priority = of->priority = twin_word_u32(line, "prio", 0);
	if (parent)
		move(of, parent, rec);
	list_append(objects, rec);
	push_lineages(objects, parent ? of->id : 0);
	push(SLURMDB_MODIFY_ASSOC, objects);
}

void twin_database_assoc_del(const twin_line *line)
{
	twin_assoc_row *of = twin_assoc_row_of(twin_arg_u32(line));

	if (!of || !of->parent || has_children(of->id))
		return;
	of->gone = true;
	push_one(SLURMDB_REMOVE_ASSOC, empty_update(of));
}

void twin_database_assoc_zero(const twin_line *line)
{
	const twin_assoc_row *of = twin_assoc_row_of(twin_arg_u32(line));

	if (of)
		push_one(SLURMDB_REMOVE_ASSOC_USAGE, empty_update(of));
}

void twin_database_qos_set(const twin_line *line)
{
	twin_list objects;
	slurmdb_qos_rec_t *rec;
	uint32_t id = twin_arg_u32(line);
	twin_qos_row *of = twin_qos_row_of(id);

	if (!of)
		return;
	of->priority = twin_word_u32(line, "prio", of->priority);
	of->factor = twin_word_f64(line, "factor", of->factor);
	rec = xmalloc(sizeof(*rec));
	slurmdb_init_qos_rec(rec, false, NO_VAL);
	rec->id = id;
	rec->priority = of->priority;
	rec->usage_factor = of->factor;
	objects = list_create(slurmdb_destroy_qos_rec);
	list_append(objects, rec);
	push(SLURMDB_MODIFY_QOS, objects);
}

static void update_qos(uint16_t type, uint32_t id)
{
	twin_list objects;
	slurmdb_qos_rec_t *rec;

	if (!twin_qos_row_of(id))
		return;
	rec = xmalloc(sizeof(*rec));
	slurmdb_init_qos_rec(rec, false, NO_VAL);
	rec->id = id;
	objects = list_create(slurmdb_destroy_qos_rec);
	list_append(objects, rec);
	push(type, objects);
}

void twin_database_qos_del(const twin_line *line)
{
	update_qos(SLURMDB_REMOVE_QOS, twin_arg_u32(line));
}

void twin_database_qos_zero(const twin_line *line)
{
	update_qos(TWIN_RESET_QOS_USAGE, twin_arg_u32(line));
}
