/*
 * usage.c - usage in slurmctld's own records: fade, charge, publish. All in `long double`, in
 * place, under the usage lock.
 */
#include "host.h"

/* ---- finding the records of a snapshot -------------------------------------------------- */

/* Rows of one id are told apart by where their records were. Not for many: see tell_apart. */
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

/* The row of a record, which is findable from now on. */
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

slurmdb_assoc_rec_t *host_assoc_in(const shim_snapshot *snapshot, uint32_t row)
{
	void *at = row < snapshot->assoc_at.len ? snapshot->assoc_at.at[row] : NULL;

	return host_is_mark(at) ? NULL : at;
}

/* ---- fading ------------------------------------------------------------------------------ */

/*
 * What is 0 stays 0: memory that nobody writes to need not go back to where it came from. Most
 * counts are, and a look at their digits is less work than a comparison of numbers of this size.
 */
static void decay_tres(long double *tres, uint32_t count, double factor)
{
	for (uint32_t i = 0; tres && i < count; i++) {
		if (host_has_digits(&tres[i]))
			tres[i] *= factor;
	}
}

static void decay_assoc_usage(slurmdb_assoc_usage_t *usage, double factor)
{
	usage->usage_raw *= factor;
	decay_tres(usage->usage_tres_raw, usage->tres_cnt, factor);
	usage->grp_used_wall *= factor;
}

static void decay_assoc(slurmdb_assoc_rec_t *assoc, double factor)
{
	decay_assoc_usage(assoc->usage, factor);
	if (host_has_own_leaf_usage(assoc))
		decay_assoc_usage(assoc->leaf_usage, factor);
}

static int decay_qos(void *arg_qos, void *arg)
{
	slurmdb_qos_rec_t *qos = arg_qos;
	double factor = *(double *) arg;

	if (qos->flags & QOS_FLAG_NO_DECAY)
		return 0;
	qos->usage->usage_raw *= factor;
	decay_tres(qos->usage->usage_tres_raw, qos->usage->tres_cnt, factor);
	qos->usage->grp_used_wall *= factor;
	return 0;
}

/* ---- what a pass writes ------------------------------------------------------------------ */

/* Part by part: to put a number together first, the processor would wait for both parts. */
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

/* Is the record what its row says, in all that a pass reads, and the first with this row? */
static bool is_alike(const shim_snapshot *snapshot, const slurmdb_assoc_rec_t *assoc)
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
	       (!snapshot->priority_norms || row->priority_norm == assoc->usage->priority_norm);
}

static void take_usage(shim_assoc *row, const slurmdb_assoc_usage_t *usage)
{
	shim_extended raw = host_to_extended(usage->usage_raw);

	row->usage_mantissa = raw.mantissa;
	row->usage_sign_exponent = raw.sign_exponent;
}

typedef struct {
	shim_snapshot *snapshot;
	size_t alike; /* records that are what their rows say */
	size_t seen;
	double factor;
	const shim_assoc_factors *factors;
	shim_charge *charges;
	shim_stored *stored;
	uint32_t underflows;
} renewal;

/*
 * The charges of one association, in the order of the jobs. Users have theirs here, while their
 * records are at hand. Those of accounts come later: sums of floating-point numbers depend on
 * their order, and an account is charged for jobs of many users.
 */
static void charge_found(renewal *r, uint32_t row, slurmdb_assoc_rec_t *assoc)
{
	for (uint32_t i = r->factors[row].first_charge; i != SHIM_NONE; i = r->charges[i].next) {
		shim_charge *charge = &r->charges[i];

		/* Should two records have this id, the first is charged. */
		if (charge->is_done || charge->from)
			continue;
		charge->from = assoc;
		if (!assoc->user)
			continue;
		r->underflows += host_charge_one(r->snapshot, charge, assoc->usage);
		charge->from = assoc->usage->parent_assoc_ptr;
	}
}

static uint32_t first_charge(const renewal *r, const slurmdb_assoc_rec_t *assoc)
{
	uint32_t row = host_row_of(r->snapshot, assoc->id);

	return row != SHIM_NONE ? r->factors[row].first_charge : SHIM_NONE;
}

static void expect_assoc(void *arg_assoc, void *arg)
{
	const slurmdb_assoc_rec_t *assoc = arg_assoc;
	const renewal *r = arg;
	uint32_t first = first_charge(r, assoc);

	if (first == SHIM_NONE)
		return;
	host_fetch(&r->charges[first], sizeof(*r->charges));
	host_fetch(assoc->usage->grp_used_tres_run_secs,
		   r->snapshot->tres_count * sizeof(uint64_t));
}

static void expect_tres(void *assoc, void *arg)
{
	const renewal *r = arg;
	uint32_t first = first_charge(r, assoc);

	if (first != SHIM_NONE)
		host_fetch(host_charged_tres(r->snapshot, &r->charges[first]),
			   r->snapshot->tres_count * sizeof(uint64_t));
}

static void renew_assoc(void *arg_assoc, void *arg)
{
	slurmdb_assoc_rec_t *assoc = arg_assoc;
	renewal *r = arg;
	bool alike = is_alike(r->snapshot, assoc);
	uint32_t row = bind_row(r->snapshot, assoc);

	r->seen++;
	r->alike += alike;
	if (r->factor != 1)
		decay_assoc(assoc, r->factor);
	if (row != SHIM_NONE) {
		publish(assoc->usage, &r->factors[row]);
		charge_found(r, row, assoc);
		take_usage(&r->snapshot->assocs.at[row], assoc->usage);
	}
	host_store_assoc(r->stored, assoc);
}

/*
 * Accounts are charged after the walk. If all records are alike, each with a row of its own, and
 * there are as many rows, then each row has its record.
 */
static void keep_assocs(renewal *r)
{
	shim_snapshot *snapshot = r->snapshot;

	for (size_t i = 0; i < snapshot->accounts.len; i++) {
		uint32_t row = snapshot->accounts.at[i];
		const slurmdb_assoc_rec_t *assoc = host_assoc_in(snapshot, row);

		if (assoc)
			take_usage(&snapshot->assocs.at[row], assoc->usage);
	}
	snapshot->assocs_agree = snapshot->keeps_assocs && !snapshot->twins &&
				 r->alike == r->seen && r->seen == snapshot->assocs.len;
}

uint32_t shim_usage_renew(shim_snapshot *snapshot, double factor,
			  const shim_assoc_factors *factors, shim_charge *charges, size_t len,
			  shim_stored *stored)
{
	static const host_assoc_visitor visitor = { .expect = expect_assoc,
						    .expect_more = expect_tres,
						    .visit = renew_assoc };
	renewal r = { .snapshot = snapshot, .factor = factor, .factors = factors,
		      .charges = charges, .stored = stored };

	snapshot->assocs_agree = false;
	bind_all_qos(snapshot);
	if (snapshot->out_of_memory)
		return 0;
	host_walk_assocs(snapshot, &visitor, &r);
	if (factor != 1 && assoc_mgr_qos_list)
		(void) list_for_each(assoc_mgr_qos_list, decay_qos, &factor);
	for (size_t i = 0; i < len; i++) {
		if (!charges[i].is_done)
			r.underflows += host_charge_rest(snapshot, &charges[i], charges[i].from);
	}
	keep_assocs(&r);
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
