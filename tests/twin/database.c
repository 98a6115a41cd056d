/*
 * The accounting database as slurmctld sees it: rows of TRES, QOS and
 * associations, handed out through the calls that a storage plugin would
 * answer, and changes pushed through assoc_mgr_update() as slurmdbd does.
 * So children lists, shares and norms are what Slurm makes of them.
 */
#include "host.h"

#define CLUSTER "twin"
#define USE_PARENT SLURMDB_FS_USE_PARENT

typedef struct {
	uint32_t id, parent, shares, priority;
	const char *acct, *user, *part;
	long double raw;
	double wall;
	bool gone;
} assoc_row;

/* Associations in the order of the life; parents stand before children. */
static assoc_row *row;
static uint32_t rows, rows_room;
static uint32_t *row_of_id, ids_room;

typedef struct {
	uint32_t id, priority, flags;
	double factor;
} qos_row;

static qos_row qos[128];
static const char *tres_name[64];
static int qoses, tres;

/* ---- rows -------------------------------------------------------------------- */

void twin_database_tres(const twin_line *line)
{
	if (!line->arg || (tres == 64))
		twin_usage_error("line %d: tres TYPE/NAME, at most 64",
				 line->number);
	tres_name[tres++] = line->arg;
}

void twin_database_qos(const twin_line *line)
{
	if (qoses == 128)
		twin_usage_error("line %d: more than 128 QOS", line->number);
	qos[qoses++] = (qos_row){
		.id = twin_arg_u32(line),
		.priority = twin_word_u32(line, "prio", 0),
		.flags = twin_word_u32(line, "nodecay", 0) ?
				 QOS_FLAG_NO_DECAY : 0,
		.factor = twin_word_f64(line, "factor", 1),
	};
}

/* The row of an association that exists, or NULL. */
static assoc_row *find_row(uint32_t id)
{
	if ((id >= ids_room) || !row_of_id[id] || row[row_of_id[id] - 1].gone)
		return NULL;
	return &row[row_of_id[id] - 1];
}

static uint32_t shares_of(const twin_line *line, uint32_t otherwise)
{
	const char *text = twin_word(line, "shares");

	if (text && !strcmp(text, "parent"))
		return USE_PARENT;
	return twin_word_u32(line, "shares", otherwise);
}

static assoc_row *new_row(const twin_line *line)
{
	uint32_t id = twin_arg_u32(line);
	assoc_row *new;

	if (id >= ids_room) {
		uint32_t room = id * 2 + 64;

		xrecalloc(row_of_id, room, sizeof(*row_of_id));
		ids_room = room;
	}
	if (rows == rows_room) {
		rows_room = rows_room * 2 + 64;
		xrecalloc(row, rows_room, sizeof(*row));
	}
	new = &row[rows++];
	row_of_id[id] = rows;
	*new = (assoc_row){
		.id = id,
		.parent = twin_word_u32(line, "parent", 0),
		.shares = shares_of(line, 1),
		.priority = twin_word_u32(line, "prio", 0),
		.acct = twin_word(line, "acct"),
		.user = twin_word(line, "user"),
		.part = twin_word(line, "part"),
	};
	if (!new->acct)
		twin_usage_error("line %d: assoc needs acct=", line->number);
	return new;
}

void twin_database_assoc(const twin_line *line)
{
	uint32_t parent = twin_word_u32(line, "parent", 0);

	if (find_row(twin_arg_u32(line)))
		twin_usage_error("line %d: two associations %s", line->number,
				 line->arg);
	/* A life may lose lines: an association without parent is not there. */
	if (parent && !find_row(parent))
		return;
	new_row(line);
}

void twin_database_usage(const twin_line *line)
{
	assoc_row *of = find_row(twin_arg_u32(line));

	if (!of || !of->user)
		return;
	of->raw = twin_word_f64(line, "raw", 0);
	of->wall = twin_word_f64(line, "wall", 0);
}

