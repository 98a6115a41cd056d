/* state.h - reads and restores usage in slurmctld's records, for the plugin's own file. */
#ifndef FAIRTREE_SHIM_STATE_H
#define FAIRTREE_SHIM_STATE_H

#include "numbers.h"

/* Usage of an association or a QOS in slurmctld's record. */
typedef struct {
	shim_extended usage_raw;
	double wall;
	const shim_extended *tres; /* in slurmctld's order; valid during the call, NULL: none */
	uint32_t tres_len;
	uint32_t id;
} shim_usage_row;

/* Receives one row. Must not call back into the shim. */
typedef void (*shim_usage_sink)(void *context, const shim_usage_row *row);

/* Usage of an association or a QOS to restore. */
typedef struct {
	shim_extended usage_raw;
	double wall;
	uint32_t id;
	uint32_t tres; /* index into the array that is passed with it */
	uint32_t tres_len;
} shim_saved_usage;

/*
 * These need the usage lock. Ids of slurmctld's TRES in its order, at most `len`; returns their
 * number.
 */
extern size_t shim_tres_ids(uint32_t *ids, size_t len);
/*
 * Passes to `sink` the usage that slurmctld itself saves: that of users, and that left in accounts
 * by removed users, in the order of slurmctld's list. Sums of accounts follow from these.
 */
extern void shim_each_assoc_usage(shim_usage_sink sink, void *context);
extern void shim_each_qos_usage(shim_usage_sink sink, void *context);
/*
 * Resets all usage, restores stored usage and sums it up the tree. Rows ascend by id; those of
 * missing records are skipped. Their numbers are in the present order of TRES.
 */
extern void shim_saved_restore(const shim_saved_usage *assocs, size_t assocs_len,
			       const shim_saved_usage *qos, size_t qos_len,
			       const shim_extended *tres, size_t tres_len);

#endif
