/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Hostile input: sites and jobs; and a long random life of a tree.
 */

#include "hostile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void sites(void)
{
    static const char *const TWICE[] = {"cpu", "CPU"};
    static const char *const EMPTY[] = {""};
    static const char *const NO_NAME[] = {NULL};
    static const char *const LATIN1[] = {"g\xfcr"};
    static const char *const GOOD[] = {"cpu", "mem"};
    const uint64_t counts[2] = {UINT64_MAX, 0};
    const uint32_t ids[2] = {3, FT_NONE};
    ft_site *site = NULL;
    uint32_t position = 77;

    EXPECT(FT_ERR_RANGE, ft_site_new(1, 1, TWICE, 2, &site));
    EXPECT(FT_ERR_RANGE, ft_site_new(1, 1, EMPTY, 1, &site));
    EXPECT(FT_ERR_NULL, ft_site_new(1, 1, NO_NAME, 1, &site));
    EXPECT(FT_ERR_UTF8, ft_site_new(1, 1, LATIN1, 1, &site));
    EXPECT(FT_ERR_NULL, ft_site_new(1, 1, NULL, 2, &site));
    EXPECT(FT_ERR_LENGTH, ft_site_new(1, 1, GOOD, SIZE_MAX, &site));
    EXPECT(FT_ERR_NULL, ft_site_new(1, 1, GOOD, 2, NULL));
    if (site != NULL)
        exit(EXIT_FAILURE);
    EXPECT(FT_OK, ft_site_new(0, 0, GOOD, 2, &site));
    EXPECT(FT_ERR_NULL, ft_site_add_partition(NULL, 1, 1, counts, 2, &position));
    EXPECT(FT_ERR_RANGE, ft_site_add_partition(site, 65534, 1, counts, 2, &position));
    EXPECT(FT_ERR_RANGE, ft_site_add_partition(site, UINT32_MAX, 1, counts, 2, &position));
    EXPECT(FT_ERR_LENGTH, ft_site_add_partition(site, 1, 1, counts, 1, &position));
    EXPECT(FT_ERR_LENGTH, ft_site_add_partition(site, 1, 1, counts, SIZE_MAX, &position));
    EXPECT(FT_ERR_NULL, ft_site_add_partition(site, 1, 1, NULL, 2, &position));
    EXPECT(FT_ERR_ALIGN, ft_site_add_partition(site, 1, 1, MISALIGNED(uint64_t, counts), 1, NULL));
    EXPECT(FT_ERR_NULL, ft_site_add_qos(NULL, 1, &position));
    EXPECT(FT_ERR_ALIGN, ft_site_add_qos(site, 1, MISALIGNED(uint32_t, &position)));
    EXPECT(FT_ERR_LENGTH, ft_site_set_assoc_priorities(site, ids, 2, ids, 1));
    EXPECT(FT_ERR_NULL, ft_site_set_assoc_priorities(site, NULL, 2, ids, 2));
    EXPECT(FT_ERR_NULL, ft_site_set_assoc_priorities(NULL, ids, 2, ids, 2));
    if (position != 77)
        exit(EXIT_FAILURE);
    ft_site_free(site);
}

/* The three ways to price; all refuse the same input in the same way. */
static void expect_price(int line, int32_t status, const ft_config *config, const ft_site *site,
                         const ft_tree *tree, const ft_batch *batch)
{
    size_t offsets[3];
    uint32_t priorities[2] = {0, 0};
    double terms[4];
    expect(line, "ft_jobs_price", status,
           ft_jobs_price(config, site, tree, batch, priorities, 2, NULL, 0, sizeof(ft_priced)));
    expect(line, "ft_jobs_price_lists", status,
           ft_jobs_price_lists(config, site, tree, batch, offsets, 3, NULL, 0));
    expect(line, "ft_jobs_tres_terms", status,
           ft_jobs_tres_terms(config, site, tree, batch, terms, 4));
}

#define EXPECT_PRICE(status) expect_price(__LINE__, (status), config, site, tree, &batch)

static ft_job_lists job_lists[2];