/* ---- records -------------------------------------------------------------------- */

#if TWIN_LINEAGE
/* "/a/b/0-user/": the path that newer releases sort by. */
static char *lineage_of(const assoc_row *of)
{
	char *path = NULL, *longer;

	for (const assoc_row *up = of; up && up->parent;
	     up = find_row(up->parent)) {
		longer = NULL;
		if (up->user)
			xstrfmtcat(longer, "0-%s/%s%s", up->user,
				   up->part ? up->part : "",
				   up->part ? "/" : "");
		else
			xstrfmtcat(longer, "%s/%s", up->acct, path ? path : "");
		xfree(path);
		path = longer;
	}
	longer = NULL;
	xstrfmtcat(longer, "/%s", path ? path : "");
	xfree(path);
	return longer;
}
#endif

static slurmdb_assoc_rec_t *assoc_record(const assoc_row *of)
{
	slurmdb_assoc_rec_t *rec = xmalloc(sizeof(*rec));
	const assoc_row *parent = find_row(of->parent);

	slurmdb_init_assoc_rec(rec, false);
	rec->id = of->id;
	rec->parent_id = of->parent;
	rec->cluster = xstrdup(CLUSTER);
	rec->acct = xstrdup(of->acct);
	rec->user = xstrdup(of->user);
	rec->partition = xstrdup(of->part);
	rec->shares_raw = of->shares;
	rec->priority = of->priority;
	rec->def_qos_id = 0;
	rec->is_def = 0;
	rec->qos_list = list_create(xfree_ptr);
	if (parent && !of->user)
		rec->parent_acct = xstrdup(parent->acct);
#if TWIN_LINEAGE
	rec->lineage = lineage_of(of);
#endif
	return rec;
}

/* What an update that touches nothing looks like. */
static slurmdb_assoc_rec_t *empty_update(const assoc_row *of)
{
	slurmdb_assoc_rec_t *rec = xmalloc(sizeof(*rec));

	slurmdb_init_assoc_rec(rec, false);
	rec->id = of->id;
	rec->parent_id = 0;
	rec->cluster = xstrdup(CLUSTER);
	return rec;
}

static void add_tres(twin_list list, uint32_t id, const char *name)
{
	slurmdb_tres_rec_t *rec = xmalloc(sizeof(*rec));
	char *slash;

	rec->id = id;
	rec->type = xstrdup(name);
	if ((slash = strchr(rec->type, '/'))) {
		rec->name = xstrdup(slash + 1);
		*slash = '\0';
	}
	list_append(list, rec);
}

static slurmdb_qos_rec_t *qos_record(const qos_row *of)
{
	slurmdb_qos_rec_t *rec = xmalloc(sizeof(*rec));
	char name[16];

	slurmdb_init_qos_rec(rec, false, INFINITE);
	snprintf(name, sizeof(name), "q%" PRIu32, of->id);
	rec->id = of->id;
	rec->name = xstrdup(name);
	rec->priority = of->priority;
	rec->usage_factor = of->factor;
	rec->usage_thres = NO_VAL;
	rec->flags = of->flags;
	return rec;
}

/* ---- the storage plugin's answers -------------------------------------------------- */

twin_list acct_storage_g_get_tres(void *connection, uint32_t uid,
				  slurmdb_tres_cond_t *condition)
{
	static const char *const own[] = { "cpu",     "mem",	 "energy",
					   "node",    "billing", "fs/disk",
					   "vmem",    "pages" };
	twin_list list = list_create(slurmdb_destroy_tres_rec);

	(void)connection, (void)uid, (void)condition;
	for (int i = 0; i < 8; i++)
		add_tres(list, i + 1, own[i]);
	for (int i = 0; i < tres; i++)
		add_tres(list, 1001 + i, tres_name[i]);
	return list;
}

