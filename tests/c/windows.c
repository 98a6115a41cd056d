/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Usage in a window and since a date, computed by hand: an hour with buckets of a minute, and an
 * account that counts all of its usage.
 */

#include <fairtree.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) check(__LINE__, #condition, (condition))
#define OK(call) check(__LINE__, #call, (call) == FT_OK)

static void check(int line, const char *what, int holds)
{
    if (!holds) {
        fprintf(stderr, "line %d: %s: %s\n", line, what, ft_last_error());
        exit(EXIT_FAILURE);
    }
}

static const char POLICY[] =
    "usage = \"window:1:00:00\"\n"
    "resolution = \"1:00\"\n"
    "counts = [\"COMPLETED\"]\n"
    "[accounts.3]\n"
    "plan = \"total:1970-01-01\"\n";

/* Usage of all five associations. */
static void check_usage(const ft_tree *tree, uint32_t quantity, uint32_t tres, double root,
                        double account2, double account3, double user4, double user5)
{
    const double wanted[] = {root, account2, account3, user4, user5};
    double usage[5];
    OK(ft_usage_quantity(tree, quantity, tres, usage, 5));
    for (int i = 0; i < 5; i++)
        if (usage[i] != wanted[i]) {
            fprintf(stderr, "quantity %u at %d: %f, not %f\n", (unsigned)quantity, i, usage[i],
                    wanted[i]);
            exit(EXIT_FAILURE);
        }
}

static ft_tree *new_tree(int64_t now)
{
    /* root -> account 2 -> user 4; root -> account 3 -> user 5. */
    static const ft_assoc ROWS[] = {
        {1, FT_NONE, 1, FT_ACCOUNT}, {2, 1, 1, FT_ACCOUNT}, {3, 1, 1, FT_ACCOUNT},
        {4, 2, 1, FT_USER},          {5, 3, 1, FT_USER},
    };
    ft_tree *tree = NULL;
    OK(ft_tree_new(now, &tree));
    OK(ft_tree_load(tree, ROWS, 5, sizeof(ROWS[0])));
    return tree;
}

static void runs(ft_tree *tree, const ft_config *config)
{
    /* Half an hour each, of 2 and of 1 billable TRES. */
    static const ft_run_use USES[] = {
        {4, 7, 34200, 34200, 36000, 2.0, 1.0, 0, 0},
        {5, 8, 34200, 34200, 36000, 1.0, 0.5, 1, 0},
    };
    static const uint64_t COUNTS[] = {4, 8, 1, 0};
    int32_t counted = 7;
    OK(ft_usage_charge_runs(tree, USES, 2, sizeof(USES[0]), COUNTS, 4));
    check_usage(tree, FT_QUANTITY_BILLING, 0, 4500, 3600, 900, 3600, 900);
    check_usage(tree, FT_QUANTITY_WALL, 0, 2700, 1800, 900, 1800, 900);
    check_usage(tree, FT_QUANTITY_TRES, 0, 8100, 7200, 900, 7200, 900);
    check_usage(tree, FT_QUANTITY_TRES, 1, 14400, 14400, 0, 14400, 0);
    CHECK(ft_usage_charge_runs(tree, USES, 2, sizeof(USES[0]), COUNTS, 4) == FT_ERR_RUN);

    /* At 38700 the window begins at 35100: 900 seconds are left, but all usage of account 3. */
    OK(ft_usage_advance(tree, config, 38700, "UTC", NULL));
    check_usage(tree, FT_QUANTITY_BILLING, 0, 2250, 1800, 900, 1800, 900);
    check_usage(tree, FT_QUANTITY_TRES, 1, 7200, 7200, 0, 7200, 0);

    /* Cancelled runs do not count. */
    OK(ft_usage_end_run(tree, config, 7, 34200, FT_END_CANCELLED, 0, &counted));
    CHECK(counted == 0);
    check_usage(tree, FT_QUANTITY_BILLING, 0, 450, 0, 900, 0, 900);
    CHECK(ft_usage_take_back(tree, 7, 34200) == FT_ERR_RUN);
    OK(ft_usage_end_run(tree, config, 8, 34200, FT_END_COMPLETED, 0, &counted));
    CHECK(counted == 1);
    check_usage(tree, FT_QUANTITY_BILLING, 0, 450, 0, 900, 0, 900);
    CHECK(ft_usage_end_run(tree, config, 8, 34200, FT_END_COMPLETED, 0, NULL) == FT_ERR_RUN);
}

