/*
 * The symbols of slurmctld itself: its variables, and the functions that a
 * priority plugin may call.
 */
#include "host.h"

/* ---- variables, under the names of slurmctld ------------------------------ */

void *acct_db_conn;
uint16_t accounting_enforce;
uint32_t cluster_cpus = 1;
twin_list job_list;
time_t last_job_update;
time_t last_part_update;
twin_list part_list;
slurmctld_config_t slurmctld_config;
int slurmctld_tres_cnt;

const slurmctld_lock_t twin_rpc_locks = {
	.conf = READ_LOCK, .job = WRITE_LOCK, .node = WRITE_LOCK,
	.part = READ_LOCK, .fed = READ_LOCK,
};

/* ---- functions --------------------------------------------------------------- */

/*
 * The billing of an allocation: kept until the job is resized; the CPUs if the
 * partition has no weights.
 */
double calc_job_billable_tres(job_record_t *job, time_t start, bool locked)
{
	bool known = (job->billable_tres < NO_VAL - 0.5) ||
		     (job->billable_tres > NO_VAL + 0.5);
	part_record_t *part = job->part_ptr;

	if (!job->tres_alloc_cnt)
		return 0;
	if (known && (job->resize_time < start))
		return job->billable_tres;
	if (!part || !part->billing_weights)
		job->billable_tres = job->total_cpus;
	else
		job->billable_tres = assoc_mgr_tres_weighted(
			job->tres_alloc_cnt, part->billing_weights,
			slurm_conf.priority_flags, locked);
	return job->billable_tres;
}

/* Only root is an operator here. */
bool validate_operator(uid_t uid)
{
	return !uid;
}

static int part_has_name(void *part, void *name)
{
	return !strcmp(((part_record_t *)part)->name, name);
}

part_record_t *find_part_record(char *name)
{
	return part_list ? list_find_first(part_list, part_has_name, name) :
			   NULL;
}

__thread uint64_t twin_lookups;

/* slurmctld also checks the record: others may be in the same place of its table. */
job_record_t *find_job_record(uint32_t id)
{
	job_record_t *job = twin_job(id);

	twin_lookups++;
	return job && job->job_id == id ? job : NULL;
}

static int append_name(void *part, void *names)
{
	char **text = names;

	xstrfmtcat(*text, "%s%s", *text ? "," : "",
		   ((part_record_t *)part)->name);
	return 0;
}

char *part_list_to_xstr(twin_list parts);
char *part_list_to_xstr(twin_list parts)
{
	char *names = NULL;

	list_for_each(parts, append_name, &names);
	return names;
}

/* ---- counts of a QOS per user and per account ------------------------------- */

static int is_of_account(void *limits, void *acct)
{
	return !xstrcmp(((slurmdb_used_limits_t *)limits)->acct, acct);
}

static int is_of_user(void *limits, void *uid)
{
	return ((slurmdb_used_limits_t *)limits)->uid == *(uint32_t *)uid;
}

static slurmdb_used_limits_t *used_limits(twin_list *counted, ListFindF is_it,
					  void *key)
{
	slurmdb_used_limits_t *found;

	if (!*counted)
		*counted = list_create(slurmdb_destroy_used_limits);
	if ((found = list_find_first(*counted, is_it, key)))
		return found;
	found = xmalloc(sizeof(*found));
	found->tres = xcalloc(slurmctld_tres_cnt, sizeof(uint64_t));
#if TWIN_USED_LIMITS
	found->tres_run_secs = xcalloc(slurmctld_tres_cnt, sizeof(uint64_t));
#else
	found->tres_run_mins = xcalloc(slurmctld_tres_cnt, sizeof(uint64_t));
#endif
	list_append(*counted, found);
	return found;
}

slurmdb_used_limits_t *acct_policy_get_acct_used_limits(twin_list *counted,
							char *acct)
{
	slurmdb_used_limits_t *found = used_limits(counted, is_of_account, acct);

	if (!found->acct)
		found->acct = xstrdup(acct);
	return found;
}

slurmdb_used_limits_t *acct_policy_get_user_used_limits(twin_list *counted,
							uint32_t uid)
{
	slurmdb_used_limits_t *found = used_limits(counted, is_of_user, &uid);

	found->uid = uid;
	return found;
}
