/*
 * `queue_up N running=K [scattered=1] [seed=S]`: N waiting and K running jobs
 * of random users. Their requests are those of a large site: 1 to 64 nodes of
 * 128 cores, one job in sixteen in two partitions, ages up to ten days.
 */
#include "bench.h"

enum { DAY_S = 86400 };

/* Random state of the queue, separate from that of the memory. */
static uint64_t state;

static uint32_t below(uint32_t limit)
{
	return bench_random_below(&state, limit);
}

/* ---- users ------------------------------------------------------------------------- */

static slurmdb_assoc_rec_t **user;
static uint32_t users;

static int keep_user(void *each, void *unused)
{
	slurmdb_assoc_rec_t *assoc = each;

	(void)unused;
	if (assoc->user)
		user[users++] = assoc;
	return 0;
}

/* Looked up here: the association manager's tables are slow for many users. */
static void find_users(void)
{
	assoc_mgr_lock_t locks = { .assoc = READ_LOCK };

	assoc_mgr_lock(&locks);
	users = 0;
	user = xrealloc(user, list_count(assoc_mgr_assoc_list) * sizeof(*user));
	list_for_each(assoc_mgr_assoc_list, keep_user, NULL);
	assoc_mgr_unlock(&locks);
	if (!users)
		twin_usage_error("a crowd needs users");
}

/* ---- one job ------------------------------------------------------------------------- */

static void add_word(twin_line *line, const char *key, char *text, size_t size,
		     uint32_t value)
{
	snprintf(text, size, "%" PRIu32, value);
	line->key[line->count] = key;
	line->value[line->count++] = text;
}

/* slurmctld computes it when the job is submitted. */
static void set_billing(job_record_t *job)
{
	if (job->part_ptr && job->tres_req_cnt)
		job->tres_req_cnt[TRES_ARRAY_BILLING] = assoc_mgr_tres_weighted(
			job->tres_req_cnt, job->part_ptr->billing_weights,
			slurm_conf.priority_flags, false);
}

/* Fields that every job of a site has, and that no plugin reads. */
static void add_baggage(job_record_t *job)
{
	job->name = xstrdup_printf("simulation-%" PRIu32, job->job_id);
	job->details->work_dir = xstrdup("/home/users/somebody/project/run");
	job->details->std_out = xstrdup_printf("/home/users/somebody/project/"
					       "run/out-%" PRIu32 ".log",
					       job->job_id);
	job->tres_req_str = xstrdup("1=128,2=256000,4=1,5=128");
	job->tres_fmt_req_str = xstrdup("cpu=128,mem=250G,node=1,billing=128");
}

static job_record_t *new_job(uint32_t id)
{
	static const char *const part[] = { "p0", "p1", "p2", "p3",
					    "p0,p1", "p2,p3" };
	char text[8][16];
	twin_line line = { .verb = "submit", .arg = text[0] };
	uint32_t nodes = 1 + below(64), which = below(64);
	slurmdb_assoc_rec_t *assoc = user[below(users)];
	job_record_t *job;

	snprintf(text[0], sizeof(text[0]), "%" PRIu32, id);
	line.key[0] = "part";
	line.value[0] = part[(which < 60) ? (which % 4) : 4 + (which % 2)];
	line.count = 1;
	add_word(&line, "qos", text[1], sizeof(text[1]), 1 + below(8));
	add_word(&line, "limit", text[2], sizeof(text[2]), 60 + below(1000));
	add_word(&line, "cpu", text[3], sizeof(text[3]), nodes * 128);
	add_word(&line, "node", text[4], sizeof(text[4]), nodes);
	add_word(&line, "mem", text[5], sizeof(text[5]), nodes * 200000);
	add_word(&line, "gres/gpu", text[6], sizeof(text[6]), below(5));
	if (!(job = twin_job_new(&line)))
		twin_usage_error("a crowd comes before other jobs");
	job->assoc_ptr = assoc;
	job->assoc_id = assoc->id;
	job->user_id = assoc->uid;
	job->account = xstrdup(assoc->acct);
	job->details->submit_time -= below(10 * DAY_S);
	job->details->begin_time = job->details->submit_time;
	job->details->accrue_time = job->details->submit_time;
	set_billing(job);
	add_baggage(job);
	return job;
}

static void start_job(uint32_t id)
{
	char text[16];
	twin_line line = { .verb = "start", .arg = text };

	snprintf(text, sizeof(text), "%" PRIu32, id);
	twin_job_event("start")(&line);
}

void bench_crowd(const twin_line *line)
{
	uint32_t waiting = twin_arg_u32(line);
	uint32_t running = twin_word_u32(line, "running", 0);
	bool scattered = twin_word_u32(line, "scattered", 0);
	uint32_t all = waiting + running;
	job_record_t **job = xcalloc(all, sizeof(*job));

	state = twin_word_u32(line, "seed", 1);
	find_users();
	lock_slurmctld(twin_rpc_locks);
	if (scattered)
		bench_memory_scatter(all, ~state);
	for (uint32_t i = 0; i < all; i++)
		job[i] = new_job(i + 1);
	bench_memory_together();
	for (uint32_t i = 0; i < all; i++)
		twin_plugin_set(job[i]);
	/* The running jobs are the older ones. */
	for (uint32_t i = 0; i < running; i++)
		start_job(job[i]->job_id);
	unlock_slurmctld(twin_rpc_locks);
	xfree(job);
}

void bench_start_first(const twin_line *line)
{
	uint32_t first = twin_arg_u32(line);

	lock_slurmctld(twin_rpc_locks);
	for (uint32_t id = 1; id <= first; id++)
		start_job(id);
	unlock_slurmctld(twin_rpc_locks);
}