twin_list acct_storage_g_get_qos(void *connection, uint32_t uid,
				 slurmdb_qos_cond_t *condition)
{
	twin_list list = list_create(slurmdb_destroy_qos_rec);

	(void)connection, (void)uid, (void)condition;
	for (int i = 0; i < qoses; i++)
		list_append(list, qos_record(&qos[i]));
	return list;
}

/* Depth first, as the database answers. */
twin_list acct_storage_g_get_assocs(void *connection, uint32_t uid,
				    slurmdb_assoc_cond_t *condition)
{
	twin_list list = list_create(slurmdb_destroy_assoc_rec);
	uint32_t *child = xcalloc(rows + 1, sizeof(*child));
	uint32_t *next = xcalloc(rows + 1, sizeof(*next));

	(void)connection, (void)uid, (void)condition;
	/* Position 0 stands above the root; the others are row numbers + 1. */
	for (uint32_t i = rows; i > 0; i--) {
		const assoc_row *of = &row[i - 1];
		const assoc_row *up = find_row(of->parent);
		uint32_t at = up ? (uint32_t)(up - row) + 1 : 0;

		if (of->gone || (of->parent && !up))
			continue;
		next[i] = child[at];
		child[at] = i;
	}
	for (uint32_t i = child[0]; i;) {
		list_append(list, assoc_record(&row[i - 1]));
		if (child[i]) {
			i = child[i];
			continue;
		}
		while (i && !next[i]) {
			const assoc_row *up = find_row(row[i - 1].parent);

			i = up ? (uint32_t)(up - row) + 1 : 0;
		}
		if (i)
			i = next[i];
	}
	xfree(child);
	xfree(next);
	return list;
}

twin_list acct_storage_g_get_users(void *connection, uint32_t uid,
				   slurmdb_user_cond_t *condition)
{
	(void)connection, (void)uid, (void)condition;
	return list_create(slurmdb_destroy_user_rec);
}

twin_list acct_storage_g_get_wckeys(void *connection, uint32_t uid,
				    slurmdb_wckey_cond_t *condition)
{
	(void)connection, (void)uid, (void)condition;
	return NULL;
}

twin_list acct_storage_g_get_res(void *connection, uint32_t uid,
				 slurmdb_res_cond_t *condition)
{
	(void)connection, (void)uid, (void)condition;
	return NULL;
}

/* Users are called u1, u2 ... and root, whatever this machine's accounts. */
int uid_from_string(const char *name, uid_t *uid)
{
	bool root = name && !strcmp(name, "root");

	if (!root && (!name || (name[0] != 'u')))
		return SLURM_ERROR;
	*uid = root ? 0 : 10000 + atoi(name + 1);
	return SLURM_SUCCESS;
}

/* ---- start --------------------------------------------------------------------------- */

static void assoc_was_removed(slurmdb_assoc_rec_t *assoc)
{
	twin_jobs_unlink_assoc(assoc);
}

void twin_database_connect(void)
{
	static uint16_t cached = RUNNING_CACHE_STATE_NOTRUNNING;
	assoc_init_args_t args = {
		.cache_level = ASSOC_MGR_CACHE_ALL,
		.running_cache = &cached,
		.remove_assoc_notify = assoc_was_removed,
	};

	twin_set_state_folder(args);
	if (assoc_mgr_init(NULL, &args, SLURM_SUCCESS))
		twin_usage_error("assoc_mgr_init failed");
	slurmctld_tres_cnt = g_tres_count;
	load_assoc_usage();
	load_qos_usage();
}

static slurmdb_assoc_rec_t *loaded_assoc(uint32_t id)
{
	slurmdb_assoc_rec_t key = { .id = id }, *found = NULL;

	assoc_mgr_fill_in_assoc(NULL, &key, 0, &found, true);
	return found;
}

