/*
 * The clock that the plugin sees, and its thread.
 *
 * The functions of libc that tell the time are defined here; the executable
 * comes first in symbol lookup, so that the plugin and libslurmfull call these.
 * The clock stands still but for twin_clock_step().
 *
 * The plugin's thread sleeps between two passes in a timed wait: Slurm's own
 * in pthread_cond_timedwait(), one of Rust's standard library or parking_lot
 * in a futex, which both reach through syscall(). Here such a wait lasts until
 * twin_clock_pass() ends it as if its time had come, or until someone signals
 * it. So "exactly one pass, now" is a call, and nothing depends on real time.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "host.h"

#define NS_PER_S 1000000000LL

enum ticker_state { TICKER_NONE, TICKER_BUSY, TICKER_ASLEEP };

/* The plugin's thread; `state` changes under `guard`. */
static struct {
	enum ticker_state state;
	pthread_t thread;
	pthread_cond_t *cond;
	pthread_mutex_t *mutex;
	uint32_t *futex;
	int64_t deadline_ns;
	atomic_bool granted, signalled, awake;
} ticker;

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static _Atomic int64_t wall_s = 1700000000;
static _Atomic int64_t steady_ns = 1000 * NS_PER_S;

/* libc's own versions of what is defined below. */
static struct {
	int (*clock_gettime)(clockid_t, struct timespec *);
	int (*cond_timedwait)(pthread_cond_t *, pthread_mutex_t *,
			      const struct timespec *);
	int (*cond_init)(pthread_cond_t *, const pthread_condattr_t *);
	int (*cond_signal)(pthread_cond_t *);
	int (*cond_broadcast)(pthread_cond_t *);
	int (*thread_create)(pthread_t *, const pthread_attr_t *,
			     void *(*)(void *), void *);
	long (*syscall)(long, ...);
} libc_own;

static void *libc_symbol(const char *name)
{
	void *symbol = dlsym(RTLD_NEXT, name);

	if (!symbol)
		abort();
	return symbol;
}

static void libc_find(void)
{
	libc_own.clock_gettime = libc_symbol("clock_gettime");
	libc_own.cond_timedwait = libc_symbol("pthread_cond_timedwait");
	libc_own.cond_init = libc_symbol("pthread_cond_init");
	libc_own.cond_signal = libc_symbol("pthread_cond_signal");
	libc_own.cond_broadcast = libc_symbol("pthread_cond_broadcast");
	libc_own.thread_create = libc_symbol("pthread_create");
	libc_own.syscall = libc_symbol("syscall");
}

/* Other constructors may ask for the time before ours runs. */
static void libc_ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, libc_find);
}

static int64_t nanoseconds(const struct timespec *time)
{
	return time->tv_sec * NS_PER_S + time->tv_nsec;
}

/* ---- what time it is ---------------------------------------------------- */

time_t time(time_t *out)
{
	time_t now = atomic_load(&wall_s);

	if (out)
		*out = now;
	return now;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
	(void)zone;
	out->tv_sec = atomic_load(&wall_s);
	out->tv_usec = 0;
	return 0;
}

int clock_gettime(clockid_t which, struct timespec *out)
{
	int64_t steady = atomic_load(&steady_ns);

	switch (which) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
		out->tv_sec = atomic_load(&wall_s);
		out->tv_nsec = 0;
		return 0;
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_BOOTTIME:
		out->tv_sec = steady / NS_PER_S;
		out->tv_nsec = steady % NS_PER_S;
		return 0;
	default:
		libc_ready();
		return libc_own.clock_gettime(which, out);
	}
}

