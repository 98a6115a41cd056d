/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Rankings by name through ft_config: results of ft_fairshare_compute(), each number computed by
 * hand; and settings that are not implemented yet, which are refused by name.
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

enum { LEN = 21 };

/* Hubs 2 and 3, groups 4 to 7, projects 11 to 17, and one user with parent shares in each. */
static const ft_assoc ROWS[LEN] = {
    {1, FT_NONE, 1, FT_ACCOUNT},
    {2, 1, 3, FT_ACCOUNT},  {3, 1, 2, FT_ACCOUNT},
    {4, 2, 1, FT_ACCOUNT},  {5, 2, 2, FT_ACCOUNT},
    {6, 3, 1, FT_ACCOUNT},  {7, 3, 3, FT_ACCOUNT},
    {11, 4, 1, FT_ACCOUNT}, {12, 4, 2, FT_ACCOUNT}, {13, 5, 1, FT_ACCOUNT}, {14, 6, 1, FT_ACCOUNT},
    {15, 6, 1, FT_ACCOUNT}, {16, 7, 1, FT_ACCOUNT}, {17, 7, 1, FT_ACCOUNT},
    {21, 11, FT_SHARES_PARENT, FT_USER}, {22, 12, FT_SHARES_PARENT, FT_USER},
    {23, 13, FT_SHARES_PARENT, FT_USER}, {24, 14, FT_SHARES_PARENT, FT_USER},
    {25, 15, FT_SHARES_PARENT, FT_USER}, {26, 16, FT_SHARES_PARENT, FT_USER},
    {27, 17, FT_SHARES_PARENT, FT_USER},
};

/* Usage of users 21 to 27: 400 in total. */
static const uint32_t USERS[] = {21, 22, 23, 24, 25, 26, 27};
static const double USED[] = {30, 10, 100, 60, 50, 70, 80};

static ft_fairshare row(const ft_tree *tree, uint32_t id)
{
    ft_fairshare found;
    OK(ft_fairshare_get(tree, id, &found, sizeof(found)));
    return found;
}

/* The users from the highest factor to the lowest, as the last digits of their ids. */
static void check_order(const ft_tree *tree, const char *wanted)
{
    for (size_t i = 0; i + 1 < strlen(wanted); i++) {
        const double first = row(tree, 20 + (uint32_t)(wanted[i] - '0')).fs_factor;
        const double second = row(tree, 20 + (uint32_t)(wanted[i + 1] - '0')).fs_factor;
        if (!(first > second)) {
            fprintf(stderr, "%s: %f is not above %f at %zu\n", wanted, first, second, i);
            exit(EXIT_FAILURE);
        }
    }
}

static void rank(ft_tree *tree, ft_config *config, const char *parameters)
{
    double column[LEN];
    OK(ft_config_set(config, "PriorityParameters", parameters));
    OK(ft_fairshare_compute(tree, config));
    /* Columns equal the rows, and factors are within their range. */
    OK(ft_fairshare_column(tree, FT_COLUMN_FS_FACTOR, column, LEN));
    for (size_t i = 0; i < LEN; i++) {
        const double factor = row(tree, ROWS[i].id).fs_factor;
        CHECK(isnan(factor) ? isnan(column[i]) : factor == column[i]);
        CHECK(ROWS[i].kind == FT_ACCOUNT || (factor >= 0.0 && factor <= 1.0));
    }
    OK(ft_fairshare_column(tree, FT_COLUMN_NORM_SHARES, column, LEN));
    for (size_t i = 0; i < LEN; i++)
        CHECK(row(tree, ROWS[i].id).norm_shares == column[i]);
    OK(ft_fairshare_column(tree, FT_COLUMN_LEVEL_FS, column, LEN));
}