/* A batch of two jobs that can be priced with the site of `hostile_jobs`. */
static ft_batch good_batch(ft_job *jobs, const uint64_t *counts, const uint32_t *list)
{
    static const int32_t SITE_FACTORS[2] = {INT32_MIN, INT32_MAX};
    ft_batch batch;
    memset(&batch, 0, sizeof(batch));
    memset(job_lists, 0, sizeof(job_lists));
    memset(jobs, 0, 2 * sizeof(*jobs));
    for (uint32_t i = 0; i < 2; i++) {
        jobs[i].assoc = 3 + i;
        jobs[i].tres_row = i;
        jobs[i].priority = 1;
        jobs[i].time_limit_mins = FT_UNLIMITED;
    }
    batch.struct_size = sizeof(batch);
    batch.job_size = sizeof(*jobs);
    batch.jobs = jobs;
    batch.jobs_len = 2;
    batch.site_factors = SITE_FACTORS;
    batch.site_factors_len = 2;
    batch.lists = job_lists;
    batch.lists_len = 2;
    batch.list_size = sizeof(job_lists[0]);
    batch.partition_lists = list;
    batch.partition_lists_len = 2;
    batch.qos_lists = list;
    batch.qos_lists_len = 1;
    batch.tres_counts = counts;
    batch.tres_counts_len = 4;
    return batch;
}

static void bad_jobs(const ft_config *config, const ft_site *site, const ft_tree *tree)
{
    const uint64_t counts[4] = {0, UINT64_MAX, 1, 2};
    const uint32_t list[3] = {0, 1, FT_NONE};
    ft_job jobs[2];
    ft_batch batch = good_batch(jobs, counts, list);
    EXPECT_PRICE(FT_OK);

#define SPOILED(field, value, status)                                                             \
    do {                                                                                          \
        batch = good_batch(jobs, counts, list);                                                   \
        field = (value);                                                                          \
        EXPECT_PRICE(status);                                                                     \
    } while (0)

    SPOILED(jobs[1].assoc, 99, FT_ERR_UNKNOWN_ID);
    SPOILED(jobs[1].assoc, 2, FT_ERR_NOT_A_USER);
    SPOILED(jobs[1].partition, 2, FT_ERR_UNKNOWN_INDEX);
    SPOILED(jobs[1].partition, UINT32_MAX - 1, FT_ERR_UNKNOWN_INDEX);
    SPOILED(jobs[1].qos, 1, FT_ERR_UNKNOWN_INDEX);
    SPOILED(jobs[1].tres_row, 2, FT_ERR_UNKNOWN_INDEX);
    SPOILED(jobs[1].flags, 2, FT_ERR_ENUM);
    SPOILED(job_lists[1].partitions_len, 3, FT_ERR_UNKNOWN_INDEX);
    SPOILED(job_lists[1].qos_len, UINT32_MAX, FT_ERR_UNKNOWN_INDEX);
    SPOILED(job_lists[1].qos_start, UINT32_MAX, FT_OK);
    SPOILED(batch.struct_size, 0, FT_ERR_STRUCT_SIZE);
    SPOILED(batch.struct_size, sizeof(batch) - 8, FT_ERR_STRUCT_SIZE);
    SPOILED(batch.struct_size, SIZE_MAX - 7, FT_ERR_LENGTH);
    SPOILED(batch.job_size, 0, FT_ERR_STRUCT_SIZE);
    SPOILED(batch.jobs, NULL, FT_ERR_NULL);
    SPOILED(batch.jobs, MISALIGNED(const ft_job, jobs), FT_ERR_ALIGN);
    SPOILED(batch.jobs_len, SIZE_MAX, FT_ERR_LENGTH);
    SPOILED(batch.jobs_len, SIZE_MAX / sizeof(ft_job), FT_ERR_LENGTH);
    SPOILED(batch.site_factors, NULL, FT_ERR_NULL);
    SPOILED(batch.site_factors, MISALIGNED(const int32_t, counts), FT_ERR_ALIGN);
    SPOILED(batch.site_factors_len, 1, FT_ERR_LENGTH);
    SPOILED(batch.site_factors_len, SIZE_MAX, FT_ERR_LENGTH);
    SPOILED(batch.site_factors_len, 0, FT_OK);
    SPOILED(batch.lists, NULL, FT_ERR_NULL);
    SPOILED(batch.lists, MISALIGNED(const ft_job_lists, job_lists), FT_ERR_ALIGN);
    SPOILED(batch.lists_len, 1, FT_ERR_LENGTH);
    SPOILED(batch.lists_len, SIZE_MAX / sizeof(ft_job_lists), FT_ERR_LENGTH);
    SPOILED(batch.lists_len, 0, FT_OK);
    SPOILED(batch.list_size, 0, FT_ERR_STRUCT_SIZE);
    SPOILED(batch.list_size, sizeof(ft_job_lists) + 1, FT_ERR_STRUCT_SIZE);
    SPOILED(batch.partition_lists, NULL, FT_ERR_NULL);
    SPOILED(batch.partition_lists_len, 3, FT_ERR_UNKNOWN_INDEX);
    SPOILED(batch.qos_lists_len, 2, FT_ERR_UNKNOWN_INDEX);
    SPOILED(batch.tres_counts, NULL, FT_ERR_NULL);
    SPOILED(batch.tres_counts_len, 3, FT_ERR_LENGTH);
    SPOILED(batch.tres_counts_len, SIZE_MAX, FT_ERR_LENGTH);
    SPOILED(batch.mode, 2, FT_ERR_ENUM);
    SPOILED(batch.threads, FT_THREADS_MAX + 1, FT_ERR_RANGE);
    SPOILED(batch.now, INT64_MIN, FT_OK);
    SPOILED(jobs[0].accrue_time, INT64_MIN, FT_OK);
    SPOILED(jobs[0].accrue_time, INT64_MAX, FT_OK);
    SPOILED(jobs[0].nice, INT32_MIN, FT_OK);
    SPOILED(jobs[0].cpus, UINT32_MAX, FT_OK);
}

