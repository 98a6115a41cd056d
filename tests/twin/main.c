/*
 * twin --plugin FILE --plugin-dir FOLDER --life FILE --state FOLDER
 *      [--conf KEY=VALUE] [--dump FILE] [--full N|N-M] [--log FILE]
 *      [--locks FILE] [--ignore KIND.FIELD] [--trace FILE]
 *
 * Plays a life with a plugin and writes, after each event that follows `boot`,
 * a line "= NUMBER VERB HASH"; for the events of --full, it writes every field
 * before that line. With --trace the file has the records before and after
 * every call into the plugin (trace.c). The number of an event is its line in
 * the life. FOLDER of --plugin-dir holds Slurm's other plugins, that of --state
 * is empty.
 *
 * Exit code 0; 2 if the life or the command line is wrong, 3 if the plugin
 * broke a rule of its host, 4 if its thread did not come back, 5 if it damaged
 * memory.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

#include "sink.h"
#include "trace.h"

twin_options twin_option;

/* Time limit for an answer of the plugin's thread, seconds. Not a measure of speed. */
enum { PATIENCE_S = 600 };

static void complain(const char *kind, const char *format, va_list values)
{
	fprintf(stderr, "twin: %s", kind);
	vfprintf(stderr, format, values);
	fputc('\n', stderr);
}

void twin_usage_error(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	complain("", format, values);
	va_end(values);
	exit(2);
}

void twin_violation(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	complain("broken rule: ", format, values);
	va_end(values);
	fflush(NULL);
	_exit(3);
}

void twin_memory_error(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	complain("damaged memory: ", format, values);
	va_end(values);
	fflush(NULL);
	_exit(5);
}

static void gave_up(int signal)
{
	static const char text[] = "twin: the plugin does not come back\n";
	ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)signal, (void)written;
	_exit(4);
}

static char *read_life(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text;
	long size;

	if (!file || fseek(file, 0, SEEK_END) || ((size = ftell(file)) < 0))
		twin_usage_error("%s: %s", path, strerror(errno));
	rewind(file);
	text = calloc(size + 1, 1);
	if (!text || (fread(text, 1, size, file) != (size_t)size))
		twin_usage_error("%s: cannot be read", path);
	fclose(file);
	return text;
}

static FILE *open_out(const char *path)
{
	FILE *file = path ? fopen(path, "w") : stdout;

	if (!file)
		twin_usage_error("%s: %s", path, strerror(errno));
	return file;
}

void twin_happen(const twin_line *line)
{
	twin_event event = twin_admin_event(line->verb);

	if (!event && twin_bench_event)
		event = twin_bench_event(line->verb);
	if (!strcmp(line->verb, "together"))
		return; /* The crowd has played. */
	if (event) {
		event(line);
		return;
	}
	event = twin_booted() ? twin_job_event(line->verb) : NULL;
	if (!event)
		twin_usage_error("line %d: no event %s %s boot", line->number,
				 line->verb, twin_booted() ? "after" : "before");
	lock_slurmctld(twin_rpc_locks);
	event(line);
	unlock_slurmctld(twin_rpc_locks);
}

void twin_play(const twin_line *line)
{
	bool full = (line->number >= twin_option.full_from) &&
		    (line->number <= twin_option.full_to);

	alarm(PATIENCE_S);
	if (twin_crowd_takes(line))
		return;
	twin_trace_line(line->number);
	twin_happen(line);
	twin_clock_settle();
	if (twin_dumping())
		twin_dump_state(line->number, line->verb,
				full ? TWIN_DUMP_FULL : TWIN_DUMP_HASH);
}

static void play_all(char *text)
{
	twin_line line;

	for (int number = 1; text; number++) {
		char *end = strchr(text, '\n');

		if (end)
			*end++ = '\0';
		if (!twin_during(text, number) &&
		    twin_words_split(text, number, &line))
			twin_play(&line);
		text = end;
	}
}

static void set_full(const char *range)
{
	char *end;

	twin_option.full_from = twin_option.full_to = strtol(range, &end, 10);
	if (*end == '-')
		twin_option.full_to = strtol(end + 1, &end, 10);
	if (*end)
		twin_usage_error("--full %s: not N or N-M", range);
}

/* A line of slurm.conf that is not part of the life. */
static void set_conf(char *line)
{
	char *equals = strchr(line, '=');

	if (!equals)
		twin_usage_error("--conf %s: not KEY=VALUE", line);
	*equals = '\0';
	twin_conf_set(line, equals + 1);
}

static void read_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "plugin", required_argument, NULL, 'p' },
		{ "plugin-dir", required_argument, NULL, 'i' },
		{ "life", required_argument, NULL, 'l' },
		{ "conf", required_argument, NULL, 'c' },
		{ "state", required_argument, NULL, 's' },
		{ "dump", required_argument, NULL, 'd' },
		{ "full", required_argument, NULL, 'f' },
		{ "ignore", required_argument, NULL, 'g' },
		{ "log", required_argument, NULL, 'o' },
		{ "locks", required_argument, NULL, 'k' },
		{ "trace", required_argument, NULL, 't' },
		{ NULL, 0, NULL, 0 },
	};
	int letter;

	twin_option.full_from = 1;
	while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (letter) {
		case 'p': twin_option.plugin = optarg; break;
		case 'i': twin_option.plugin_dir = optarg; break;
		case 'l': twin_option.life = optarg; break;
		case 'c': set_conf(optarg); break;
		case 's': twin_option.state = optarg; break;
		case 'd': twin_option.dump = optarg; break;
		case 'f': set_full(optarg); break;
		case 'g': twin_sink_ignore(optarg); break;
		case 'o': twin_option.log = optarg; break;
		case 'k': twin_option.locks = optarg; break;
		case 't': twin_option.trace = optarg; break;
		default: exit(2);
		}
	}
	if (!twin_option.plugin || !twin_option.plugin_dir ||
	    !twin_option.life || !twin_option.state)
		twin_usage_error("--plugin, --plugin-dir, --life and --state are needed");
}

/* The library takes the program for the controller by this name. */
static void open_log(void)
{
	log_options_t options = LOG_OPTS_INITIALIZER;

	options.stderr_level = LOG_LEVEL_FATAL;
	options.logfile_level = LOG_LEVEL_ERROR;
	log_init((char *)"slurmctld", options, SYSLOG_FACILITY_DAEMON,
		 (char *)twin_option.log);
}

int main(int argc, char **argv)
{
	FILE *out;

	read_options(argc, argv);
	setenv("TZ", "UTC", 0);
	signal(SIGALRM, gave_up);
	open_log();
	out = open_out(twin_option.dump);
	twin_dump_open(out);
	if (twin_option.trace)
		twin_trace_open(open_out(twin_option.trace));
	play_all(read_life(twin_option.life));
	if (twin_booted())
		twin_plugin_stop();
	twin_trace_close();
	if (twin_option.locks) {
		FILE *locks = open_out(twin_option.locks);

		twin_locks_report(locks);
		fclose(locks);
	}
	if (fclose(out))
		twin_usage_error("%s: %s", twin_option.dump, strerror(errno));
	/* Skip the library's own exit handlers. */
	fflush(NULL);
	_exit(0);
}
