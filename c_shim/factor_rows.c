/*
 * factor_rows.c - the rows that sprio prints.
 *
 * In releases in which slurmctld packs the list under the locks of its call, strings in a row
 * belong to the job, the partition and the QOS, and the list's destructor does not free them. In
 * other releases the list outlives the locks: the job's data for a row is copied under them to
 * memory that was allocated before, without a call of the allocator, and the rows of a partition
 * share a copy of its name.
 */
#include "host.h"

#if HOST_FACTORS_IN_ROW
/* No position in the array of doubles. */
#define NO_DOUBLES SIZE_MAX

/* Allocated for the list only after the locks are released, and its arrays with it. */
typedef struct shim_row {
	priority_factors_object_t row;
	size_t terms;	/* position of as many as the row's tres_cnt, or NO_DOUBLES */
	size_t weights; /* the same; rows with equal weights may share them */
} made_row;

static priority_factors_object_t *empty_row(made_row *made)
{
	*made = (made_row) { .terms = NO_DOUBLES, .weights = NO_DOUBLES };
	return &made->row;
}

static double *copy_doubles(const shim_factors_rows *rows, size_t start, size_t len)
{
	double *copy;

	if (start == NO_DOUBLES)
		return NULL;
	copy = xcalloc_nz(len, sizeof(*copy));
	memcpy(copy, rows->doubles + start, len * sizeof(*copy));
	return copy;
}

static void *finish_row(const shim_factors_rows *rows, const made_row *made)
{
	priority_factors_object_t *row = xmalloc_nz(sizeof(*row));

	*row = made->row;
	row->priority_tres = copy_doubles(rows, made->terms, row->tres_cnt);
	row->tres_weights = copy_doubles(rows, made->weights, row->tres_cnt);
	return row;
}

/* A partition's name, and the number of rows in a list that use it. */
typedef struct {
	size_t rows;
	char text[];
} shared_name;

typedef struct shim_row_names {
	const part_record_t *part;
	shared_name *name;
	struct shim_row_names *next;
} row_names;

/* slurm_destroy_priority_factors_object of this release does not free the strings. */
static void free_row(void *arg)
{
	priority_factors_object_t *row = arg;
	shared_name *name = row->partition ? (shared_name *) (void *) (row->partition -
					     offsetof(shared_name, text)) : NULL;

	if (name && !--name->rows)
		free(name);
	slurm_destroy_priority_factors_object(row);
}

static bool reserve_doubles(shim_factors_rows *rows, size_t cap)
{
	double *grown;

	if (cap <= rows->doubles_cap)
		return true;
	grown = reallocarray(rows->doubles, cap, sizeof(*grown));
	if (!grown)
		return false;
	rows->doubles = grown;
	rows->doubles_cap = cap;
	return true;
}

/* There is room for it. */
static size_t keep_doubles(shim_factors_rows *rows, const double *from, size_t len)
{
	size_t start = rows->doubles_len;

	if (!from || !len)
		return NO_DOUBLES;
	memcpy(rows->doubles + start, from, len * sizeof(*from));
	rows->doubles_len += len;
	return start;
}

/* Jobs that were priced under one configuration have the same weights: that is nearly all jobs. */
static size_t keep_weights(shim_factors_rows *rows, const double *from, size_t len)
{
	if (!from || !len)
		return NO_DOUBLES;
	if (rows->weights_len != len ||
	    memcmp(rows->doubles + rows->weights, from, len * sizeof(*from))) {
		rows->weights = keep_doubles(rows, from, len);
		rows->weights_len = len;
	}
	return rows->weights;
}

