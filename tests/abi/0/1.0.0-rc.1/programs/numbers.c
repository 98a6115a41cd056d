/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the functions of libfairtree compute, where the example does not show it. Every expected
 * number is worked out by hand in the comment beside it.
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

enum { WEEK = 604800, DAY = 86400 };

static int close_to(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

/* root 1; accounts 2 and 3; user 4 in 2, users 5 and 6 in 3. Shares 1 throughout. */
static ft_tree *new_tree(int64_t now)
{
    static const ft_assoc ROWS[] = {
        {6, 3, 1, FT_USER},    {5, 3, 1, FT_USER},    {4, 2, 1, FT_USER},
        {3, 1, 1, FT_ACCOUNT}, {2, 1, 1, FT_ACCOUNT}, {1, FT_NONE, 1, FT_ACCOUNT},
    };
    ft_tree *tree = NULL;
    OK(ft_tree_new(now, &tree));
    OK(ft_tree_load(tree, ROWS, 6, sizeof(ROWS[0])));
    return tree;
}

static double raw_usage(const ft_tree *tree, uint32_t id)
{
    double usage[8];
    size_t len = 0, position = 0;
    OK(ft_tree_len(tree, &len, NULL));
    OK(ft_tree_find(tree, id, &position));
    OK(ft_usage_read(tree, FT_USAGE_RAW, usage, len));
    return usage[position];
}

/* Use over periods: in one piece or in two, before or after time passes. */
static void periods(void)
{
    ft_tree *tree = new_tree(WEEK);
    ft_config *config = NULL;
    const ft_use whole = {4, 0, 0, WEEK, 3.0};
    const ft_use halves[] = {{5, 0, 0, DAY, 3.0}, {5, 0, DAY, WEEK, 3.0}};
    const ft_use later = {6, 0, WEEK, 2 * WEEK, 1.0};
    /* The integral of 2^(-t/h) over t = 0..h is h / (2 ln 2). */
    const double by_hand = 3.0 * WEEK / (2.0 * log(2.0));
    OK(ft_config_new(&config));
    OK(ft_usage_charge_periods(tree, config, &whole, 1, sizeof(whole)));
    OK(ft_usage_charge_periods(tree, config, halves, 2, sizeof(halves[0])));
    CHECK(close_to(raw_usage(tree, 4), by_hand));
    CHECK(close_to(raw_usage(tree, 5), by_hand));
    CHECK(close_to(raw_usage(tree, 1), 2.0 * by_hand));
    /* Of the week to come, seen a week later, the same as of the past week seen now. */
    OK(ft_usage_charge_periods(tree, config, &later, 1, sizeof(later)));
    OK(ft_usage_advance(tree, config, 2 * WEEK, "UTC", NULL));
    CHECK(close_to(raw_usage(tree, 6), by_hand / 3.0));
    CHECK(close_to(raw_usage(tree, 4), by_hand / 2.0));
    ft_config_free(config);
    ft_tree_free(tree);
}

/* Resets: daily at midnight of the time zone, none without a half-life but that. */
static void resets(void)
{
    ft_tree *tree = new_tree(DAY / 2);
    ft_config *config = NULL;
    const uint32_t id = 4;
    const double charge = 100.0;
    int32_t was_reset = 7;
    int64_t moment = 0, last_reset = 0;
    OK(ft_config_new(&config));
    OK(ft_config_set(config, "PriorityUsageResetPeriod", "DAILY"));
    OK(ft_config_set(config, "PriorityDecayHalfLife", "0"));
    OK(ft_usage_charge(tree, &id, 1, &charge, 1));
    OK(ft_usage_advance(tree, config, DAY - 1, "UTC", &was_reset));
    CHECK(was_reset == 0 && raw_usage(tree, 1) == 100.0);
    OK(ft_usage_advance(tree, config, DAY + 5, "UTC", &was_reset));
    CHECK(was_reset == 1 && raw_usage(tree, 1) == 0.0);
    OK(ft_usage_advance(tree, config, DAY + 5, "UTC", &was_reset));
    CHECK(was_reset == 0);
    OK(ft_usage_time(tree, &moment, &last_reset));
    CHECK(moment == DAY + 5 && last_reset == DAY);
    /* Two hours west of Greenwich midnight comes two hours later. */
    OK(ft_usage_advance(tree, config, 2 * DAY + 7199, "<-02>2", &was_reset));
    CHECK(was_reset == 1);
    OK(ft_usage_advance(tree, config, 2 * DAY + 7200, "<-02>2", &was_reset));
    CHECK(was_reset == 1);
    ft_config_free(config);
    ft_tree_free(tree);
}

/* Usage follows its associations; removed users leave theirs with the account. */
static void edits(void)
{
    ft_tree *tree = new_tree(0);
    const uint32_t ids[] = {4, 5, 6, 5};
    const double charges[] = {1.0, 2.0, 4.0, 8.0};
    double own[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    size_t len = 0, users = 0, position = 0;
    OK(ft_usage_charge(tree, ids, 4, charges, 4));
    CHECK(raw_usage(tree, 3) == 14.0 && raw_usage(tree, 1) == 15.0);
    OK(ft_tree_move(tree, 6, 2));
    CHECK(raw_usage(tree, 3) == 10.0 && raw_usage(tree, 2) == 5.0);
    OK(ft_tree_remove(tree, 5));
    CHECK(raw_usage(tree, 3) == 10.0 && raw_usage(tree, 1) == 15.0);
    OK(ft_tree_len(tree, &len, &users));
    CHECK(len == 5 && users == 2);
    /* The rows were 6, 5, 4, 3, 2, 1. */
    OK(ft_tree_find(tree, 3, &position));
    CHECK(position == 2);
    OK(ft_usage_reset(tree, 2));
    CHECK(raw_usage(tree, 1) == 10.0 && raw_usage(tree, 4) == 0.0);
    OK(ft_usage_reset(tree, FT_NONE));
    CHECK(raw_usage(tree, 1) == 0.0);
    /* 6, 4 in account 2; 3 by itself. */
    own[0] = 1.0;
    own[1] = 2.0;
    own[2] = 16.0;
    OK(ft_usage_load(tree, FT_USAGE_OWN, own, 5));
    CHECK(raw_usage(tree, 2) == 3.0 && raw_usage(tree, 1) == 19.0);
    OK(ft_usage_read(tree, FT_USAGE_RAW, own, 5));
    own[4] = 20.0;
    OK(ft_usage_load(tree, FT_USAGE_RAW, own, 5));
    OK(ft_usage_read(tree, FT_USAGE_OWN, own, 5));
    CHECK(own[4] == 1.0 && own[2] == 16.0 && own[3] == 0.0);
    ft_tree_free(tree);
}

/* Classic fair share: 2^(-usage/shares); and what it says without Fair Tree. */
static void classic(void)
{
    ft_tree *tree = new_tree(0);
    ft_config *config = NULL;
    ft_fairshare row;
    ft_comparison comparison;
    const uint32_t id = 4;
    const double charge = 5.0;
    const char *const text = "# a site\nPriorityFlags=NO_FAIR_TREE\nNodeName=n[1-9]\n";
    OK(ft_config_new(&config));
    OK(ft_config_load(config, text, strlen(text), "slurm.conf"));
    OK(ft_usage_charge(tree, &id, 1, &charge, 1));
    OK(ft_fairshare_compute(tree, config));
    OK(ft_fairshare_get(tree, 4, &row, sizeof(row)));
    /* All usage, half of the shares: 2^(-1 / 0.5). */
    CHECK(row.norm_shares == 0.5 && row.effective_usage == 1.0 && row.fs_factor == 0.25);
    CHECK(isnan(row.level_fs) && row.id == 4 && row.kind == FT_USER);
    /* No usage at all. */
    OK(ft_fairshare_get(tree, 5, &row, sizeof(row)));
    CHECK(row.norm_shares == 0.25 && row.raw_usage == 0.0 && row.fs_factor == 1.0);
    OK(ft_explain(tree, 4, 5, &comparison, sizeof(comparison)));
    CHECK(comparison.order == 1 && comparison.basis == FT_BASIS_FS_FACTOR);
    CHECK(comparison.a.id == 4 && comparison.b.fs_factor == 1.0);
    ft_config_free(config);
    ft_tree_free(tree);
}

/* Ties: equal ratios rank alike, and the explanation looks below them. */
static void ties(void)
{
    ft_tree *tree = new_tree(0);
    ft_config *config = NULL;
    ft_comparison comparison;
    double factors[6];
    const uint32_t ids[] = {4, 5};
    const double charges[] = {3.0, 3.0};
    OK(ft_config_new(&config));
    OK(ft_usage_charge(tree, ids, 2, charges, 2));
    OK(ft_fairshare_compute(tree, config));
    OK(ft_fairshare_column(tree, FT_COLUMN_FS_FACTOR, factors, 6));
    /* The accounts are tied at 0.5/0.5, so their users are ranked together: 6 with nothing used
     * is first; 4 with 1/1 second; 5 with 0.5/1 third. Rows: 6, 5, 4. */
    CHECK(factors[0] == 1.0 && close_to(factors[2], 2.0 / 3.0) && close_to(factors[1], 1.0 / 3.0));
    CHECK(isnan(factors[3]));
    OK(ft_explain(tree, 4, 5, &comparison, sizeof(comparison)));
    CHECK(comparison.order == -1 && comparison.common == 1 && comparison.depth == 2);
    CHECK(comparison.a.level_fs == 1.0 && comparison.b.level_fs == 0.5);
    OK(ft_tree_set_shares(tree, 4, 0));
    OK(ft_fairshare_compute(tree, config));
    OK(ft_explain(tree, 4, 5, &comparison, sizeof(comparison)));
    CHECK(comparison.order == 1 && comparison.a.level_fs == 0.0);
    ft_config_free(config);
    ft_tree_free(tree);
}

/* Structs that grew: rows of a newer program, with its new field zero, and results for it. */
static void larger_structs(void)
{
    struct newer {
        ft_assoc row;
        uint32_t colour, size;
    } rows[2] = {{{1, FT_NONE, 1, FT_ACCOUNT}, 0, 0}, {{2, 1, 1, FT_USER}, 0, 0}};
    ft_tree *tree = NULL;
    OK(ft_tree_new(0, &tree));
    OK(ft_tree_load(tree, &rows[0].row, 2, sizeof(rows[0])));
    rows[1].colour = 5;
    CHECK(ft_tree_load(tree, &rows[0].row, 2, sizeof(rows[0])) == FT_ERR_STRUCT_SIZE);
    memset(rows, 0xff, sizeof(rows));
    OK(ft_tree_rows(tree, &rows[0].row, 2, sizeof(rows[0])));
    CHECK(rows[1].row.id == 2 && rows[1].colour == 0 && rows[1].size == 0);
    ft_tree_free(tree);
}

int main(void)
{
    periods();
    resets();
    edits();
    classic();
    ties();
    larger_structs();
    puts("numbers as by hand");
    return EXIT_SUCCESS;
}
