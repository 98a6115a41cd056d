/*
 * host.h - Slurm's headers, for the files of the shim only.
 *
 * Every symbol that lives in slurmctld itself is declared weak here, because sshare loads the
 * plugin, too, and has none of them: their addresses are NULL there (see shim_in_slurmctld).
 * Symbols of libslurmfull need nothing: both programs have them.
 */
#ifndef FAIRTREE_HOST_H
#define FAIRTREE_HOST_H

#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "slurm/slurm.h"
#include "slurm/slurm_errno.h"

#include "src/common/assoc_mgr.h"
#include "src/common/list.h"
#include "src/common/log.h"
#include "src/common/slurm_protocol_api.h"
#include "src/common/slurm_protocol_defs.h"
#include "src/common/xmalloc.h"
#include "src/slurmctld/acct_policy.h"
#include "src/slurmctld/locks.h"
#include "src/slurmctld/slurmctld.h"

#include "release.h"

#include HOST_PRIORITY_HEADER
#include HOST_SITE_FACTOR_HEADER
#include HOST_MCS_HEADER

#include "shim.h"

#pragma weak accounting_enforce
#pragma weak acct_db_conn
#pragma weak acct_policy_get_acct_used_limits
#pragma weak acct_policy_get_user_used_limits
#pragma weak cluster_cpus
#pragma weak find_job_record
#pragma weak job_list
#pragma weak last_job_update
#pragma weak last_part_update
#pragma weak lock_slurmctld
#pragma weak part_list
#pragma weak part_list_to_xstr
#pragma weak slurmctld_tres_cnt
#pragma weak unlock_slurmctld
#pragma weak validate_operator

_Static_assert(sizeof(long double) == 16, "usage is kept in x87's 80-bit format");
_Static_assert(sizeof(time_t) == 8, "times are 64 bits wide");

/*
 * Variables of slurmctld that a program may lack which has `cluster_cpus` and so counts as
 * slurmctld, as the programs of Slurm's testsuite do.
 */
extern uint32_t host_tres_count(void);
extern time_t host_last_part_update(void);

/* A list of either spelling (`List` before 23.02, `list_t *` from there on). */
typedef struct xlist *host_list;

static inline bool host_has_qos_list(const job_record_t *job)
{
#if HOST_HAS_QOS_LISTS
	return job->qos_list;
#else
	(void) job;
	return false;
#endif
}

/* `long double` in the two integers that x86-64 keeps it in. */
static inline shim_extended host_to_extended(long double value)
{
	shim_extended out = { 0 };

	memcpy(&out.mantissa, &value, sizeof(out.mantissa));
	memcpy(&out.sign_exponent, (const char *) &value + 8, sizeof(out.sign_exponent));
	return out;
}

static inline long double host_from_extended(shim_extended value)
{
	long double out = 0;

	memcpy(&out, &value.mantissa, sizeof(value.mantissa));
	memcpy((char *) &out + 8, &value.sign_exponent, sizeof(value.sign_exponent));
	return out;
}

/* Whether a number is neither 0 nor -0. */
static inline bool host_has_digits(const long double *value)
{
	uint64_t mantissa;

	memcpy(&mantissa, value, sizeof(mantissa));
	return mantissa != 0;
}

/* `leaf_usage` of a user is its usage; that of an account is what removed users left behind. */
static inline bool host_has_own_leaf_usage(const slurmdb_assoc_rec_t *assoc)
{
	return assoc->leaf_usage && assoc->leaf_usage != assoc->usage;
}

/* Is this a number, and not slurmctld's mark for one that is still to be computed? */
static inline bool host_is_computed(long double usage)
{
	return !fuzzy_equal(usage, NO_VAL);
}

/*
 * Makes room for `more` elements behind the `len` that `*array` has; false without memory, and
 * then `snapshot` remembers it. New room is not cleared.
 */
extern bool host_reserve(shim_snapshot *snapshot, void **array, size_t element, size_t len,
			 size_t *cap, size_t more);

/* Makes room for `count` elements in all, where so many are to come, and hardly more. */
#define HOST_EXPECT(snapshot, rows, count)							\
	((rows).cap < (count) && host_resize((snapshot), (void **) &(rows).at,			\
					     sizeof(*(rows).at), &(rows).cap, (count)))
extern bool host_resize(shim_snapshot *snapshot, void **array, size_t element, size_t *cap,
			size_t want);

