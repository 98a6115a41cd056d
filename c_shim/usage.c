/*
 * usage.c - usage in slurmctld's own records: fade, charge, forget, publish. All in `long
 * double`, in place, under the usage lock.
 */
#include "host.h"

/* ---- finding the records of a snapshot -------------------------------------------------- */

typedef struct {
	shim_snapshot *snapshot;
	size_t next;
} binding;

static int bind_assoc(void *arg_assoc, void *arg)
{
	slurmdb_assoc_rec_t *assoc = arg_assoc;
	binding *b = arg;
	shim_snapshot *snapshot = b->snapshot;
	uint32_t row;

	/* The list is nearly always as it was: the next element is the one expected. */
	if (b->next < snapshot->listed.len && snapshot->listed.at[b->next].id == assoc->id)
		row = snapshot->listed.at[b->next].row;
	else
		row = shim_snapshot_row(snapshot, assoc->id);
	b->next++;
	if (row != SHIM_NONE)
		snapshot->assoc_at.at[row] = assoc;
	return 0;
}

static int bind_qos(void *arg_qos, void *arg)
{
	slurmdb_qos_rec_t *qos = arg_qos;
	shim_snapshot *snapshot = arg;

	for (size_t i = 0; i < snapshot->qos.len; i++) {
		if (snapshot->qos.at[i].id == qos->id)
			snapshot->qos_at.at[i] = qos;
	}
	return 0;
}

void shim_usage_bind(shim_snapshot *snapshot)
{
	binding b = { .snapshot = snapshot };
	void **at;

	snapshot->assoc_at.len = 0;
	snapshot->qos_at.len = 0;
	at = HOST_PUSH(snapshot, snapshot->assoc_at, snapshot->assocs.len);
	if (at && snapshot->assocs.len)
		memset(at, 0, snapshot->assocs.len * sizeof(*at));
	at = HOST_PUSH(snapshot, snapshot->qos_at, snapshot->qos.len);
	if (at && snapshot->qos.len)
		memset(at, 0, snapshot->qos.len * sizeof(*at));
	if (snapshot->out_of_memory)
		return;
	if (assoc_mgr_assoc_list)
		(void) list_for_each(assoc_mgr_assoc_list, bind_assoc, &b);
	if (assoc_mgr_qos_list)
		(void) list_for_each(assoc_mgr_qos_list, bind_qos, snapshot);
}

static slurmdb_assoc_rec_t *assoc_in(const shim_snapshot *snapshot, uint32_t row)
{
	return row < snapshot->assoc_at.len ? snapshot->assoc_at.at[row] : NULL;
}

static slurmdb_qos_rec_t *qos_in(const shim_snapshot *snapshot, uint32_t row)
{
	return row < snapshot->qos_at.len ? snapshot->qos_at.at[row] : NULL;
}

/* ---- fading and forgetting -------------------------------------------------------------- */

/* `leaf_usage` of a user is its usage; that of an account is what removed users left behind. */
static bool has_own_leaf_usage(const slurmdb_assoc_rec_t *assoc)
{
	return assoc->leaf_usage && assoc->leaf_usage != assoc->usage;
}

static void decay_assoc_usage(slurmdb_assoc_usage_t *usage, double factor)
{
	usage->usage_raw *= factor;
	for (uint32_t i = 0; usage->usage_tres_raw && i < usage->tres_cnt; i++)
		usage->usage_tres_raw[i] *= factor;
	usage->grp_used_wall *= factor;
}

static int decay_assoc(void *arg_assoc, void *factor)
{
	slurmdb_assoc_rec_t *assoc = arg_assoc;

	decay_assoc_usage(assoc->usage, *(double *) factor);
	if (has_own_leaf_usage(assoc))
		decay_assoc_usage(assoc->leaf_usage, *(double *) factor);
	return 0;
}

static int decay_qos(void *arg_qos, void *arg)
{
	slurmdb_qos_rec_t *qos = arg_qos;
	double factor = *(double *) arg;

	if (qos->flags & QOS_FLAG_NO_DECAY)
		return 0;
	qos->usage->usage_raw *= factor;
	for (uint32_t i = 0; qos->usage->usage_tres_raw && i < qos->usage->tres_cnt; i++)
		qos->usage->usage_tres_raw[i] *= factor;
	qos->usage->grp_used_wall *= factor;
	return 0;
}