/* A row with the factors of a job; NULL if out of memory. */
static priority_factors_object_t *factors_row(shim_factors_rows *rows, made_row *made,
					      const job_record_t *job)
{
	const priority_factors_object_t *from = job->prio_factors;
	size_t len = from->tres_cnt, more = 2 * len;

	if (rows->doubles_cap - rows->doubles_len < more &&
	    !reserve_doubles(rows, 2 * rows->doubles_cap + more))
		return NULL;
	made->row = *from;
	made->terms = keep_doubles(rows, from->priority_tres, len);
	made->weights = keep_weights(rows, from->tres_weights, len);
	/* Keep nothing that belongs to the job. */
	made->row.cluster_name = NULL;
	made->row.priority_tres = made->row.tres_weights = NULL;
	made->row.tres_names = NULL;
	return &made->row;
}

static HOST_FACTORS *factors_of(made_row *made)
{
	return &made->row;
}

static double *terms_of(const shim_factors_rows *rows, const made_row *made)
{
	return made->terms == NO_DOUBLES ? NULL : rows->doubles + made->terms;
}

static shared_name *copy_name(shim_factors_rows *rows, const part_record_t *part)
{
	row_names *known = malloc(sizeof(*known));
	size_t size = strlen(part->name) + 1;
	shared_name *name = malloc(sizeof(*name) + size);

	if (!known || !name) {
		free(known);
		free(name);
		return NULL;
	}
	name->rows = 0;
	memcpy(name->text, part->name, size);
	*known = (row_names) { .part = part, .name = name, .next = rows->names };
	rows->names = known;
	return name;
}

static char *partition_name(shim_factors_rows *rows, const part_record_t *part)
{
	row_names *known = rows->names;
	shared_name *name;

	while (known && known->part != part)
		known = known->next;
	name = known ? known->name : copy_name(rows, part);
	if (!name)
		return NULL;
	name->rows++;
	return name->text;
}

static void free_names(row_names *names)
{
	while (names) {
		row_names *next = names->next;

		free(names);
		names = next;
	}
}
#else
typedef struct shim_row {
	priority_factors_object_t *row;
} made_row;

static priority_factors_object_t *empty_row(made_row *made)
{
	return made->row = xmalloc(sizeof(*made->row));
}

static void *finish_row(const shim_factors_rows *rows, const made_row *made)
{
	(void) rows;
	return made->row;
}

/* The strings do not belong to the row. */
static void free_row(void *arg)
{
	priority_factors_object_t *row = arg;

	slurm_destroy_priority_factors(row->prio_factors);
	xfree(row);
}

static bool reserve_doubles(shim_factors_rows *rows, size_t cap)
{
	(void) rows, (void) cap;
	return true;
}

static priority_factors_object_t *factors_row(shim_factors_rows *rows, made_row *made,
					      const job_record_t *job)
{
	priority_factors_object_t *row = empty_row(made);

	(void) rows;
	row->prio_factors = xmalloc(sizeof(*row->prio_factors));
	slurm_copy_priority_factors(row->prio_factors, job->prio_factors);
	return row;
}

static HOST_FACTORS *factors_of(made_row *made)
{
	return made->row->prio_factors;
}

static double *terms_of(const shim_factors_rows *rows, const made_row *made)
{
	(void) rows;
	return made->row->prio_factors->priority_tres;
}

static char *partition_name(shim_factors_rows *rows, const part_record_t *part)
{
	(void) rows;
	return part->name;
}

static void free_names(struct shim_row_names *names)
{
	(void) names;
}
#endif

static void replace_tres(double *terms, size_t len, const shim_factors_row *row)
{
	if (!terms || row->tres_len > len)
		return;
	for (size_t i = 0; i < row->tres_len; i++) {
		if (row->tres_again[i] != 0)
			terms[i] *= row->tres_again[i];
		else
			terms[i] = row->tres[i];
	}
}

static void replace_terms(const shim_factors_rows *rows, made_row *made,
			  const shim_factors_row *row)
{
	HOST_FACTORS *factors = factors_of(made);

	if (row->replaces_partition) {
		factors->priority_part = row->partition_term;
		replace_tres(terms_of(rows, made), factors->tres_cnt, row);
	}
	if (row->replaces_qos)
		factors->priority_qos = row->qos_term;
}

