/*
 * charge.c - what running jobs have used goes to associations and QOS, and off the run-seconds
 * that limits keep for them. All in `long double`, in place, under the usage lock.
 */
#include "host.h"

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

/*
 * Charges the TRES of a job to all of these: what is worked out for one is the same for the next.
 * They are kept only while limits are enforced; energy has none.
 */
static uint32_t charge_tres(const shim_snapshot *snapshot, const shim_charge *charge, double wall,
			    const tres_counters *to, size_t len)
{
	const uint64_t *tres = host_charged_tres(snapshot, charge);
	uint32_t underflows = 0;

	if (!tres || !snapshot->enforces_limits)
		return 0;
	for (uint32_t i = 0; i < snapshot->tres_count; i++) {
		long double usage;
		uint64_t run_secs;

		if (i == TRES_ARRAY_ENERGY || !tres[i])
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
static uint32_t take_used_limit(const shim_snapshot *snapshot, const shim_charge *charge,
				uint64_t *run_secs, uint32_t tres_cnt)
{
	const uint64_t *tres = host_charged_tres(snapshot, charge);
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

static slurmdb_qos_rec_t *qos_in(const shim_snapshot *snapshot, uint32_t row)
{
	return row < snapshot->qos_at.len ? snapshot->qos_at.at[row] : NULL;
}

static uint32_t charge_qos(const shim_snapshot *snapshot, const shim_charge *charge, uint32_t row,
			   slurmdb_assoc_rec_t *assoc)
{
	slurmdb_qos_rec_t *qos = qos_in(snapshot, row);
	bool no_decay = qos && (qos->flags & QOS_FLAG_NO_DECAY);
	double wall = no_decay ? charge->wall : charge->wall_decayed;
	tres_counters to;

	if (!qos)
		return 0;
	qos->usage->grp_used_wall += wall;
	qos->usage->usage_raw += (long double) (no_decay ? charge->usage : charge->usage_decayed);
	if (HOST_HAS_USED_LIMIT_SECS && !assoc)
		return 0;
	to = counters(snapshot, qos->usage->usage_tres_raw, qos->usage->grp_used_tres_run_secs,
		      qos->usage->tres_cnt);
	return charge_tres(snapshot, charge, wall, &to, 1) +
	       take_used_limits(snapshot, charge, qos, assoc);
}

static uint32_t charge_all_qos(const shim_snapshot *snapshot, const shim_charge *charge)
{
	slurmdb_assoc_rec_t *assoc = host_assoc_in(snapshot, charge->assoc);
	uint32_t underflows = charge_qos(snapshot, charge, charge->qos, assoc);

	if (charge->partition_qos != charge->qos)
		underflows += charge_qos(snapshot, charge, charge->partition_qos, assoc);
	return underflows;
}

/* All that is charged of one association but for its TRES. */
static tres_counters charge_assoc(const shim_snapshot *snapshot, const shim_charge *charge,
				  slurmdb_assoc_usage_t *usage)
{
	usage->grp_used_wall += charge->wall_decayed;
	usage->usage_raw += (long double) charge->usage_decayed;
	return counters(snapshot, usage->usage_tres_raw, usage->grp_used_tres_run_secs,
			usage->tres_cnt);
}

/* Hardly any tree is deeper; such a one takes another turn. */
#define LEVELS 16

static uint32_t charge_chain(const shim_snapshot *snapshot, const shim_charge *charge,
			     slurmdb_assoc_rec_t *assoc)
{
	uint32_t underflows = 0;

	while (assoc) {
		tres_counters to[LEVELS];
		size_t len = 0;

		for (; assoc && len < LEVELS; assoc = assoc->usage->parent_assoc_ptr)
			to[len++] = charge_assoc(snapshot, charge, assoc->usage);
		underflows += charge_tres(snapshot, charge, charge->wall_decayed, to, len);
	}
	return underflows;
}

uint32_t host_charge_one(const shim_snapshot *snapshot, const shim_charge *charge,
			 slurmdb_assoc_usage_t *usage)
{
	tres_counters to = charge_assoc(snapshot, charge, usage);

	return charge_tres(snapshot, charge, charge->wall_decayed, &to, 1);
}

uint32_t host_charge_rest(const shim_snapshot *snapshot, const shim_charge *charge,
			  slurmdb_assoc_rec_t *assoc)
{
	return charge_all_qos(snapshot, charge) + charge_chain(snapshot, charge, assoc);
}

uint32_t shim_usage_charge(const shim_snapshot *snapshot, const shim_charge *charges, size_t len)
{
	uint32_t underflows = 0;

	for (size_t i = 0; i < len; i++) {
		if (!charges[i].is_done)
			underflows += host_charge_rest(snapshot, &charges[i],
						       host_assoc_in(snapshot, charges[i].assoc));
	}
	return underflows;
}
