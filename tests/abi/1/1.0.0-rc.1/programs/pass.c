/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Results of ft_pass(): usage, factors and priorities computed by hand, and the same as from the
 * single calls that it replaces.
 */

#include <fairtree.h>

#include <math.h>
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

enum { START = 1000000, DAY = 86400, JOBS = 3 };

static const uint32_t USERS[JOBS] = {4, 5, 6};

static int close_to(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

/* root 1; accounts 2 and 3; users 4 and 5 in 2, user 6 in 3. All shares are 1. */
static ft_tree *new_tree(void)
{
    static const ft_assoc ROWS[] = {
        {1, FT_NONE, 1, FT_ACCOUNT}, {2, 1, 1, FT_ACCOUNT}, {3, 1, 1, FT_ACCOUNT},
        {4, 2, 1, FT_USER},          {5, 2, 1, FT_USER},    {6, 3, 1, FT_USER},
    };
    ft_tree *tree = NULL;
    OK(ft_tree_new(START, &tree));
    OK(ft_tree_load(tree, ROWS, 6, sizeof(ROWS[0])));
    return tree;
}

static ft_config *new_config(const char *half_life)
{
    ft_config *config = NULL;
    OK(ft_config_new(&config));
    OK(ft_config_set(config, "PriorityWeightFairshare", "9000"));
    /* A reset far in the future: without a half-life Slurm requires one. */
    OK(ft_config_set(config, "PriorityUsageResetPeriod", "YEARLY"));
    OK(ft_config_set(config, "PriorityDecayHalfLife", half_life));
    return config;
}

/* One waiting job of each user. */
static ft_batch new_batch(ft_job jobs[JOBS], int64_t now)
{
    ft_batch batch;
    memset(&batch, 0, sizeof(batch));
    memset(jobs, 0, JOBS * sizeof(jobs[0]));
    for (int i = 0; i < JOBS; i++) {
        jobs[i].assoc = USERS[i];
        jobs[i].partition = FT_NONE;
        jobs[i].qos = FT_NONE;
        jobs[i].tres_row = FT_NONE;
        jobs[i].priority = 1;
    }
    batch.struct_size = sizeof(batch);
    batch.job_size = sizeof(jobs[0]);
    batch.jobs = jobs;
    batch.jobs_len = JOBS;
    batch.now = now;
    batch.mode = FT_MODE_PASS;
    return batch;
}

static ft_pass_input new_input(int64_t now, const ft_run *runs, size_t runs_len,
                               const ft_batch *batch)
{
    ft_pass_input input;
    memset(&input, 0, sizeof(input));
    input.struct_size = sizeof(input);
    input.run_size = sizeof(*runs);
    input.now = now;
    input.time_zone = "UTC";
    input.runs = runs;
    input.runs_len = runs_len;
    input.batch = batch;
    return input;
}

static double raw_usage(const ft_tree *tree, size_t position)
{
    double usage[6];
    OK(ft_usage_read(tree, FT_USAGE_RAW, usage, 6));
    return usage[position];
}

/* Two passes without decay. */
static void by_hand(void)
{
    ft_tree *tree = new_tree();
    ft_config *config = new_config("0");
    ft_site *site = NULL;
    ft_job jobs[JOBS];
    uint32_t priorities[JOBS];
    double charged[3], factors[6];
    int32_t was_reset = 7;
    int64_t moment = 0;
    const ft_run first[] = {{4, 1, START, 0, 4.0, 1.0}, {6, 2, START + 100, 0, 6.0, 0.5}};
    /* Job 1 continues, job 2 has ended, and job 3 came and went in between. */
    const ft_run second[] = {{4, 1, START, 0, 4.0, 1.0},
                             {6, 2, START + 100, START + 350, 6.0, 0.5},
                             {5, 3, START + 310, START + 320, 10.0, 1.0}};
    ft_batch batch = new_batch(jobs, START + 300);
    ft_pass_input input = new_input(START + 300, first, 2, &batch);
    OK(ft_site_new(16, 4, NULL, 0, &site));
    OK(ft_pass(tree, config, site, &input, charged, 2, priorities, JOBS, &was_reset));
    /* 4 * 300, and 6 * 200 at half price. */
    CHECK(charged[0] == 1200.0 && charged[1] == 600.0 && was_reset == 0);
    CHECK(raw_usage(tree, 0) == 1800.0 && raw_usage(tree, 1) == 1200.0);
    /* Account 3 used 1/3, with 1/2 of the shares: it is first. In account 2 the idle user is. */
    CHECK(priorities[0] == 3000 && priorities[1] == 6000 && priorities[2] == 9000);
    OK(ft_fairshare_column(tree, FT_COLUMN_FS_FACTOR, factors, 6));
    CHECK(factors[3] == 1.0 / 3.0 && factors[5] == 1.0 && isnan(factors[1]));
    OK(ft_usage_time(tree, &moment, NULL));
    CHECK(moment == START + 300);

    batch = new_batch(jobs, START + 600);
    input = new_input(START + 600, second, 3, &batch);
    OK(ft_pass(tree, config, site, &input, charged, 3, priorities, JOBS, NULL));
    CHECK(charged[0] == 1200.0 && charged[1] == 150.0 && charged[2] == 100.0);
    /* Used: 4 2400, 5 100, 6 750. Account 2 has 2500 and comes after account 3. */
    CHECK(raw_usage(tree, 0) == 3250.0);
    CHECK(priorities[0] == 3000 && priorities[1] == 6000 && priorities[2] == 9000);

    /* Ended jobs were charged to their end; a clock that steps back charges nothing twice. */
    input = new_input(START + 500, second, 3, NULL);
    OK(ft_pass(tree, config, NULL, &input, charged, 3, NULL, 0, NULL));
    CHECK(charged[0] == 0.0 && charged[1] == 0.0 && charged[2] == 0.0);
    {
        /* It began after the time of the last pass, and is charged from its start. */
        const ft_run behind = {5, 4, START + 510, 0, 1.0, 1.0};
        input = new_input(START + 550, &behind, 1, NULL);
        OK(ft_pass(tree, config, NULL, &input, charged, 1, NULL, 0, NULL));
        CHECK(charged[0] == 40.0);
        input = new_input(START + 700, &behind, 1, NULL);
        OK(ft_pass(tree, config, NULL, &input, charged, 1, NULL, 0, NULL));
        CHECK(charged[0] == 150.0);
    }
    ft_site_free(site);
    ft_config_free(config);
    ft_tree_free(tree);
}

/* A half-life, usage charged between passes, a changed tree: the same as by single calls. */
static void as_the_single_calls(void)
{
    ft_tree *tree = new_tree(), *other = new_tree();
    ft_config *config = new_config("1:00");
    int64_t last = START;
    for (int i = 1; i <= 20; i++) {
        const int64_t now = last + 17 * i;
        const ft_run runs[] = {{USERS[i % 3], 1, last, now, 3.0, 1.0},
                               {USERS[(i / 3) % 3], 2, last + 3, now, 1.5 * i, 0.75}};
        const ft_use uses[] = {{USERS[i % 3], 0, last, now, 3.0},
                               {USERS[(i / 3) % 3], 0, last + 3, now, 1.5 * i * 0.75}};
        const ft_pass_input input = new_input(now, runs, 2, NULL);
        double found[6], expected[6];
        if (i % 4 == 0) {
            const double amount = 100.0 * i;
            OK(ft_usage_charge(tree, &USERS[1], 1, &amount, 1));
            OK(ft_usage_charge(other, &USERS[1], 1, &amount, 1));
        }
        if (i % 7 == 0) {
            OK(ft_tree_set_shares(tree, 5, (uint32_t)i));
            OK(ft_tree_set_shares(other, 5, (uint32_t)i));
        }
        OK(ft_pass(tree, config, NULL, &input, NULL, 0, NULL, 0, NULL));
        OK(ft_usage_advance(other, config, now, "UTC", NULL));
        OK(ft_usage_charge_periods(other, config, uses, 2, sizeof(uses[0])));
        OK(ft_fairshare_compute(other, config));
        OK(ft_fairshare_column(tree, FT_COLUMN_FS_FACTOR, found, 6));
        OK(ft_fairshare_column(other, FT_COLUMN_FS_FACTOR, expected, 6));
        CHECK(memcmp(&found[3], &expected[3], 3 * sizeof(found[0])) == 0);
        for (size_t at = 0; at < 6; at++)
            CHECK(close_to(raw_usage(tree, at), raw_usage(other, at)));
        last = now;
    }
    ft_config_free(config);
    ft_tree_free(other);
    ft_tree_free(tree);
}

/* The next pass also charges time that was advanced separately; a reset comes first. */
static void time_and_resets(void)
{
    ft_tree *tree = new_tree();
    ft_config *config = new_config("0");
    const ft_run run = {4, 1, START, 0, 1.0, 1.0};
    ft_pass_input input = new_input(START + 500, &run, 1, NULL);
    int32_t was_reset = 7;
    double charged = 0.0;
    OK(ft_usage_advance(tree, config, START + 200, "UTC", NULL));
    OK(ft_pass(tree, config, NULL, &input, &charged, 1, NULL, 0, NULL));
    CHECK(charged == 500.0 && raw_usage(tree, 0) == 500.0);
    OK(ft_config_set(config, "PriorityUsageResetPeriod", "DAILY"));
    input.now = START + DAY;
    OK(ft_pass(tree, config, NULL, &input, &charged, 1, NULL, 0, &was_reset));
    CHECK(was_reset == 1 && charged == DAY - 500.0 && raw_usage(tree, 0) == charged);
    ft_config_free(config);
    ft_tree_free(tree);
}

/* Slurm's own order of calculation without Fair Tree. */
static void stock_classic(void)
{
    ft_tree *tree = new_tree();
    ft_config *config = new_config("0");
    ft_site *site = NULL;
    ft_job jobs[JOBS];
    ft_batch batch = new_batch(jobs, START);
    ft_pass_input input;
    uint32_t priorities[JOBS];
    double charged = 7.0;
    const ft_run run = {4, 1, START, 0, 1.0, 1.0};
    OK(ft_site_new(16, 4, NULL, 0, &site));
    OK(ft_config_set(config, "PriorityFlags", "NO_FAIR_TREE"));
    OK(ft_config_set(config, "PriorityParameters", "compat=slurm"));
    /* The time is not after the last pass: nothing is charged, and priorities stay. */
    input = new_input(START, &run, 1, &batch);
    jobs[1].priority = 77;
    OK(ft_pass(tree, config, site, &input, &charged, 1, priorities, JOBS, NULL));
    CHECK(charged == 0.0 && priorities[0] == 1 && priorities[1] == 77);
    /* Accounts count as before the pass, unused: users 4 and 5 have 1 + (0 - 1) / 2 and 0, divided
     * by a quarter of all shares: 2^-2 and 2^0. */
    batch.now = input.now = START + 100;
    OK(ft_pass(tree, config, site, &input, &charged, 1, priorities, JOBS, NULL));
    CHECK(charged == 100.0);
    CHECK(priorities[0] == 2250 && priorities[1] == 9000 && priorities[2] == 9000);
    ft_site_free(site);
    ft_config_free(config);
    ft_tree_free(tree);
}

int main(void)
{
    by_hand();
    as_the_single_calls();
    time_and_resets();
    stock_classic();
    puts("passes as by hand");
    return EXIT_SUCCESS;
}
