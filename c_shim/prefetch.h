/*
 * prefetch.h - prefetching, and the software pipeline of long walks.
 *
 * Records of slurmctld are scattered in memory: a walk that reads each record only when it comes to
 * it waits for memory each time. In the pipeline, record i is prefetched, data to which record i -
 * 6 points is prefetched, ..., and record i - 24 is processed: cache misses of several records
 * overlap. Without this for jobs a pass takes 85 % more CPU time (fresh records: 24 %), without it
 * for associations 21 % (757acea).
 */
#ifndef FAIRTREE_PREFETCH_H
#define FAIRTREE_PREFETCH_H

#include <stdbool.h>
#include <stddef.h>

#define CACHE_LINE 64

/*
 * Prefetches the cache line that holds a byte into L2 (prefetcht1). L1 has 10 to 16 line-fill
 * buffers per core, and a prefetch that finds none free stalls the core; L2 has several times as
 * many. The address may be invalid: a prefetch never faults.
 *
 * Prefetching into L1 (prefetcht0) instead takes 1 to 4 % more CPU time of a pass (100,000 jobs;
 * 32fc6dc; numbers of this kind are `time_pass` of the bench host, see docs/contributor.md).
 *
 * The empty asm statement prevents the compiler from dropping calls to a function without effects.
 */
static inline void prefetch_l2(const void *at)
{
	__builtin_prefetch(at, 0, 2);
	__asm__ volatile("");
}

static inline void prefetch_l2_range(const void *at, size_t len)
{
	for (size_t i = 0; at && i < len; i += CACHE_LINE)
		prefetch_l2((const char *) at + i);
}

/* Prefetches a list that will be walked. */
static inline void host_prefetch_list(const void *list)
{
	prefetch_l2(list);
	prefetch_l2((const char *) list + CACHE_LINE);
}

/* Number of records that a batch prefetches together, before it reads the first of them. */
#define PREFETCH_BATCH 128

/* ---- the pipeline ------------------------------------------------------------------------ */

/* Records between two stages: a memory access takes as long as two or three records. */
#define PIPELINE_DISTANCE 6
/* Stages that prefetch; after these the record is processed. */
#define PIPELINE_STAGES 4
/* Maximum number of records in the pipeline: a power of two. */
#define PIPELINE_SLOTS 32

_Static_assert(PIPELINE_STAGES * PIPELINE_DISTANCE < PIPELINE_SLOTS, "each stage has its slot");

/* Functions that a walk calls for each record. Constant, so that the compiler inlines them. */
typedef struct {
	/*
	 * Stage k is called k * PIPELINE_DISTANCE records after the record was met; NULL: nothing.
	 */
	void (*prefetch[PIPELINE_STAGES])(const void *record, void *arg);
	bool (*process)(void *record, void *arg); /* false ends the walk */
} pipeline_stages;

/* All zero is an empty pipeline. */
typedef struct {
	void *record[PIPELINE_SLOTS]; /* NULL for empty slots */
	size_t met;
} pipeline;

/* The record that was met `ago` records before; NULL if there was none. */
static inline void *pipeline_record(const pipeline *p, size_t ago)
{
	return p->record[(p->met - ago) % PIPELINE_SLOTS];
}

/* Meets a record (NULL: none, to let the pipeline drain); false if the walk must end. */
static inline __attribute__((always_inline)) bool
pipeline_push(pipeline *p, const pipeline_stages *stages, void *record, void *arg)
{
	bool go_on = true;

	p->record[p->met % PIPELINE_SLOTS] = record;
#pragma GCC unroll 4
	for (size_t stage = 0; stage < PIPELINE_STAGES; stage++) {
		record = pipeline_record(p, stage * PIPELINE_DISTANCE);
		if (record && stages->prefetch[stage])
			stages->prefetch[stage](record, arg);
	}
	record = pipeline_record(p, PIPELINE_STAGES * PIPELINE_DISTANCE);
	if (record)
		go_on = stages->process(record, arg);
	p->met++;
	return go_on;
}

/* Processes the records that are still in the pipeline. */
static inline __attribute__((always_inline)) void
pipeline_drain(pipeline *p, const pipeline_stages *stages, void *arg)
{
	bool go_on = true;

	for (size_t i = 0; go_on && i < PIPELINE_STAGES * PIPELINE_DISTANCE; i++)
		go_on = pipeline_push(p, stages, NULL, arg);
}

#endif
