/* Every field that a priority plugin may write. */
#include <limits.h>

#include "sink.h"
#include "trace.h"

static FILE *file;
static bool asked_sprio, asked_sshare, counted_passes;
static twin_line sprio_line;
static unsigned passes;

void twin_dump_open(FILE *out)
{
	file = out;
	twin_sink_open(out);
}

void twin_dump_note(const char *what, int number)
{
	fprintf(file, "~ %s %d\n", what, number);
}

void twin_dump_ask_sprio(const twin_line *line)
{
	asked_sprio = true;
	sprio_line = *line;
}

void twin_dump_ask_sshare(void)
{
	asked_sshare = true;
}

void twin_dump_passes(unsigned count)
{
	counted_passes = true;
	passes = count;
}

/* ---- jobs ------------------------------------------------------------------- */

static void put_factors(const twin_factors *factors)
{
	if (!factors) {
		twin_put_text("factors", NULL);
		return;
	}
	twin_put_f64("age", factors->priority_age);
	twin_put_f64("assoc", factors->priority_assoc);
	twin_put_f64("fs", factors->priority_fs);
	twin_put_f64("js", factors->priority_js);
	twin_put_f64("part", factors->priority_part);
	twin_put_f64("qos", factors->priority_qos);
	twin_put_u64("site", factors->priority_site);
	twin_put_u64("nice", factors->nice);
	twin_put_u64("tres_cnt", factors->tres_cnt);
	twin_put_f64s("tres", factors->priority_tres, factors->tres_cnt);
	twin_put_f64s("tres_weights", factors->tres_weights,
		      factors->tres_cnt);
}

static int put_part_name(void *part, void *unused)
{
	(void)unused;
	twin_put_text("part", ((part_record_t *)part)->name);
	return 0;
}

static void put_job(void *each)
{
	job_record_t *job = each;
	int parts = job->part_ptr_list ? list_count(job->part_ptr_list) : 0;
	int entries = parts;

	twin_job_check_array(job);
	twin_sink_record("job", job->job_id, NULL);
	twin_put_u64("state", job->job_state);
	twin_put_u64("priority", job->priority);
	twin_put_u64("direct_set_prio", job->direct_set_prio);
	twin_put_u64("site_factor", job->site_factor);
	twin_put_u64("end_time_exp", job->end_time_exp);
	twin_put_f64("billable_tres", job->billable_tres);
	twin_put_u64("accrue_time", job->details->accrue_time);
#ifdef TWIN_PRIO_MULT
	entries = (parts || job->qos_list) ? (parts ? parts : 1) : 0;
	entries *= job->qos_list ? list_count(job->qos_list) : 1;
	twin_put_u64("array_exists", TWIN_PRIO_MULT(job) != NULL);
	if (TWIN_PRIO_MULT(job)) {
		twin_put_u32s("array", TWIN_PRIO_MULT(job)->priority_array,
			      entries);
		twin_put_text("array_names",
			      TWIN_PRIO_MULT(job)->priority_array_names);
		twin_put_u64("array_update", TWIN_PRIO_MULT(job)->last_update);
	}
#else
	twin_put_u32s("array", job->priority_array, entries);
#endif
	if (parts)
		list_for_each(job->part_ptr_list, put_part_name, NULL);
	put_factors(job->prio_factors);
	if (twin_tracing())
		twin_facts_job(job);
}

/* ---- associations and QOS --------------------------------------------------------- */

/* Position of the association in slurmctld's list. */
static uint64_t assoc_place;

