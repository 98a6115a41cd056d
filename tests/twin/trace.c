/*
 * The trace: the records before and after every call into the plugin. slurmctld
 * makes the changes between the calls.
 *
 *   @ HOOK ID LINE      a call at a line of the life, then what has changed since
 *   KIND ID FIELD=VALUE ...    the last lines: whole records
 *   - KIND ID                  a removed record
 *   .                   the call is over, then what it has changed
 *   + KIND ID FIELD=VALUE ...  a row of its answer
 *   ! WHAT LINE CLOCK   not a call: "saved" (slurmctld's usage), "crash"
 */
#include "sink.h"
#include "trace.h"

/* The last written version of a record. */
typedef struct {
	uint64_t hash;
	unsigned round;
} twin_seen;

static struct {
	const char *kind;
	twin_seen *seen;
	uint64_t room;
} table[12];

static FILE *file;
static bool tracing;
static unsigned round_number;
static int line_number;

/* The record that is being put together, and its place in the table. */
static char *text;
static size_t length, text_room;
static twin_seen *current;

void twin_trace_open(FILE *out)
{
	file = out;
}

void twin_trace_close(void)
{
	if (file && fclose(file))
		twin_usage_error("%s: not written", twin_option.trace);
	file = NULL;
}

void twin_trace_line(int number)
{
	line_number = number;
}

bool twin_tracing(void)
{
	return tracing;
}

static void append(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

static void append_values(const char *format, va_list values)
{
	for (;;) {
		size_t left = text_room - length;
		va_list again;
		int wanted;

		va_copy(again, values);
		wanted = vsnprintf(text + length, left, format, again);
		va_end(again);
		if ((wanted >= 0) && ((size_t)wanted < left)) {
			length += wanted;
			return;
		}
		text_room = text_room * 2 + 4096;
		xrealloc(text, text_room);
	}
}

static void append(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	append_values(format, values);
	va_end(values);
}

static twin_seen *seen_of(const char *kind, uint64_t id)
{
	size_t k = 0;

	while (table[k].kind && strcmp(table[k].kind, kind))
		k++;
	table[k].kind = kind;
	if (id >= table[k].room) {
		uint64_t room = id * 2 + 64;

		xrecalloc(table[k].seen, room, sizeof(*table[k].seen));
		table[k].room = room;
	}
	return &table[k].seen[id];
}

void twin_trace_record(const char *kind, uint64_t id)
{
	current = seen_of(kind, id);
	length = 0;
	append("%s %" PRIu64, kind, id);
}

void twin_trace_field(const char *field, const char *format, va_list values)
{
	append(" %s=", field);
	append_values(format, values);
}

static void write_gone(void)
{
	for (size_t k = 0; table[k].kind; k++)
		for (uint64_t id = 0; id < table[k].room; id++) {
			twin_seen *seen = &table[k].seen[id];

			if (!seen->round || (seen->round == round_number))
				continue;
			fprintf(file, "- %s %" PRIu64 "\n", table[k].kind, id);
			*seen = (twin_seen){ 0 };
		}
}

/* Writes a record if it has changed. */
static void write_changed(twin_record fields, void *of)
{
	uint64_t hash;

	twin_sink_begin(TWIN_DUMP_HASH);
	fields(of);
	hash = twin_sink_end();
	if (!current->round || (current->hash != hash)) {
		twin_sink_begin(TWIN_DUMP_TRACE);
		fields(of);
		fprintf(file, "%s\n", text);
		current->hash = hash;
	}
	current->round = round_number;
}

static void write_records(void)
{
	twin_sink kept = twin_sink_keep();

	round_number++;
	tracing = true;
	twin_facts_daemon(write_changed);
	twin_dump_records(write_changed);
	tracing = false;
	twin_sink_go_on(kept);
	write_gone();
}

void twin_trace_row(twin_record fields, void *of)
{
	twin_sink kept = twin_sink_keep();

	if (!file)
		return;
	tracing = true;
	twin_sink_begin(TWIN_DUMP_TRACE);
	fields(of);
	tracing = false;
	twin_sink_go_on(kept);
	fprintf(file, "+ %s\n", text);
}

void twin_trace_before(const char *hook, uint64_t id)
{
	if (!file)
		return;
	fprintf(file, "@ %s %" PRIu64 " %d\n", hook, id, line_number);
	write_records();
}

void twin_trace_after(void)
{
	if (!file)
		return;
	fprintf(file, ".\n");
	write_records();
}

void twin_trace_mark(const char *what)
{
	if (file)
		fprintf(file, "! %s %d %" PRId64 "\n", what, line_number,
			(int64_t)twin_clock_now());
}
