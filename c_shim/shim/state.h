/* state.h - usage out of and back into slurmctld's records, for the plugin's own file. */
#ifndef FAIRTREE_SHIM_STATE_H
#define FAIRTREE_SHIM_STATE_H

#include "numbers.h"

/* Usage of an association or a QOS on its way back. */
typedef struct {
	shim_extended usage_raw;
	double wall;
	uint32_t id;
	uint32_t tres; /* index into the array that comes with it */
	uint32_t tres_len;
} shim_saved_usage;

SHIM_ROWS(shim_saved_rows, shim_saved_usage);
SHIM_ROWS(shim_extended_rows, shim_extended);

SHIM_ROWS(shim_byte_rows, uint8_t);

/*
 * Usage as it is stored, record after record in the form that src/slurm/state/state_file.rs describes,
 * in the order of slurmctld's lists. All zero is empty. Freed by shim_stored_free.
 */
typedef struct {
	shim_byte_rows assocs; /* users, and what removed users left in accounts */
	shim_byte_rows qos;
	shim_u32_rows tres_ids; /* which TRES the numbers of a record are of, in their order */
	uint32_t assocs_count;
	uint32_t qos_count;
	bool out_of_memory;
} shim_stored;

/* These need the usage lock. Empties `stored` and fills `tres_ids` with the TRES of now. */
extern void shim_stored_begin(shim_stored *stored);
/* Appends what slurmctld has of all associations. */
extern void shim_stored_assocs(shim_stored *stored);
extern void shim_stored_qos(shim_stored *stored);
extern void shim_stored_free(shim_stored *stored);
/*
 * Forgets all usage, puts stored usage back and sums it up the tree. Rows ascend by id; those of
 * records that are gone are skipped. Their numbers are in the order of the TRES of now.
 */
extern void shim_saved_restore(const shim_saved_usage *assocs, size_t assocs_len,
			       const shim_saved_usage *qos, size_t qos_len,
			       const shim_extended *tres, size_t tres_len);

#endif
