/*
 * The accounting database as slurmctld sees it: rows of TRES, QOS and
 * associations, returned through the calls that a storage plugin would answer.
 * So Slurm itself computes children lists, shares and norms.
 */
#include "database.h"

#define USE_PARENT SLURMDB_FS_USE_PARENT

/* Associations in the order of the life; parents come before children. */
static twin_assoc_row *row;
static uint32_t rows, rows_room;
static uint32_t *row_of_id, ids_room;

static twin_qos_row qos[128];
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
	qos[qoses] = (twin_qos_row){
		.id = twin_arg_u32(line),
		.priority = twin_word_u32(line, "prio", 0),
		.flags = twin_word_u32(line, "nodecay", 0) ?
				 QOS_FLAG_NO_DECAY : 0,
		.factor = twin_word_f64(line, "factor", 1),
		.threshold = twin_word_f64(line, "threshold", NO_VAL),
	};
	if (qos[qoses].threshold < NO_VAL)
		qos[qoses].flags |= QOS_FLAG_ENFORCE_USAGE_THRES;
	qoses++;
}

twin_assoc_row *twin_assoc_row_at(uint32_t position)
{
	return (position < rows) ? &row[position] : NULL;
}

twin_assoc_row *twin_assoc_row_of(uint32_t id)
{
	if ((id >= ids_room) || !row_of_id[id] || row[row_of_id[id] - 1].gone)
		return NULL;
	return &row[row_of_id[id] - 1];
}

twin_qos_row *twin_qos_row_of(uint32_t id)
{
	for (int i = 0; i < qoses; i++)
		if (qos[i].id == id)
			return &qos[i];
	return NULL;
}

uint32_t twin_shares_of(const twin_line *line, uint32_t otherwise)
{
	const char *text = twin_word(line, "shares");

	if (text && !strcmp(text, "parent"))
		return USE_PARENT;
	return twin_word_u32(line, "shares", otherwise);
}

twin_assoc_row *twin_assoc_row_new(const twin_line *line)
{
	uint32_t id = twin_arg_u32(line);
	twin_assoc_row *new;

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
	*new = (twin_assoc_row){
		.id = id,
		.parent = twin_word_u32(line, "parent", 0),
		.shares = twin_shares_of(line, 1),
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

	if (twin_assoc_row_of(twin_arg_u32(line)))
		twin_usage_error("line %d: two associations %s", line->number,
				 line->arg);
	if (!parent && (rows || twin_word(line, "user")))
		twin_usage_error("line %d: only the first association has no parent, an account",
				 line->number);
	/* A life may lose lines: an association without its parent does not exist. */
	if (parent && !twin_assoc_row_of(parent))
		return;
	twin_assoc_row_new(line);
}

void twin_database_usage(const twin_line *line)
{
	twin_assoc_row *of = twin_assoc_row_of(twin_arg_u32(line));

	if (!of || !of->user)
		return;
	of->raw = twin_word_f64(line, "raw", 0);
	of->wall = twin_word_f64(line, "wall", 0);
}

/* ---- records -------------------------------------------------------------------- */

#if TWIN_LINEAGE
char *twin_lineage_of(const twin_assoc_row *of)
{
	char *path = NULL, *longer;

	for (const twin_assoc_row *up = of; up && up->parent;
	     up = twin_assoc_row_of(up->parent)) {
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

slurmdb_assoc_rec_t *twin_assoc_record(const twin_assoc_row *of)
{
	slurmdb_assoc_rec_t *rec = xmalloc(sizeof(*rec));
	const twin_assoc_row *parent = twin_assoc_row_of(of->parent);

	slurmdb_init_assoc_rec(rec, false);
	rec->id = of->id;
	rec->parent_id = of->parent;
	rec->cluster = xstrdup(TWIN_CLUSTER);
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
	rec->lineage = twin_lineage_of(of);
#endif
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

static slurmdb_qos_rec_t *qos_record(const twin_qos_row *of)
{
	slurmdb_qos_rec_t *rec = xmalloc(sizeof(*rec));
	char name[16];

	slurmdb_init_qos_rec(rec, false, INFINITE);
	snprintf(name, sizeof(name), "q%" PRIu32, of->id);
	rec->id = of->id;
	rec->name = xstrdup(name);
	rec->priority = of->priority;
	rec->usage_factor = of->factor;
	rec->usage_thres = of->threshold;
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
	for (int i = 0; slurm_with_slurmdbd() && (i < qoses); i++)
		list_append(list, qos_record(&qos[i]));
	return list;
}

/* Depth first, as the database answers; none without slurmdbd. */
twin_list acct_storage_g_get_assocs(void *connection, uint32_t uid,
				    slurmdb_assoc_cond_t *condition)
{
	twin_list list = list_create(slurmdb_destroy_assoc_rec);
	uint32_t *child = xcalloc(rows + 1, sizeof(*child));
	uint32_t *next = xcalloc(rows + 1, sizeof(*next));

	(void)connection, (void)uid, (void)condition;
	/* Position 0 is above the root; the others are row numbers + 1. */
	for (uint32_t i = rows; i > 0; i--) {
		const twin_assoc_row *of = &row[i - 1];
		const twin_assoc_row *up = twin_assoc_row_of(of->parent);
		uint32_t at = up ? (uint32_t)(up - row) + 1 : 0;

		if (of->gone || (of->parent && !up))
			continue;
		next[i] = child[at];
		child[at] = i;
	}
	for (uint32_t i = slurm_with_slurmdbd() ? child[0] : 0; i;) {
		list_append(list, twin_assoc_record(&row[i - 1]));
		if (child[i]) {
			i = child[i];
			continue;
		}
		while (i && !next[i]) {
			const twin_assoc_row *up = twin_assoc_row_of(row[i - 1].parent);

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

/* Users are u1, u2 ... and root, independent of this machine's accounts. */
int uid_from_string(const char *name, uid_t *uid)
{
	bool root = name && !strcmp(name, "root");

	if (!root && (!name || (name[0] != 'u')))
		return SLURM_ERROR;
	*uid = root ? 0 : 10000 + atoi(name + 1);
	return SLURM_SUCCESS;
}
