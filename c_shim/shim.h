/*
 * shim.h - the plugin's interface to slurmctld, in plain C types.
 *
 * The Rust side sees nothing else; Slurm's own headers stay inside the shim. The shim takes locks,
 * copies fields into flat rows, converts, copies back and logs. It decides nothing.
 *
 * Words used below:
 *   row    a position in one of the arrays of a shim_snapshot
 *   key    a number that identifies a partition while the partition lock is held; it may be
 *          compared with other keys, nothing else
 *   NONE   SHIM_NONE, where a row or an index may be missing; ids of 0 mean "none"
 *
 * Times are seconds since 1970. A number of the host that stands for "not set" or "infinite" is
 * split into the number and a flag here and goes no further.
 */
#ifndef FAIRTREE_SHIM_H
#define FAIRTREE_SHIM_H

#include "shim/numbers.h"
#include "shim/rows.h"
#include "shim/snapshot.h"
#include "shim/usage.h"
#include "shim/assoc.h"
#include "shim/state.h"
#include "shim/prices.h"
#include "shim/sprio.h"
#include "shim/host.h"

#endif
