/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Hostile input for every function of libfairtree: NULL, misaligned and wrong pointers, lengths
 * that overflow, unknown enumerations, NaN, bytes that are not UTF-8, handles freed in any order.
 * Each must be refused with the right status and a sentence that names the function.
 *
 * Prints the number of refusals; exits with 1 at the first missing one.
 */

#include "hostile.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int refusals;

void expect(int line, const char *function, int32_t wanted, int32_t found)
{
    const char *sentence = ft_last_error();
    const size_t length = strcspn(function, "(");
    if (found != wanted) {
        fprintf(stderr, "line %d: %s gave %d, not %d: %s\n", line, function, (int)found,
                (int)wanted, sentence);
        exit(EXIT_FAILURE);
    }
    if (wanted == FT_OK ? sentence[0] != '\0'
                        : strncmp(sentence, function, length) != 0 || sentence[length] != ':') {
        fprintf(stderr, "line %d: %s says: %s\n", line, function, sentence);
        exit(EXIT_FAILURE);
    }
    refusals += wanted != FT_OK;
}

/* A tree with a root, an account and two users; ids 1, 2, 3 and 4. */
ft_tree *sample_tree(void)
{
    static const ft_assoc ROWS[] = {
        {1, FT_NONE, 1, FT_ACCOUNT},
        {2, 1, 1, FT_ACCOUNT},
        {3, 2, 1, FT_USER},
        {4, 2, 2, FT_USER},
    };
    ft_tree *tree = NULL;
    EXPECT(FT_OK, ft_tree_new(1000, &tree));
    EXPECT(FT_OK, ft_tree_load(tree, ROWS, 4, sizeof(ROWS[0])));
    return tree;
}

ft_config *sample_config(void)
{
    ft_config *config = NULL;
    EXPECT(FT_OK, ft_config_new(&config));
    return config;
}

static void statuses(void)
{
    for (int32_t status = -200; status <= 200; status++)
        if (ft_status_str(status)[0] == '\0')
            exit(EXIT_FAILURE);
    if (strcmp(ft_status_str(INT32_MIN), "unknown status") != 0
        || strcmp(ft_status_str(FT_OK), "success") != 0
        || strcmp(ft_version(), FT_VERSION) != 0 || ft_abi_version() != FT_ABI_VERSION)
        exit(EXIT_FAILURE);
}

static void handles(void)
{
    uint64_t words[4] = {0, 0, 0, 0};
    ft_tree *const no_tree = (ft_tree *)(void *)words;
    ft_tree *const odd_tree = (ft_tree *)(void *)((char *)words + 1);
    ft_tree **const odd_out = (ft_tree **)(void *)((char *)words + 3);
    ft_tree *tree = sample_tree();
    ft_tree *copy = NULL;
    ft_config *config = sample_config();

    EXPECT(FT_ERR_NULL, ft_tree_new(0, NULL));
    EXPECT(FT_ERR_ALIGN, ft_tree_new(0, odd_out));
    EXPECT(FT_ERR_NULL, ft_config_new(NULL));
    EXPECT(FT_ERR_NULL, ft_tree_clone(NULL, &copy));
    EXPECT(FT_ERR_NULL, ft_tree_clone(tree, NULL));
    EXPECT(FT_ERR_HANDLE, ft_tree_clone(no_tree, &copy));
    EXPECT(FT_ERR_ALIGN, ft_tree_clone(odd_tree, &copy));
    EXPECT(FT_ERR_HANDLE, ft_tree_clone((ft_tree *)(void *)config, &copy));
    EXPECT(FT_ERR_HANDLE, ft_config_set((ft_config *)(void *)tree, "PriorityMaxAge", "1"));
    if (copy != NULL)
        exit(EXIT_FAILURE);

    /* A pointer that is not a handle of its kind is ignored. */
    ft_tree_free(no_tree);
    ft_tree_free(odd_tree);
    ft_tree_free((ft_tree *)(void *)config);
    ft_config_free((ft_config *)(void *)tree);
    ft_site_free((ft_site *)(void *)tree);
    ft_tree_free(NULL);
    ft_config_free(NULL);
    ft_site_free(NULL);

    /* Handles are independent: a copy outlives its original, factors outlive their settings. */
    EXPECT(FT_OK, ft_tree_clone(tree, &copy));
    ft_tree_free(tree);
    EXPECT(FT_OK, ft_fairshare_compute(copy, config));
    ft_config_free(config);
    EXPECT(FT_OK, ft_tree_remove(copy, 4));
    ft_tree_free(copy);
}