static void bad_outputs(const ft_config *config, const ft_site *site, const ft_tree *tree)
{
    const uint64_t counts[4] = {0, 0, 0, 0};
    const uint32_t list[2] = {0, 1};
    ft_job jobs[2];
    ft_batch batch = good_batch(jobs, counts, list);
    uint32_t out[2] = {0, 0};
    ft_priced terms[2];
    size_t offsets[3];
    double tres[4];
    const size_t size = sizeof(terms[0]);

    EXPECT(FT_ERR_NULL, ft_jobs_price(NULL, site, tree, &batch, out, 2, NULL, 0, size));
    EXPECT(FT_ERR_NULL, ft_jobs_price(config, NULL, tree, &batch, out, 2, NULL, 0, size));
    EXPECT(FT_ERR_UNKNOWN_ID, ft_jobs_price(config, site, NULL, &batch, out, 2, NULL, 0, size));
    EXPECT(FT_ERR_NULL, ft_jobs_price(config, site, tree, NULL, out, 2, NULL, 0, size));
    EXPECT(FT_ERR_NULL, ft_jobs_price(config, site, tree, &batch, NULL, 2, NULL, 0, size));
    EXPECT(FT_ERR_LENGTH, ft_jobs_price(config, site, tree, &batch, out, 1, NULL, 0, size));
    EXPECT(FT_ERR_LENGTH, ft_jobs_price(config, site, tree, &batch, out, 2, terms, 1, size));
    EXPECT(FT_ERR_NULL, ft_jobs_price(config, site, tree, &batch, out, 2, NULL, 2, size));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_jobs_price(config, site, tree, &batch, out, 2, terms, 2, 8));
    EXPECT(FT_ERR_LENGTH, ft_jobs_price_lists(config, site, tree, &batch, offsets, 2, NULL, 0));
    EXPECT(FT_ERR_NULL, ft_jobs_price_lists(config, site, tree, &batch, NULL, 3, NULL, 0));
    EXPECT(FT_ERR_LENGTH, ft_jobs_price_lists(config, site, tree, &batch, offsets, 3, out, 2));
    EXPECT(FT_ERR_LENGTH, ft_jobs_tres_terms(config, site, tree, &batch, tres, 3));
    EXPECT(FT_ERR_NULL, ft_jobs_tres_terms(config, site, tree, &batch, NULL, 4));
    EXPECT(FT_ERR_ALIGN,
           ft_jobs_tres_terms(config, site, tree, &batch, MISALIGNED(double, tres), 4));
}

