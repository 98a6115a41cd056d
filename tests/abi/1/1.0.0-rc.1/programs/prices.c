/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Results of pricing that the example does not show: held and direct jobs, lists of partitions and
 * QOS, TRES, associations, nice and site factor. All are computed by hand.
 */

#include <fairtree.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                          \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, ft_last_error());          \
            exit(EXIT_FAILURE);                                                                   \
        }                                                                                         \
    } while (0)

#define OK(call) CHECK((call) == FT_OK)

enum { JOBS = 5 };

static ft_config *new_config(void)
{
    static const char TEXT[] = "PriorityWeightPartition=1000\n"
                               "PriorityWeightQOS=100\n"
                               "PriorityWeightAssoc=10\n"
                               "PriorityWeightTRES=cpu=40,gres/gpu=80\n";
    ft_config *config = NULL;
    OK(ft_config_new(&config));
    OK(ft_config_load(config, TEXT, sizeof(TEXT) - 1, "slurm.conf"));
    return config;
}

/* Partitions that give 1/2 and all of 1000, QOS that give 1/4 and all of 100; the user's
 * association has 3 of at most 6. */
static ft_site *new_site(void)
{
    static const char *const TRES[] = {"cpu", "gres/gpu"};
    static const uint64_t COUNTS[] = {16, 8};
    static const uint32_t IDS[] = {2, 3};
    static const uint32_t PRIORITIES[] = {3, 6};
    ft_site *site = NULL;
    uint32_t position = 7;
    OK(ft_site_new(64, 4, TRES, 2, &site));
    OK(ft_site_add_partition(site, 20, 60, COUNTS, 2, &position));
    CHECK(position == 0);
    OK(ft_site_add_partition(site, 40, FT_UNLIMITED, COUNTS, 2, &position));
    CHECK(position == 1);
    OK(ft_site_add_qos(site, 5, NULL));
    OK(ft_site_add_qos(site, 20, &position));
    CHECK(position == 1);
    OK(ft_site_set_assoc_priorities(site, IDS, 2, PRIORITIES, 2));
    return site;
}

static ft_tree *new_tree(const ft_config *config)
{
    static const ft_assoc ROWS[] = {
        {1, FT_NONE, 1, FT_ACCOUNT}, {2, 1, 1, FT_USER}, {3, 1, 1, FT_USER}};
    ft_tree *tree = NULL;
    OK(ft_tree_new(0, &tree));
    OK(ft_tree_load(tree, ROWS, 3, sizeof(ROWS[0])));
    OK(ft_fairshare_compute(tree, config));
    return tree;
}

static void fill_jobs(ft_job jobs[JOBS])
{
    memset(jobs, 0, JOBS * sizeof(jobs[0]));
    for (uint32_t i = 0; i < JOBS; i++) {
        jobs[i].assoc = FT_NONE;
        jobs[i].partition = FT_NONE;
        jobs[i].qos = FT_NONE;
        jobs[i].tres_row = FT_NONE;
        jobs[i].priority = 1;
    }
    /* 500 + 25 + 5 + (40 * 4/16 + 80 * 2/8) + 7 - 3 = 564, with SITE_FACTORS below. */
    jobs[0].assoc = 2;
    jobs[0].partition = 0;
    jobs[0].qos = 0;
    jobs[0].tres_row = 1;
    jobs[0].nice = 3;
    /* Held, and set by an administrator. */
    jobs[1].partition = 1;
    jobs[1].priority = 0;
    jobs[2].partition = 1;
    jobs[2].priority = 4242;
    jobs[2].flags = FT_JOB_DIRECT;
    /* Both partitions, and both QOS: see LISTS below. */
    jobs[3].partition = 1;
    jobs[3].qos = 0;
    /* A sum of 0 is below the smallest priority. */
    jobs[4].nice = 1000;
}

static void terms(const ft_config *config, const ft_site *site, const ft_tree *tree,
                  const ft_batch *batch)
{
    ft_priced priced[JOBS];
    uint32_t priorities[JOBS];
    double tres[2 * JOBS];
    OK(ft_jobs_price(config, site, tree, batch, priorities, JOBS, priced, JOBS,
                     sizeof(priced[0])));
    CHECK(priced[0].partition == 500.0 && priced[0].qos == 25.0 && priced[0].assoc == 5.0);
    CHECK(priced[0].tres == 30.0 && priced[0].site == 7 && priced[0].nice == 3);
    CHECK(priorities[0] == 564 && priced[0].priority == 564 && priced[0].overflow == 0);
    CHECK(priorities[1] == 0 && priorities[2] == 4242 && priorities[3] == 1025);
    CHECK(priorities[4] == 1);
    OK(ft_jobs_tres_terms(config, site, tree, batch, tres, 2 * JOBS));
    CHECK(tres[0] == 10.0 && tres[1] == 20.0 && tres[2] == 0.0 && tres[9] == 0.0);
}