/* Appends room for `count` elements to a row array of a snapshot; NULL without memory. */
#define HOST_PUSH(snapshot, rows, count)							\
	((rows).len + (count) <= (rows).cap ||							\
	 host_reserve((snapshot), (void **) &(rows).at, sizeof(*(rows).at), (rows).len,		\
		      &(rows).cap, (count)) ?							\
	 ((rows).len += (count), (rows).at + (rows).len - (count)) : NULL)

/* shim_snapshot_row, without a call in the usual case. */
static inline uint32_t host_row_of(const shim_snapshot *snapshot, uint32_t id)
{
	if (id < snapshot->row_of_id.len)
		return snapshot->row_of_id.at[id];
	return shim_snapshot_row(snapshot, id);
}

/*
 * Where a record was when it was copied. It may be gone: a mark is compared with others, and never
 * followed. Records are aligned, so their addresses are even.
 */
static inline void *host_mark(const void *record)
{
	return (void *) ((uintptr_t) record | 1);
}

static inline bool host_is_mark(const void *at)
{
	return (uintptr_t) at & 1;
}

/* Records lie anywhere in memory. So many are asked for together, and read when all are there. */
#define HOST_TOGETHER 128

/*
 * In a long walk each record goes through stages instead: memory is asked for it, some records
 * later for what it points to, and so on, and when all has arrived it is read. The stages of
 * different records take turns, one each, so that memory is busy while other work is done; who
 * asks for many at once does nothing else until memory has taken up all but the last of them.
 *
 * Memory takes as long as two or three records do; with many more on the way, the processor has
 * forgotten where the pages of the first one are.
 */
/* So many records later one goes through its next stage. */
#define HOST_PER_STAGE 6
/* In this stage it is read. */
#define HOST_LAST_STAGE 4
/* Places for the records that are between their first stage and their last. */
#define HOST_ON_THE_WAY 32

_Static_assert(HOST_LAST_STAGE * HOST_PER_STAGE < HOST_ON_THE_WAY, "all stages have a place");

/* Bytes in a line of memory. */
#define HOST_LINE 64

/*
 * Asks for the line of memory that holds a byte, for the second cache: on its way to the first one
 * it would take one of a dozen places or two, and whoever asks for more waits for a free one. The
 * second cache has several dozen.
 *
 * The compiler takes a function that does no more than that for one that does nothing, and leaves
 * its calls out; the empty statement is there so that it does not.
 */
static inline void host_ask(const void *at)
{
	__builtin_prefetch(at, 0, 2);
	__asm__ volatile("");
}

/*
 * Brings a line that was asked for on to the first cache, HOST_NEAR records before it is read or
 * written. Work that waits for the second cache line by line keeps the processor from looking
 * ahead, and memory from being asked.
 */
#define HOST_NEAR 6

_Static_assert(HOST_NEAR < HOST_LAST_STAGE * HOST_PER_STAGE, "asked for, and not read yet");

static inline void host_bring(const void *at)
{
	__builtin_prefetch(at, 0, 3);
	__asm__ volatile("");
}

static inline void host_fetch(const void *at, size_t len)
{
	for (size_t i = 0; at && i < len; i += HOST_LINE)
		host_ask((const char *) at + i);
}

static inline void host_bring_all(const void *at, size_t len)
{
	for (size_t i = 0; at && i < len; i += HOST_LINE)
		host_bring((const char *) at + i);
}

/* A walk along lists of slurmctld's, one after the other, and where their nodes were last time. */
typedef struct {
	shim_u32_rows *nodes;
	size_t last_len; /* notes of the last walk */
	size_t next;	 /* where in the last walk the next node is looked for */
	size_t seen;
	const void *node; /* the next one, if it is what is thought; NULL: not known */
	int (*each)(void *element, void *arg);
	void *arg;
} host_trail;

/* `nodes` is the same from walk to walk; `expected`: elements of all lists. */
extern void host_trail_begin(host_trail *trail, shim_u32_rows *nodes, size_t expected);
/* list_for_each_ro. Needs the lock of the list's elements, from begin to end. */
extern int host_trail_walk(host_trail *trail, host_list list,
			   int (*each)(void *element, void *arg), void *arg);
extern void host_trail_end(host_trail *trail);
/*
 * Ask for a list that will be walked, then for its first node, then for the second, each when the
 * one before has arrived. Need the lock of the list's elements.
 */
static inline void host_fetch_list(const void *list)
{
	host_ask(list);
	host_ask((const char *) list + 64);
}
extern void host_fetch_first(const void *list);
extern void host_fetch_second(const void *list);