static ft_tree *restored(const ft_tree *tree)
{
    ft_tree *other = new_tree(0);
    size_t len = 0;
    OK(ft_state_size(tree, &len));
    uint8_t *bytes = (uint8_t *)malloc(len);
    CHECK(bytes != NULL);
    OK(ft_state_save(tree, bytes, len));
    bytes[len / 2] ^= 1;
    CHECK(ft_state_restore(other, bytes, len) == FT_ERR_STATE_DAMAGED);
    bytes[len / 2] ^= 1;
    OK(ft_state_restore(other, bytes, len));
    free(bytes);
    return other;
}

/* A run of 3 TRES that began at 38700, in passes every five minutes. */
static void passes(ft_tree *tree, const ft_config *config)
{
    ft_run run = {4, 9, 38700, 0, 3.0, 1.0};
    ft_pass_input input;
    double charged = 0.0;
    double factors[5];
    memset(&input, 0, sizeof(input));
    input.struct_size = sizeof(input);
    input.run_size = sizeof(run);
    input.runs = &run;
    input.runs_len = 1;
    input.now = 39000;
    OK(ft_pass(tree, config, NULL, &input, &charged, 1, NULL, 0, NULL));
    CHECK(charged == 900.0);
    /* Account 2 has 900 of the window's 1200, account 3 its 900 of all time: the root has 1200,
       because 300 of account 3 are in the window. Both have one share: they tie. */
    OK(ft_fairshare_column(tree, FT_COLUMN_FS_FACTOR, factors, 5));
    check_usage(tree, FT_QUANTITY_BILLING, 0, 1200, 900, 900, 900, 900);
    CHECK(factors[3] == 1.0 && factors[4] == 1.0);

    ft_tree *other = restored(tree);
    ft_tree *both[] = {tree, other};
    run.end = 39100;
    input.now = 39300;
    for (int i = 0; i < 2; i++) {
        OK(ft_pass(both[i], config, NULL, &input, &charged, 1, NULL, 0, NULL));
        CHECK(charged == 300.0);
        /* An ended run is not charged again, and its end is reported. */
        OK(ft_pass(both[i], config, NULL, &input, &charged, 1, NULL, 0, NULL));
        CHECK(charged == 0.0);
        check_usage(both[i], FT_QUANTITY_BILLING, 0, 1350, 1200, 900, 1200, 900);
        OK(ft_usage_end_run(both[i], config, 9, 38700, FT_END_FAILED, 1, NULL));
        check_usage(both[i], FT_QUANTITY_BILLING, 0, 150, 0, 900, 0, 900);
    }
    ft_tree_free(other);
}

int main(void)
{
    static const char *const TRES[] = {"mem", "cpu"};
    ft_config *config = NULL;
    ft_tree *tree = new_tree(36000);
    OK(ft_config_new(&config));
    OK(ft_config_load_policy(config, POLICY, strlen(POLICY), "policy.toml"));
    CHECK(ft_usage_advance(tree, config, 36000, "UTC", NULL) == FT_ERR_MODEL);
    OK(ft_usage_configure(tree, config, "UTC", TRES, 2));
    runs(tree, config);
    passes(tree, config);

    /* Back to a half-life, which continues from the current numbers. */
    OK(ft_config_load_policy(config, NULL, 0, "none"));
    OK(ft_usage_configure(tree, config, NULL, NULL, 0));
    OK(ft_usage_advance(tree, config, 39300 + 604800, "UTC", NULL));
    check_usage(tree, FT_QUANTITY_BILLING, 0, 75, 0, 450, 0, 450);
    ft_config_free(config);
    ft_tree_free(tree);
    puts("windows as by hand");
    return 0;
}
