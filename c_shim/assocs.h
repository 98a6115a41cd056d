/* assocs.h - copies of associations. */
#ifndef FAIRTREE_ASSOCS_H
#define FAIRTREE_ASSOCS_H

#include "records.h"

extern void host_copy_assoc(shim_snapshot *snapshot, const shim_want *want,
			    const slurmdb_assoc_rec_t *assoc);
/* All of them, level by level from the root. */
extern void host_copy_tree(shim_snapshot *snapshot, const shim_want *want);
/* Records may go away after the lock: marks of them remain. */
extern void host_forget_records(shim_snapshot *snapshot);

#endif
