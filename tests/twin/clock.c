/*
 * The clock that the plugin sees, and its thread.
 *
 * The functions of libc that return the time are defined here; the executable
 * comes first in symbol lookup, so the plugin and libslurmfull call these. The
 * clock stands still except for twin_clock_step(); while time is measured, the
 * steady one runs.
 *
 * The plugin's thread sleeps between two passes in pthread_cond_timedwait(), on
 * either clock. Here such a wait lasts until twin_clock_pass() ends it as if
 * its time had come, or until it is signalled. So "exactly one pass, now" is a
 * call, and nothing depends on real time. A plugin that sleeps in a different
 * way is reported as one that does not come back.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/time.h>

#include "host.h"

#define NS_PER_S 1000000000LL

enum ticker_state { TICKER_NONE, TICKER_BUSY, TICKER_ASLEEP, TICKER_PAUSED };

/* The plugin's thread; `state` changes under `guard`. */
static struct {
	enum ticker_state state;
	pthread_t thread;
	pthread_cond_t *cond;
	pthread_mutex_t *mutex;
	int64_t deadline_ns;
	bool steady;
	atomic_bool granted, signalled;
} ticker;

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static _Atomic int64_t wall_s = 1700000000;
static _Atomic int64_t steady_ns = 1000 * NS_PER_S;
/* Real time at which the steady clock began to run; 0: it stands still. */
static _Atomic int64_t running_since_ns;
/* Time of a look at the steady clock for the plugin's thread. */
static _Atomic int64_t look_ns;

/* libc's own versions of the functions below. */
static struct {
	int (*clock_gettime)(clockid_t, struct timespec *);
	int (*cond_timedwait)(pthread_cond_t *, pthread_mutex_t *,
			      const struct timespec *);
	int (*cond_init)(pthread_cond_t *, const pthread_condattr_t *);
	int (*cond_signal)(pthread_cond_t *);
	int (*cond_broadcast)(pthread_cond_t *);
	int (*thread_create)(pthread_t *, const pthread_attr_t *,
			     void *(*)(void *), void *);
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
}

/* Other constructors may call these before ours runs. */
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

static int64_t steady_now(void)
{
	int64_t since = atomic_load(&running_since_ns);
	int64_t run = since ? (int64_t)twin_clock_real_ns() - since : 0;

	return atomic_load(&steady_ns) + run;
}

void twin_clock_run(void)
{
	atomic_store(&running_since_ns, twin_clock_real_ns());
}

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
	int64_t steady = steady_now();

	if (look_ns && (which == CLOCK_MONOTONIC) && twin_clock_is_ticker())
		steady = atomic_fetch_add(&steady_ns, look_ns);
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

void twin_clock_look(int64_t nanoseconds)
{
	look_ns = nanoseconds;
}

/* ---- the plugin's thread: birth, sleep, end ------------------------------- */

static void ticker_becomes(enum ticker_state state)
{
	pthread_mutex_lock(&guard);
	ticker.state = state;
	libc_own.cond_broadcast(&changed);
	pthread_mutex_unlock(&guard);
}

/* The thread that saves for the plugin's thread, or for the end of the plugin. */
static pthread_t saver;
static _Atomic bool has_saver;

bool twin_clock_is_saver(void)
{
	return has_saver && pthread_equal(saver, pthread_self());
}

bool twin_clock_is_ticker(void)
{
	bool is;

	pthread_mutex_lock(&guard);
	is = (ticker.state != TICKER_NONE) &&
	     pthread_equal(ticker.thread, pthread_self());
	pthread_mutex_unlock(&guard);
	return is;
}

static bool has_ticker(void)
{
	bool has;

	pthread_mutex_lock(&guard);
	has = (ticker.state != TICKER_NONE);
	pthread_mutex_unlock(&guard);
	return has;
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

static void *saver_body(void *given)
{
	struct birth birth = *(struct birth *)given;
	void *result;

	free(given);
	saver = pthread_self();
	has_saver = true;
	result = birth.body(birth.argument);
	has_saver = false;
	return result;
}

/* The first thread makes the passes; a thread that it starts saves. */
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
	if (twin_clock_is_ticker() && !has_saver) {
		rc = libc_own.thread_create(thread, attributes, saver_body,
					    birth);
		if (rc)
			free(birth);
		return rc;
	}
	if (has_ticker())
		twin_violation("the plugin starts a second thread");
	ticker_becomes(TICKER_BUSY);
	rc = libc_own.thread_create(thread, attributes, ticker_body, birth);
	if (rc) {
		free(birth);
		ticker_becomes(TICKER_NONE);
	}
	return rc;
}

int twin_clock_own_thread(pthread_t *thread, void *(*body)(void *),
			  void *argument)
{
	libc_ready();
	return libc_own.thread_create(thread, NULL, body, argument);
}

uint64_t twin_clock_ticker_cpu_ns(void)
{
	struct timespec used = { 0 };
	clockid_t clock;

	if (has_ticker() && !pthread_getcpuclockid(ticker.thread, &clock))
		libc_own.clock_gettime(clock, &used);
	return used.tv_sec * NS_PER_S + used.tv_nsec;
}

