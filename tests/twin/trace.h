/* Records before and after every call into the plugin, for a program that recomputes them. */
#ifndef TWIN_TRACE_H
#define TWIN_TRACE_H

#include <stdarg.h>

#include "host.h"

void twin_trace_open(FILE *out);
void twin_trace_close(void);
/* The line of the life that is played now. */
void twin_trace_line(int number);
/* Returns true while records are written to the trace. */
bool twin_tracing(void);

/* ---- from sink.c --------------------------------------------------------- */

/* The fields that follow belong to this record. */
void twin_trace_record(const char *kind, uint64_t id);
void twin_trace_field(const char *field, const char *format, va_list values);

/* ---- dump.c, facts.c: the records ------------------------------------------ */

/* Puts the fields of one record into the sink. */
typedef void (*twin_record)(void *of);
/* An action for a record. */
typedef void (*twin_put)(twin_record fields, void *of);

/* A row of the answer to the last call. */
void twin_trace_row(twin_record fields, void *of);

void twin_dump_records(twin_put put);
/* Fields that plugins read and never write, after the record's other fields. */
void twin_facts_job(job_record_t *job);
void twin_facts_assoc(slurmdb_assoc_rec_t *assoc, uint64_t place);
void twin_facts_qos(slurmdb_qos_rec_t *qos);
/* Separate records: settings and partitions. */
void twin_facts_daemon(twin_put put);

#endif
