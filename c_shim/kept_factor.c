/*
 * kept_factor.c - the classic fair-share factor where slurmctld and sshare read it from the
 * association's record instead of asking the plugin for a formula.
 */
#include "host.h"

bool shim_assoc_is_computed(const void *arg)
{
	const slurmdb_assoc_rec_t *assoc = arg;

	return !fuzzy_equal(assoc->usage->usage_efctv, NO_VAL);
}

const void *shim_assoc_payer(const void *arg)
{
	const slurmdb_assoc_rec_t *assoc = arg;

	if (assoc->shares_raw == SLURMDB_FS_USE_PARENT && assoc->usage->fs_assoc_ptr)
		return assoc->usage->fs_assoc_ptr;
	return assoc;
}

void *shim_job_assoc(const void *job)
{
	return ((const job_record_t *) job)->assoc_ptr;
}

double shim_assoc_read_factor(const void *assoc)
{
	return ((const slurmdb_assoc_rec_t *) assoc)->usage->fs_factor;
}

void shim_assoc_write_factor(void *assoc, double fs_factor)
{
	((slurmdb_assoc_rec_t *) assoc)->usage->fs_factor = fs_factor;
}