static void trees(void)
{
    ft_tree *tree = sample_tree();
    const ft_assoc good = {5, 2, 1, FT_USER};
    ft_assoc rows[8];
    size_t len = 77, users = 77, position = 77;
    memset(rows, 0, sizeof(rows));

    EXPECT(FT_ERR_NULL, ft_tree_load(NULL, rows, 1, sizeof(rows[0])));
    EXPECT(FT_ERR_NULL, ft_tree_load(tree, NULL, 1, sizeof(rows[0])));
    EXPECT(FT_ERR_LENGTH, ft_tree_load(tree, rows, SIZE_MAX, sizeof(rows[0])));
    EXPECT(FT_ERR_LENGTH, ft_tree_load(tree, rows, SIZE_MAX / sizeof(rows[0]), sizeof(rows[0])));
    EXPECT(FT_ERR_LENGTH, ft_tree_load(tree, rows, PTRDIFF_MAX / 16 + 1, sizeof(rows[0])));
    EXPECT(FT_ERR_ALIGN, ft_tree_load(tree, MISALIGNED(ft_assoc, rows), 1, sizeof(rows[0])));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_tree_load(tree, rows, 1, 0));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_tree_load(tree, rows, 1, sizeof(rows[0]) - 1));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_tree_load(tree, rows, 1, sizeof(rows[0]) + 1));
    EXPECT(FT_ERR_LENGTH, ft_tree_load(tree, rows, 2, SIZE_MAX - 3));

    EXPECT(FT_ERR_NULL, ft_tree_add(NULL, &good, sizeof(good)));
    EXPECT(FT_ERR_NULL, ft_tree_add(tree, NULL, sizeof(good)));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_tree_add(tree, &good, 4));
    for (size_t i = 0; i < 8; i++)
        rows[i] = good;
    rows[0].id = FT_NONE;
    EXPECT(FT_ERR_RANGE, ft_tree_add(tree, &rows[0], sizeof(good)));
    rows[1].kind = 2;
    EXPECT(FT_ERR_ENUM, ft_tree_add(tree, &rows[1], sizeof(good)));
    rows[2].raw_shares = FT_SHARES_PARENT + 1;
    EXPECT(FT_ERR_SHARES, ft_tree_add(tree, &rows[2], sizeof(good)));
    rows[3].parent = 99;
    EXPECT(FT_ERR_UNKNOWN_PARENT, ft_tree_add(tree, &rows[3], sizeof(good)));
    rows[4].parent = 3;
    EXPECT(FT_ERR_PARENT_IS_USER, ft_tree_add(tree, &rows[4], sizeof(good)));
    rows[5].parent = FT_NONE;
    EXPECT(FT_ERR_ROOT, ft_tree_add(tree, &rows[5], sizeof(good)));
    rows[6].id = 3;
    EXPECT(FT_ERR_DUPLICATE_ID, ft_tree_add(tree, &rows[6], sizeof(good)));
    rows[7].parent = 5;
    rows[7].kind = FT_ACCOUNT;
    EXPECT(FT_ERR_ROOT, ft_tree_load(tree, &rows[7], 1, sizeof(good)));
    rows[6].parent = FT_NONE;
    rows[6].kind = FT_ACCOUNT;
    EXPECT(FT_ERR_CYCLE, ft_tree_load(tree, &rows[6], 2, sizeof(good)));

    EXPECT(FT_ERR_NULL, ft_tree_set_shares(NULL, 3, 1));
    EXPECT(FT_ERR_UNKNOWN_ID, ft_tree_set_shares(tree, 99, 1));
    EXPECT(FT_ERR_SHARES, ft_tree_set_shares(tree, 3, UINT32_MAX));
    EXPECT(FT_OK, ft_tree_set_shares(tree, 3, FT_SHARES_PARENT));
    EXPECT(FT_ERR_NULL, ft_tree_move(NULL, 3, 1));
    EXPECT(FT_ERR_UNKNOWN_ID, ft_tree_move(tree, 99, 1));
    EXPECT(FT_ERR_UNKNOWN_PARENT, ft_tree_move(tree, 3, 99));
    EXPECT(FT_ERR_ROOT, ft_tree_move(tree, 1, 2));
    EXPECT(FT_ERR_CYCLE, ft_tree_move(tree, 2, 2));
    EXPECT(FT_ERR_PARENT_IS_USER, ft_tree_move(tree, 3, 4));
    EXPECT(FT_ERR_NULL, ft_tree_remove(NULL, 3));
    EXPECT(FT_ERR_UNKNOWN_ID, ft_tree_remove(tree, 99));
    EXPECT(FT_ERR_HAS_CHILDREN, ft_tree_remove(tree, 2));

    EXPECT(FT_ERR_NULL, ft_tree_len(NULL, &len, &users));
    EXPECT(FT_ERR_NULL, ft_tree_len(tree, NULL, &users));
    EXPECT(FT_ERR_ALIGN, ft_tree_len(tree, &len, MISALIGNED(size_t, rows)));
    EXPECT(FT_ERR_NULL, ft_tree_find(NULL, 3, &position));
    EXPECT(FT_ERR_NULL, ft_tree_find(tree, 3, NULL));
    EXPECT(FT_ERR_UNKNOWN_ID, ft_tree_find(tree, FT_NONE, &position));
    EXPECT(FT_ERR_NULL, ft_tree_rows(NULL, rows, 4, sizeof(rows[0])));
    EXPECT(FT_ERR_NULL, ft_tree_rows(tree, NULL, 4, sizeof(rows[0])));
    EXPECT(FT_ERR_LENGTH, ft_tree_rows(tree, rows, 3, sizeof(rows[0])));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_tree_rows(tree, rows, 4, sizeof(rows[0]) + 2));
    if (len != 77 || users != 77 || position != 77)
        exit(EXIT_FAILURE);
    EXPECT(FT_OK, ft_tree_rows(tree, rows, 4, sizeof(rows[0])));
    if (rows[3].id != 4 || rows[3].parent != 2 || rows[3].raw_shares != 2)
        exit(EXIT_FAILURE);
    ft_tree_free(tree);
}

