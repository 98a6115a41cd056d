/* Partitions. */
#include "host.h"

enum { MAX_PARTS = 64 };

/* The lines that define partitions: counts need the TRES, which are known later. */
static twin_line definition[MAX_PARTS];
static part_record_t record[MAX_PARTS];
static int parts;

void twin_part_define(const twin_line *line)
{
	if (!line->arg)
		twin_usage_error("line %d: part needs a name", line->number);
	if (parts == MAX_PARTS)
		twin_usage_error("more than %d partitions", MAX_PARTS);
	definition[parts++] = *line;
}

static slurmdb_qos_rec_t *qos_record(uint32_t id)
{
	slurmdb_qos_rec_t qos = { .id = id };

	return id ? list_find_first(assoc_mgr_qos_list,
				    slurmdb_find_qos_in_list, &qos.id) :
		    NULL;
}

static void set_part(part_record_t *part, const twin_line *line)
{
	const char *weights = twin_word(line, "weights");

	xfree(part->tres_cnt);
	xfree(part->billing_weights);
	part->magic = PART_MAGIC;
	part->name = (char *)line->arg;
	part->priority_job_factor = twin_word_u32(line, "factor", 0);
	part->priority_tier = twin_word_u32(line, "tier", 1);
	part->max_time = twin_word_u32(line, "maxtime", INFINITE);
	part->qos_ptr = qos_record(twin_word_u32(line, "qos", 0));
	part->tres_cnt = xcalloc(slurmctld_tres_cnt, sizeof(uint64_t));
	for (int i = 0; i < slurmctld_tres_cnt; i++)
		part->tres_cnt[i] =
			twin_word_u64(line, assoc_mgr_tres_name_array[i], 0);
	part->total_nodes = part->tres_cnt[TRES_ARRAY_NODE];
	part->total_cpus = part->tres_cnt[TRES_ARRAY_CPU];
	part->billing_weights_str = (char *)weights;
	if (weights)
		part->billing_weights = slurm_get_tres_weight_array(
			(char *)weights, slurmctld_tres_cnt, true);
}

void twin_parts_ready(void)
{
	uint16_t largest = 1;

	if (!part_list) {
		part_list = list_create(NULL);
		for (int i = 0; i < parts; i++)
			list_append(part_list, &record[i]);
	}
	for (int i = 0; i < parts; i++) {
		set_part(&record[i], &definition[i]);
		if (record[i].priority_job_factor > largest)
			largest = record[i].priority_job_factor;
	}
	for (int i = 0; i < parts; i++)
		record[i].norm_priority =
			record[i].priority_job_factor / (double)largest;
	last_part_update = twin_clock_now();
}

part_record_t *twin_part(const char *name)
{
	part_record_t *part = find_part_record((char *)name);

	if (!part)
		twin_usage_error("no partition %s", name);
	return part;
}

twin_list twin_part_list(const char *names, part_record_t **first)
{
	char *copy = xstrdup(names), *rest = NULL, *name;
	twin_list list = NULL;

	*first = NULL;
	for (name = strtok_r(copy, ",", &rest); name;
	     name = strtok_r(NULL, ",", &rest)) {
		part_record_t *part = twin_part(name);

		if (!*first) {
			*first = part;
			continue;
		}
		if (!list) {
			list = list_create(NULL);
			list_append(list, *first);
		}
		list_append(list, part);
	}
	xfree(copy);
	if (list) {
		list_sort(list, priority_sort_part_tier);
		*first = list_peek(list);
	}
	return list;
}

void twin_part_qos(const twin_line *line)
{
	slurmctld_lock_t locks = { .part = WRITE_LOCK };

	lock_slurmctld(locks);
	twin_part(line->arg)->qos_ptr =
		qos_record(twin_word_u32(line, "qos", 0));
	last_part_update = twin_clock_now();
	unlock_slurmctld(locks);
}

static int is_same(void *a, void *b)
{
	return a == b;
}

/* The record is overwritten: it must not be read any more. */
void twin_part_delete(const twin_line *line)
{
	slurmctld_lock_t locks = { .job = WRITE_LOCK, .node = WRITE_LOCK,
				   .part = WRITE_LOCK };
	part_record_t *part;

	lock_slurmctld(locks);
	part = find_part_record((char *)line->arg);
	if (part) {
		list_delete_all(part_list, is_same, part);
		twin_jobs_unlink_part(part);
		memset(part, 0xdd, sizeof(*part));
		last_part_update = twin_clock_now();
	}
	unlock_slurmctld(locks);
}
