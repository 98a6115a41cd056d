/* The rows of the accounting database, shared by the files that read and change them. */
#ifndef TWIN_DATABASE_H
#define TWIN_DATABASE_H

#include "host.h"

typedef struct {
	uint32_t id, parent, shares, priority;
	const char *acct, *user, *part;
	/* The usage that the life starts with. */
	long double raw;
	double wall;
	bool gone;
} twin_assoc_row;

typedef struct {
	uint32_t id, priority, flags;
	double factor, threshold; /* UsageThreshold, NO_VAL: none */
} twin_qos_row;

/* Rows by position, with removed ones; NULL after the last. */
twin_assoc_row *twin_assoc_row_at(uint32_t position);
/* The row of an association that exists, or NULL. */
twin_assoc_row *twin_assoc_row_of(uint32_t id);
twin_assoc_row *twin_assoc_row_new(const twin_line *line);
twin_qos_row *twin_qos_row_of(uint32_t id);
/* The word shares=; "parent" gives Slurm's number for it. */
uint32_t twin_shares_of(const twin_line *line, uint32_t otherwise);
/* A record as the database would send it. */
slurmdb_assoc_rec_t *twin_assoc_record(const twin_assoc_row *of);
#if TWIN_LINEAGE
/* "/a/b/0-user/": the path that newer releases sort by. */
char *twin_lineage_of(const twin_assoc_row *of);
#endif

#endif
