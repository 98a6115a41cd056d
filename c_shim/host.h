/*
 * host.h - Slurm's headers, for the files of the shim only.
 *
 * Every symbol that is defined in slurmctld itself is declared weak here, because sshare also loads
 * the plugin, and has none of them: their addresses are NULL there (see shim_in_slurmctld). Symbols
 * of libslurmfull need no declaration: both programs have them.
 */
#ifndef FAIRTREE_HOST_H
#define FAIRTREE_HOST_H

#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "slurm/slurm.h"
#include "slurm/slurm_errno.h"

#include "src/common/assoc_mgr.h"
#include "src/common/list.h"
#include "src/common/log.h"
#include "src/common/slurm_protocol_api.h"
#include "src/common/slurm_protocol_defs.h"
#include "src/common/xmalloc.h"
#include "src/slurmctld/acct_policy.h"
#include "src/slurmctld/fed_mgr.h"
#include "src/slurmctld/locks.h"
#include "src/slurmctld/slurmctld.h"
#include "src/slurmctld/state_save.h"

#include "release.h"

#include HOST_PRIORITY_HEADER
#include HOST_SITE_FACTOR_HEADER
#include HOST_MCS_HEADER

#include "shim.h"

#pragma weak accounting_enforce
#pragma weak acct_db_conn
#pragma weak acct_policy_get_acct_used_limits
#pragma weak acct_policy_get_user_used_limits
#pragma weak cluster_cpus
#pragma weak fed_mgr_state_save
#pragma weak find_job_record
#pragma weak job_list
#pragma weak last_job_update
#pragma weak last_part_update
#pragma weak lock_slurmctld
#pragma weak part_list
#pragma weak part_list_to_xstr
#pragma weak schedule_resv_save
#pragma weak schedule_trigger_save
#pragma weak slurmctld_config
#pragma weak slurmctld_tres_cnt
#pragma weak unlock_slurmctld
#pragma weak validate_operator

_Static_assert(sizeof(long double) == 16, "usage is kept in x87's 80-bit format");
_Static_assert(sizeof(time_t) == 8, "times are 64 bits wide");

/*
 * Variables of slurmctld that may be missing in a program that has `cluster_cpus` and so counts as
 * slurmctld, such as the programs of Slurm's testsuite.
 */
extern uint32_t host_tres_count(void);
extern time_t host_last_part_update(void);

/* A list in either spelling (`List` before 23.02, `list_t *` since then). */
typedef struct xlist *host_list;

static inline bool host_has_qos_list(const job_record_t *job)
{
#if HOST_HAS_QOS_LISTS
	return job->qos_list;
#else
	(void) job;
	return false;
#endif
}

/* `long double` as the two integers in which x86-64 stores it. */
static inline shim_extended host_to_extended(long double value)
{
	shim_extended out = { 0 };

	memcpy(&out.mantissa, &value, sizeof(out.mantissa));
	memcpy(&out.sign_exponent, (const char *) &value + 8, sizeof(out.sign_exponent));
	return out;
}

static inline long double host_from_extended(shim_extended value)
{
	long double out = 0;

	memcpy(&out, &value.mantissa, sizeof(value.mantissa));
	memcpy((char *) &out + 8, &value.sign_exponent, sizeof(value.sign_exponent));
	return out;
}

/* Returns true if a number is neither 0 nor -0. */
static inline bool host_has_digits(const long double *value)
{
	uint64_t mantissa;

	memcpy(&mantissa, value, sizeof(mantissa));
	return mantissa != 0;
}

/* `leaf_usage` of a user is its usage; that of an account is the usage left by removed users. */
static inline bool host_has_own_leaf_usage(const slurmdb_assoc_rec_t *assoc)
{
	return assoc->leaf_usage && assoc->leaf_usage != assoc->usage;
}

/* Returns true for a number that is not slurmctld's mark for "not computed yet". */
static inline bool host_is_computed(long double usage)
{
	return !fuzzy_equal(usage, NO_VAL);
}

/*
 * One of slurmctld's xmalloc'ed TRES arrays, or none. It may be shorter than slurmctld's count of
 * TRES if it is older than the last of them: counts beyond its end are 0.
 */
typedef struct {
	const uint64_t *at;
	size_t len;
} host_tres;

static inline host_tres host_tres_of(const uint64_t *counts)
{
	size_t bytes = counts ? (size_t) xsize((void *) counts) : 0;

	return (host_tres) { .at = counts, .len = bytes / sizeof(*counts) };
}

static inline uint64_t host_tres_at(host_tres counts, uint32_t i)
{
	return i < counts.len ? counts.at[i] : 0;
}

#endif