uint64_t twin_clock_other_cpu_ns(void)
{
	struct timespec all = { 0 }, own = { 0 };
	int64_t used;

	libc_own.clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
	libc_own.clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
	used = (all.tv_sec - own.tv_sec) * NS_PER_S + all.tv_nsec - own.tv_nsec;
	return used - twin_clock_ticker_cpu_ns();
}

/* Announces a sleep; the thread that ends it makes the ticker busy again. */
static void fall_asleep(pthread_cond_t *cond, pthread_mutex_t *mutex,
			int64_t deadline_ns, bool steady)
{
	twin_locks_same(0, "the sleep of the plugin's thread");
	pthread_mutex_lock(&guard);
	ticker.cond = cond;
	ticker.mutex = mutex;
	ticker.deadline_ns = deadline_ns;
	ticker.steady = steady;
	ticker.granted = ticker.signalled = false;
	ticker.state = TICKER_ASLEEP;
	libc_own.cond_broadcast(&changed);
	pthread_mutex_unlock(&guard);
}

/* A signal to the ticker's condition variable: it is busy from this moment. */
static void signal_ticker(const pthread_cond_t *cond)
{
	pthread_mutex_lock(&guard);
	if ((ticker.state == TICKER_ASLEEP) && (cond == ticker.cond)) {
		ticker.signalled = true;
		ticker.state = TICKER_BUSY;
	}
	pthread_mutex_unlock(&guard);
}

/* ---- the sleep between two passes ------------------------------------------ */

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
	if (!twin_clock_is_ticker())
		return libc_own.cond_timedwait(cond, mutex, until);
	fall_asleep(cond, mutex, nanoseconds(until), steady);
	while (!ticker.granted && !ticker.signalled)
		pthread_cond_wait(cond, mutex);
	return ticker.granted ? ETIMEDOUT : 0;
}

int pthread_cond_signal(pthread_cond_t *cond)
{
	libc_ready();
	signal_ticker(cond);
	return libc_own.cond_signal(cond);
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
	libc_ready();
	signal_ticker(cond);
	return libc_own.cond_broadcast(cond);
}

/* ---- points of a pass -------------------------------------------------------- */

/* The point at which the next pass must pause; 0: none. */
static _Atomic int pause_at;

void twin_clock_pause_at(int point)
{
	pause_at = point;
}

/* Counts down the points of a pass. */
void twin_clock_point(void)
{
	if (!pause_at || !twin_clock_is_ticker() || --pause_at)
		return;
	pthread_mutex_lock(&guard);
	ticker.state = TICKER_PAUSED;
	libc_own.cond_broadcast(&changed);
	while (ticker.state == TICKER_PAUSED)
		pthread_cond_wait(&changed, &guard);
	pthread_mutex_unlock(&guard);
}

bool twin_clock_paused(void)
{
	bool paused;

	pthread_mutex_lock(&guard);
	paused = (ticker.state == TICKER_PAUSED);
	pthread_mutex_unlock(&guard);
	return paused;
}

void twin_clock_resume(void)
{
	ticker_becomes(TICKER_BUSY);
	twin_clock_settle();
}

/* ---- the driver's side ------------------------------------------------------- */

static enum ticker_state settled(void)
{
	enum ticker_state state;

	pthread_mutex_lock(&guard);
	while (ticker.state == TICKER_BUSY)
		pthread_cond_wait(&changed, &guard);
	state = ticker.state;
	pthread_mutex_unlock(&guard);
	return state;
}

void twin_clock_settle(void)
{
	settled();
}

/* Ends the wait; holding its mutex proves that the wait has begun. */
static void wake_ticker(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
	ticker.granted = true;
	libc_own.cond_broadcast(cond);
	pthread_mutex_unlock(mutex);
}

static void wake_and_settle(void)
{
	pthread_cond_t *cond;
	pthread_mutex_t *mutex;

	pthread_mutex_lock(&guard);
	cond = ticker.cond;
	mutex = ticker.mutex;
	ticker.state = TICKER_BUSY;
	libc_own.cond_broadcast(&changed);
	pthread_mutex_unlock(&guard);
	wake_ticker(cond, mutex);
	twin_clock_settle();
}

bool twin_clock_pass(void)
{
	int64_t left_ns;

	if (settled() == TICKER_NONE)
		return false;
	pthread_mutex_lock(&guard);
	left_ns = ticker.deadline_ns - steady_now();
	if (ticker.steady && (left_ns > 0))
		atomic_fetch_add(&steady_ns, left_ns);
	pthread_mutex_unlock(&guard);
	wake_and_settle();
	return true;
}

/* Returns true if the thread's deadline has come, on the clock of its sleep. */
static bool is_due(void)
{
	int64_t now = ticker.steady ? steady_now() :
				      atomic_load(&wall_s) * NS_PER_S;

	return ticker.deadline_ns <= now;
}

unsigned twin_clock_elapse(int64_t seconds)
{
	unsigned before = twin_state_passes();

	twin_clock_step(seconds);
	while ((settled() == TICKER_ASLEEP) && is_due())
		wake_and_settle();
	return twin_state_passes() - before;
}