static void factors(void)
{
    ft_tree *tree = sample_tree();
    ft_config *config = sample_config();
    ft_fairshare row, rows[4];
    ft_comparison comparison;
    double column[4];
    char text[8];
    size_t length = 0;

    EXPECT(FT_ERR_NULL, ft_fairshare_compute(NULL, config));
    EXPECT(FT_ERR_NULL, ft_fairshare_compute(tree, NULL));
    EXPECT(FT_ERR_NOT_COMPUTED, ft_fairshare_get(tree, 3, &row, sizeof(row)));
    EXPECT(FT_ERR_NOT_COMPUTED, ft_fairshare_rows(tree, rows, 4, sizeof(row)));
    EXPECT(FT_ERR_NOT_COMPUTED, ft_fairshare_column(tree, FT_COLUMN_FS_FACTOR, column, 4));
    EXPECT(FT_ERR_NOT_COMPUTED, ft_explain(tree, 3, 4, &comparison, sizeof(comparison)));
    EXPECT(FT_ERR_NOT_COMPUTED, ft_explain_text(tree, 3, 4, NULL, 0, &length));
    EXPECT(FT_OK, ft_fairshare_compute(tree, config));

    EXPECT(FT_ERR_NULL, ft_fairshare_get(NULL, 3, &row, sizeof(row)));
    EXPECT(FT_ERR_NULL, ft_fairshare_get(tree, 3, NULL, sizeof(row)));
    EXPECT(FT_ERR_UNKNOWN_ID, ft_fairshare_get(tree, 99, &row, sizeof(row)));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_fairshare_get(tree, 3, &row, 1));
    EXPECT(FT_ERR_ALIGN, ft_fairshare_get(tree, 3, MISALIGNED(ft_fairshare, rows), sizeof(row)));
    EXPECT(FT_ERR_NULL, ft_fairshare_rows(tree, NULL, 4, sizeof(row)));
    EXPECT(FT_ERR_LENGTH, ft_fairshare_rows(tree, rows, 5, sizeof(row)));
    EXPECT(FT_ERR_LENGTH, ft_fairshare_rows(tree, rows, SIZE_MAX, sizeof(row)));
    EXPECT(FT_ERR_ENUM, ft_fairshare_column(tree, 6, column, 4));
    EXPECT(FT_ERR_NULL, ft_fairshare_column(tree, FT_COLUMN_LEVEL_FS, NULL, 4));
    EXPECT(FT_ERR_LENGTH, ft_fairshare_column(tree, FT_COLUMN_LEVEL_FS, column, 3));
    EXPECT(FT_ERR_LENGTH, ft_fairshare_column(tree, FT_COLUMN_LEVEL_FS, NULL, 0));

    EXPECT(FT_ERR_NULL, ft_explain(NULL, 3, 4, &comparison, sizeof(comparison)));
    EXPECT(FT_ERR_NULL, ft_explain(tree, 3, 4, NULL, sizeof(comparison)));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_explain(tree, 3, 4, &comparison, 8));
    EXPECT(FT_ERR_NOT_A_USER, ft_explain(tree, 3, 2, &comparison, sizeof(comparison)));
    EXPECT(FT_ERR_UNKNOWN_ID, ft_explain(tree, 99, 3, &comparison, sizeof(comparison)));
    EXPECT(FT_OK, ft_explain(tree, 3, 3, &comparison, sizeof(comparison)));
    if (comparison.order != 0)
        exit(EXIT_FAILURE);
    EXPECT(FT_ERR_NULL, ft_explain_text(NULL, 3, 4, text, sizeof(text), &length));
    EXPECT(FT_ERR_NULL, ft_explain_text(tree, 3, 4, NULL, 8, &length));
    EXPECT(FT_ERR_BUFFER, ft_explain_text(tree, 3, 4, text, sizeof(text), &length));
    EXPECT(FT_ERR_NOT_A_USER, ft_explain_text(tree, 1, 4, text, sizeof(text), &length));
    if (length <= sizeof(text))
        exit(EXIT_FAILURE);

    /* Any edit discards the factors. */
    EXPECT(FT_OK, ft_tree_move(tree, 4, 1));
    EXPECT(FT_ERR_NOT_COMPUTED, ft_fairshare_get(tree, 3, &row, sizeof(row)));
    ft_config_free(config);
    ft_tree_free(tree);
}

