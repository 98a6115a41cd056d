/*
 * assoc.c - one association, for hooks that concern it; with the classic fair-share factor for
 * releases in which slurmctld and sshare read it from the record instead of calling a formula.
 */
#include "host.h"

void shim_assocs_lock(void)
{
	assoc_mgr_lock_t locks = { .assoc = READ_LOCK };

	assoc_mgr_lock(&locks);
}

void shim_assocs_unlock(void)
{
	assoc_mgr_lock_t locks = { .assoc = READ_LOCK };

	assoc_mgr_unlock(&locks);
}

typedef struct {
	const char *const *names;
	uint32_t *ids;
	size_t len;
} named_accounts;

static int find_account(void *arg_assoc, void *arg)
{
	const slurmdb_assoc_rec_t *assoc = arg_assoc;
	named_accounts *named = arg;

	if (assoc->user || !assoc->acct)
		return 0;
	for (size_t i = 0; i < named->len; i++) {
		if (!strcasecmp(assoc->acct, named->names[i]))
			named->ids[i] = assoc->id;
	}
	return 0;
}

void shim_account_ids(const char *const *names, uint32_t *ids, size_t len)
{
	named_accounts named = { .names = names, .ids = ids, .len = len };

	memset(ids, 0, len * sizeof(*ids));
	shim_assocs_lock();
	if (assoc_mgr_assoc_list)
		(void) list_for_each_ro(assoc_mgr_assoc_list, find_account, &named);
	shim_assocs_unlock();
}

typedef struct {
	void (*each)(void *context, uint32_t id, const char *account, const char *user,
		     const char *partition);
	void *context;
} name_sink;

static int hand_name(void *arg_assoc, void *arg)
{
	const slurmdb_assoc_rec_t *assoc = arg_assoc;
	const name_sink *to = arg;

	to->each(to->context, assoc->id, assoc->acct, assoc->user, assoc->partition);
	return 0;
}

void shim_each_assoc_name(void (*each)(void *context, uint32_t id, const char *account,
				       const char *user, const char *partition),
			  void *context)
{
	name_sink to = { .each = each, .context = context };

	shim_assocs_lock();
	if (assoc_mgr_assoc_list)
		(void) list_for_each_ro(assoc_mgr_assoc_list, hand_name, &to);
	shim_assocs_unlock();
}

void *shim_job_fs_assoc(const void *job)
{
	slurmdb_assoc_rec_t *assoc = ((const job_record_t *) job)->assoc_ptr;

	if (assoc && assoc->shares_raw == SLURMDB_FS_USE_PARENT)
		return assoc->usage->fs_assoc_ptr;
	return assoc;
}

static int add_usage_norm(void *arg_assoc, void *sum)
{
	const slurmdb_assoc_rec_t *assoc = arg_assoc;

	if (assoc->shares_raw != SLURMDB_FS_USE_PARENT)
		*(long double *) sum += assoc->usage->usage_norm;
	return 0;
}

void shim_assoc_read_usage(const void *arg, bool level, shim_assoc_usage *usage)
{
	const slurmdb_assoc_rec_t *assoc = arg;
	const slurmdb_assoc_rec_t *parent = assoc->usage->fs_assoc_ptr;
	const slurmdb_assoc_rec_t *root = assoc_mgr_root_assoc;
	long double sum = 0;

	if (level && parent && parent->usage->children_list)
		(void) list_for_each_ro(parent->usage->children_list, add_usage_norm, &sum);
	*usage = (shim_assoc_usage) {
		.usage_raw = host_to_extended(assoc->usage->usage_raw),
		.usage_norm = host_to_extended(assoc->usage->usage_norm),
		.usage_efctv = host_to_extended(assoc->usage->usage_efctv),
		.root_usage_raw = host_to_extended(root ? root->usage->usage_raw : 0),
		.parent_usage_efctv = host_to_extended(parent ? parent->usage->usage_efctv : 0),
		.level_usage_norm = host_to_extended(sum),
		.shares_norm = assoc->usage->shares_norm,
		.parent_shares_norm = parent ? parent->usage->shares_norm : 0,
		.id = assoc->id,
		.shares_raw = assoc->shares_raw,
		.level_shares = assoc->usage->level_shares,
		.shares_from_parent = assoc->shares_raw == SLURMDB_FS_USE_PARENT,
		.has_parent = parent != NULL,
		.below_root = parent && parent == root,
		.has_usage_efctv = host_is_computed(assoc->usage->usage_efctv),
		.has_parent_usage_efctv = parent && host_is_computed(parent->usage->usage_efctv),
	};
}

void shim_assoc_write_usage(void *arg, shim_extended usage_efctv, shim_extended usage_norm)
{
	slurmdb_assoc_rec_t *assoc = arg;

	assoc->usage->usage_norm = host_from_extended(usage_norm);
	assoc->usage->usage_efctv = host_from_extended(usage_efctv);
}

bool shim_assoc_is_computed(const void *arg)
{
	const slurmdb_assoc_rec_t *assoc = arg;

	return !fuzzy_equal(assoc->usage->usage_efctv, NO_VAL);
}

const void *shim_assoc_payer(const void *arg)
{
	const slurmdb_assoc_rec_t *assoc = arg;

	if (assoc->shares_raw == SLURMDB_FS_USE_PARENT && assoc->usage->fs_assoc_ptr)
		return assoc->usage->fs_assoc_ptr;
	return assoc;
}

void *shim_job_assoc(const void *job)
{
	return ((const job_record_t *) job)->assoc_ptr;
}

typedef struct {
	void (*visit)(void *context, void *assoc);
	void *context;
	void *last;
} assoc_walk;

static int visit_assoc(void *arg_job, void *arg)
{
	void *assoc = shim_job_assoc(arg_job);
	assoc_walk *walk = arg;

	if (assoc && assoc != walk->last)
		walk->visit(walk->context, assoc);
	walk->last = assoc;
	return 0;
}

void shim_each_job_assoc(void (*visit)(void *context, void *assoc), void *context)
{
	assoc_walk walk = { .visit = visit, .context = context };

	if (&job_list && job_list)
		(void) list_for_each_ro(job_list, visit_assoc, &walk);
}

double shim_assoc_read_factor(const void *assoc)
{
	return ((const slurmdb_assoc_rec_t *) assoc)->usage->fs_factor;
}

void shim_assoc_write_factor(void *assoc, double fs_factor)
{
	((slurmdb_assoc_rec_t *) assoc)->usage->fs_factor = fs_factor;
}