static void put_assoc(void *each)
{
	slurmdb_assoc_rec_t *assoc = each;
	slurmdb_assoc_usage_t *usage = assoc->usage;
	slurmdb_assoc_usage_t *leaf = assoc->leaf_usage;

	twin_sink_record("assoc", assoc->id, NULL);
	twin_put_u64("shares_raw", assoc->shares_raw);
	twin_put_u64("level_shares", usage->level_shares);
	twin_put_f64("shares_norm", usage->shares_norm);
	twin_put_f64("priority_norm", usage->priority_norm);
	twin_put_f80("usage_raw", usage->usage_raw);
	twin_put_f80("usage_norm", usage->usage_norm);
	twin_put_f80("usage_efctv", usage->usage_efctv);
	twin_put_f80("level_fs", usage->level_fs);
	twin_put_f64("fs_factor", usage->fs_factor);
	twin_put_f64("wall", usage->grp_used_wall);
	twin_put_f80s("tres_raw", usage->usage_tres_raw, usage->tres_cnt);
	twin_put_u64s("run_secs", usage->grp_used_tres_run_secs,
		      usage->tres_cnt);
	twin_put_u64("leaf", leaf ? 1 + (leaf == usage) : 0);
	if (leaf && (leaf != usage)) {
		twin_put_f80("leaf_raw", leaf->usage_raw);
		twin_put_f64("leaf_wall", leaf->grp_used_wall);
		twin_put_f80s("leaf_tres_raw", leaf->usage_tres_raw,
			      leaf->tres_cnt);
	}
	if (twin_tracing())
		twin_facts_assoc(assoc, assoc_place);
}

#if TWIN_USED_LIMITS
static int put_limits(void *each, void *kind)
{
	slurmdb_used_limits_t *limits = each;

	if (twin_tracing()) {
		char *name = limits->acct ?
			xstrdup_printf("used_acct_%s", limits->acct) :
			xstrdup_printf("used_user_%u", limits->uid);

		twin_put_u64s(name, limits->tres_run_secs, slurmctld_tres_cnt);
		xfree(name);
		return 0;
	}
	twin_put_text(kind, limits->acct);
	twin_put_u64("uid", limits->uid);
	twin_put_u64s("used_run_secs", limits->tres_run_secs,
		      slurmctld_tres_cnt);
	return 0;
}
#endif

static void put_qos(void *each)
{
	slurmdb_qos_rec_t *qos = each;
	slurmdb_qos_usage_t *usage = qos->usage;

	twin_sink_record("qos", qos->id, NULL);
	twin_put_f64("norm_priority", usage->norm_priority);
	twin_put_f80("usage_raw", usage->usage_raw);
	twin_put_f64("wall", usage->grp_used_wall);
	twin_put_f80s("tres_raw", usage->usage_tres_raw, usage->tres_cnt);
	twin_put_u64s("run_secs", usage->grp_used_tres_run_secs,
		      usage->tres_cnt);
#if TWIN_USED_LIMITS
	if (usage->acct_limit_list)
		list_for_each(usage->acct_limit_list, put_limits, "acct");
	if (usage->user_limit_list)
		list_for_each(usage->user_limit_list, put_limits, "user");
#endif
	if (twin_tracing())
		twin_facts_qos(qos);
}

/* ---- the daemon ---------------------------------------------------------------------- */

