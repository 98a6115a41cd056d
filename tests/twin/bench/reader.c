/*
 * A client of slurmctld: requests the read lock of jobs all the time, and
 * records how long each request waits.
 *
 * Requests come every INTERVAL, also while an earlier one still waits: one
 * thread cannot make the later requests, but their waiting time is known. So a
 * hold of 60 ms counts as all the requests that it delays, not as one.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "bench.h"

enum { INTERVAL_NS = 100000, MOST = 1 << 20 };

static pthread_t thread;
static atomic_bool running, started;
static uint64_t *wait_ns;
static size_t waits;

static void note(uint64_t waited)
{
	for (; waits < MOST; waited -= INTERVAL_NS) {
		wait_ns[waits++] = waited;
		if (waited <= INTERVAL_NS)
			return;
	}
}

static void *ask(void *unused)
{
	(void)unused;
	started = true;
	while (running) {
		uint64_t waited = bench_locks_wait();
		uint64_t next = twin_clock_real_ns() + INTERVAL_NS;

		note(waited);
		while (running && (twin_clock_real_ns() < next))
			;
	}
	return NULL;
}

void bench_reader_start(void)
{
	if (!wait_ns)
		wait_ns = xcalloc(MOST, sizeof(*wait_ns));
	waits = 0;
	started = false;
	running = true;
	if (twin_clock_own_thread(&thread, ask, NULL))
		twin_usage_error("no thread");
	while (!started)
		sched_yield();
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

bench_waits bench_reader_stop(void)
{
	bench_waits found = { 0 };

	running = false;
	pthread_join(thread, NULL);
	qsort(wait_ns, waits, sizeof(*wait_ns), ascending);
	if (waits) {
		found.asked = waits;
		found.p99_us = wait_ns[(waits * 99 - 1) / 100] / 1e3;
		found.most_us = wait_ns[waits - 1] / 1e3;
	}
	return found;
}
