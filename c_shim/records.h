/*
 * records.h - row arrays, the rows of records, and copies of QOS, partitions and TRES counts.
 */
#ifndef FAIRTREE_RECORDS_H
#define FAIRTREE_RECORDS_H

#include "host.h"

/* ---- row arrays ---------------------------------------------------------------------------- */

/*
 * Makes room for `more` elements after the first `len` of `*array`; returns false if out of memory,
 * and then `snapshot` remembers it. New room is not cleared.
 */
extern bool host_reserve(shim_snapshot *snapshot, void **array, size_t element, size_t len,
			 size_t *cap, size_t more);

/* Makes room for `count` elements in all, with hardly any spare room. */
#define HOST_EXPECT(snapshot, rows, count)							\
	((rows).cap < (count) && host_resize((snapshot), (void **) &(rows).at,			\
					     sizeof(*(rows).at), &(rows).cap, (count)))
extern bool host_resize(shim_snapshot *snapshot, void **array, size_t element, size_t *cap,
			size_t want);

/* Appends room for `count` elements to a row array of a snapshot; NULL if out of memory. */
#define HOST_PUSH(snapshot, rows, count)							\
	((rows).len + (count) <= (rows).cap ||							\
	 host_reserve((snapshot), (void **) &(rows).at, sizeof(*(rows).at), (rows).len,		\
		      &(rows).cap, (count)) ?							\
	 ((rows).len += (count), (rows).at + (rows).len - (count)) : NULL)

/* ---- which row is which ---------------------------------------------------------------------- */

/* shim_snapshot_row, without a call in the usual case. */
static inline uint32_t host_row_of(const shim_snapshot *snapshot, uint32_t id)
{
	if (id < snapshot->row_of_id.len)
		return snapshot->row_of_id.at[id];
	return shim_snapshot_row(snapshot, id);
}

/*
 * Address of a record when it was copied. The record may be gone: a mark is compared with others,
 * and never dereferenced. Records are aligned, so their addresses are even.
 */
static inline void *host_mark(const void *record)
{
	return (void *) ((uintptr_t) record | 1);
}

static inline bool host_is_mark(const void *at)
{
	return (uintptr_t) at & 1;
}

/* The record of a row; NULL if none was bound. Needs the lock of associations. */
extern slurmdb_assoc_rec_t *host_assoc_in(const shim_snapshot *snapshot, uint32_t row);

/* ---- copies ---------------------------------------------------------------------------------- */

extern void host_copy_site(shim_snapshot *snapshot);
/* Appends a QOS to rows, and its address. */
extern void host_copy_qos_to(shim_snapshot *snapshot, shim_qos_rows *rows, shim_pointer_rows *at,
			     const slurmdb_qos_rec_t *qos);
extern void host_copy_qos(shim_snapshot *snapshot, const slurmdb_qos_rec_t *qos);
extern void host_copy_partition(shim_snapshot *snapshot, const shim_want *want,
				const part_record_t *part);
/* Copies TRES counts; with `want` only the weighed ones. TRES not counted are 0. NONE for NULL. */
extern uint32_t host_copy_tres(shim_snapshot *snapshot, const shim_want *want,
			       const uint64_t *counts);

/* Numbers in a range of TRES counts: those that `want` weighs, or all if it is NULL. */
static inline size_t host_weighed_len(const shim_snapshot *snapshot, const shim_want *want)
{
	return want && want->weighed ? want->weighed_len : snapshot->tres_count;
}

#endif
