/* charge.h - charges of one job, applied to slurmctld's records. All need the usage lock. */
#ifndef FAIRTREE_CHARGE_H
#define FAIRTREE_CHARGE_H

#include "records.h"

/* What a charged job has of each TRES; NULL: none are counted. */
extern const uint64_t *host_charged_tres(const shim_snapshot *snapshot,
					 const shim_charge *charge);
/* To one association. Returns how many run-second counters held less than they were to give. */
extern uint32_t host_charge_one(const shim_snapshot *snapshot, const shim_charges *charges,
				const shim_charge *charge, slurmdb_assoc_usage_t *usage);
/* To its QOS, and to an association (NULL: none) with all above it; returns the same. */
extern uint32_t host_charge_rest(const shim_snapshot *snapshot, const shim_charges *charges,
				 const shim_charge *charge, slurmdb_assoc_rec_t *assoc);

#endif
