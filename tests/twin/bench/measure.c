/*
 * The bench host's events. Each prints one line of words when it is done, so
 * that the program that drives several hosts knows that this one is idle.
 *
 * `count`            the plugin's own memory counts from here on; before boot
 * `queue_up N ...`   jobs, see crowd.c
 * `start_first N`    of these, the first N start
 * `time_pass S`      S seconds later, one pass
 * `count_pass S`     the same pass: jobs whose priority changes, and lookups of jobs for that
 * `time_wait S`      the same while a client requests the read lock of jobs
 * `time_set N`       the priority of N jobs, one by one, as at submission
 * `time_sprio`       the list for sprio
 * `memory`           memory that the plugin holds
 * `time_memory`      the best times of the machine's memory
 * `serve`            plays the events from the standard input, to its end
 */
#include <unistd.h>

#include "bench.h"

static double us(uint64_t ns)
{
	return ns / 1e3;
}

static void done(void)
{
	putchar('\n');
	fflush(stdout);
}

static void count(const twin_line *line)
{
	(void)line;
	bench_memory_count(twin_option.plugin);
}

static void crowd(const twin_line *line)
{
	bench_crowd(line);
	printf("jobs=%d", list_count(job_list));
	done();
}

static void pass_once(const twin_line *line)
{
	twin_clock_step(twin_arg_i64(line));
	if (!twin_clock_pass())
		twin_usage_error("the plugin has no thread");
}

static void time_pass(const twin_line *line)
{
	uint64_t cpu = twin_clock_ticker_cpu_ns(), from = twin_clock_real_ns();
	uint64_t other = twin_clock_other_cpu_ns(), wall;
	bench_locks locks;
	bench_memory memory;

	bench_memory_take();
	bench_locks_take();
	pass_once(line);
	wall = twin_clock_real_ns() - from;
	cpu = twin_clock_ticker_cpu_ns() - cpu;
	other = twin_clock_other_cpu_ns() - other;
	memory = bench_memory_take();
	locks = bench_locks_take();
	printf("cpu_us=%.1f other_cpu_us=%.1f wall_us=%.1f hold_us=%.1f hold_cpu_us=%.1f"
	       " holds=%" PRIu64 " read_hold_us=%.1f"
	       " lock_operations=%" PRIu64 " allocations=%" PRIu64
	       " owned=%" PRIu64 " owned_most=%" PRIu64,
	       us(cpu), us(other), us(wall), us(locks.write_ns),
	       us(locks.write_cpu_ns), locks.writes,
	       us(locks.read_ns), locks.operations, memory.calls, memory.owned,
	       memory.owned_most);
	done();
}

/* ---- jobs that a pass changes ------------------------------------------------- */

typedef struct {
	uint32_t *priority; /* of each job, in the order of the list */
	uint32_t at;
	uint32_t changed;
	uint32_t stayed; /* of jobs in several partitions, always looked up */
} priorities;

static int keep_priority(void *job, void *arg)
{
	priorities *kept = arg;

	kept->priority[kept->at++] = ((job_record_t *)job)->priority;
	return 0;
}

static int count_changed(void *each, void *arg)
{
	const job_record_t *job = each;
	priorities *kept = arg;

	if (job->priority != kept->priority[kept->at++])
		kept->changed++;
	else if (job->part_ptr_list && IS_JOB_PENDING(job))
		kept->stayed++;
	return 0;
}

/* Not part of time_pass, because the walks bring the records into the caches. */
static void count_pass(const twin_line *line)
{
	priorities kept = { 0 };
	bench_locks locks;

	kept.priority = xcalloc(list_count(job_list) + 1,
				sizeof(*kept.priority));
	list_for_each(job_list, keep_priority, &kept);
	bench_locks_take();
	pass_once(line);
	locks = bench_locks_take();
	kept.at = 0;
	list_for_each(job_list, count_changed, &kept);
	xfree(kept.priority);
	printf("changed=%" PRIu32 " stayed=%" PRIu32 " looked_up=%" PRIu64,
	       kept.changed, kept.stayed, locks.lookups);
	done();
}

static void time_wait(const twin_line *line)
{
	bench_waits waits;

	bench_reader_start();
	pass_once(line);
	waits = bench_reader_stop();
	printf("p99_us=%.1f most_us=%.1f asked=%" PRIu64, waits.p99_us,
	       waits.most_us, waits.asked);
	done();
}

static void time_set(const twin_line *line)
{
	uint32_t wanted = twin_arg_u32(line), set = 0;
	uint64_t from, state = wanted;
	uint32_t all = list_count(job_list);

	lock_slurmctld(twin_rpc_locks);
	from = twin_clock_real_ns();
	for (uint32_t i = 0; i < wanted; i++) {
		job_record_t *job = twin_job(1 + bench_random_below(&state, all));

		if (!job || !IS_JOB_PENDING(job))
			continue;
		twin_plugin_set(job);
		set++;
	}
	from = twin_clock_real_ns() - from;
	unlock_slurmctld(twin_rpc_locks);
	printf("set_us=%.4f set=%" PRIu32, us(from) / (set ? set : 1), set);
	done();
}

static void time_sprio(const twin_line *line)
{
	twin_list rows;
	bench_locks locks;
	uint64_t from = twin_clock_real_ns();

	(void)line;
	bench_locks_take();
	rows = twin_sprio_rows();
	from = twin_clock_real_ns() - from;
	locks = bench_locks_take();
	printf("held_us=%.1f longest_us=%.1f wall_us=%.1f rows=%d",
	       us(locks.reads_ns), us(locks.read_ns), us(from),
	       rows ? list_count(rows) : 0);
	FREE_NULL_LIST(rows);
	done();
}

static void memory(const twin_line *line)
{
	bench_memory now = bench_memory_take();

	(void)line;
	printf("owned=%" PRIu64 " owned_most=%" PRIu64, now.owned,
	       now.owned_most);
	done();
}

static void time_memory(const twin_line *line)
{
	bench_speed best = bench_speed_measure();

	(void)line;
	printf("read_gb_s=%.3f copy_gb_s=%.3f latency_ns=%.1f",
	       best.read_bytes_per_ns, best.copy_bytes_per_ns, best.latency_ns);
	done();
}

/* Waiting for the next event has no time limit. */
static bool next_event(char **text, size_t *room)
{
	alarm(0);
	return getline(text, room, stdin) > 0;
}

static void serve(const twin_line *serving)
{
	char *text = NULL;
	size_t room = 0;
	twin_line line;

	twin_clock_run();
	printf("assocs=%d", list_count(assoc_mgr_assoc_list));
	done();
	for (int number = serving->number; next_event(&text, &room); number++)
		if (twin_words_split(text, number, &line))
			twin_play(&line);
	free(text);
}

twin_event twin_bench_event(const char *verb)
{
	static const struct {
		const char *verb;
		twin_event event;
	} table[] = {
		{ "count", count },	    { "queue_up", crowd },
		{ "start_first", bench_start_first },
		{ "time_pass", time_pass }, { "count_pass", count_pass },
		{ "time_wait", time_wait }, { "time_set", time_set },
		{ "time_sprio", time_sprio }, { "memory", memory },
		{ "time_memory", time_memory }, { "serve", serve },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(table[i].verb, verb))
			return table[i].event;
	return NULL;
}
