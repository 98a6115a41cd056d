/* charge.h - charges of one job, applied to slurmctld's records. All need the usage lock. */
#ifndef FAIRTREE_CHARGE_H
#define FAIRTREE_CHARGE_H

#include "records.h"

/* Number of each TRES held by a charged job; NULL: no TRES are counted. */
extern const uint64_t *host_charged_tres(const shim_snapshot *snapshot,
					 const shim_charge *charge);
/* Charges one association. Returns the number of run-second counters that were too small. */
extern uint32_t host_charge_one(const shim_snapshot *snapshot, const shim_charges *charges,
				const shim_charge *charge, slurmdb_assoc_usage_t *usage);
/* Charges the job's QOS, and an association (NULL: none) with all above it; returns the same. */
extern uint32_t host_charge_rest(const shim_snapshot *snapshot, const shim_charges *charges,
				 const shim_charge *charge, slurmdb_assoc_rec_t *assoc);

#endif