/* What comes to an association in a walk; but for `visit` it may be NULL. */
typedef struct {
	void (*expect)(void *assoc, void *arg);	     /* asks for what its usage says, */
	void (*expect_more)(void *assoc, void *arg); /* then for what was expected says, */
	void (*visit)(void *assoc, void *arg);	     /* and then all is there */
} host_assoc_visitor;

/*
 * Every association in the order of slurmctld's list, fetched ahead. `snapshot` has the notes of
 * where nodes were; with NULL the walk goes without. Needs their lock.
 */
extern void host_walk_assocs(shim_snapshot *snapshot, const host_assoc_visitor *visitor,
			     void *arg);

/* The record of a row; NULL: none has come since the snapshot. Needs the lock of associations. */
extern slurmdb_assoc_rec_t *host_assoc_in(const shim_snapshot *snapshot, uint32_t row);

/* What a charged job has of each TRES; NULL: none are counted. */
extern const uint64_t *host_charged_tres(const shim_snapshot *snapshot,
					 const shim_charge *charge);
/*
 * Charge a job to one association, and to its QOS and an association (NULL: none) with all above
 * it. How many run-second counters held less than they were to give. Need the usage lock.
 */
extern uint32_t host_charge_one(const shim_snapshot *snapshot, const shim_charge *charge,
				slurmdb_assoc_usage_t *usage);
extern uint32_t host_charge_rest(const shim_snapshot *snapshot, const shim_charge *charge,
				 slurmdb_assoc_rec_t *assoc);

/* Bytes of a stored record without TRES. */
#define HOST_STORED_BYTES 26

/* Appends what slurmctld has of an association, unless it is unused. Needs the usage lock. */
extern void host_store_assoc(shim_stored *stored, const slurmdb_assoc_rec_t *assoc);

extern void host_copy_site(shim_snapshot *snapshot);
extern void host_copy_assoc(shim_snapshot *snapshot, const shim_want *want,
			    const slurmdb_assoc_rec_t *assoc);
extern void host_copy_tree(shim_snapshot *snapshot, const shim_want *want);
/* Records may go away after the lock: marks of them remain. */
extern void host_forget_records(shim_snapshot *snapshot);
extern void host_copy_qos(shim_snapshot *snapshot, const slurmdb_qos_rec_t *qos);
extern void host_copy_partition(shim_snapshot *snapshot, const shim_want *want,
				const part_record_t *part);
/*
 * One of slurmctld's xmalloc'ed TRES arrays, or none. It may be shorter than slurmctld's count of
 * TRES, if it is older than the last of them: what is beyond its end is 0.
 */
typedef struct {
	const uint64_t *at;
	size_t len;
} host_tres;

static inline host_tres host_tres_of(const uint64_t *counts)
{
	size_t bytes = counts ? (size_t) xsize((void *) counts) : 0;

	return (host_tres) { .at = counts, .len = bytes / sizeof(*counts) };
}

static inline uint64_t host_tres_at(host_tres counts, uint32_t i)
{
	return i < counts.len ? counts.at[i] : 0;
}

extern uint32_t host_copy_tres(shim_snapshot *snapshot, const shim_want *want,
			       const uint64_t *counts);

/* Numbers in a run of TRES counts: of those that `want` (NULL: nobody) weighs, else of all. */
static inline size_t host_weighed_len(const shim_snapshot *snapshot, const shim_want *want)
{
	return want && want->weighed ? want->weighed_len : snapshot->tres_count;
}
/* Ask for what copying a job will read: of the job's record, and then of what that points to. */
extern void host_fetch_job(const shim_want *want, const job_record_t *job);
extern void host_fetch_parts(const shim_want *want, const job_record_t *job);
/* Which rows some records have, found before; all zero is none. */
typedef struct {
	const void *record;
	uint32_t id;
	uint32_t row;
} host_row;

typedef struct {
	host_row partition[64];
	host_row qos[64];
} host_rows;

/* Rows of `waiting` and `accruing`; `rows` is NULL where it is for one job. */
extern void host_copy_waiting(shim_snapshot *snapshot, const shim_want *want, host_rows *rows,
			      const job_record_t *job);
extern void host_copy_accruing(shim_snapshot *snapshot, const shim_want *want,
			       const job_record_t *job, size_t waiting);
/* Every job in the order of slurmctld's list. */
extern void host_copy_jobs(shim_snapshot *snapshot, const shim_want *want);

#endif