static void rankings(ft_config *config)
{
    ft_tree *tree = NULL;
    OK(ft_tree_new(0, &tree));
    OK(ft_tree_load(tree, ROWS, LEN, sizeof(ROWS[0])));
    OK(ft_usage_charge(tree, USERS, 7, USED, 7));

    /* Groups over the whole tree. Entitlements: 3/5 1/3 = 0.2, 0.4, 2/5 1/4 = 0.1, 0.3. Usage over
       entitlement: 40/0.2 = 200, 100/0.4 = 250, 110/0.1 = 1100, 150/0.3 = 500. So 4, 5, 7, 6. In 4:
       30 of 1/3, 10 of 2/3; in 7: 70 before 80; in 6: 50 before 60. */
    rank(tree, config, "ranking=least_used:2");
    check_order(tree, "2136754");
    CHECK(fabs(row(tree, 4).norm_shares - 0.2) < 1e-15);
    CHECK(fabs(row(tree, 7).norm_shares - 0.3) < 1e-15);
    CHECK(row(tree, 22).fs_factor == 1.0);
    /* Hubs: 140 of 0.6, 260 of 0.4; then as before. */
    rank(tree, config, "ranking=least_used:1");
    check_order(tree, "2136754");
    /* All projects: 30 of 1/15 = 450, 10 of 2/15 = 75, 100 of 2/5 = 250, 60 and 50 of 1/20 = 1200
       and 1000, 70 and 80 of 3/20 = 467 and 533. */
    rank(tree, config, "ranking=least_used:leaf");
    check_order(tree, "2316754");
    /* (1 + shares - usage) / 2, as parts of the whole: 22 has 2/15 and 10/400. */
    rank(tree, config, "ranking=difference");
    CHECK(fabs(row(tree, 22).fs_factor - (1.0 + 2.0 / 15.0 - 10.0 / 400.0) / 2.0) < 1e-15);
    CHECK(fabs(row(tree, 24).fs_factor - (1.0 + 1.0 / 20.0 - 60.0 / 400.0) / 2.0) < 1e-15);
    /* Level by level; the same as Fair Tree, because there are no ties. */
    rank(tree, config, "ranking=weighted_walk");
    check_order(tree, "2136754");
    rank(tree, config, "ranking=fair_tree");
    check_order(tree, "2136754");
    ft_tree_free(tree);
}

/* Minutes of groups: 40 s of 60 used, 100 of 120, 110 of 600, 150 of 300. So 6, 7, 4, 5; in 4: 30
   of 20 s, 10 of 40; in 7 and 6 as before. */
static const char MINUTES[] = "ranking = 'least_used:2'\n"
                              "[accounts.4]\nminutes = 1\n[accounts.5]\nminutes = 2\n"
                              "[accounts.6]\nminutes = 10\n[accounts.7]\nminutes = 5\n";

static void load(ft_config *config, const char *policy)
{
    OK(ft_config_load_policy(config, policy, strlen(policy), "policy.toml"));
}

/* Minutes of a file below an account that has 10: refused from 11 on, before anything changes. With 10
   nothing is left for others below it: 110 s of 7 minutes, 150 s of 3. Use is ranked within groups as
   before. Without minutes, hub 2 is entitled to nothing. */
static void excess(ft_tree *tree, ft_config *config, const ft_pass_input *input)
{
    static const char BEYOND[] = "ranking = 'least_used:2'\n[accounts.3]\nminutes = 10\n"
                                 "[accounts.6]\nminutes = 7\n[accounts.7]\nminutes = 4\n";
    static const char WITHIN[] = "ranking = 'least_used:2'\n[accounts.3]\nminutes = 10\n"
                                 "[accounts.6]\nminutes = 7\n[accounts.7]\nminutes = 3\n";
    static const char *const SAID[] = {
        "accounts.6.minutes", "10 minutes in all directly below one account", "6, 7 have 11",
        "policy.toml:4",
    };
    ft_fairshare before[LEN], after[LEN];
    OK(ft_fairshare_rows(tree, before, LEN, sizeof(before[0])));
    load(config, BEYOND);
    for (int passes = 0; passes < 2; passes++) {
        const int status = passes ? ft_pass(tree, config, NULL, input, NULL, 0, NULL, 0, NULL)
                                  : ft_fairshare_compute(tree, config);
        CHECK(status == FT_ERR_CONFIG);
        for (size_t i = 0; i < sizeof(SAID) / sizeof(SAID[0]); i++)
            CHECK(strstr(ft_last_error(), SAID[i]) != NULL);
        OK(ft_fairshare_rows(tree, after, LEN, sizeof(after[0])));
        CHECK(memcmp(before, after, sizeof(before)) == 0);
    }
    load(config, WITHIN);
    OK(ft_fairshare_compute(tree, config));
    check_order(tree, "5467");
    CHECK(row(tree, 27).fs_factor > row(tree, 22).fs_factor);
}

