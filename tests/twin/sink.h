/* Destinations of dumped fields: a hash, or lines of text. */
#ifndef TWIN_SINK_H
#define TWIN_SINK_H

#include "host.h"

void twin_sink_open(FILE *out);
/* Leaves "KIND.FIELD" out of all dumps. */
void twin_sink_ignore(const char *name);
void twin_sink_begin(twin_dump_mode mode);
/* A second dump may interrupt a dump. */
typedef struct {
	twin_dump_mode mode;
	uint64_t hash;
} twin_sink;
twin_sink twin_sink_keep(void);
void twin_sink_go_on(twin_sink kept);
/* The hash of all fields since begin. */
uint64_t twin_sink_end(void);

/* The fields that follow belong to this record. */
void twin_sink_record(const char *kind, uint64_t id, const char *name);
void twin_put_u64(const char *field, uint64_t value);
void twin_put_f64(const char *field, double value);
void twin_put_f80(const char *field, long double value);
void twin_put_text(const char *field, const char *value);
/* Arrays; NULL is dumped as such. */
void twin_put_u64s(const char *field, const uint64_t *value, int count);
void twin_put_u32s(const char *field, const uint32_t *value, int count);
void twin_put_f64s(const char *field, const double *value, int count);
void twin_put_f80s(const char *field, const long double *value, int count);

#endif