static void settings(void)
{
    static const char *const BAD[][2] = {
        {"", "1"},
        {"PriorityWeightAges", "1"},
        {"PriorityWeightAge", ""},
        {"PriorityWeightAge", "-1"},
        {"PriorityWeightAge", "4294967296000"},
        {"PriorityDecayHalfLife", "0"},
        {"PriorityDecayHalfLife", "7x"},
        {"PriorityFavorSmall", "maybe"},
        {"PriorityParameters", "compat=best"},
        {"PriorityParameters", "colour=blue"},
        {"PriorityUsageResetPeriod", "HOURLY"},
        {"PriorityWeightTRES", "cpu"},
        {"PriorityWeightTRES", "cpu=nan"},
        {"FairShareDampeningFactor", "0"},
    };
    ft_config *config = sample_config();
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        EXPECT(FT_ERR_CONFIG, ft_config_set(config, BAD[i][0], BAD[i][1]));
    EXPECT(FT_ERR_NULL, ft_config_set(NULL, "PriorityMaxAge", "1"));
    EXPECT(FT_ERR_NULL, ft_config_set(config, NULL, "1"));
    EXPECT(FT_ERR_NULL, ft_config_set(config, "PriorityMaxAge", NULL));
    EXPECT(FT_ERR_UTF8, ft_config_set(config, "PriorityMaxAge", "\xff"));
    EXPECT(FT_ERR_UTF8, ft_config_set(config, "\xc3(", "1"));

    EXPECT(FT_OK, ft_config_load(config, NULL, 0, "slurm.conf"));
    EXPECT(FT_ERR_NULL, ft_config_load(config, NULL, 5, "slurm.conf"));
    EXPECT(FT_ERR_NULL, ft_config_load(NULL, "", 0, "slurm.conf"));
    EXPECT(FT_ERR_NULL, ft_config_load(config, "", 0, NULL));
    EXPECT(FT_ERR_LENGTH, ft_config_load(config, "x", SIZE_MAX, "slurm.conf"));
    EXPECT(FT_ERR_UTF8, ft_config_load(config, "\xfe\xff", 2, "slurm.conf"));
    EXPECT(FT_ERR_CONFIG, ft_config_load(config, "PriorityMaxAge=x", 16, "slurm.conf"));
    if (strstr(ft_last_error(), "slurm.conf:1:16") == NULL)
        exit(EXIT_FAILURE);
    /* A refused file changes no setting. */
    EXPECT(FT_OK, ft_config_set(config, "PriorityWeightAge", "1"));
    ft_config_free(config);
}

int main(void)
{
    statuses();
    handles();
    trees();
    factors();
    settings();
    hostile_usage();
    hostile_state();
    hostile_jobs();
    hostile_windows();
    hostile_pass();
    hostile_queue();
    hostile_on_demand();
    hostile_service();
    random_life();
    printf("%d refusals\n", refusals);
    return EXIT_SUCCESS;
}
