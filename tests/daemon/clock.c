/*
 * A wall clock that can be stepped under a daemon: LD_PRELOAD=clock.so, and
 * DAEMON_CLOCK with the name of a file of eight bytes: a signed number of
 * seconds in the machine's byte order, by which the clock is ahead. Writing a
 * new number there steps the clock of all of its threads at once.
 *
 * The monotonic clock does not change, as with a real step. Waits that end at a
 * time of the wall clock keep their length.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t no_offset;
static const volatile int64_t *offset = &no_offset;

__attribute__((constructor)) static void open_clock(void)
{
	const char *name = getenv("DAEMON_CLOCK");
	int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
	void *at;

	if (file < 0)
		return;
	at = mmap(NULL, sizeof(*offset), PROT_READ, MAP_SHARED, file, 0);
	close(file);
	if (at == MAP_FAILED) {
		perror(name);
		abort();
	}
	offset = at;
}

static bool of_the_wall(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	long failed = syscall(SYS_clock_gettime, clock, now);

	if (!failed && of_the_wall(clock))
		now->tv_sec += *offset;
	return (int) failed;
}

time_t time(time_t *now)
{
	struct timespec found;

	clock_gettime(CLOCK_REALTIME, &found);
	if (now)
		*now = found.tv_sec;
	return found.tv_sec;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec found;

	(void) zone;
	clock_gettime(CLOCK_REALTIME, &found);
	now->tv_sec = found.tv_sec;
	now->tv_usec = found.tv_nsec / 1000;
	return 0;
}

/* The one of the C library's two versions that programs are linked with. */
static void *next(const char *name, const char *version)
{
	void *found = dlvsym(RTLD_NEXT, name, version);

	if (!found)
		abort();
	return found;
}

/* A time since the machine's start is not a time of the wall clock. */
static struct timespec real(const struct timespec *end)
{
	const time_t since_start = 1000000000;
	struct timespec found = *end;

	if (found.tv_sec > since_start)
		found.tv_sec -= *offset;
	return found;
}

int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
			   const struct timespec *restrict end)
{
	static int (*wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
	struct timespec real_end = real(end);

	if (!wait)
		*(void **) &wait = next("pthread_cond_timedwait", "GLIBC_2.3.2");
	return wait(cond, mutex, &real_end);
}
