/* state.h - usage out of and back into slurmctld's records, for the plugin's own file. */
#ifndef FAIRTREE_SHIM_STATE_H
#define FAIRTREE_SHIM_STATE_H

#include "numbers.h"

/* Usage of an association or a QOS, for the plugin's own state file. */
typedef struct {
	shim_extended usage_raw;
	double wall;
	uint32_t id;
	uint32_t tres; /* index into the array that comes with it */
	uint32_t tres_len;
} shim_saved_usage;

SHIM_ROWS(shim_saved_rows, shim_saved_usage);
SHIM_ROWS(shim_extended_rows, shim_extended);

/* Usage records that are stored (users, and what removed users left in accounts). */
typedef struct {
	shim_saved_rows assocs;
	shim_saved_rows qos;
	shim_extended_rows tres;
	shim_u32_rows tres_ids; /* which TRES the numbers of a record are of, in their order */
	bool out_of_memory;
} shim_saved;

/* Fills `tres_ids` alone, with the TRES of now. */
extern void shim_saved_tres_ids(shim_saved *saved);
extern void shim_saved_collect(shim_saved *saved);
extern void shim_saved_free(shim_saved *saved);
/*
 * Forgets all usage, puts stored usage back and sums it up the tree. Rows ascend by id; those of
 * records that are gone are skipped. Their numbers are in the order of the TRES of now.
 */
extern void shim_saved_restore(const shim_saved_usage *assocs, size_t assocs_len,
			       const shim_saved_usage *qos, size_t qos_len,
			       const shim_extended *tres, size_t tres_len);

#endif