static void minutes(void)
{
    ft_config *config = NULL;
    ft_tree *tree = NULL;
    ft_pass_input input;
    memset(&input, 0, sizeof(input));
    input.struct_size = sizeof(input);
    input.now = 5;
    OK(ft_config_new(&config));
    OK(ft_tree_new(0, &tree));
    OK(ft_tree_load(tree, ROWS, LEN, sizeof(ROWS[0])));
    OK(ft_usage_charge(tree, USERS, 7, USED, 7));
    load(config, MINUTES);
    OK(ft_fairshare_compute(tree, config));
    check_order(tree, "5467213");

    /* A pass by shares, then one by minutes again. */
    load(config, "ranking = 'least_used:2'");
    OK(ft_pass(tree, config, NULL, &input, NULL, 0, NULL, 0, NULL));
    check_order(tree, "2136754");
    load(config, MINUTES);
    OK(ft_pass(tree, config, NULL, &input, NULL, 0, NULL, 0, NULL));
    check_order(tree, "5467213");

    /* An unknown account; and a ranking that does not use minutes. */
    load(config, "ranking = 'least_used:2'\n[accounts.99]\nminutes = 1\n");
    CHECK(ft_fairshare_compute(tree, config) == FT_ERR_UNKNOWN_ID);
    CHECK(strstr(ft_last_error(), "99") != NULL);
    CHECK(ft_pass(tree, config, NULL, &input, NULL, 0, NULL, 0, NULL) == FT_ERR_UNKNOWN_ID);
    check_order(tree, "5467213");
    CHECK(ft_config_load_policy(config, "[accounts.4]\nminutes = 1\n", 24, "p") == FT_ERR_CONFIG);
    CHECK(strstr(ft_last_error(), "least_used") != NULL);
    excess(tree, config, &input);

    /* Shares as minutes: the same, where each hub has what its groups have together. If hub 3 has 3
       minutes for 15, group 6 has 2 of them and 7 has 1: 110 s of 120, 150 of 60. */
    static const uint32_t SHARES[][2] = {{2, 3}, {3, 15}, {4, 1}, {5, 2}, {6, 10}, {7, 5}};
    static const char BOTH[] = "ranking = 'least_used:2'\nminutes = 'shares'\n"
                               "[accounts.4]\nminutes = 1\n";
    load(config, "ranking = 'least_used:2'\nminutes = 'shares'");
    for (size_t i = 0; i < sizeof(SHARES) / sizeof(SHARES[0]); i++)
        OK(ft_tree_set_shares(tree, SHARES[i][0], SHARES[i][1]));
    OK(ft_fairshare_compute(tree, config));
    check_order(tree, "5467213");
    OK(ft_tree_set_shares(tree, 3, 3));
    OK(ft_fairshare_compute(tree, config));
    check_order(tree, "2135467");
    CHECK(ft_config_load_policy(config, BOTH, strlen(BOTH), "p") == FT_ERR_CONFIG);
    CHECK(strstr(ft_last_error(), "accounts.4.minutes") != NULL);
    ft_tree_free(tree);
    ft_config_free(config);
}

/* Settings that no function of this library supports are refused, and old settings stay. */
static void refused(ft_config *config)
{
    static const char *const SETTINGS[][2] = {
        {"usage=window:28-0,order=strict", "PriorityParameters order"},
        {"resolution=1:00", "PriorityParameters resolution"},
        {"order=strict", "PriorityParameters order"},
        {"order=interleaved", "PriorityParameters order"},
        {"counts=COMPLETED", "PriorityParameters counts"},
        {"scope=all_clusters", "PriorityParameters scope"},
        {"policy=/etc/slurm/fairtree.toml", "PriorityParameters policy"},
        {"ranking=least_used:0", "ranking"},
        {"ranking=least_used", "ranking"},
        {"ranking=best", "ranking"},
    };
    ft_tree *tree = NULL;
    int64_t moment = 7;
    for (size_t i = 0; i < sizeof(SETTINGS) / sizeof(SETTINGS[0]); i++) {
        CHECK(ft_config_set(config, "PriorityParameters", SETTINGS[i][0]) == FT_ERR_CONFIG);
        CHECK(strstr(ft_last_error(), SETTINGS[i][1]) != NULL);
    }
    /* The half-life and the ranking from before are in force. */
    OK(ft_tree_new(0, &tree));
    OK(ft_usage_advance(tree, config, 604800, "UTC", NULL));
    OK(ft_usage_time(tree, &moment, NULL));
    CHECK(moment == 604800);
    ft_tree_free(tree);
}

int main(void)
{
    ft_config *config = NULL;
    OK(ft_config_new(&config));
    rankings(config);
    minutes();
    refused(config);
    ft_config_free(config);
    puts("rankings as by hand");
    return EXIT_SUCCESS;
}
