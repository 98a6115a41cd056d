/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Hostile input: passes. After each refusal usage and factors are unchanged.
 */

#include "hostile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ft_pass_input good_input(const ft_run *runs, const ft_batch *batch)
{
    ft_pass_input input;
    memset(&input, 0, sizeof(input));
    input.struct_size = sizeof(input);
    input.run_size = sizeof(*runs);
    input.now = 2000;
    input.time_zone = "UTC";
    input.runs = runs;
    input.runs_len = 2;
    input.batch = batch;
    return input;
}

static ft_batch good_batch(const ft_job *job)
{
    ft_batch batch;
    memset(&batch, 0, sizeof(batch));
    batch.struct_size = sizeof(batch);
    batch.job_size = sizeof(*job);
    batch.jobs = job;
    batch.jobs_len = 1;
    batch.now = 2000;
    return batch;
}

#define EXPECT_PASS(status) EXPECT(status, ft_pass(tree, config, site, &input, NULL, 0, &priority, 1, NULL))

static void bad_runs(ft_tree *tree, const ft_config *config)
{
    const double bad[] = {(double)NAN, -1.0, (double)INFINITY, -(double)INFINITY};
    const ft_run good = {3, 1, 1000, 0, 1.0, 1.0};
    ft_run runs[2];
    ft_pass_input input = good_input(runs, NULL);
#define EXPECT_RUN(status)                                                                        \
    EXPECT(status, ft_pass(tree, config, NULL, &input, NULL, 0, NULL, 0, NULL));                  \
    runs[1] = good
    runs[0] = runs[1] = good;
    for (size_t i = 0; i < 4; i++) {
        runs[1].tres = bad[i];
        EXPECT_RUN(FT_ERR_USAGE);
        runs[1].usage_factor = bad[i];
        EXPECT_RUN(FT_ERR_USAGE);
    }
    /* Each is a finite number, but their product is not. */
    runs[1].tres = 1e308;
    EXPECT_RUN(FT_ERR_USAGE);
    runs[1].assoc = 99;
    EXPECT_RUN(FT_ERR_UNKNOWN_ID);
    runs[1].assoc = FT_NONE;
    EXPECT_RUN(FT_ERR_UNKNOWN_ID);
    runs[1].start = 0;
    EXPECT_RUN(FT_ERR_TIME);
    runs[1].start = INT64_MIN;
    EXPECT_RUN(FT_ERR_TIME);
    runs[1].end = 999;
    EXPECT_RUN(FT_ERR_TIME);
    runs[1].end = INT64_MIN;
    EXPECT_RUN(FT_ERR_TIME);
    input.run_size = 12;
    EXPECT_RUN(FT_ERR_STRUCT_SIZE);
    input.run_size = SIZE_MAX;
    EXPECT_RUN(FT_ERR_STRUCT_SIZE);
    input = good_input(runs, NULL);
    input.runs_len = SIZE_MAX / 2;
    EXPECT_RUN(FT_ERR_LENGTH);
    input = good_input(NULL, NULL);
    EXPECT_RUN(FT_ERR_NULL);
    input = good_input(MISALIGNED(ft_run, runs), NULL);
    EXPECT_RUN(FT_ERR_ALIGN);
    input = good_input(runs, NULL);
    input.struct_size = 3;
    EXPECT_RUN(FT_ERR_STRUCT_SIZE);
    input = good_input(runs, NULL);
    input.time_zone = "Nowhere/At_All";
    EXPECT_RUN(FT_ERR_TIME_ZONE);
    input.time_zone = "\xff";
    EXPECT_RUN(FT_ERR_UTF8);
}

