/*
 * A site factor plugin: PrioritySiteFactorPlugin=site_factor/cpus.
 *
 * A job's factor is 100 for each requested CPU, from its submission on. Each
 * pass then writes -7 for each CPU of waiting jobs with an odd number of them.
 * So the factor of even jobs shows that site_factor_p_set was called, and that
 * of odd jobs that site_factor_p_update was, for any number of calls.
 */
#include "src/common/slurm_xlator.h"
#include "src/slurmctld/slurmctld.h"

const char plugin_name[] = "site factors by CPUs";
const char plugin_type[] = "site_factor/cpus";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

static void write_factor(job_record_t *job, int each)
{
	int cpus = job->details ? (int) job->details->min_cpus : 0;

	job->site_factor = (uint32_t) (NICE_OFFSET + each * cpus);
}

static int update(void *element, void *unused)
{
	job_record_t *job = element;

	(void) unused;
	if (IS_JOB_PENDING(job) && job->details &&
	    job->details->min_cpus % 2)
		write_factor(job, -7);
	return SLURM_SUCCESS;
}

extern int init(void)
{
	return SLURM_SUCCESS;
}

extern int fini(void)
{
	return SLURM_SUCCESS;
}

/* Required up to 23.02. */
extern void site_factor_p_reconfig(void)
{
}

extern void site_factor_p_set(job_record_t *job)
{
	write_factor(job, 100);
}

extern void site_factor_p_update(void)
{
	list_for_each(job_list, update, NULL);
}
