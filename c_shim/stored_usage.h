/* stored_usage.h - passes on the usage of one association. */
#ifndef FAIRTREE_STORED_USAGE_H
#define FAIRTREE_STORED_USAGE_H

#include "host.h"

/* Passes on the usage that slurmctld saves for an association, if any. Needs the usage lock. */
extern void host_store_assoc(const slurmdb_assoc_rec_t *assoc, shim_usage_sink sink,
			     void *context);

#endif