static void bad_arguments(ft_tree *tree, const ft_config *config, const ft_site *site)
{
    const ft_run runs[2] = {{3, 1, 1000, 0, 1.0, 1.0}, {4, 2, 1000, 0, 1.0, 1.0}};
    ft_job job;
    double charged[2] = {7.0, 7.0};
    uint32_t priority = 7;
    int32_t was_reset[2] = {7, 7};
    ft_batch batch = good_batch(&job);
    ft_pass_input input = good_input(runs, &batch);
    memset(&job, 0, sizeof(job));
    job.assoc = 3;
    job.partition = job.qos = job.tres_row = FT_NONE;
    job.priority = 1;

    EXPECT(FT_ERR_NULL, ft_pass(NULL, config, site, &input, NULL, 0, &priority, 1, NULL));
    EXPECT(FT_ERR_NULL, ft_pass(tree, NULL, site, &input, NULL, 0, &priority, 1, NULL));
    EXPECT(FT_ERR_NULL, ft_pass(tree, config, NULL, &input, NULL, 0, &priority, 1, NULL));
    EXPECT(FT_ERR_NULL, ft_pass(tree, config, site, NULL, NULL, 0, &priority, 1, NULL));
    EXPECT(FT_ERR_HANDLE, ft_pass((ft_tree *)(void *)site, config, site, &input, NULL, 0, &priority,
                                  1, NULL));
    EXPECT(FT_ERR_LENGTH, ft_pass(tree, config, site, &input, NULL, 0, NULL, 0, NULL));
    EXPECT(FT_ERR_LENGTH, ft_pass(tree, config, site, &input, charged, 1, &priority, 1, NULL));
    EXPECT(FT_ERR_NULL, ft_pass(tree, config, site, &input, NULL, 2, &priority, 1, NULL));
    EXPECT(FT_ERR_NULL, ft_pass(tree, config, site, &input, NULL, 0, NULL, 1, NULL));
    EXPECT(FT_ERR_ALIGN,
           ft_pass(tree, config, site, &input, MISALIGNED(double, charged), 1, &priority, 1, NULL));
    EXPECT(FT_ERR_ALIGN, ft_pass(tree, config, site, &input, NULL, 0, &priority, 1,
                                 MISALIGNED(int32_t, was_reset)));

    job.assoc = 99;
    EXPECT_PASS(FT_ERR_UNKNOWN_ID);
    job.assoc = 2;
    EXPECT_PASS(FT_ERR_NOT_A_USER);
    job.assoc = 3;
    job.qos = 5;
    EXPECT_PASS(FT_ERR_UNKNOWN_INDEX);
    job.qos = FT_NONE;
    job.flags = 4;
    EXPECT_PASS(FT_ERR_ENUM);
    job.flags = 0;
    batch.mode = FT_MODE_SET;
    EXPECT_PASS(FT_ERR_ENUM);
    batch.mode = 9;
    EXPECT_PASS(FT_ERR_ENUM);
    batch.mode = FT_MODE_PASS;
    batch.now = 1999;
    EXPECT_PASS(FT_ERR_TIME);
    batch.now = 2000;
    batch.struct_size = 1;
    EXPECT_PASS(FT_ERR_STRUCT_SIZE);
    batch = good_batch(NULL);
    EXPECT_PASS(FT_ERR_NULL);
    input.batch = MISALIGNED(ft_batch, &batch);
    EXPECT_PASS(FT_ERR_ALIGN);
    /* Priorities are requested, but there are no jobs. */
    input.batch = NULL;
    EXPECT_PASS(FT_ERR_LENGTH);
    if (priority != 7 || charged[0] != 7.0 || was_reset[0] != 7)
        exit(EXIT_FAILURE);
}

/* Refused calls have changed nothing. */
static void unchanged(const ft_tree *tree)
{
    double usage[4], factors[4];
    int64_t moment = 0;
    EXPECT(FT_OK, ft_usage_read(tree, FT_USAGE_RAW, usage, 4));
    EXPECT(FT_OK, ft_usage_time(tree, &moment, NULL));
    EXPECT(FT_ERR_NOT_COMPUTED, ft_fairshare_column(tree, FT_COLUMN_FS_FACTOR, factors, 4));
    if (usage[0] != 0.0 || moment != 1000)
        exit(EXIT_FAILURE);
}

/* Times at the limits of a number are valid times. */
static void far_times(const ft_config *config)
{
    const int64_t times[] = {INT64_MAX, 0, INT64_MIN, 1000, INT64_MAX};
    ft_tree *tree = sample_tree();
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        const ft_run runs[2] = {{3, 1, 1, INT64_MAX, 1.0, 1.0}, {4, 2, INT64_MAX, 0, 1.0, 1.0}};
        double usage[4], charged[2];
        ft_pass_input input = good_input(runs, NULL);
        input.now = times[i];
        EXPECT(FT_OK, ft_pass(tree, config, NULL, &input, charged, 2, NULL, 0, NULL));
        EXPECT(FT_OK, ft_usage_read(tree, FT_USAGE_RAW, usage, 4));
        if (!(usage[0] >= 0.0 && usage[0] <= 1e19) || !(charged[0] >= 0.0))
            exit(EXIT_FAILURE);
    }
    ft_tree_free(tree);
}

void hostile_pass(void)
{
    ft_tree *tree = sample_tree();
    ft_config *config = sample_config();
    ft_site *site = NULL;
    ft_pass_input nothing;
    EXPECT(FT_OK, ft_site_new(4, 2, NULL, 0, &site));
    bad_runs(tree, config);
    unchanged(tree);
    bad_arguments(tree, config, site);
    unchanged(tree);
    memset(&nothing, 0, sizeof(nothing));
    nothing.struct_size = sizeof(nothing);
    nothing.now = 2000;
    EXPECT(FT_OK, ft_pass(tree, config, NULL, &nothing, NULL, 0, NULL, 0, NULL));
    far_times(config);
    ft_site_free(site);
    ft_config_free(config);
    ft_tree_free(tree);
}
