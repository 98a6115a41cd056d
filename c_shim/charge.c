/*
 * charge.c - adds the use of jobs to associations and QOS, and subtracts it from the run-seconds
 * that limits keep for them. In `long double`, in place: the order of additions affects the last
 * bit.
 */
#include "charge.h"

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
	uint64_t secs = charge->run_secs * tres;

	if (charge->run_secs_scaled != 0)
		secs += (uint64_t) ((double) tres * charge->run_secs_scaled);
	return secs;
}

const uint64_t *host_charged_tres(const shim_snapshot *snapshot, const shim_charge *charge)
{
	return charge->tres != SHIM_NONE ? snapshot->tres.at + charge->tres : NULL;
}

static uint32_t common_count(const shim_snapshot *snapshot, uint32_t tres_cnt)
{
	return tres_cnt < snapshot->tres_count ? tres_cnt : snapshot->tres_count;
}

/* TRES usage and run-seconds of an association or a QOS: `count` of each. */
typedef struct {
	long double *raw;
	uint64_t *run_secs;
	uint32_t count;
} tres_counters;

static tres_counters counters(const shim_snapshot *snapshot, long double *raw, uint64_t *run_secs,
			      uint32_t tres_cnt)
{
	return (tres_counters) {
		.raw = raw,
		.run_secs = run_secs,
		.count = raw && run_secs ? common_count(snapshot, tres_cnt) : 0,
	};
}

/* Charges the TRES of a job to all of these: values computed for one are re-used for the next. */
static uint32_t charge_tres(const shim_snapshot *snapshot, const shim_charges *charges,
			    const shim_charge *charge, double wall, const tres_counters *to,
			    size_t len)
{
	const uint64_t *tres = host_charged_tres(snapshot, charge);
	uint32_t underflows = 0;

	if (!tres)
		return 0;
	for (size_t k = 0; k < charges->tres_len; k++) {
		uint32_t i = charges->tres[k];
		long double usage;
		uint64_t run_secs;

		if (i >= snapshot->tres_count || !tres[i])
			continue;
		usage = (long double) wall * (long double) tres[i];
		run_secs = run_secs_of(charge, tres[i]);
		for (size_t j = 0; j < len; j++) {
			if (i >= to[j].count)
				continue;
			to[j].raw[i] += usage;
			underflows += take(&to[j].run_secs[i], run_secs);
		}
	}
	return underflows;
}

#if HOST_HAS_USED_LIMIT_SECS
static uint32_t take_used_limit(const shim_snapshot *snapshot, const shim_charges *charges,
				const shim_charge *charge, uint64_t *run_secs, uint32_t tres_cnt)
{
	const uint64_t *tres = host_charged_tres(snapshot, charge);
	uint32_t underflows = 0, count = common_count(snapshot, tres_cnt);

	if (!tres || !run_secs)
		return 0;
	/* These arrays do not grow with the number of TRES. */
	if (count > (size_t) xsize(run_secs) / sizeof(*run_secs))
		count = (uint32_t) ((size_t) xsize(run_secs) / sizeof(*run_secs));
	for (size_t k = 0; k < charges->tres_len; k++) {
		uint32_t i = charges->tres[k];

		if (i < count)
			underflows += take(&run_secs[i], run_secs_of(charge, tres[i]));
	}
	return underflows;
}
#endif

/* Subtracts run-seconds that this release also keeps per account and per user of a QOS. */
static uint32_t take_used_limits(const shim_snapshot *snapshot, const shim_charges *charges,
				 const shim_charge *charge, slurmdb_qos_rec_t *qos,
				 slurmdb_assoc_rec_t *assoc)
{
#if HOST_HAS_USED_LIMIT_SECS
	slurmdb_used_limits_t *account, *user;

	if (!charges->tres_len)
		return 0;
	account = acct_policy_get_acct_used_limits(&qos->usage->acct_limit_list, assoc->acct);
	user = acct_policy_get_user_used_limits(&qos->usage->user_limit_list, charge->user_id);
	return take_used_limit(snapshot, charges, charge, account->tres_run_secs,
			       qos->usage->tres_cnt) +
	       take_used_limit(snapshot, charges, charge, user->tres_run_secs,
			       qos->usage->tres_cnt);
#else
	(void) snapshot;
	(void) charges;
	(void) charge;
	(void) qos;
	(void) assoc;
	return 0;
#endif
}

