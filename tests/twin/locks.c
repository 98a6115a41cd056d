/*
 * The locks of slurmctld, and a record of all locks that the plugin takes,
 * including those of the association manager: number, duration, and a check
 * that their order cannot cause a deadlock.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "host.h"

enum {
	CTLD_LOCKS = 5, /* conf, job, node, part, fed */
	ASSOC_LOCKS = 7, /* assoc, file, qos, res, tres, user, wckey */
	ALL_LOCKS = CTLD_LOCKS + ASSOC_LOCKS,
};

static const char *const lock_name[ALL_LOCKS] = {
	"conf",	 "job", "node", "part", "fed",  "assoc",
	"file", "qos", "res",  "tres", "user", "wckey",
};

static pthread_rwlock_t ctld[CTLD_LOCKS] = {
	PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER,
	PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER,
	PTHREAD_RWLOCK_INITIALIZER,
};

/* Per thread: number of holds of each lock for reading and for writing. */
static __thread struct {
	uint8_t reads[ALL_LOCKS];
	bool write[ALL_LOCKS];
	uint64_t since_ns[ALL_LOCKS];
} held;

/* Per lock and mode, over the whole life. */
static struct {
	uint64_t times, total_ns, longest_ns;
} record[ALL_LOCKS][2];
static pthread_mutex_t record_guard = PTHREAD_MUTEX_INITIALIZER;

uint64_t twin_locks_held(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < ALL_LOCKS; i++)
		sum = sum * 16 + held.reads[i] * 2 + held.write[i];
	return sum;
}

void twin_locks_same(uint64_t then, const char *where)
{
	if (twin_locks_held() == then)
		return;
	for (int i = 0; i < ALL_LOCKS; i++)
		if (held.write[i] || held.reads[i])
			twin_violation("%s lock held for %s at %s",
				       lock_name[i],
				       held.write[i] ? "writing" : "reading",
				       where);
	twin_violation("a lock was released that the host held at %s", where);
}

bool twin_locks_bar_dump(void)
{
	enum { ASSOC = CTLD_LOCKS, FILES, QOS, RES, TRES, USER, WCKEY };
	static const int read[] = { ASSOC, QOS, RES, TRES, USER, WCKEY };

	for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++)
		if (held.write[read[i]])
			return true;
	return held.write[FILES] || held.reads[FILES];
}

/* Called before the lock is taken, to report a deadlock instead of hanging. */
static void check_take(int lock, lock_level_t level)
{
	if (held.write[lock] || (held.reads[lock] && (level == WRITE_LOCK)))
		twin_violation("%s lock taken for %s by a thread that holds it for %s",
			       lock_name[lock],
			       (level == WRITE_LOCK) ? "writing" : "reading",
			       held.write[lock] ? "writing" : "reading");
	for (int i = lock + 1; i < ALL_LOCKS; i++)
		if ((held.write[i] || held.reads[i]) && !held.reads[lock])
			twin_violation("%s lock taken after %s lock",
				       lock_name[lock], lock_name[i]);
}

static void note_take(int lock, lock_level_t level)
{
	if (!held.reads[lock])
		held.since_ns[lock] = twin_clock_real_ns();
	if (level == WRITE_LOCK)
		held.write[lock] = true;
	else
		held.reads[lock]++;
}

static void note_release(int lock, lock_level_t level)
{
	uint64_t ns;
	bool write = (level == WRITE_LOCK);

	if (write ? !held.write[lock] : !held.reads[lock])
		twin_violation("%s lock released that is not held for %s",
			       lock_name[lock], write ? "writing" : "reading");
	if (write)
		held.write[lock] = false;
	else if (--held.reads[lock])
		return;
	ns = twin_clock_real_ns() - held.since_ns[lock];
	pthread_mutex_lock(&record_guard);
	record[lock][write].times++;
	record[lock][write].total_ns += ns;
	if (ns > record[lock][write].longest_ns)
		record[lock][write].longest_ns = ns;
	pthread_mutex_unlock(&record_guard);
}

void twin_locks_report(FILE *out)
{
	fprintf(out, "lock\tmode\ttimes\ttotal_us\tlongest_us\n");
	for (int i = 0; i < ALL_LOCKS; i++)
		for (int write = 0; write < 2; write++)
			if (record[i][write].times)
				fprintf(out, "%s\t%s\t%" PRIu64 "\t%.1f\t%.1f\n",
					lock_name[i], write ? "write" : "read",
					record[i][write].times,
					record[i][write].total_ns / 1e3,
					record[i][write].longest_ns / 1e3);
}

/* ---- slurmctld's locks --------------------------------------------------- */

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

	if (slurmctld_config.shutdown_time && twin_clock_is_ticker())
		twin_violation("a pass takes locks while slurmctld is about to save its state");
	levels_of(&locks, level);
	for (int i = 0; i < CTLD_LOCKS; i++) {
		if (level[i] == NO_LOCK)
			continue;
		check_take(i, level[i]);
		if (level[i] == WRITE_LOCK)
			pthread_rwlock_wrlock(&ctld[i]);
		else
			pthread_rwlock_rdlock(&ctld[i]);
		note_take(i, level[i]);
	}
}

void unlock_slurmctld(slurmctld_lock_t locks)
{
	lock_level_t level[CTLD_LOCKS];

	levels_of(&locks, level);
	for (int i = CTLD_LOCKS - 1; i >= 0; i--) {
		if (level[i] == NO_LOCK)
			continue;
		note_release(i, level[i]);
		pthread_rwlock_unlock(&ctld[i]);
	}
	if (!twin_locks_held())
		twin_clock_point();
}

/* ---- the association manager's locks -------------------------------------- */

static void assoc_levels_of(const assoc_mgr_lock_t *locks, lock_level_t *level)
{
	level[0] = locks->assoc;
	level[1] = locks->file;
	level[2] = locks->qos;
	level[3] = locks->res;
	level[4] = locks->tres;
	level[5] = locks->user;
	level[6] = locks->wckey;
}

static void (*library_call(const char *name))(assoc_mgr_lock_t *)
{
	union {
		void *symbol;
		void (*call)(assoc_mgr_lock_t *);
	} found = { dlsym(RTLD_NEXT, name) };

	if (!found.symbol)
		abort();
	return found.call;
}

/* libslurmfull's own calls also come through here. */
void assoc_mgr_lock(assoc_mgr_lock_t *locks)
{
	static void (*library)(assoc_mgr_lock_t *);
	lock_level_t level[ASSOC_LOCKS];

	if (!library)
		library = library_call("assoc_mgr_lock");
	assoc_levels_of(locks, level);
	for (int i = 0; i < ASSOC_LOCKS; i++)
		if (level[i] != NO_LOCK)
			check_take(CTLD_LOCKS + i, level[i]);
	library(locks);
	for (int i = 0; i < ASSOC_LOCKS; i++)
		if (level[i] != NO_LOCK)
			note_take(CTLD_LOCKS + i, level[i]);
}

void assoc_mgr_unlock(assoc_mgr_lock_t *locks)
{
	static void (*library)(assoc_mgr_lock_t *);
	lock_level_t level[ASSOC_LOCKS];

	if (!library)
		library = library_call("assoc_mgr_unlock");
	assoc_levels_of(locks, level);
	for (int i = 0; i < ASSOC_LOCKS; i++)
		if (level[i] != NO_LOCK)
			note_release(CTLD_LOCKS + i, level[i]);
	library(locks);
	if (!twin_locks_held())
		twin_clock_point();
}
