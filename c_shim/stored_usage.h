/* stored_usage.h - usage of one association, handed over. */
#ifndef FAIRTREE_STORED_USAGE_H
#define FAIRTREE_STORED_USAGE_H

#include "host.h"

/* Hands over what slurmctld saves of an association, if anything. Needs the usage lock. */
extern void host_store_assoc(const slurmdb_assoc_rec_t *assoc, shim_usage_sink sink,
			     void *context);

#endif
