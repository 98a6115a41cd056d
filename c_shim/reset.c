/*
 * reset.c - resets usage in slurmctld's own records.
 */
#include "host.h"

static void reset_assoc_usage(slurmdb_assoc_usage_t *usage)
{
	usage->usage_raw = 0;
	for (uint32_t i = 0; usage->usage_tres_raw && i < usage->tres_cnt; i++)
		usage->usage_tres_raw[i] = 0;
	usage->grp_used_wall = 0;
}

static int reset_assoc(void *arg_assoc, void *unused)
{
	slurmdb_assoc_rec_t *assoc = arg_assoc;

	(void) unused;
	reset_assoc_usage(assoc->usage);
	if (host_has_own_leaf_usage(assoc)) {
		slurmdb_destroy_assoc_usage(assoc->leaf_usage);
		assoc->leaf_usage = NULL;
	}
	return 0;
}

static int reset_qos(void *arg_qos, void *unused)
{
	slurmdb_qos_rec_t *qos = arg_qos;

	(void) unused;
	qos->usage->usage_raw = 0;
	for (uint32_t i = 0; qos->usage->usage_tres_raw && i < qos->usage->tres_cnt; i++)
		qos->usage->usage_tres_raw[i] = 0;
	qos->usage->grp_used_wall = 0;
	return 0;
}

void shim_usage_reset(void)
{
	if (assoc_mgr_assoc_list)
		(void) list_for_each(assoc_mgr_assoc_list, reset_assoc, NULL);
	if (assoc_mgr_qos_list)
		(void) list_for_each(assoc_mgr_qos_list, reset_qos, NULL);
}
