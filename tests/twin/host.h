/*
 * The twin host: a program that simulates slurmctld for a priority plugin, so
 * that two plugins can run the same life and every field they write can be
 * compared.
 *
 * A life is a text of one event per line (life.c). The host owns the clock
 * (clock.c), the locks (locks.c), slurmctld's own symbols (host.c), the
 * database of associations (database.c), the jobs (jobs.c) and slurmctld's
 * actions on them (events.c, admin.c, policy.c). dump.c prints the results.
 */
#ifndef TWIN_HOST_H
#define TWIN_HOST_H

#include "config.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "slurm/slurm.h"
#include "slurm/slurmdb.h"
#include "slurm/slurm_version.h"
#include "src/common/assoc_mgr.h"
#include "src/common/list.h"
#include "src/common/log.h"
#include "src/common/read_config.h"
#include "src/common/slurmdb_defs.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"
#include "src/slurmctld/acct_policy.h"
#include "src/slurmctld/locks.h"
#include "src/slurmctld/slurmctld.h"

#include "release.h"

/* ClusterName of slurm.conf, and of every association. */
#define TWIN_CLUSTER "twin"

/* Ends the program: the life or the command line is wrong (exit code 2). */
void twin_usage_error(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

/* Ends the program: the plugin broke a rule of its host (exit code 3). */
void twin_violation(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

/* Ends the program: the plugin damaged memory (exit code 5). */
void twin_memory_error(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

/* ---- words.c: one line of a life --------------------------------------- */

#define TWIN_MAX_WORDS 64

/* "verb arg key=value key=value"; the words point into the line itself. */
typedef struct {
	int number;
	const char *verb;
	const char *arg;
	int count;
	const char *key[TWIN_MAX_WORDS];
	const char *value[TWIN_MAX_WORDS];
} twin_line;

/* Splits a line in place; false for an empty line or a comment. */
bool twin_words_split(char *text, int number, twin_line *line);
/* The value of a key, NULL when absent. */
const char *twin_word(const twin_line *line, const char *key);
/* Numbers: a missing key gives `otherwise`; "inf" is INFINITE, "unset" NO_VAL. */
uint32_t twin_word_u32(const twin_line *line, const char *key,
		       uint32_t otherwise);
uint64_t twin_word_u64(const twin_line *line, const char *key,
		       uint64_t otherwise);
int64_t twin_word_i64(const twin_line *line, const char *key,
		      int64_t otherwise);
double twin_word_f64(const twin_line *line, const char *key, double otherwise);
/* The argument as an id; ends the program when it is not one. */
uint32_t twin_arg_u32(const twin_line *line);
int64_t twin_arg_i64(const twin_line *line);

/* ---- clock.c: time, and the plugin's thread ---------------------------- */

time_t twin_clock_now(void);
/* Moves the clock, but does not wake the plugin's thread. */
void twin_clock_step(int64_t seconds);
/* Waits until the plugin's thread sleeps or has ended. */
void twin_clock_settle(void);
/* Lets the plugin's thread wake from its sleep once; false without thread. */
bool twin_clock_pass(void);
/* Lets time pass: the thread wakes whenever its deadline is reached. Returns
 * the number of passes. */
unsigned twin_clock_elapse(int64_t seconds);
/* Returns true if the calling thread is the plugin's. */
bool twin_clock_is_ticker(void);
/* Returns true if it is the thread that saves for the plugin's thread. */
bool twin_clock_is_saver(void);
/* Sets the time that a look at the steady clock takes the plugin's thread. */
void twin_clock_look(int64_t nanoseconds);
/*
 * The points of a pass are the moments when its thread has released its last
 * lock. The next pass pauses at this point, counted from 1, and the call that
 * let it run returns; the pass continues with resume.
 */
void twin_clock_pause_at(int point);
void twin_clock_point(void);
bool twin_clock_paused(void);
void twin_clock_resume(void);
/* Real time in nanoseconds, for measuring how long locks are held. */
uint64_t twin_clock_real_ns(void);
/* Starts the steady clock, which stood still. */
void twin_clock_run(void);
/* A thread of the host; the rules for the plugin's threads do not apply. */
int twin_clock_own_thread(pthread_t *thread, void *(*body)(void *),
			  void *argument);
/* Processor time that the plugin's thread has used. */
uint64_t twin_clock_ticker_cpu_ns(void);
/* Processor time of all threads except that one and the caller. */
uint64_t twin_clock_other_cpu_ns(void);

/* ---- locks.c ------------------------------------------------------------ */

/* The locks that the calling thread holds now, to compare later. */
uint64_t twin_locks_held(void);
/* Fails unless the calling thread holds the same locks as then. */
void twin_locks_same(uint64_t then, const char *where);
void twin_locks_report(FILE *out);
/* Returns true if the caller's locks prevent slurmctld from saving usage. */
bool twin_locks_bar_dump(void);

/* ---- memory.c ------------------------------------------------------------- */

/* Fails if something wrote after the end of a block of slurm_xcalloc(). */
void twin_memory_check(void *block, const char *what, uint32_t id);

/* ---- state.c: StateSaveLocation --------------------------------------------- */

/* Keeps copies of the files: now, or when the plugin's thread writes the next. */
void twin_state_keep(void);
void twin_state_keep_in_pass(void);
void twin_state_put_back(void);
/* Number of passes that have written their time so far. */
unsigned twin_state_passes(void);

/* ---- host.c: slurmctld's own symbols ------------------------------------ */

extern twin_list job_list;
/* All locks of slurmctld that an RPC takes to change jobs. */
extern const slurmctld_lock_t twin_rpc_locks;

/* ---- conf.c: slurm.conf -------------------------------------------------- */

/* Remembers a line `Key=Value` for the file, replacing the key's last one. */
void twin_conf_set(const char *key, const char *value);
/* Writes the file and reads it, for the first time or again. */
void twin_conf_load(const char *state_dir, const char *plugin, bool again);

/* ---- database.c: answers of slurmdbd ------------------------------ */

void twin_database_tres(const twin_line *line);
void twin_database_qos(const twin_line *line);
void twin_database_assoc(const twin_line *line);
void twin_database_usage(const twin_line *line);

/* ---- updates.c: the association manager ------------------------------------ */

/* Fills the association manager as slurmctld's start does. */
void twin_database_connect(void);
/* Adds the usage from the life's first lines. */
void twin_database_first_usage(void);
/* Changes while slurmctld runs, sent as slurmdbd sends them. */
void twin_database_assoc_add(const twin_line *line);
void twin_database_assoc_set(const twin_line *line);
void twin_database_assoc_del(const twin_line *line);
void twin_database_assoc_zero(const twin_line *line);
void twin_database_qos_set(const twin_line *line);
void twin_database_qos_del(const twin_line *line);
void twin_database_qos_zero(const twin_line *line);

/* ---- parts.c: partitions -------------------------------------------------- */

void twin_part_define(const twin_line *line);
/* Sets norms and pointers, after associations and QOS are known. */
void twin_parts_ready(void);
/* Removes a partition; its pending jobs go elsewhere or are cancelled. */
void twin_part_delete(const twin_line *line);
void twin_part_qos(const twin_line *line);
/* The record with a name; ends the program if there is no such record. */
part_record_t *twin_part(const char *name);
/* The partitions of "a,b,c", by tier as slurmctld sorts them; NULL for one. */
twin_list twin_part_list(const char *names, part_record_t **first);

/* ---- jobs.c ----------------------------------------------------------------- */

/* The job with an id, or NULL. */
job_record_t *twin_job(uint32_t id);
/* Calls of find_job_record() by the calling thread. */
extern __thread uint64_t twin_lookups;
/* A new pending job, or NULL when the id is taken. */
job_record_t *twin_job_new(const twin_line *line);
/* The second task of an array splits off, as slurmctld copies records. */
job_record_t *twin_job_split(job_record_t *job, uint32_t id);
void twin_job_purge(job_record_t *job);
void twin_job_set_assoc(job_record_t *job, uint32_t assoc_id);
void twin_job_set_qos(job_record_t *job, uint32_t qos_id);
void twin_job_set_parts(job_record_t *job, const char *names);
/* The allocation of a starting or resized job. */
void twin_job_allocate(job_record_t *job, const twin_line *line);
void twin_job_unallocate(job_record_t *job);
/* Forgets multi-partition priorities, as an update of partitions does. */
void twin_job_drop_array(job_record_t *job);
void twin_job_fill_array(job_record_t *job, uint32_t priority);
/* The QOS of a pending job, "1,2" for several; nothing before 24.11. */
void twin_job_set_qos_list(job_record_t *job, const char *ids);
/* Fails if a priority was written after the end of the job's array. */
void twin_job_check_array(job_record_t *job);
/* Sets pointers into the association manager, after its lists were rebuilt. */
void twin_jobs_relink(void);
void twin_jobs_unlink_assoc(slurmdb_assoc_rec_t *assoc);
void twin_jobs_unlink_qos(slurmdb_qos_rec_t *qos);
void twin_jobs_unlink_part(part_record_t *part);

/* ---- policy.c: run-seconds and ends as acct_policy accounts for them -------- */

void twin_policy_begin(job_record_t *job);
void twin_policy_fini(job_record_t *job);
void twin_policy_new_limit(job_record_t *job, uint32_t minutes);
/* Clears all counters and counts running and suspended jobs again. */
void twin_policy_restore(void);

/* ---- plugin.c: the calls into the plugin ------------------------------------- */

void twin_plugin_start(void);
void twin_plugin_stop(void);
void twin_plugin_set(job_record_t *job);
void twin_plugin_job_end(job_record_t *job);
void twin_plugin_reconfig(bool assoc_clear);

/* ---- events.c, admin.c ---------------------------------------------------------- */

typedef void (*twin_event)(const twin_line *line);
/* The function for a verb; NULL if the table has none. */
twin_event twin_job_event(const char *verb);
twin_event twin_admin_event(const char *verb);
/* The bench host's further events (bench/); the plain host has none. */
twin_event twin_bench_event(const char *verb) __attribute__((weak));
/* Plays one event, with the locks that slurmctld would hold. */
void twin_happen(const twin_line *line);
/* Plays an event of the life, with its dump. */
void twin_play(const twin_line *line);
/* Returns true after the line `boot`. */
bool twin_booted(void);
/* Returns true if events are dumped: after boot, except while `quiet`. */
bool twin_dumping(void);

/* ---- damage.c ----------------------------------------------------------------------- */

/* Remembers damage to a state file; the next start finds it. */
void twin_damage_note(const twin_line *line);
void twin_damage_apply(void);
void twin_damage_date(void);
/* Faults of the state folder. */
void twin_damage_disk(const twin_line *line);

/* ---- crowd.c ------------------------------------------------------------------------ */

/* Returns true for a line of a crowd, which is played as a whole at its end. */
bool twin_crowd_takes(const twin_line *line);

/* ---- during.c: events while a pass runs ------------------------------ */

/* Keeps a line "during POINT EVENT" for the next pass; false for any other. */
bool twin_during(char *text, int number);
/* A pass, with the events that were kept for it. */
void twin_during_pass(void);

/* ---- dump.c ---------------------------------------------------------------------- */

typedef enum { TWIN_DUMP_HASH, TWIN_DUMP_FULL, TWIN_DUMP_TRACE } twin_dump_mode;

void twin_dump_open(FILE *out);
/* A line that is not a field: "~ WHAT NUMBER". */
void twin_dump_note(const char *what, int number);
/* Every field that a plugin may write, or a hash of them. */
void twin_dump_state(int event, const char *what, twin_dump_mode mode);
/* The number of passes belongs to the next dump. */
void twin_dump_passes(unsigned passes);
/* The rows for sprio and sshare belong to the next dump. */
void twin_dump_ask_sprio(const twin_line *line);
void twin_dump_ask_sshare(void);
/* The list of sprio for root, as slurmctld gets it. */
twin_list twin_sprio_rows(void);
/* Queries whose answer is not dumped; any thread may call these. */
void twin_dump_only_ask_sprio(const twin_line *line);
void twin_dump_only_ask_sshare(void);

/* ---- trace.c: records before and after each call ------------------------------- */

/* With --trace: writes every changed record, as the next call finds it. */
void twin_trace_before(const char *hook, uint64_t id);
/* Writes the changed records, as the call has left them. */
void twin_trace_after(void);
/* An event that is not a call, but that may affect a later one. */
void twin_trace_mark(const char *what);

/* ---- main.c: the command line -------------------------------------------------------- */

typedef struct {
	const char *plugin;
	const char *plugin_dir;
	const char *life;
	const char *dump;
	const char *state;
	const char *log;
	const char *locks;
	const char *trace;
	int full_from, full_to;
} twin_options;

extern twin_options twin_option;

#endif
