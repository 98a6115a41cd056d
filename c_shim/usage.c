/*
 * usage.c - writes the results of a pass to usage in slurmctld's own records. All in `long double`,
 * in place, under the usage lock.
 */
#include "charge.h"
#include "prefetch.h"
#include "records.h"
#include "stored_usage.h"

/* ---- finding the records of a snapshot -------------------------------------------------- */

/* Rows with the same id are distinguished by the addresses of their records: see tell_apart. */
static uint32_t row_of_twin(const shim_snapshot *snapshot, const slurmdb_assoc_rec_t *assoc,
			    uint32_t row)
{
	void *mark = host_mark(assoc);

	if (row == SHIM_NONE || snapshot->assoc_at.at[row] == mark)
		return row;
	for (uint32_t i = 0; i < snapshot->assoc_at.len; i++) {
		if (snapshot->assoc_at.at[i] == mark)
			return i;
	}
	return row;
}

/* The row of a record; from now on the record can be found. */
static uint32_t bind_row(shim_snapshot *snapshot, slurmdb_assoc_rec_t *assoc)
{
	uint32_t row = host_row_of(snapshot, assoc->id);

	if (snapshot->twins)
		row = row_of_twin(snapshot, assoc, row);
	if (row != SHIM_NONE)
		snapshot->assoc_at.at[row] = assoc;
	return row;
}

static int bind_assoc(void *assoc, void *snapshot)
{
	(void) bind_row(snapshot, assoc);
	return 0;
}

static int take_qos(void *arg_qos, void *arg)
{
	slurmdb_qos_rec_t *qos = arg_qos;
	shim_snapshot *snapshot = arg;

	host_copy_qos_to(snapshot, &snapshot->qos_now, &snapshot->qos_now_at, qos);
	return 0;
}