void shim_usage_decay(double factor)
{
	if (assoc_mgr_assoc_list)
		(void) list_for_each(assoc_mgr_assoc_list, decay_assoc, &factor);
	if (assoc_mgr_qos_list)
		(void) list_for_each(assoc_mgr_qos_list, decay_qos, &factor);
}

static void reset_assoc_usage(slurmdb_assoc_usage_t *usage)
{
	usage->usage_raw = 0;
	for (uint32_t i = 0; usage->usage_tres_raw && i < usage->tres_cnt; i++)
		usage->usage_tres_raw[i] = 0;
	usage->grp_used_wall = 0;
}

static int reset_assoc(void *arg_assoc, void *unused)
{
	slurmdb_assoc_rec_t *assoc = arg_assoc;

	(void) unused;
	reset_assoc_usage(assoc->usage);
	if (has_own_leaf_usage(assoc)) {
		slurmdb_destroy_assoc_usage(assoc->leaf_usage);
		assoc->leaf_usage = NULL;
	}
	return 0;
}

static int reset_qos(void *arg_qos, void *unused)
{
	slurmdb_qos_rec_t *qos = arg_qos;

	(void) unused;
	qos->usage->usage_raw = 0;
	for (uint32_t i = 0; qos->usage->usage_tres_raw && i < qos->usage->tres_cnt; i++)
		qos->usage->usage_tres_raw[i] = 0;
	qos->usage->grp_used_wall = 0;
	return 0;
}

void shim_usage_reset(void)
{
	if (assoc_mgr_assoc_list)
		(void) list_for_each(assoc_mgr_assoc_list, reset_assoc, NULL);
	if (assoc_mgr_qos_list)
		(void) list_for_each(assoc_mgr_qos_list, reset_qos, NULL);
}

/* ---- charging --------------------------------------------------------------------------- */

static uint32_t take(uint64_t *counter, uint64_t amount)
{
	if (*counter < amount) {
		*counter = 0;
		return 1;
	}
	*counter -= amount;
	return 0;
}

static uint64_t run_secs_of(const shim_charge *charge, uint64_t tres)
{
	return charge->run_secs * tres + (uint64_t) ((double) tres * charge->run_secs_scaled);
}

static const uint64_t *charged_tres(const shim_snapshot *snapshot, const shim_charge *charge)
{
	if (charge->tres == SHIM_NONE)
		return NULL;
	return snapshot->tres.at + charge->tres;
}

static uint32_t common_count(const shim_snapshot *snapshot, uint32_t tres_cnt)
{
	return tres_cnt < snapshot->tres_count ? tres_cnt : snapshot->tres_count;
}

/* TRES usage and run-seconds, kept only while limits are enforced; energy has neither. */
static uint32_t charge_tres(const shim_snapshot *snapshot, const shim_charge *charge, double wall,
			    uint32_t tres_cnt, long double *raw, uint64_t *run_secs)
{
	const uint64_t *tres = charged_tres(snapshot, charge);
	uint32_t underflows = 0, count = common_count(snapshot, tres_cnt);

	if (!tres || !raw || !run_secs || !snapshot->enforces_limits)
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		if (i == TRES_ARRAY_ENERGY || !tres[i])
			continue;
		raw[i] += (long double) wall * (long double) tres[i];
		underflows += take(&run_secs[i], run_secs_of(charge, tres[i]));
	}
	return underflows;
}

#if HOST_HAS_USED_LIMIT_SECS
static uint32_t take_used_limit(const shim_snapshot *snapshot, const shim_charge *charge,
				uint64_t *run_secs, uint32_t tres_cnt)
{
	const uint64_t *tres = charged_tres(snapshot, charge);
	uint32_t underflows = 0, count = common_count(snapshot, tres_cnt);

	/* These arrays do not grow with the number of TRES. */
	if (run_secs && count > (size_t) xsize(run_secs) / sizeof(*run_secs))
		count = (uint32_t) ((size_t) xsize(run_secs) / sizeof(*run_secs));
	for (uint32_t i = 0; tres && run_secs && i < count; i++) {
		if (i != TRES_ARRAY_ENERGY)
			underflows += take(&run_secs[i], run_secs_of(charge, tres[i]));
	}
	return underflows;
}
#endif

