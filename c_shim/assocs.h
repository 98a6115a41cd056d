/* assocs.h - copies of associations. */
#ifndef FAIRTREE_ASSOCS_H
#define FAIRTREE_ASSOCS_H

#include "records.h"

extern void host_copy_assoc(shim_snapshot *snapshot, const shim_want *want,
			    const slurmdb_assoc_rec_t *assoc);
/* Copies all associations, level by level from the root. */
extern void host_copy_tree(shim_snapshot *snapshot, const shim_want *want);
/* Records may disappear after the lock is released: only marks of them remain. */
extern void host_forget_records(shim_snapshot *snapshot);

#endif