void shim_usage_take_qos(shim_snapshot *snapshot)
{
	snapshot->qos_now.len = snapshot->qos_now_at.len = 0;
	if (assoc_mgr_qos_list)
		(void) list_for_each(assoc_mgr_qos_list, take_qos, snapshot);
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

static void bind_all_qos(shim_snapshot *snapshot)
{
	void **at;

	snapshot->qos_at.len = 0;
	at = HOST_PUSH(snapshot, snapshot->qos_at, snapshot->qos.len);
	if (at && snapshot->qos.len)
		memset(at, 0, snapshot->qos.len * sizeof(*at));
	if (at && assoc_mgr_qos_list)
		(void) list_for_each(assoc_mgr_qos_list, bind_qos, snapshot);
}

void shim_usage_bind(shim_snapshot *snapshot)
{
	if (assoc_mgr_assoc_list)
		(void) list_for_each(assoc_mgr_assoc_list, bind_assoc, snapshot);
	bind_all_qos(snapshot);
}

/* ---- changes ------------------------------------------------------------------------------- */

static void scale_number(long double *number, double scale)
{
	if (scale == 0)
		*number = 0;
	else if (scale != 1)
		*number *= scale;
}

/*
 * Skips the multiplication and the store for a count of 0, which most are: the cache line stays
 * clean. Without this a pass takes 6 % more CPU time (100,000 jobs, scattered; 32fc6dc).
 */
static void scale_tres(long double *tres, uint32_t count, double scale)
{
	for (uint32_t i = 0; tres && i < count; i++) {
		if (host_has_digits(&tres[i]))
			scale_number(&tres[i], scale);
	}
}

/* One sum of usage: of an association or a QOS. */
typedef struct {
	long double *raw;
	double *wall;
	long double *tres;
	uint32_t tres_cnt;
} usage_numbers;

static usage_numbers numbers_of(slurmdb_assoc_usage_t *usage)
{
	return (usage_numbers) { .raw = &usage->usage_raw, .wall = &usage->grp_used_wall,
				 .tres = usage->usage_tres_raw, .tres_cnt = usage->tres_cnt };
}

static void scale(usage_numbers to, double by)
{
	scale_number(to.raw, by);
	scale_tres(to.tres, to.tres_cnt, by);
	*to.wall = by == 0 ? 0 : *to.wall * by;
}

/* Adding 0 would turn -0 into +0. */
static void add_number(long double *to, shim_extended number)
{
	if (number.mantissa)
		*to += host_from_extended(number);
}

static bool is_number(long double had, shim_extended number)
{
	shim_extended digits = host_to_extended(had);

	return digits.mantissa == number.mantissa && digits.sign_exponent == number.sign_exponent;
}

/* Stores only differences: most numbers of a ledger do not change, and cache lines stay clean. */
static void set_number(long double *to, shim_extended number)
{
	if (!is_number(*to, number))
		*to = host_from_extended(number);
}

/*
 * Returns true if a record has the values that the last pass has set. Every charge or reset also
 * changes wall time, so TRES need not be compared. With this a pass with usage=window takes 1.18 to
 * 1.27 x the CPU time of one with half-life, without it 1.37 x (`cargo testbed bench policies`,
 * 100,000 jobs; d8dd05d).
 */
static bool is_set(usage_numbers to, const shim_usage_change *by)
{
	return by->stays && is_number(*to.raw, by->add_usage) &&
	       !memcmp(to.wall, &by->add_wall, sizeof(*to.wall));
}

/* `tres`: `tres_count` numbers, or NULL. */
static void set(usage_numbers to, const shim_usage_change *by, const shim_extended *tres,
		uint32_t tres_count)
{
	const shim_extended none = { 0 };

	set_number(to.raw, by->add_usage);
	if (memcmp(to.wall, &by->add_wall, sizeof(*to.wall)))
		*to.wall = by->add_wall;
	for (uint32_t i = 0; to.tres && i < to.tres_cnt; i++)
		set_number(&to.tres[i], tres && i < tres_count ? tres[i] : none);
}

static void change(usage_numbers to, const shim_usage_update *update,
		   const shim_usage_change *by, uint32_t tres_count)
{
	bool has_tres = by->add_tres <= update->tres_len && /* NONE is not */
			tres_count <= update->tres_len - by->add_tres;
	const shim_extended *tres = has_tres ? update->tres + by->add_tres : NULL;

	if (by->scale == 0) {
		if (!is_set(to, by))
			set(to, by, tres, tres_count);
		return;
	}
	scale(to, by->scale);
	add_number(to.raw, by->add_usage);
	if (by->add_wall != 0)
		*to.wall += by->add_wall;
	for (uint32_t i = 0; tres && to.tres && i < to.tres_cnt && i < tres_count; i++)
		add_number(&to.tres[i], tres[i]);
}

/* Changes an association that has its own change. */
static void change_assoc(const shim_snapshot *snapshot, const shim_usage_update *update,
			 const shim_usage_change *by, slurmdb_assoc_rec_t *assoc)
{
	change(numbers_of(assoc->usage), update, by, snapshot->tres_count);
	if (!host_has_own_leaf_usage(assoc))
		return;
	if (by->leaf < update->assocs_len)
		change(numbers_of(assoc->leaf_usage), update, &update->assocs[by->leaf],
		       snapshot->tres_count);
	else
		scale(numbers_of(assoc->leaf_usage), by->scale);
}

/* The usual case: all usage is scaled by one factor, and no change is looked up. */
static void scale_assoc(slurmdb_assoc_rec_t *assoc, double by)
{
	scale(numbers_of(assoc->usage), by);
	if (host_has_own_leaf_usage(assoc))
		scale(numbers_of(assoc->leaf_usage), by);
}

static void update_assoc(const shim_snapshot *snapshot, const shim_usage_update *update,
			 uint32_t row, slurmdb_assoc_rec_t *assoc)
{
	if (update->assocs && row < update->assocs_len) {
		const shim_usage_change *by = &update->assocs[row];

		if (!update->changes_only || !by->stays)
			change_assoc(snapshot, update, by, assoc);
	} else if (update->scale != 1) {
		scale_assoc(assoc, update->scale);
	}
}

static void keep_at_least_zero(usage_numbers to)
{
	if (*to.raw < 0)
		*to.raw = 0;
	if (*to.wall < 0)
		*to.wall = 0;
	for (uint32_t i = 0; to.tres && i < to.tres_cnt; i++) {
		if (to.tres[i] < 0)
			to.tres[i] = 0;
	}
}

static void update_qos(const shim_snapshot *snapshot, const shim_usage_update *update)
{
	for (size_t i = 0; update->qos && i < snapshot->qos_now_at.len; i++) {
		slurmdb_qos_rec_t *qos = snapshot->qos_now_at.at[i];
		usage_numbers to = { .raw = &qos->usage->usage_raw,
				     .wall = &qos->usage->grp_used_wall,
				     .tres = qos->usage->usage_tres_raw,
				     .tres_cnt = qos->usage->tres_cnt };

		change(to, update, &update->qos[i], snapshot->tres_count);
		/*
		 * More may be subtracted from a record that was reset than it has. Below zero,
		 * slurmctld's limits would read it as nearly 2^64.
		 */
		if (update->qos[i].add_wall < 0)
			keep_at_least_zero(to);
	}
}

/* ---- what a pass writes ------------------------------------------------------------------ */

/*
 * Part by part: assembling a number in memory first costs a store-forwarding stall. Without this a
 * pass takes 2 to 8 % more CPU time (100,000 jobs; 32fc6dc).
 */
static void write_number(long double *to, uint64_t mantissa, uint16_t sign_exponent)
{
	memcpy(to, &mantissa, sizeof(mantissa));
	memcpy((char *) to + sizeof(mantissa), &sign_exponent, sizeof(sign_exponent));
}

static void publish(slurmdb_assoc_usage_t *usage, const shim_assoc_factors *f)
{
	if (f->flags & SHIM_HAS_USAGE_EFCTV)
		write_number(&usage->usage_efctv, f->usage_efctv, f->usage_efctv_exponent);
	else
		usage->usage_efctv = (long double) NO_VAL;
	if (f->flags & SHIM_HAS_USAGE_NORM)
		write_number(&usage->usage_norm, f->usage_norm, f->usage_norm_exponent);
	if (f->flags & SHIM_HAS_LEVEL_FS)
		write_number(&usage->level_fs, f->level_fs, f->level_fs_exponent);
	else if (!(f->flags & SHIM_KEEPS_LEVEL_FS))
		usage->level_fs = (long double) NO_VAL;
	if (f->flags & SHIM_HAS_FS_FACTOR)
		usage->fs_factor = f->fs_factor;
}

/*
 * Returns true if the record equals its row in all fields that a pass reads, and is the first with
 * this row. Ends of jobs add wall time that the row does not have; a reset leaves less.
 */
static bool equals_row(const shim_snapshot *snapshot, const slurmdb_assoc_rec_t *assoc)
{
	uint32_t at = host_row_of(snapshot, assoc->id);
	shim_extended raw = host_to_extended(assoc->usage->usage_raw);
	const shim_assoc *row;

	if (at == SHIM_NONE || !host_is_mark(snapshot->assoc_at.at[at]))
		return false;
	row = &snapshot->assocs.at[at];
	return row->parent_id == assoc->parent_id && row->shares_raw == assoc->shares_raw &&
	       row->is_user == (assoc->user != NULL) && row->priority == assoc->priority &&
	       row->usage_mantissa == raw.mantissa &&
	       row->usage_sign_exponent == raw.sign_exponent &&
	       assoc->usage->grp_used_wall >= row->wall &&
	       (!snapshot->priority_norms || row->priority_norm == assoc->usage->priority_norm);
}

static void take_usage(shim_assoc *row, const slurmdb_assoc_usage_t *usage)
{
	shim_extended raw = host_to_extended(usage->usage_raw);

	row->usage_mantissa = raw.mantissa;
	row->usage_sign_exponent = raw.sign_exponent;
	row->wall = usage->grp_used_wall;
}

typedef struct {
	shim_snapshot *snapshot;
	size_t equal; /* records that are equal to their rows */
	size_t seen;
	const shim_usage_update *update;
	const shim_assoc_factors *factors;
	const shim_charges *charges;
	shim_usage_sink sink;
	void *context;
	uint32_t underflows;
} renewal;

/*
 * The charges of one association, in the order of the jobs. Users are charged here, while their
 * records are cached. Accounts are charged later: sums of floating-point numbers depend on their
 * order, and an account is charged for jobs of many users.
 */
static void charge_found(renewal *r, uint32_t row, slurmdb_assoc_rec_t *assoc)
{
	for (uint32_t i = r->factors[row].first_charge; i != SHIM_NONE;
	     i = r->charges->at[i].next) {
		shim_charge *charge = &r->charges->at[i];

		/* If two records have this id, the first is charged. */
		if (charge->is_done || charge->from)
			continue;
		charge->from = assoc;
		if (!assoc->user)
			continue;
		r->underflows += host_charge_one(r->snapshot, r->charges, charge, assoc->usage);
		charge->from = assoc->usage->parent_assoc_ptr;
	}
}

static uint32_t first_charge(const renewal *r, const slurmdb_assoc_rec_t *assoc)
{
	uint32_t row = host_row_of(r->snapshot, assoc->id);

	return row != SHIM_NONE ? r->factors[row].first_charge : SHIM_NONE;
}

static void prefetch_record(const void *arg_assoc, void *arg)
{
	const slurmdb_assoc_rec_t *assoc = arg_assoc;

	(void) arg;
	prefetch_l2(&assoc->id);
	prefetch_l2(&assoc->leaf_usage);
	prefetch_l2(&assoc->parent_id);
	prefetch_l2(&assoc->usage);
}

static void prefetch_usage(const void *arg_assoc, void *arg)
{
	const slurmdb_assoc_rec_t *assoc = arg_assoc;
	const slurmdb_assoc_usage_t *usage = assoc->usage;
	const renewal *r = arg;

	if (r->update->assocs) {
		uint32_t row = host_row_of(r->snapshot, assoc->id);

		if (row < r->update->assocs_len)
			prefetch_l2_range(&r->update->assocs[row], sizeof(*r->update->assocs));
	}
	prefetch_l2(&usage->fs_factor);
	prefetch_l2(&usage->usage_efctv);
	prefetch_l2(&usage->usage_norm);
	prefetch_l2(&usage->level_fs);
}

/*
 * Prefetches the TRES to which a record is set, unless it has them. Without this a pass with
 * usage=window and order=interleaved takes 3 % more CPU time (`cargo testbed bench policies`,
 * 100,000 jobs; old and new plugin alternating).
 */
static void prefetch_change(const renewal *r, const slurmdb_assoc_rec_t *assoc)
{
	const shim_usage_update *update = r->update;
	uint32_t row = update->assocs ? host_row_of(r->snapshot, assoc->id) : SHIM_NONE;
	const shim_usage_change *by = row < update->assocs_len ? &update->assocs[row] : NULL;

	if (by && !by->stays && by->add_tres < update->tres_len)
		prefetch_l2_range(update->tres + by->add_tres,
				  r->snapshot->tres_count * sizeof(*update->tres));
}

static void prefetch_tres(const void *arg_assoc, void *arg)
{
	const slurmdb_assoc_rec_t *assoc = arg_assoc;
	const slurmdb_assoc_usage_t *usage = assoc->usage;
	const renewal *r = arg;
	uint32_t first = first_charge(r, assoc);

	prefetch_l2_range(usage->usage_tres_raw, usage->tres_cnt * sizeof(long double));
	prefetch_change(r, assoc);
	if (first == SHIM_NONE)
		return;
	prefetch_l2_range(&r->charges->at[first], sizeof(*r->charges->at));
	prefetch_l2_range(usage->grp_used_tres_run_secs,
			  r->snapshot->tres_count * sizeof(uint64_t));
}

static void prefetch_charged_tres(const void *assoc, void *arg)
{
	const renewal *r = arg;
	uint32_t first = first_charge(r, assoc);

	if (first != SHIM_NONE)
		prefetch_l2_range(host_charged_tres(r->snapshot, &r->charges->at[first]),
				  r->snapshot->tres_count * sizeof(uint64_t));
}

/*
 * Returns true if usage that should be set was reset since the row was made. Then it is left
 * unchanged: the next pass reads the record and reports the reset to the ledger. A user whose job
 * ended after the reset has less than before; an account may also have less because associations
 * were moved, so only an empty one counts as reset. If billing costs nothing, only wall time shows
 * the reset.
 */
static bool was_reset(const renewal *r, uint32_t row, const slurmdb_assoc_rec_t *assoc)
{
	const shim_usage_update *update = r->update;
	const slurmdb_assoc_usage_t *has = assoc->usage;
	const shim_assoc *had;
	long double usage;

	if (!update->assocs || row >= update->assocs_len || update->assocs[row].scale != 0)
		return false;
	had = &r->snapshot->assocs.at[row];
	usage = host_from_extended((shim_extended) {
		.mantissa = had->usage_mantissa,
		.sign_exponent = had->usage_sign_exponent,
	});
	if (assoc->user)
		return has->usage_raw < usage || has->grp_used_wall < had->wall;
	return !has->usage_raw && !has->grp_used_wall && (usage > 0 || had->wall > 0);
}

static bool renew_assoc(void *arg_assoc, void *arg)
{
	slurmdb_assoc_rec_t *assoc = arg_assoc;
	renewal *r = arg;
	bool equal = equals_row(r->snapshot, assoc);
	uint32_t row = bind_row(r->snapshot, assoc);

	r->seen++;
	r->equal += equal;
	if (equal || row == SHIM_NONE || !was_reset(r, row, assoc))
		update_assoc(r->snapshot, r->update, row, assoc);
	if (row != SHIM_NONE) {
		publish(assoc->usage, &r->factors[row]);
		charge_found(r, row, assoc);
		take_usage(&r->snapshot->assocs.at[row], assoc->usage);
	}
	host_store_assoc(assoc, r->sink, r->context);
	return true;
}

/* ---- the walk along slurmctld's list ----------------------------------------------------- */

static const pipeline_stages stages = {
	.prefetch = { prefetch_record, prefetch_usage, prefetch_tres, prefetch_charged_tres },
	.process = renew_assoc,
};

typedef struct {
	renewal *renewal;
	pipeline assocs;
} assoc_walk;

static int walk_to(void *assoc, void *arg)
{
	assoc_walk *w = arg;

	return pipeline_push(&w->assocs, &stages, assoc, w->renewal) ? 0 : -1;
}

static void walk_assocs(renewal *r)
{
	assoc_walk w = { .renewal = r };

	if (!assoc_mgr_assoc_list)
		return;
	(void) list_for_each_ro(assoc_mgr_assoc_list, walk_to, &w);
	pipeline_drain(&w.assocs, &stages, r);
}

/*
 * Accounts are charged after the walk. If all records equal their rows, each a different row, and
 * their number is the number of rows, then each row has its record.
 */
static void take_account_usage(renewal *r)
{
	shim_snapshot *snapshot = r->snapshot;

	for (size_t i = 0; i < snapshot->accounts.len; i++) {
		uint32_t row = snapshot->accounts.at[i];
		const slurmdb_assoc_rec_t *assoc = host_assoc_in(snapshot, row);

		if (assoc)
			take_usage(&snapshot->assocs.at[row], assoc->usage);
	}
	snapshot->assoc_cache_valid = snapshot->caches_assocs && !snapshot->twins &&
				 r->equal == r->seen && r->seen == snapshot->assocs.len;
}

uint32_t shim_usage_renew(shim_snapshot *snapshot, const shim_usage_update *update,
			  const shim_assoc_factors *factors, const shim_charges *charges,
			  shim_usage_sink sink, void *context)
{
	renewal r = { .snapshot = snapshot, .update = update, .factors = factors,
		      .charges = charges, .sink = sink, .context = context };

	snapshot->assoc_cache_valid = false;
	bind_all_qos(snapshot);
	if (snapshot->out_of_memory)
		return 0;
	walk_assocs(&r);
	update_qos(snapshot, update);
	for (size_t i = 0; i < charges->len; i++) {
		const shim_charge *charge = &charges->at[i];

		if (!charge->is_done)
			r.underflows += host_charge_rest(snapshot, charges, charge, charge->from);
	}
	take_account_usage(&r);
	return r.underflows;
}

void shim_root_uses_all(void)
{
	if (assoc_mgr_root_assoc)
		assoc_mgr_root_assoc->usage->usage_efctv = 1;
}

void shim_shares_normalize(const shim_snapshot *snapshot)
{
	for (uint32_t row = 0; row < snapshot->assoc_at.len; row++) {
		slurmdb_assoc_rec_t *assoc = host_assoc_in(snapshot, row);

		if (assoc)
			assoc_mgr_normalize_assoc_shares(assoc);
	}
}