void twin_database_first_usage(void)
{
	assoc_mgr_lock_t locks = { .assoc = WRITE_LOCK };

	assoc_mgr_lock(&locks);
	for (uint32_t i = 0; i < rows; i++) {
		if (!row[i].raw && !row[i].wall)
			continue;
		for (slurmdb_assoc_rec_t *up = loaded_assoc(row[i].id); up;
		     up = up->usage->parent_assoc_ptr) {
			up->usage->usage_raw += row[i].raw;
			up->usage->usage_tres_raw[TRES_ARRAY_CPU] += row[i].raw;
			up->usage->grp_used_wall += row[i].wall;
		}
	}
	assoc_mgr_unlock(&locks);
}

/* ---- changes while slurmctld runs ---------------------------------------------------- */

static void push(uint16_t type, twin_list objects)
{
	twin_list updates = list_create(slurmdb_destroy_update_object);
	slurmdb_update_object_t *update = xmalloc(sizeof(*update));

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
	for (uint32_t i = 0; i < rows; i++)
		if (!row[i].gone && (row[i].parent == id))
			return true;
	return false;
}

void twin_database_assoc_add(const twin_line *line)
{
	const assoc_row *parent = find_row(twin_word_u32(line, "parent", 0));

	if (find_row(twin_arg_u32(line)) || !parent || parent->user)
		return;
	push_one(SLURMDB_ADD_ASSOC, assoc_record(new_row(line)));
}

/* True when `id` lies in the branch that starts at `top`. */
static bool in_branch(const assoc_row *of, uint32_t top)
{
	for (; of; of = find_row(of->parent))
		if (of->id == top)
			return true;
	return false;
}

static void move(assoc_row *of, uint32_t parent_id, slurmdb_assoc_rec_t *rec)
{
	const assoc_row *parent = find_row(parent_id);

	if (!parent || parent->user || of->user || !of->parent ||
	    in_branch(parent, of->id))
		return;
	of->parent = parent_id;
	rec->parent_id = parent_id;
	rec->parent_acct = xstrdup(parent->acct);
}

void twin_database_assoc_set(const twin_line *line)
{
	assoc_row *of = find_row(twin_arg_u32(line));
	uint32_t parent = twin_word_u32(line, "parent", 0);
	twin_list objects;
	slurmdb_assoc_rec_t *rec;

	if (!of)
		return;
	objects = list_create(slurmdb_destroy_assoc_rec);
	rec = empty_update(of);
	if (twin_word(line, "shares"))
		rec->shares_raw = of->shares = shares_of(line, 1);
	if (twin_word(line, "prio"))
		rec->priority = of->priority = twin_word_u32(line, "prio", 0);
	if (parent)
		move(of, parent, rec);
	list_append(objects, rec);
#if TWIN_LINEAGE
	for (uint32_t i = 0; parent && (i < rows); i++)
		if (!row[i].gone && in_branch(&row[i], of->id)) {
			rec = empty_update(&row[i]);
			rec->lineage = lineage_of(&row[i]);
			list_append(objects, rec);
		}
#endif
	push(SLURMDB_MODIFY_ASSOC, objects);
}

void twin_database_assoc_del(const twin_line *line)
{
	assoc_row *of = find_row(twin_arg_u32(line));

	if (!of || !of->parent || has_children(of->id))
		return;
	of->gone = true;
	push_one(SLURMDB_REMOVE_ASSOC, empty_update(of));
}

void twin_database_assoc_zero(const twin_line *line)
{
	const assoc_row *of = find_row(twin_arg_u32(line));

	if (of)
		push_one(SLURMDB_REMOVE_ASSOC_USAGE, empty_update(of));
}

void twin_database_qos_set(const twin_line *line)
{
	twin_list objects;
	slurmdb_qos_rec_t *rec;
	uint32_t id = twin_arg_u32(line);
	qos_row *of = NULL;

	for (int i = 0; i < qoses; i++)
		if (qos[i].id == id)
			of = &qos[i];
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
