/*
 * Many threads at once: N threads play the lines between `crowd N` and
 * `together` without waiting for each other, while the plugin makes one pass
 * after the other. Each line takes the locks that slurmctld holds for such a
 * request, so every race that a detector reports is the plugin's.
 *
 * The same thread plays all lines about one job, in order; the last thread
 * plays the lines of an administrator. The result depends on which thread is
 * faster, so nothing is dumped until all are done.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "host.h"

enum { MAX_THREADS = 16 };

typedef struct {
	pthread_t thread;
	const twin_line *lines;
	uint32_t count;
	uint32_t number, of;
} crowd_member;

static struct {
	uint32_t threads; /* 0: no crowd is being gathered */
	twin_line *lines;
	uint32_t count, room;
} crowd;

static atomic_uint busy;

static void gather(const twin_line *line)
{
	if (crowd.count == crowd.room) {
		crowd.room = crowd.room * 2 + 64;
		xrecalloc(crowd.lines, crowd.room, sizeof(*crowd.lines));
	}
	crowd.lines[crowd.count++] = *line;
}

/* Plays an administrator's line at the same time as others; false if it is not one. */
static bool play_as_administrator(const twin_line *line)
{
	static const char *const verbs[] = {
		"step", "save", "debugflags", "dampening", "assoc_add",
		"assoc_set", "assoc_del", "assoc_zero", "qos_set",
#if !TWIN_THREAD_START
		"reconfig",
#endif
	};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(line->verb, verbs[i])) {
			twin_admin_event(line->verb)(line);
			return true;
		}
	return false;
}

static void play(const twin_line *line)
{
	twin_event event = twin_job_event(line->verb);

	if (event) {
		lock_slurmctld(twin_rpc_locks);
		event(line);
		unlock_slurmctld(twin_rpc_locks);
	} else if (!strcmp(line->verb, "sprio")) {
		twin_dump_only_ask_sprio(line);
	} else if (!strcmp(line->verb, "sshare")) {
		twin_dump_only_ask_sshare();
	} else if (!strcmp(line->verb, "pass")) {
		/* Passes run all the time. */
		twin_clock_step(line->arg ? twin_arg_i64(line) : 0);
	} else if (!play_as_administrator(line)) {
		twin_usage_error("line %d: no event %s in a crowd",
				 line->number, line->verb);
	}
}

static uint32_t member_for(const twin_line *line, uint32_t threads)
{
	if (!twin_job_event(line->verb))
		return threads - 1;
	return twin_arg_u32(line) % threads;
}

static void *live(void *given)
{
	crowd_member *me = given;

	for (uint32_t i = 0; i < me->count; i++)
		if (member_for(&me->lines[i], me->of) == me->number)
			play(&me->lines[i]);
	twin_locks_same(0, "the end of a thread of the host");
	atomic_fetch_sub(&busy, 1);
	return NULL;
}

static void disperse(void)
{
	crowd_member member[MAX_THREADS];

	atomic_store(&busy, crowd.threads);
	for (uint32_t i = 0; i < crowd.threads; i++) {
		member[i] = (crowd_member){
			.lines = crowd.lines, .count = crowd.count,
			.number = i, .of = crowd.threads,
		};
		if (twin_clock_own_thread(&member[i].thread, live, &member[i]))
			twin_usage_error("no thread for a crowd");
	}
	do {
		twin_clock_pass();
	} while (atomic_load(&busy));
	for (uint32_t i = 0; i < crowd.threads; i++)
		pthread_join(member[i].thread, NULL);
	twin_clock_pass();
	crowd.count = crowd.threads = 0;
}

bool twin_crowd_takes(const twin_line *line)
{
	if (!strcmp(line->verb, "crowd")) {
		uint32_t threads = twin_arg_u32(line);

		if (crowd.threads || !threads || (threads > MAX_THREADS))
			twin_usage_error("line %d: crowd 1 to %d, and not in another",
					 line->number, MAX_THREADS);
		crowd.threads = threads;
		return true;
	}
	if (!crowd.threads)
		return false;
	if (strcmp(line->verb, "together")) {
		gather(line);
		return true;
	}
	/* Its end is dumped. */
	disperse();
	return false;
}