void hostile_jobs(void)
{
    static const char *const TRES[] = {"cpu", "gres/gpu"};
    ft_tree *tree = sample_tree();
    ft_config *config = sample_config();
    ft_site *site = NULL;
    sites();
    EXPECT(FT_OK, ft_site_new(0, 0, TRES, 2, &site));
    EXPECT(FT_OK, ft_site_add_partition(site, 0, 0, NULL, 0, NULL));
    EXPECT(FT_OK, ft_site_add_partition(site, FT_JOB_FACTOR_MAX, 1, NULL, 0, NULL));
    EXPECT(FT_OK, ft_site_add_qos(site, UINT32_MAX, NULL));
    EXPECT(FT_OK, ft_fairshare_compute(tree, config));
    bad_jobs(config, site, tree);
    bad_outputs(config, site, tree);

    EXPECT(FT_OK, ft_config_set(config, "PriorityWeightTRES", "gres/tpu=1"));
    {
        const uint64_t counts[4] = {0, 0, 0, 0};
        const uint32_t list[2] = {0, 1};
        ft_job jobs[2];
        ft_batch batch = good_batch(jobs, counts, list);
        EXPECT_PRICE(FT_ERR_UNKNOWN_TRES);
    }
    ft_site_free(site);
    ft_config_free(config);
    ft_tree_free(tree);
}

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static uint32_t random_below(uint32_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 33) % limit;
}

/* One random edit; most are refused, with a suitable error. */
static int32_t random_edit(ft_tree *tree, const ft_config *config, int64_t *now)
{
    const uint32_t id = random_below(60), other = random_below(60);
    const double amount = random_below(5) * 1000.0;
    ft_assoc row;
    row.id = id;
    row.parent = other;
    row.raw_shares = random_below(4) == 0 ? FT_SHARES_PARENT : random_below(3);
    row.kind = random_below(2);
    switch (random_below(7)) {
    case 0:
        return ft_tree_remove(tree, id);
    case 1:
        return ft_tree_move(tree, id, other);
    case 2:
        return ft_tree_set_shares(tree, id, row.raw_shares);
    case 3:
        return ft_usage_charge(tree, &id, 1, &amount, 1);
    case 4:
        *now += random_below(100000);
        return ft_usage_advance(tree, config, *now, "UTC", NULL);
    default:
        return ft_tree_add(tree, &row, sizeof(row));
    }
}

/* After any edits the root has the usage of all, and factors are in 0..1. */
static void check_sums(ft_tree *tree, const ft_config *config)
{
    double own[64], raw[64], factors[64], sum = 0.0;
    size_t len = 0, users = 0;
    EXPECT(FT_OK, ft_tree_len(tree, &len, &users));
    if (len > 60 || users > len)
        exit(EXIT_FAILURE);
    EXPECT(FT_OK, ft_usage_read(tree, FT_USAGE_OWN, own, len));
    EXPECT(FT_OK, ft_usage_read(tree, FT_USAGE_RAW, raw, len));
    EXPECT(FT_OK, ft_fairshare_compute(tree, config));
    EXPECT(FT_OK, ft_fairshare_column(tree, FT_COLUMN_FS_FACTOR, factors, len));
    for (size_t i = 0; i < len; i++) {
        sum += own[i];
        if (!isnan(factors[i]) && (factors[i] < 0.0 || factors[i] > 1.0))
            exit(EXIT_FAILURE);
    }
    if (len > 0 && fabs(sum - raw[0]) > 1e-9 * sum)
        exit(EXIT_FAILURE);
}

void random_life(void)
{
    static const ft_assoc ROOT = {0, FT_NONE, 1, FT_ACCOUNT};
    ft_config *config = sample_config();
    ft_tree *tree = NULL;
    int64_t now = 0;
    EXPECT(FT_OK, ft_tree_new(now, &tree));
    EXPECT(FT_OK, ft_tree_add(tree, &ROOT, sizeof(ROOT)));
    for (int i = 0; i < 3000; i++) {
        const int32_t status = random_edit(tree, config, &now);
        if (status == FT_ERR_PANIC || status == FT_ERR_POISONED || (status != FT_OK && status > -20))
            exit(EXIT_FAILURE);
        if (i % 10 == 0)
            check_sums(tree, config);
    }
    ft_tree_free(tree);
    ft_config_free(config);
}
