/*
 * The bench host: the twin host with a large queue, and events that measure.
 *
 * Its life ends with `serve`: from then on events come from the standard input,
 * one per line, and each event that measures prints one line of `name=value`
 * words. So several hosts, each with its own plugin, can take turns.
 */
#ifndef TWIN_BENCH_H
#define TWIN_BENCH_H

#include "../host.h"

/* ---- memory.c: who allocates what, and where ---------------------------------- */

/* Starts counting the plugin's own memory. Call it before boot. */
void bench_memory_count(const char *plugin);
/*
 * From here to bench_memory_together(), each allocation gets a random place
 * among `slots` of its size, as in a daemon that has run for weeks.
 */
void bench_memory_scatter(uint32_t slots, uint64_t seed);
void bench_memory_together(void);

typedef struct {
	uint64_t calls;	    /* of malloc and the like, by any caller */
	uint64_t owned;	    /* bytes that the plugin's code has allocated */
	uint64_t owned_most;
} bench_memory;

/* Counts since the last call; `owned` is the current value. */
bench_memory bench_memory_take(void);

/* ---- locks.c --------------------------------------------------------------------- */

typedef struct {
	uint64_t operations;	/* calls that lock and unlock, slurmctld's and the
				   association manager's */
	uint64_t write_ns;	/* longest hold of the job write lock */
	uint64_t write_cpu_ns;	/* the same in processor time, for a busy machine */
	uint64_t read_ns;	/* longest hold of the job read lock */
	uint64_t reads_ns;	/* all holds of the job read lock */
	uint64_t writes;	/* holds of the job write lock */
	uint64_t lookups;	/* of jobs by their id while it was held */
} bench_locks;

/* Counts since the last call. */
bench_locks bench_locks_take(void);
/* Nanoseconds that this thread (not counted) waits for a read lock of jobs. */
uint64_t bench_locks_wait(void);

/* ---- reader.c: a client that asks while a pass runs -------------------------------- */

typedef struct {
	uint64_t asked;
	double p99_us, most_us;
} bench_waits;

void bench_reader_start(void);
bench_waits bench_reader_stop(void);

/* ---- speed.c: the machine's memory ----------------------------------------------- */

typedef struct {
	double read_bytes_per_ns;
	double copy_bytes_per_ns; /* each byte counted once */
	double latency_ns;	  /* of a read that depends on the previous one */
} bench_speed;

bench_speed bench_speed_measure(void);

/* ---- random.c ------------------------------------------------------------------------ */

/* The next number of the sequence with this state. */
uint64_t bench_random(uint64_t *state);
/* A number below `limit`, which is not 0. */
uint32_t bench_random_below(uint64_t *state, uint32_t limit);

/* ---- crowd.c: the queue ---------------------------------------------------------------- */

void bench_crowd(const twin_line *line);
void bench_start_first(const twin_line *line);

#endif
