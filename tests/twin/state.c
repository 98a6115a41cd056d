/*
 * The files in StateSaveLocation: as a crash finds them, and how often the
 * plugin writes them.
 *
 * The functions that create a file are defined here; the executable comes first
 * in symbol lookup, so the plugin and libslurmfull call these.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <unistd.h>

#include "host.h"

/* The file that either plugin writes last in a pass, before it is renamed. */
#define WRITTEN_LAST "/priority_last_decay_ran.new"

/*
 * Keeps the state files under names that end in .kept, or restores them. They
 * are always replaced, never written into, so a link keeps one; if nothing can
 * be linked, nothing can be written either.
 */
static void keep_state(bool back)
{
	char from[PATH_MAX], to[PATH_MAX];
	struct dirent *entry;
	DIR *folder = opendir(twin_option.state);

	if (!folder)
		twin_usage_error("%s: %s", twin_option.state, strerror(errno));
	while ((entry = readdir(folder))) {
		size_t length = strlen(entry->d_name);
		bool kept = (length > 5) &&
			    !strcmp(entry->d_name + length - 5, ".kept");

		if ((entry->d_name[0] == '.') || (kept != back))
			continue;
		snprintf(from, sizeof(from), "%s/%s", twin_option.state,
			 entry->d_name);
		if (back)
			snprintf(to, sizeof(to), "%.*s",
				 (int)(strlen(from) - 5), from);
		else
			snprintf(to, sizeof(to), "%.4000s.kept", from);
		if (back ? rename(from, to) : (link(from, to) && (errno != EROFS)))
			twin_usage_error("%s to %s: %s", from, to,
					 strerror(errno));
		/* Two links of one file are not renamed. */
		if (back)
			unlink(from);
	}
	closedir(folder);
}

/* ---- files after a crash --------------------------------------------------- */

/* True if the next file of the plugin's thread must not be written. */
static bool dies_while_writing;

void twin_state_keep(void)
{
	keep_state(false);
}

void twin_state_put_back(void)
{
	/* The pass may have had nothing to write. */
	dies_while_writing = false;
	keep_state(true);
}

void twin_state_keep_in_pass(void)
{
	dies_while_writing = true;
}

static void plugin_writes(void)
{
	if (!dies_while_writing ||
	    !(twin_clock_is_ticker() || twin_clock_is_saver()))
		return;
	dies_while_writing = false;
	/* If locks bar the dump, slurmctld's thread waits, and the daemon dies first. */
	if (!twin_locks_bar_dump())
		dump_assoc_mgr_state();
	keep_state(false);
}

/* ---- who creates a file ---------------------------------------------------- */

static unsigned passes;

unsigned twin_state_passes(void)
{
	return passes;
}

static void *libc_own(const char *name)
{
	void *symbol = dlsym(RTLD_NEXT, name);

	if (!symbol)
		abort();
	return symbol;
}

static int create(const char *name, const char *path, int flags, mode_t mode)
{
	union {
		void *symbol;
		int (*call)(const char *, int, ...);
	} own = { libc_own(name) };
	size_t length = strlen(path);
	size_t last = strlen(WRITTEN_LAST);

	if (flags & O_CREAT)
		plugin_writes();
	if ((flags & O_CREAT) && (length > last) &&
	    !strcmp(path + length - last, WRITTEN_LAST))
		passes++;
	return own.call(path, flags, mode);
}

static mode_t mode_of(int flags, va_list rest)
{
	return (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;
}

#define CREATES(name)                                                          \
	int name(const char *path, int flags, ...)                             \
	{                                                                      \
		va_list rest;                                                  \
		mode_t mode;                                                   \
									       \
		va_start(rest, flags);                                         \
		mode = mode_of(flags, rest);                                   \
		va_end(rest);                                                  \
		return create(#name, path, flags, mode);                       \
	}

CREATES(open)
CREATES(open64)

int creat(const char *path, mode_t mode)
{
	return create("open", path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

/* Slurm's own state files are guarded; stock locks them before it writes. */
#if TWIN_THREAD_START
void lock_state_files(void)
{
	static void (*library)(void);

	if (!library) {
		union {
			void *symbol;
			void (*call)(void);
		} own = { libc_own("lock_state_files") };

		library = own.call;
	}
	plugin_writes();
	library();
}
#else
static pthread_mutex_t state_files = PTHREAD_MUTEX_INITIALIZER;

void lock_state_files(void)
{
	plugin_writes();
	pthread_mutex_lock(&state_files);
}

void unlock_state_files(void)
{
	pthread_mutex_unlock(&state_files);
}
#endif
