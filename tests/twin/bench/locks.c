/*
 * Counts the locks of slurmctld and of the association manager. Only holds of
 * the job lock are timed: reading the clock at each of the millions of locks of
 * a pass would dominate the measurement.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "bench.h"

enum { CTLD_LOCKS = 5, JOBS = 1 }; /* conf, job, node, part, fed */

static pthread_rwlock_t ctld[CTLD_LOCKS] = {
	PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER,
	PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER,
	PTHREAD_RWLOCK_INITIALIZER,
};

/* Sum over all counted threads: one works at a time, the others wait for it. */
static bench_locks found;
static __thread uint64_t since_ns, since_cpu_ns, since_lookups;

bench_locks bench_locks_take(void)
{
	bench_locks then = found;

	memset(&found, 0, sizeof(found));
	return then;
}

static uint64_t own_cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return used.tv_sec * 1000000000ULL + used.tv_nsec;
}

static void levels_of(const slurmctld_lock_t *locks, lock_level_t *level)
{
	level[0] = locks->conf;
	level[1] = locks->job;
	level[2] = locks->node;
	level[3] = locks->part;
	level[4] = locks->fed;
}

void lock_slurmctld(slurmctld_lock_t locks)
{
	lock_level_t level[CTLD_LOCKS];

	levels_of(&locks, level);
	found.operations++;
	for (int i = 0; i < CTLD_LOCKS; i++) {
		if (level[i] == NO_LOCK)
			continue;
		if (level[i] == WRITE_LOCK)
			pthread_rwlock_wrlock(&ctld[i]);
		else
			pthread_rwlock_rdlock(&ctld[i]);
		if (i != JOBS)
			continue;
		since_ns = twin_clock_real_ns();
		since_lookups = twin_lookups;
		if (level[i] == WRITE_LOCK)
			since_cpu_ns = own_cpu_ns();
	}
}

static void job_lock_was_held(bool write)
{
	uint64_t ns = twin_clock_real_ns() - since_ns;

	if (write) {
		found.writes++;
		found.lookups += twin_lookups - since_lookups;
		found.write_ns = MAX(found.write_ns, ns);
		found.write_cpu_ns = MAX(found.write_cpu_ns,
					 own_cpu_ns() - since_cpu_ns);
	} else {
		found.reads_ns += ns;
		found.read_ns = MAX(found.read_ns, ns);
	}
}

void unlock_slurmctld(slurmctld_lock_t locks)
{
	lock_level_t level[CTLD_LOCKS];

	levels_of(&locks, level);
	found.operations++;
	for (int i = CTLD_LOCKS - 1; i >= 0; i--) {
		if (level[i] == NO_LOCK)
			continue;
		if (i == JOBS)
			job_lock_was_held(level[i] == WRITE_LOCK);
		pthread_rwlock_unlock(&ctld[i]);
	}
}

uint64_t bench_locks_wait(void)
{
	uint64_t from = twin_clock_real_ns(), waited;

	pthread_rwlock_rdlock(&ctld[JOBS]);
	waited = twin_clock_real_ns() - from;
	pthread_rwlock_unlock(&ctld[JOBS]);
	return waited;
}

/* ---- the association manager's ------------------------------------------------ */

static void (*library_call(const char *name))(assoc_mgr_lock_t *)
{
	union {
		void *symbol;
		void (*call)(assoc_mgr_lock_t *);
	} symbol = { dlsym(RTLD_NEXT, name) };

	if (!symbol.symbol)
		abort();
	return symbol.call;
}

void assoc_mgr_lock(assoc_mgr_lock_t *locks)
{
	static void (*library)(assoc_mgr_lock_t *);

	if (!library)
		library = library_call("assoc_mgr_lock");
	found.operations++;
	library(locks);
}

void assoc_mgr_unlock(assoc_mgr_lock_t *locks)
{
	static void (*library)(assoc_mgr_lock_t *);

	if (!library)
		library = library_call("assoc_mgr_unlock");
	found.operations++;
	library(locks);
}

/* ---- what the plain host checks -------------------------------------------------- */

uint64_t twin_locks_held(void)
{
	return 0;
}

bool twin_locks_bar_dump(void)
{
	return false;
}

void twin_locks_same(uint64_t then, const char *where)
{
	(void)then, (void)where;
}

void twin_locks_report(FILE *out)
{
	(void)out;
	twin_usage_error("--locks: ask the plain host");
}