uint64_t twin_clock_real_ns(void)
{
	struct timespec now;

	libc_ready();
	libc_own.clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

time_t twin_clock_now(void)
{
	return atomic_load(&wall_s);
}

void twin_clock_step(int64_t seconds)
{
	atomic_fetch_add(&wall_s, seconds);
	if (seconds > 0)
		atomic_fetch_add(&steady_ns, seconds * NS_PER_S);
}

/* ---- the plugin's thread: birth, sleep, end ------------------------------- */

static void ticker_becomes(enum ticker_state state)
{
	pthread_mutex_lock(&guard);
	ticker.state = state;
	libc_own.cond_broadcast(&changed);
	pthread_mutex_unlock(&guard);
}

static bool is_ticker(void)
{
	return (ticker.state != TICKER_NONE) &&
	       pthread_equal(ticker.thread, pthread_self());
}

struct birth {
	void *(*body)(void *);
	void *argument;
};

static void *ticker_body(void *given)
{
	struct birth birth = *(struct birth *)given;
	void *result;

	free(given);
	pthread_mutex_lock(&guard);
	ticker.thread = pthread_self();
	pthread_mutex_unlock(&guard);
	result = birth.body(birth.argument);
	twin_locks_same(0, "the end of the plugin's thread");
	ticker_becomes(TICKER_NONE);
	return result;
}

int pthread_create(pthread_t *restrict thread,
		   const pthread_attr_t *restrict attributes,
		   void *(*body)(void *), void *restrict argument)
{
	struct birth *birth = malloc(sizeof(*birth));
	int rc;

	libc_ready();
	if (!birth)
		return EAGAIN;
	*birth = (struct birth){ body, argument };
	if (ticker.state != TICKER_NONE)
		twin_violation("the plugin starts a second thread");
	ticker_becomes(TICKER_BUSY);
	rc = libc_own.thread_create(thread, attributes, ticker_body, birth);
	if (rc) {
		free(birth);
		ticker_becomes(TICKER_NONE);
	}
	return rc;
}

/* Announces a sleep; whoever ends it makes the ticker busy again. */
static void fall_asleep(pthread_cond_t *cond, pthread_mutex_t *mutex,
			uint32_t *futex, int64_t deadline_ns)
{
	twin_locks_same(0, "the sleep of the plugin's thread");
	pthread_mutex_lock(&guard);
	ticker.cond = cond;
	ticker.mutex = mutex;
	ticker.futex = futex;
	ticker.deadline_ns = deadline_ns;
	ticker.granted = ticker.signalled = ticker.awake = false;
	ticker.state = TICKER_ASLEEP;
	libc_own.cond_broadcast(&changed);
	pthread_mutex_unlock(&guard);
}

/* A signal to what the ticker sleeps on: it is busy from this moment. */
static void signal_ticker(const void *cond, const void *futex)
{
	pthread_mutex_lock(&guard);
	if ((ticker.state == TICKER_ASLEEP) &&
	    ((cond && (cond == ticker.cond)) ||
	     (futex && (futex == ticker.futex)))) {
		ticker.signalled = true;
		ticker.state = TICKER_BUSY;
	}
	pthread_mutex_unlock(&guard);
}

/* ---- sleeping on a condition variable --------------------------------------- */

/* The condition variable, if any, whose waits end on the steady clock. */
static _Atomic(pthread_cond_t *) steady_cond;

int pthread_cond_init(pthread_cond_t *restrict cond,
		      const pthread_condattr_t *restrict attributes)
{
	clockid_t which = CLOCK_REALTIME;

	libc_ready();
	if (attributes)
		pthread_condattr_getclock(attributes, &which);
	if (which == CLOCK_MONOTONIC)
		steady_cond = cond;
	else if (steady_cond == cond)
		steady_cond = NULL;
	return libc_own.cond_init(cond, attributes);
}

int pthread_cond_timedwait(pthread_cond_t *restrict cond,
			   pthread_mutex_t *restrict mutex,
			   const struct timespec *restrict until)
{
	bool steady = (steady_cond == cond);

	libc_ready();
	if (!is_ticker())
		return libc_own.cond_timedwait(cond, mutex, until);
	fall_asleep(cond, mutex, NULL, steady ? nanoseconds(until) : 0);
	while (!ticker.granted && !ticker.signalled)
		pthread_cond_wait(cond, mutex);
	ticker.awake = true;
	return ticker.granted ? ETIMEDOUT : 0;
}

int pthread_cond_signal(pthread_cond_t *cond)
{
	libc_ready();
	signal_ticker(cond, NULL);
	return libc_own.cond_signal(cond);
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
	libc_ready();
	signal_ticker(cond, NULL);
	return libc_own.cond_broadcast(cond);
}

/* ---- sleeping on a futex --------------------------------------------------- */

/* The wait's end on the steady clock, whichever way the caller states it. */
static int64_t futex_deadline(int command, const struct timespec *until)
{
	int64_t from = (command == FUTEX_WAIT) ? atomic_load(&steady_ns) : 0;

	return from + nanoseconds(until);
}

static long futex_sleep(uint32_t *word, long operation, long expected,
			const struct timespec *until, long mask)
{
	long rc;

	fall_asleep(NULL, NULL, word,
		    futex_deadline(operation & FUTEX_CMD_MASK, until));
	rc = libc_own.syscall(SYS_futex, word, operation, expected, NULL, NULL,
			      mask);
	ticker.awake = true;
	if (ticker.granted && !ticker.signalled) {
		errno = ETIMEDOUT;
		return -1;
	}
	if (!ticker.signalled)
		ticker_becomes(TICKER_BUSY);
	return rc;
}

long syscall(long number, ...)
{
	long a[6];
	int command;
	va_list rest;

	va_start(rest, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(rest, long);
	va_end(rest);
	libc_ready();
	if (number == SYS_futex) {
		command = a[1] & FUTEX_CMD_MASK;
		if (a[3] && is_ticker() &&
		    ((command == FUTEX_WAIT) ||
		     (command == FUTEX_WAIT_BITSET)))
			return futex_sleep((uint32_t *)a[0], a[1], a[2],
					   (const struct timespec *)a[3], a[5]);
		if ((command == FUTEX_WAKE) || (command == FUTEX_WAKE_BITSET))
			signal_ticker(NULL, (const void *)a[0]);
	}
	return libc_own.syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- the driver's side ------------------------------------------------------- */

void twin_clock_settle(void)
{
	pthread_mutex_lock(&guard);
	while (ticker.state == TICKER_BUSY)
		pthread_cond_wait(&changed, &guard);
	pthread_mutex_unlock(&guard);
}

/* Ends the wait on a condition variable: its mutex says the wait has begun. */
static void grant_cond(void)
{
	pthread_mutex_lock(ticker.mutex);
	ticker.granted = true;
	libc_own.cond_broadcast(ticker.cond);
	pthread_mutex_unlock(ticker.mutex);
}

/* Ends the wait on a futex: repeated, for the wait may be about to begin. */
static void grant_futex(void)
{
	ticker.granted = true;
	while (!ticker.awake) {
		libc_own.syscall(SYS_futex, ticker.futex,
				 FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX, NULL,
				 NULL, 0);
		sched_yield();
	}
}

bool twin_clock_pass(void)
{
	twin_clock_settle();
	if (ticker.state == TICKER_NONE)
		return false;
	if (ticker.deadline_ns > atomic_load(&steady_ns))
		atomic_store(&steady_ns, ticker.deadline_ns);
	pthread_mutex_lock(&guard);
	ticker.state = TICKER_BUSY;
	pthread_mutex_unlock(&guard);
	if (ticker.futex)
		grant_futex();
	else
		grant_cond();
	twin_clock_settle();
	return true;
}
