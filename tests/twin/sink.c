/*
 * Destinations of dumped fields. As text, a line is "kind id[/name] field
 * value"; a number with a fraction is written as its bits in memory and as
 * decimals. Two long lives are first compared by a hash of the same values.
 */
#include <stdarg.h>

#include "sink.h"
#include "trace.h"

static FILE *file;
static twin_dump_mode mode;
static uint64_t hash;
static char record[256];
static const char *record_kind;

enum { MAX_IGNORED = 32 };

/* "kind field" pairs that are neither hashed nor printed. */
static const char *ignored[MAX_IGNORED];
static int ignoring;

void twin_sink_ignore(const char *name)
{
	if (ignoring == MAX_IGNORED)
		twin_usage_error("more than %d ignored fields", MAX_IGNORED);
	ignored[ignoring++] = name;
}

/* Returns true if "KIND.FIELD" of the current record must be left out. */
static bool left_out(const char *field)
{
	size_t length = strlen(record_kind);

	for (int i = 0; i < ignoring; i++)
		if (!strncmp(ignored[i], record_kind, length) &&
		    (ignored[i][length] == '.') &&
		    !strcmp(ignored[i] + length + 1, field))
			return true;
	return false;
}

void twin_sink_open(FILE *out)
{
	file = out;
}

static void mix(uint64_t value)
{
	hash = (hash ^ value) * 0x100000001b3ULL;
	hash ^= hash >> 29;
}

static void mix_text(const char *text)
{
	for (; *text; text++)
		mix((unsigned char)*text);
	mix(0);
}

void twin_sink_begin(twin_dump_mode wanted)
{
	mode = wanted;
	hash = 0xcbf29ce484222325ULL;
}

twin_sink twin_sink_keep(void)
{
	return (twin_sink){ mode, hash };
}

void twin_sink_go_on(twin_sink kept)
{
	mode = kept.mode;
	hash = kept.hash;
}

uint64_t twin_sink_end(void)
{
	return hash;
}

void twin_sink_record(const char *kind, uint64_t id, const char *name)
{
	record_kind = kind;
	mix_text(kind);
	mix(id);
	if (name)
		mix_text(name);
	if (twin_tracing())
		twin_trace_record(kind, id);
	else if (mode == TWIN_DUMP_FULL)
		snprintf(record, sizeof(record), "%s %" PRIu64 "%s%s", kind, id,
			 name ? "/" : "", name ? name : "");
}

/* The same field on a separate line, or after the record's other fields. */
static void print(const char *field, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void print(const char *field, const char *format, ...)
{
	va_list values;

	if (mode == TWIN_DUMP_HASH)
		return;
	va_start(values, format);
	if (mode == TWIN_DUMP_TRACE) {
		twin_trace_field(field, format, values);
	} else {
		fprintf(file, "%s %s ", record, field);
		vfprintf(file, format, values);
		fputc('\n', file);
	}
	va_end(values);
}

void twin_put_u64(const char *field, uint64_t value)
{
	if (ignoring && left_out(field))
		return;
	mix(value);
	print(field, "%" PRIu64, value);
}

void twin_put_f64(const char *field, double value)
{
	uint64_t bits;

	if (ignoring && left_out(field))
		return;
	memcpy(&bits, &value, sizeof(bits));
	mix(bits);
	if (mode == TWIN_DUMP_TRACE)
		print(field, "f64:%016" PRIx64, bits);
	else
		print(field, "f64:%016" PRIx64 " %.17g", bits, value);
}

void twin_put_f80(const char *field, long double value)
{
	uint64_t mantissa;
	uint16_t high;

	if (ignoring && left_out(field))
		return;
	memcpy(&mantissa, &value, sizeof(mantissa));
	memcpy(&high, (const char *)&value + sizeof(mantissa), sizeof(high));
	mix(mantissa);
	mix(high);
	if (mode == TWIN_DUMP_TRACE)
		print(field, "f80:%04x%016" PRIx64, high, mantissa);
	else
		print(field, "f80:%04x%016" PRIx64 " %.21Lg", high, mantissa,
		      value);
}

void twin_put_text(const char *field, const char *value)
{
	if (ignoring && left_out(field))
		return;
	mix_text(value ? value : "-");
	print(field, "%s", value ? value : "-");
}

/* "field[3]" if the name is printed, otherwise the field's own name. */
static const char *indexed(const char *field, int i)
{
	static char name[96];

	if (mode == TWIN_DUMP_HASH)
		return field;
	snprintf(name, sizeof(name), "%s[%d]", field, i);
	return name;
}

#define PUT_ARRAY(put)                                                         \
	do {                                                                   \
		if (ignoring && left_out(field))                               \
			return;                                                \
		if (!value)                                                    \
			twin_put_text(field, NULL);                            \
		for (int i = 0; value && (i < count); i++)                     \
			put(indexed(field, i), value[i]);                      \
	} while (0)

void twin_put_u64s(const char *field, const uint64_t *value, int count)
{
	PUT_ARRAY(twin_put_u64);
}

void twin_put_u32s(const char *field, const uint32_t *value, int count)
{
	PUT_ARRAY(twin_put_u64);
}

void twin_put_f64s(const char *field, const double *value, int count)
{
	PUT_ARRAY(twin_put_f64);
}

void twin_put_f80s(const char *field, const long double *value, int count)
{
	PUT_ARRAY(twin_put_f80);
}