/* Run-seconds that this release also keeps per account and per user of a QOS. */
static uint32_t take_used_limits(const shim_snapshot *snapshot, const shim_charge *charge,
				 slurmdb_qos_rec_t *qos, slurmdb_assoc_rec_t *assoc)
{
#if HOST_HAS_USED_LIMIT_SECS
	slurmdb_used_limits_t *account, *user;

	if (!snapshot->enforces_limits)
		return 0;
	account = acct_policy_get_acct_used_limits(&qos->usage->acct_limit_list, assoc->acct);
	user = acct_policy_get_user_used_limits(&qos->usage->user_limit_list, charge->user_id);
	return take_used_limit(snapshot, charge, account->tres_run_secs, qos->usage->tres_cnt) +
	       take_used_limit(snapshot, charge, user->tres_run_secs, qos->usage->tres_cnt);
#else
	(void) snapshot;
	(void) charge;
	(void) qos;
	(void) assoc;
	return 0;
#endif
}

static uint32_t charge_qos(const shim_snapshot *snapshot, const shim_charge *charge, uint32_t row,
			   slurmdb_assoc_rec_t *assoc)
{
	slurmdb_qos_rec_t *qos = qos_in(snapshot, row);
	bool no_decay = qos && (qos->flags & QOS_FLAG_NO_DECAY);
	double wall = no_decay ? charge->wall : charge->wall_decayed;

	if (!qos)
		return 0;
	qos->usage->grp_used_wall += wall;
	qos->usage->usage_raw += (long double) (no_decay ? charge->usage : charge->usage_decayed);
	if (HOST_HAS_USED_LIMIT_SECS && !assoc)
		return 0;
	return charge_tres(snapshot, charge, wall, qos->usage->tres_cnt,
			   qos->usage->usage_tres_raw, qos->usage->grp_used_tres_run_secs) +
	       take_used_limits(snapshot, charge, qos, assoc);
}

uint32_t shim_usage_charge(const shim_snapshot *snapshot, const shim_charge *charge)
{
	slurmdb_assoc_rec_t *assoc = assoc_in(snapshot, charge->assoc);
	uint32_t underflows = charge_qos(snapshot, charge, charge->qos, assoc);

	if (charge->partition_qos != charge->qos)
		underflows += charge_qos(snapshot, charge, charge->partition_qos, assoc);
	for (; assoc; assoc = assoc->usage->parent_assoc_ptr) {
		slurmdb_assoc_usage_t *usage = assoc->usage;

		usage->grp_used_wall += charge->wall_decayed;
		usage->usage_raw += (long double) charge->usage_decayed;
		underflows += charge_tres(snapshot, charge, charge->wall_decayed, usage->tres_cnt,
					  usage->usage_tres_raw, usage->grp_used_tres_run_secs);
	}
	return underflows;
}

/* ---- what a pass found ------------------------------------------------------------------ */

void shim_usage_publish(const shim_snapshot *snapshot, const shim_assoc_factors *factors,
			size_t len)
{
	for (size_t i = 0; i < len; i++) {
		const shim_assoc_factors *f = &factors[i];
		slurmdb_assoc_rec_t *assoc = assoc_in(snapshot, f->row);
		slurmdb_assoc_usage_t *usage;

		if (!assoc)
			continue;
		usage = assoc->usage;
		usage->usage_efctv = f->has_usage_efctv ? host_from_extended(f->usage_efctv)
							: (long double) NO_VAL;
		if (f->has_usage_norm)
			usage->usage_norm = host_from_extended(f->usage_norm);
		if (f->has_level_fs)
			usage->level_fs = host_from_extended(f->level_fs);
		else if (!f->keeps_level_fs)
			usage->level_fs = (long double) NO_VAL;
		if (f->has_fs_factor)
			usage->fs_factor = f->fs_factor;
	}
}

void shim_root_uses_all(void)
{
	if (assoc_mgr_root_assoc)
		assoc_mgr_root_assoc->usage->usage_efctv = 1;
}

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

void shim_shares_normalize(const shim_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->assoc_at.len; i++) {
		if (snapshot->assoc_at.at[i])
			assoc_mgr_normalize_assoc_shares(snapshot->assoc_at.at[i]);
	}
}
