/*
 * A disk that is slow, or bad at random: LD_PRELOAD=disk.so, and DAEMON_DISK
 * with the name of a file of two numbers of eight bytes in the machine's byte
 * order. The first: milliseconds that fsync() takes for a file priority_* or
 * for a folder, which priority plugins write. The second: how many in a
 * thousand calls of fsync() and rename() fail for files in the folder of
 * DAEMON_DISK_STATE.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const int64_t good[2];
static const volatile int64_t *disk = good;
static const char *state;

__attribute__((constructor)) static void open_disk(void)
{
	const char *name = getenv("DAEMON_DISK");
	int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
	void *at;

	state = getenv("DAEMON_DISK_STATE");
	if (file < 0 || !state)
		return;
	at = mmap(NULL, sizeof(good), PROT_READ, MAP_SHARED, file, 0);
	close(file);
	if (at == MAP_FAILED) {
		perror(name);
		abort();
	}
	disk = at;
}

static void *next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		abort();
	return found;
}

static bool is_of_state(const char *path)
{
	size_t length = state ? strlen(state) : 0;

	return length && !strncmp(path, state, length) && (!path[length] || path[length] == '/');
}

/* The same calls fail in every run: a linear congruential generator decides. */
static bool fails(const char *path)
{
	static _Atomic uint64_t drawn = 1;
	uint64_t draw;

	if (!disk[1] || !is_of_state(path))
		return false;
	draw = atomic_fetch_add(&drawn, 1) * 6364136223846793005u + 1442695040888963407u;
	draw ^= draw >> 29;
	draw *= 0xbf58476d1ce4e5b9u;
	if ((int64_t) ((draw >> 32) % 1000) >= disk[1])
		return false;
	errno = EIO;
	return true;
}

static void take_long(const char *path)
{
	const char *name = strrchr(path, '/');
	struct stat found;
	bool is_folder = !stat(path, &found) && S_ISDIR(found.st_mode);
	int64_t left = disk[0];

	if (!is_of_state(path) || !name || (!is_folder && strncmp(name, "/priority_", 10)))
		return;
	/* In pieces, because the fault may end meanwhile. */
	for (; left > 0 && disk[0]; left -= 50)
		nanosleep(&(struct timespec) { .tv_nsec = 50 * 1000 * 1000 }, NULL);
}

int fsync(int file)
{
	static int (*own)(int);
	char link[64], path[PATH_MAX];
	ssize_t length;

	if (!own)
		*(void **) &own = next("fsync");
	snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
	length = readlink(link, path, sizeof(path) - 1);
	if (length > 0) {
		path[length] = 0;
		take_long(path);
		if (fails(path))
			return -1;
	}
	return own(file);
}

int rename(const char *from, const char *to)
{
	static int (*own)(const char *, const char *);

	if (!own)
		*(void **) &own = next("rename");
	return fails(to) ? -1 : own(from, to);
}