#if HOST_HAS_QOS_LISTS
static int has_id(void *qos, void *id)
{
	return ((slurmdb_qos_rec_t *) qos)->id == *(uint32_t *) id;
}
#endif

#if !HOST_FACTORS_IN_ROW
static char *qos_name(const job_record_t *job, uint32_t qos_id)
{
	slurmdb_qos_rec_t *qos = job->qos_ptr;

#if HOST_HAS_QOS_LISTS
	if (qos_id && job->qos_list)
		qos = list_find_first_ro(job->qos_list, has_id, &qos_id);
#else
	(void) qos_id;
#endif
	return qos ? qos->name : NULL;
}
#endif

static bool reserve_rows(shim_factors_rows *rows, size_t cap)
{
	made_row *grown;

	if (cap <= rows->cap)
		return true;
	grown = reallocarray(rows->at, cap, sizeof(*grown));
	if (!grown)
		return false;
	rows->at = grown;
	rows->cap = cap;
	return true;
}

/* If few rows are added, most of the memory is never touched. */
void shim_factors_begin(shim_factors_rows *rows, size_t tres)
{
	size_t count = &job_list && job_list ? (size_t) list_count(job_list) : 0;

	/* Some jobs have several rows. */
	count += count / 8;
	(void) (reserve_rows(rows, count) && reserve_doubles(rows, count * tres));
}

void shim_factors_touch(shim_factors_rows *rows)
{
	if (rows->cap)
		memset(rows->at, 0, rows->cap * sizeof(*rows->at));
	if (rows->doubles_cap)
		memset(rows->doubles, 0, rows->doubles_cap * sizeof(*rows->doubles));
}

/*
 * A row of a job in an order, for which no factor counts: FAIRSHARE is its number, and so is the
 * sum that sprio shows as PRIORITY.
 */
static priority_factors_object_t *number_row(made_row *made, uint32_t number)
{
	priority_factors_object_t *row = empty_row(made);
	HOST_FACTORS *factors;

#if !HOST_FACTORS_IN_ROW
	row->prio_factors = xmalloc(sizeof(*row->prio_factors));
#endif
	factors = factors_of(made);
	factors->priority_fs = number;
	factors->priority_site = factors->nice = NICE_OFFSET;
	return row;
}

void shim_factors_add(shim_factors_rows *rows, const void *arg, const shim_factors_row *row)
{
	const job_record_t *job = arg;
	const part_record_t *part = row->partition ? (part_record_t *) (uintptr_t) row->partition
						   : job->part_ptr;
	bool hidden = row->hides_direct && HOST_FACTORS_IN_ROW && job->part_ptr_list;
	bool direct = job->direct_set_prio && !hidden;
	priority_factors_object_t *out;
	made_row *made;

	if (rows->len == rows->cap && !reserve_rows(rows, 2 * rows->cap + 64))
		return;
	made = &rows->at[rows->len];
	if (!direct && row->number)
		out = number_row(made, row->number);
	else if (direct || !job->prio_factors)
		out = empty_row(made);
	else
		out = factors_row(rows, made, job);
	if (!out)
		return;
	if (direct)
		out->direct_prio = job->priority;
	else if (job->prio_factors && !row->number)
		replace_terms(rows, made, row);
	HOST_ROW_NAME_JOB(out, job);
	out->partition = part ? partition_name(rows, part) : NULL;
	out->user_id = job->user_id;
#if !HOST_FACTORS_IN_ROW
	out->account = job->account;
	out->qos = qos_name(job, row->qos_id);
#endif
	rows->len++;
}

void *shim_factors_list(shim_factors_rows *rows)
{
	host_list list = rows->len ? list_create(free_row) : NULL;

	for (size_t i = 0; i < rows->len; i++)
		list_append(list, finish_row(rows, &rows->at[i]));
	free(rows->at);
	free(rows->doubles);
	free_names(rows->names);
	*rows = (shim_factors_rows) { 0 };
	return list;
}
