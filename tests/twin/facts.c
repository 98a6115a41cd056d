/*
 * Fields that a plugin reads and never writes: they follow the other fields of
 * jobs, associations and QOS in the trace, or are in records of settings and
 * partitions.
 */
#include "sink.h"
#include "trace.h"

static void put_ids(const char *field, const char *ids)
{
	twin_put_text(field, (ids && *ids) ? ids : NULL);
}

/* ---- jobs ------------------------------------------------------------------- */

/* The billing if it were computed now. */
static double fresh_billing(job_record_t *job)
{
	double kept = job->billable_tres, fresh;

	job->billable_tres = (double)NO_VAL;
	fresh = calc_job_billable_tres(job, job->start_time, true);
	job->billable_tres = kept;
	return fresh;
}

#ifdef TWIN_PRIO_MULT
static int append_qos(void *qos, void *ids)
{
	char **text = ids;

	xstrfmtcat(*text, "%s%" PRIu32, *text ? "," : "",
		   ((slurmdb_qos_rec_t *)qos)->id);
	return 0;
}

static void put_qos_list(job_record_t *job)
{
	char *ids = NULL;

	if (job->qos_list)
		list_for_each(job->qos_list, append_qos, &ids);
	put_ids("qos_list", ids);
	xfree(ids);
}
#else
static void put_qos_list(job_record_t *job)
{
	(void)job;
	put_ids("qos_list", NULL);
}
#endif

void twin_facts_job(job_record_t *job)
{
	const twin_details *details = job->details;

	twin_put_u64("assoc_id", job->assoc_ptr ? job->assoc_ptr->id : 0);
	twin_put_u64("user_id", job->user_id);
	twin_put_u64("qos_id", job->qos_ptr ? job->qos_ptr->id : 0);
	put_qos_list(job);
	twin_put_text("in_part", job->part_ptr->name);
	twin_put_u64("start", job->start_time);
	twin_put_u64("end", job->end_time);
	twin_put_u64("resized", job->resize_time);
	twin_put_u64("limit", job->time_limit);
	twin_put_u64("total_cpus", job->total_cpus);
	twin_put_u64("min_cpus", details->min_cpus);
	twin_put_u64("max_cpus", details->max_cpus);
	twin_put_u64("min_nodes", details->min_nodes);
	twin_put_u64("job_nice", details->nice);
	twin_put_f64("fresh_billing", fresh_billing(job));
	twin_put_u64s("req", job->tres_req_cnt, slurmctld_tres_cnt);
	twin_put_u64s("alloc", job->tres_alloc_cnt, slurmctld_tres_cnt);
}

/* ---- associations and QOS ------------------------------------------------------ */

static int append_assoc(void *assoc, void *ids)
{
	char **text = ids;

	xstrfmtcat(*text, "%s%" PRIu32, *text ? "," : "",
		   ((slurmdb_assoc_rec_t *)assoc)->id);
	return 0;
}

void twin_facts_assoc(slurmdb_assoc_rec_t *assoc, uint64_t place)
{
	const slurmdb_assoc_usage_t *usage = assoc->usage;
	char *ids = NULL;

	if (usage->children_list)
		list_for_each(usage->children_list, append_assoc, &ids);
	put_ids("children", ids);
	xfree(ids);
	twin_put_u64("place", place);
	twin_put_text("acct", assoc->acct);
	twin_put_u64("is_user", assoc->user != NULL);
	twin_put_u64("priority", assoc->priority);
	twin_put_u64("parent", usage->parent_assoc_ptr ?
				       usage->parent_assoc_ptr->id : 0);
	twin_put_u64("fs_parent",
		     usage->fs_assoc_ptr ? usage->fs_assoc_ptr->id : 0);
}

void twin_facts_qos(slurmdb_qos_rec_t *qos)
{
	twin_put_text("name", qos->name);
	twin_put_u64("priority", qos->priority);
	twin_put_f64("factor", qos->usage_factor);
	twin_put_u64("no_decay", (qos->flags & QOS_FLAG_NO_DECAY) != 0);
}

/* ---- settings and partitions ------------------------------------------------------ */

static void put_settings(void *unused)
{
	double *weights = slurm_get_tres_weight_array(
		slurm_conf.priority_weight_tres, slurmctld_tres_cnt, true);

	(void)unused;
	twin_sink_record("conf", 0, NULL);
	twin_put_text("zone", getenv("TZ"));
	twin_put_u64("starts_anew", TWIN_THREAD_START);
	twin_put_u64("keeps_factor", TWIN_KEEPS_FACTOR);
	twin_put_u64("cpus", cluster_cpus);
	twin_put_u64("nodes", node_record_count);
	twin_put_u64("users", g_user_assoc_count);
	twin_put_u64("part_update", last_part_update);
	twin_put_u64("root", assoc_mgr_root_assoc ? assoc_mgr_root_assoc->id : 0);
	twin_put_u64("slurmdbd", slurm_with_slurmdbd());
	twin_put_u64("limits",
		     (accounting_enforce & ACCOUNTING_ENFORCE_LIMITS) != 0);
	twin_put_u64("age", slurm_conf.priority_weight_age);
	twin_put_u64("assoc", slurm_conf.priority_weight_assoc);
	twin_put_u64("fs", slurm_conf.priority_weight_fs);
	twin_put_u64("js", slurm_conf.priority_weight_js);
	twin_put_u64("part", slurm_conf.priority_weight_part);
	twin_put_u64("qos", slurm_conf.priority_weight_qos);
	twin_put_u64("flags", slurm_conf.priority_flags);
	twin_put_u64("max_age", slurm_conf.priority_max_age);
	twin_put_u64("favor_small", slurm_conf.priority_favor_small);
	twin_put_u64("half_life", slurm_conf.priority_decay_hl);
	twin_put_u64("reset_period", slurm_conf.priority_reset_period);
	twin_put_u64("dampening", slurm_conf.fs_dampening_factor);
	twin_put_f64s("tres", weights, slurmctld_tres_cnt);
	xfree(weights);
}

static uint64_t part_number;

static void put_part(void *each)
{
	part_record_t *part = each;

	twin_sink_record("part", part_number, NULL);
	twin_put_text("name", part->name);
	twin_put_u64("factor", part->priority_job_factor);
	twin_put_f64("norm", part->norm_priority);
	twin_put_u64("max_time", part->max_time);
	twin_put_u64("qos", part->qos_ptr ? part->qos_ptr->id : 0);
	twin_put_u64s("count", part->tres_cnt, slurmctld_tres_cnt);
}

static int put_part_of(void *each, void *put)
{
	((twin_put)put)(put_part, each);
	part_number++;
	return 0;
}

void twin_facts_daemon(twin_put put)
{
	put(put_settings, NULL);
	part_number = 0;
	list_for_each(part_list, put_part_of, put);
}