static void put_state_file(const char *name)
{
	unsigned char bytes[64];
	char path[PATH_MAX], hex[2 * sizeof(bytes) + 1] = "";
	size_t got;
	FILE *state;

	snprintf(path, sizeof(path), "%s/%s", twin_option.state, name);
	if (!(state = fopen(path, "rb"))) {
		twin_put_text(name, NULL);
		return;
	}
	got = fread(bytes, 1, sizeof(bytes), state);
	fclose(state);
	for (size_t i = 0; i < got; i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	twin_put_text(name, hex);
}

static void put_daemon(void *unused)
{
	(void)unused;
	twin_sink_record("daemon", 0, NULL);
	twin_put_u64("now", twin_clock_now());
	twin_put_u64("last_job_update", last_job_update);
	put_state_file("priority_last_decay_ran");
	if (counted_passes)
		twin_put_u64("passes", passes);
}

/* ---- rows that sprio and sshare would get --------------------------------------------------- */

typedef struct {
	priority_factors_object_t *row;
	uint64_t number;
} sprio_row;

static void put_sprio_row(void *of)
{
	priority_factors_object_t *row = ((sprio_row *)of)->row;

	/* slurmctld reads the factors of such a row while it sends it. */
	if (!row->direct_prio && !twin_row_factors(row))
		twin_memory_error("the row of job %" PRIu32 " has no factors",
				  twin_row_job(row));
	twin_sink_record("sprio", ((sprio_row *)of)->number, NULL);
	twin_put_u64("job_id", twin_row_job(row));
	twin_put_u64("user_id", row->user_id);
	twin_put_text("partition", row->partition);
	twin_put_f64("direct_prio", row->direct_prio);
	twin_put_row_names(row);
	put_factors(twin_row_factors(row));
}

static int put_sprio_row_of(void *each, void *count)
{
	put_sprio_row(&(sprio_row){ each, (*(uint64_t *)count)++ });
	return 0;
}

static int trace_sprio_row(void *each, void *count)
{
	twin_trace_row(put_sprio_row,
		       &(sprio_row){ each, (*(uint64_t *)count)++ });
	return 0;
}

#ifndef twin_factors_list
/* "1,2,3" as the list that sprio sends; NULL stays NULL. */
static twin_list ids(const char *text)
{
	twin_list list = text ? list_create(xfree_ptr) : NULL;

	while (text && *text) {
		uint32_t *id = xmalloc(sizeof(*id));
		char *end;

		*id = strtoul(text, &end, 10);
		list_append(list, id);
		text = *end ? end + 1 : end;
	}
	return list;
}
#endif

static twin_list sprio_rows(const twin_line *line)
{
	uid_t uid = line->arg ? twin_arg_u32(line) : 0;
#ifdef twin_factors_list
	slurmctld_lock_t locks = { .job = READ_LOCK, .node = READ_LOCK,
				   .part = READ_LOCK };
	assoc_mgr_lock_t qos = { .qos = READ_LOCK };
	uint64_t held;
	twin_list rows;

	lock_slurmctld(locks);
	assoc_mgr_lock(&qos);
	held = twin_locks_held();
	rows = twin_factors_list(uid);
	twin_locks_same(held, "priority_p_get_priority_factors_list");
	assoc_mgr_unlock(&qos);
	unlock_slurmctld(locks);
	return rows;
#else
	priority_factors_request_msg_t request = {
		.job_id_list = ids(twin_word(line, "jobs")),
		.partitions = xstrdup(twin_word(line, "parts")),
		.uid_list = ids(twin_word(line, "uids")),
	};
	uint64_t held = twin_locks_held();
	twin_list rows = priority_g_get_priority_factors_list(&request, uid);

	twin_locks_same(held, "priority_p_get_priority_factors_list");
	FREE_NULL_LIST(request.job_id_list);
	FREE_NULL_LIST(request.uid_list);
	xfree(request.partitions);
	return rows;
#endif
}

twin_list twin_sprio_rows(void)
{
	return sprio_rows(&(const twin_line){ 0 });
}

/*
 * "gone=NAME": an administrator deletes that partition while the answer is on
 * its way, if no lock prevents it. Its name is then undefined.
 */
static twin_list sprio_rows_racing(void)
{
	const char *gone = twin_word(&sprio_line, "gone");
	part_record_t *part = gone && TWIN_ROWS_OUTLIVE_LOCKS ? twin_part(gone) :
								NULL;
	char *name = part ? part->name : NULL;
	twin_list rows;

	if (!part)
		return sprio_rows(&sprio_line);
	part->name = xstrdup(name);
	rows = sprio_rows(&sprio_line);
	memset(part->name, '?', strlen(part->name));
	part->name = name;
	return rows;
}

static void put_sprio(void)
{
	twin_list rows;
	uint64_t count = 0, traced = 0;

	twin_trace_before("sprio", 0);
	rows = sprio_rows_racing();
	twin_trace_after();
	if (rows)
		list_for_each(rows, trace_sprio_row, &traced);
	twin_sink_record("sprio_list", 0, NULL);
	twin_put_u64("exists", rows != NULL);
	if (rows)
		list_for_each(rows, put_sprio_row_of, &count);
	FREE_NULL_LIST(rows);
}

static void put_sshare_row(void *each)
{
	assoc_shares_object_t *row = each;

	twin_sink_record("sshare", row->assoc_id, NULL);
	twin_put_f64("shares_norm", row->shares_norm);
	twin_put_u64("shares_raw", row->shares_raw);
	twin_put_u64("usage_raw", row->usage_raw);
	twin_put_f64("usage_norm", row->usage_norm);
	twin_put_f64("usage_efctv", row->usage_efctv);
	twin_put_f64("level_fs", row->level_fs);
	twin_put_f64("fs_factor", row->fs_factor);
	twin_put_u64s("run_secs", row->tres_run_secs, slurmctld_tres_cnt);
	twin_put_f80s("tres_raw", row->usage_tres_raw, slurmctld_tres_cnt);
}

static int put_sshare_row_of(void *each, void *unused)
{
	(void)unused;
	put_sshare_row(each);
	return 0;
}

static int trace_sshare_row(void *each, void *unused)
{
	(void)unused;
	twin_trace_row(put_sshare_row, each);
	return 0;
}

static shares_response_msg_t *sshare_rows(void)
{
	shares_request_msg_t request = { 0 };
	shares_response_msg_t *answer = xmalloc(sizeof(*answer));
	uint64_t held = twin_locks_held();

	assoc_mgr_get_shares(NULL, 0, &request, answer);
	twin_locks_same(held, "priority_p_set_assoc_usage");
	/* The names belong to the association manager. */
	answer->tres_names = NULL;
	return answer;
}

static void put_sshare(void)
{
	shares_response_msg_t *answer;

	twin_trace_before("sshare", 0);
	answer = sshare_rows();
	twin_trace_after();
	if (answer->assoc_shares_list) {
		list_for_each(answer->assoc_shares_list, trace_sshare_row,
			      NULL);
		list_for_each(answer->assoc_shares_list, put_sshare_row_of,
			      NULL);
	}
	slurm_free_shares_response_msg(answer);
}

void twin_dump_only_ask_sprio(const twin_line *line)
{
	twin_list rows = sprio_rows(line);

	FREE_NULL_LIST(rows);
}

void twin_dump_only_ask_sshare(void)
{
	slurm_free_shares_response_msg(sshare_rows());
}

static int put_job_of(void *each, void *put)
{
	((twin_put)put)(put_job, each);
	return 0;
}

static int put_assoc_of(void *each, void *put)
{
	((twin_put)put)(put_assoc, each);
	assoc_place++;
	return 0;
}

static int put_qos_of(void *each, void *put)
{
	((twin_put)put)(put_qos, each);
	return 0;
}

void twin_dump_records(twin_put put)
{
	put(put_daemon, NULL);
	assoc_place = 0;
	list_for_each(job_list, put_job_of, put);
	list_for_each(assoc_mgr_assoc_list, put_assoc_of, put);
	list_for_each(assoc_mgr_qos_list, put_qos_of, put);
}

static void put_once(twin_record fields, void *of)
{
	fields(of);
}

void twin_dump_state(int event, const char *what, twin_dump_mode mode)
{
	twin_sink_begin(mode);
	if (asked_sprio)
		put_sprio();
	if (asked_sshare)
		put_sshare();
	twin_dump_records(put_once);
	asked_sprio = asked_sshare = counted_passes = false;
	fprintf(file, "= %d %s %016" PRIx64 "\n", event, what, twin_sink_end());
}