static void lists(const ft_config *config, const ft_site *site, const ft_tree *tree,
                  const ft_batch *batch)
{
    size_t offsets[JOBS + 1];
    uint32_t priorities[4] = {0, 0, 0, 0};
    OK(ft_jobs_price_lists(config, site, tree, batch, offsets, JOBS + 1, NULL, 0));
    CHECK(offsets[0] == 0 && offsets[3] == 0 && offsets[4] == 4 && offsets[5] == 4);
    OK(ft_jobs_price_lists(config, site, tree, batch, offsets, JOBS + 1, priorities, 4));
    /* Partition 1 (1000) and 0 (500), each with QOS 1 (100) and 0 (25). */
    CHECK(priorities[0] == 1100 && priorities[1] == 1025);
    CHECK(priorities[2] == 600 && priorities[3] == 525);
}

/* Several threads give the same results and the same errors as one. */
static void threads(const ft_config *config, const ft_site *site, const ft_tree *tree,
                    const ft_batch *batch)
{
    enum { MANY = 1000 };
    ft_job jobs[MANY];
    int32_t site_factors[MANY];
    ft_priced one[MANY], several[MANY];
    uint32_t priorities[MANY], again[MANY];
    ft_batch many = *batch;
    char complaint[256];
    for (uint32_t i = 0; i < MANY; i++) {
        jobs[i] = batch->jobs[i % JOBS];
        site_factors[i] = (int32_t)i;
    }
    many.jobs = jobs;
    many.jobs_len = MANY;
    many.site_factors = site_factors;
    many.site_factors_len = MANY;
    many.lists = NULL;
    many.lists_len = 0;
    OK(ft_jobs_price(config, site, tree, &many, priorities, MANY, one, MANY, sizeof(one[0])));
    CHECK(one[0].site == 0 && one[995].site == 995 && priorities[995] == 557 + 995);
    for (many.threads = 1; many.threads <= 9; many.threads++) {
        memset(again, 0, sizeof(again));
        memset(several, 0, sizeof(several));
        OK(ft_jobs_price(config, site, tree, &many, again, MANY, several, MANY,
                         sizeof(one[0])));
        CHECK(memcmp(priorities, again, sizeof(again)) == 0);
        CHECK(memcmp(one, several, sizeof(several)) == 0);
    }
    jobs[700].qos = 99;
    jobs[300].assoc = 1;
    for (many.threads = 1; many.threads <= 9; many.threads++) {
        CHECK(ft_jobs_price(config, site, tree, &many, again, MANY, NULL, 0, sizeof(one[0])) ==
              FT_ERR_NOT_A_USER);
        snprintf(complaint, sizeof(complaint), "%s", ft_last_error());
        CHECK(strstr(complaint, "batch.jobs[300]: association 1 is an account"));
        CHECK(memcmp(priorities, again, sizeof(again)) == 0);
    }
}

int main(void)
{
    static const uint32_t PARTITION_LISTS[] = {1, 0};
    static const uint32_t QOS_LISTS[] = {0, 1, 0};
    static const uint64_t TRES_COUNTS[] = {1, 0, 4, 2};
    static const int32_t SITE_FACTORS[JOBS] = {7, 0, 0, 0, 0};
    static const ft_job_lists LISTS[JOBS] = {
        {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 2, 1, 2}, {0, 0, 0, 0}};
    ft_config *config = new_config();
    ft_site *site = new_site();
    ft_tree *tree = new_tree(config);
    ft_job jobs[JOBS];
    ft_batch batch;
    uint32_t priorities[JOBS];

    fill_jobs(jobs);
    memset(&batch, 0, sizeof(batch));
    batch.struct_size = sizeof(batch);
    batch.job_size = sizeof(jobs[0]);
    batch.jobs = jobs;
    batch.jobs_len = JOBS;
    batch.site_factors = SITE_FACTORS;
    batch.site_factors_len = JOBS;
    batch.lists = LISTS;
    batch.lists_len = JOBS;
    batch.list_size = sizeof(LISTS[0]);
    batch.partition_lists = PARTITION_LISTS;
    batch.partition_lists_len = 2;
    batch.qos_lists = QOS_LISTS;
    batch.qos_lists_len = 3;
    batch.tres_counts = TRES_COUNTS;
    batch.tres_counts_len = 4;
    batch.mode = FT_MODE_PASS;
    terms(config, site, tree, &batch);
    lists(config, site, tree, &batch);
    threads(config, site, tree, &batch);

    /* A released job gets its price; a direct one keeps its own. */
    batch.mode = FT_MODE_SET;
    OK(ft_jobs_price(config, site, tree, &batch, priorities, JOBS, NULL, 0, sizeof(ft_priced)));
    CHECK(priorities[1] == 1000 && priorities[2] == 4242);

    /* An empty batch has no prices; jobs without associations need no tree. */
    batch.jobs_len = 0;
    batch.site_factors_len = 0;
    batch.lists_len = 0;
    OK(ft_jobs_price(config, site, tree, &batch, NULL, 0, NULL, 0, sizeof(ft_priced)));
    batch.jobs = &jobs[4];
    batch.jobs_len = 1;
    OK(ft_jobs_price(config, site, NULL, &batch, priorities, 1, NULL, 0, sizeof(ft_priced)));
    CHECK(priorities[0] == 1);

    ft_tree_free(tree);
    ft_site_free(site);
    ft_config_free(config);
    puts("prices as by hand");
    return EXIT_SUCCESS;
}