/* Charges this amount to the QOS in a row (NONE: no QOS); `assoc` is the job's, or NULL. */
static uint32_t charge_qos(const shim_snapshot *snapshot, const shim_charges *charges,
			   const shim_charge *charge, uint32_t row, double wall, double usage,
			   slurmdb_assoc_rec_t *assoc)
{
	slurmdb_qos_rec_t *qos = row < snapshot->qos_at.len ? snapshot->qos_at.at[row] : NULL;
	tres_counters to;

	if (!qos)
		return 0;
	qos->usage->grp_used_wall += wall;
	qos->usage->usage_raw += (long double) usage;
	/* Limits per account are looked up by the association's account. */
	if (HOST_HAS_USED_LIMIT_SECS && !assoc)
		return 0;
	to = counters(snapshot, qos->usage->usage_tres_raw, qos->usage->grp_used_tres_run_secs,
		      qos->usage->tres_cnt);
	return charge_tres(snapshot, charges, charge, wall, &to, 1) +
	       take_used_limits(snapshot, charges, charge, qos, assoc);
}

/* Charges everything except TRES to one association. */
static tres_counters charge_assoc(const shim_snapshot *snapshot, const shim_charge *charge,
				  slurmdb_assoc_usage_t *usage)
{
	usage->grp_used_wall += charge->wall;
	usage->usage_raw += (long double) charge->usage;
	return counters(snapshot, usage->usage_tres_raw, usage->grp_used_tres_run_secs,
			usage->tres_cnt);
}

/* Number of levels charged together; a deeper tree takes several rounds. */
#define LEVELS 16

/*
 * The parents are the present ones: Slurm moves usage with an association when its parent changes.
 */
static uint32_t charge_chain(const shim_snapshot *snapshot, const shim_charges *charges,
			     const shim_charge *charge, slurmdb_assoc_rec_t *assoc)
{
	uint32_t underflows = 0;

	while (assoc) {
		tres_counters to[LEVELS];
		size_t len = 0;

		for (; assoc && len < LEVELS; assoc = assoc->usage->parent_assoc_ptr)
			to[len++] = charge_assoc(snapshot, charge, assoc->usage);
		underflows += charge_tres(snapshot, charges, charge, charge->wall, to, len);
	}
	return underflows;
}

uint32_t host_charge_one(const shim_snapshot *snapshot, const shim_charges *charges,
			 const shim_charge *charge, slurmdb_assoc_usage_t *usage)
{
	tres_counters to = charge_assoc(snapshot, charge, usage);

	return charge_tres(snapshot, charges, charge, charge->wall, &to, 1);
}

uint32_t host_charge_rest(const shim_snapshot *snapshot, const shim_charges *charges,
			  const shim_charge *charge, slurmdb_assoc_rec_t *assoc)
{
	slurmdb_assoc_rec_t *own = host_assoc_in(snapshot, charge->assoc);
	uint32_t underflows;

	underflows = charge_qos(snapshot, charges, charge, charge->qos, charge->qos_wall,
				charge->qos_usage, own);
	underflows += charge_qos(snapshot, charges, charge, charge->partition_qos,
				 charge->partition_qos_wall, charge->partition_qos_usage, own);
	return underflows + charge_chain(snapshot, charges, charge, assoc);
}

uint32_t shim_usage_charge(const shim_snapshot *snapshot, const shim_charges *charges)
{
	uint32_t underflows = 0;

	for (size_t i = 0; i < charges->len; i++) {
		const shim_charge *charge = &charges->at[i];

		if (!charge->is_done)
			underflows += host_charge_rest(snapshot, charges, charge,
						       host_assoc_in(snapshot, charge->assoc));
	}
	return underflows;
}
