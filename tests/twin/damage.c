/*
 * Faults of a disk for state files: damage that the next start finds, and a
 * folder that is full or cannot be written.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host.h"

static const char *in_state(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", twin_option.state, name);
	return path;
}

static void must(bool well, const char *what)
{
	if (!well)
		twin_usage_error("%s: %s", what, strerror(errno));
}

/* ---- damage ---------------------------------------------------------------- */

enum { MAX_DAMAGES = 8 };
static twin_line damage[MAX_DAMAGES];
static int damages;

void twin_damage_note(const twin_line *line)
{
	if (damages == MAX_DAMAGES)
		twin_usage_error("line %d: more than %d files are damaged",
				 line->number, MAX_DAMAGES);
	damage[damages++] = *line;
}

static void flip(int file, off_t from, off_t to)
{
	for (; from < to; from++) {
		unsigned char byte;

		must(pread(file, &byte, 1, from) == 1, "damage");
		byte ^= 0x55;
		must(pwrite(file, &byte, 1, from) == 1, "damage");
	}
}

/* "flip=K of=N": the K-th of N equal parts is changed, "cut=K of=N": it and
 * everything after it are lost. */
static void apply(const twin_line *line)
{
	off_t of = twin_word_u32(line, "of", 1);
	bool cuts = twin_word(line, "cut") != NULL;
	off_t part = twin_word_u32(line, cuts ? "cut" : "flip", 0);
	const char *path = in_state(line->arg ? line->arg : "");
	struct stat status;
	int file = open(path, O_RDWR);

	/* A missing file cannot be damaged. */
	if (file < 0)
		return;
	must(!fstat(file, &status), path);
	if (cuts)
		must(!ftruncate(file, status.st_size * part / of), path);
	else
		flip(file, status.st_size * part / of,
		     status.st_size * (part + 1) / of);
	/* Disks change bits, not times. */
	must(!futimens(file, (const struct timespec[]){ status.st_atim,
							status.st_mtim }),
	     path);
	close(file);
}

/* Sets the file time of what slurmctld has just written to the life's clock. */
void twin_damage_date(void)
{
	static const char *const names[] = { "assoc_usage", "qos_usage" };
	struct timespec now[2] = { { .tv_sec = twin_clock_now() },
				   { .tv_sec = twin_clock_now() } };

	for (int i = 0; i < 2; i++)
		utimensat(AT_FDCWD, in_state(names[i]), now, 0);
}

/* Slurm refuses to start with some damage, unless an administrator uses -i. */
void twin_damage_apply(void)
{
	for (int i = 0; i < damages; i++)
		apply(&damage[i]);
	if (damages)
		ignore_state_errors = true;
	damages = 0;
}

/* ---- the folder ------------------------------------------------------------- */

static void fill(void)
{
	static char block[4096];
	int file = open(in_state("filler"), O_WRONLY | O_CREAT, 0600);

	must(file >= 0, "filler");
	while (write(file, block, sizeof(block)) > 0)
		;
	while (write(file, block, 1) > 0)
		;
	close(file);
}

static void remount(unsigned long flags)
{
	must(!mount(NULL, twin_option.state, NULL, MS_REMOUNT | flags, NULL),
	     "remount");
}

/*
 * A separate file system for the state files, which ends with this process:
 * first "small" before boot makes it small, then "full", "free", "readonly" and
 * "writable".
 */
void twin_damage_disk(const twin_line *line)
{
	const char *word = line->arg ? line->arg : "";

	if (!strcmp(word, "small")) {
		must(!unshare(CLONE_NEWNS), "unshare");
		must(!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "/");
		must(!mount("twin", twin_option.state, "tmpfs", 0, "size=256k"),
		     "tmpfs");
	} else if (!strcmp(word, "full")) {
		fill();
	} else if (!strcmp(word, "free")) {
		unlink(in_state("filler"));
	} else if (!strcmp(word, "readonly")) {
		remount(MS_RDONLY);
	} else if (!strcmp(word, "writable")) {
		remount(0);
	} else {
		twin_usage_error("line %d: disk small, full, free, readonly or writable",
				 line->number);
	}
}
