/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Hostile input: policies, usage in windows and since dates, and their saved states.
 */

#include "hostile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int32_t load(ft_config *config, const char *text)
{
    return ft_config_load_policy(config, text, strlen(text), "policy");
}

static void policies(ft_config *config)
{
    static const char *const BAD[] = {
        "usage = 'window:x'",
        "usage = ",
        "order = 'strict'",
        "policy = '/etc/passwd'",
        "resolution = '1-0'",
        "counts = ['COMPLETED']",
        "usage = 'window:1-0'\n[accounts.physics]\nplan = 'total:2026-01-01'",
        "usage = 'window:1-0'\n[accounts.03]\nplan = 'total:2026-01-01'",
        "usage = 'window:1-0'\n[accounts.4294967296]\nplan = 'total:2026-01-01'",
        "usage = 'window:1-0'\n[accounts.3]\nminutes = 4",
        "usage = 'window:1-0'\n[accounts.3]\nplan = 'window:2-0'",
        "[accounts.3]\nplan = 'total:2026-01-01'",
    };
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        EXPECT(FT_ERR_CONFIG, ft_config_load_policy(config, BAD[i], strlen(BAD[i]), "policy"));
    EXPECT(FT_ERR_NULL, ft_config_load_policy(NULL, "", 0, "policy"));
    EXPECT(FT_ERR_NULL, ft_config_load_policy(config, NULL, 1, "policy"));
    EXPECT(FT_ERR_NULL, ft_config_load_policy(config, "", 0, NULL));
    EXPECT(FT_ERR_UTF8, ft_config_load_policy(config, "\xff", 1, "policy"));
    EXPECT(FT_ERR_LENGTH, ft_config_load_policy(config, "", SIZE_MAX, "policy"));
    EXPECT(FT_OK, ft_config_load_policy(config, NULL, 0, "policy"));
}

/* Calls that are not available with a half-life. */
static void half_life(ft_tree *tree, const ft_config *config)
{
    ft_run_use use;
    double usage[4];
    const char *const names[] = {"cpu"};
    memset(&use, 0, sizeof(use));
    EXPECT(FT_OK, ft_usage_configure(tree, config, NULL, NULL, 0));
    EXPECT(FT_ERR_MODEL, ft_usage_configure(tree, config, NULL, names, 1));
    EXPECT(FT_ERR_MODEL, ft_usage_charge_runs(tree, &use, 1, sizeof(use), NULL, 0));
    EXPECT(FT_ERR_MODEL, ft_usage_take_back(tree, 1, 1));
    EXPECT(FT_ERR_MODEL, ft_usage_end_run(tree, config, 1, 1, FT_END_COMPLETED, 0, NULL));
    EXPECT(FT_ERR_MODEL, ft_usage_quantity(tree, FT_QUANTITY_WALL, 0, usage, 4));
    EXPECT(FT_ERR_MODEL, ft_usage_quantity(tree, FT_QUANTITY_TRES, 0, usage, 4));
    EXPECT(FT_OK, ft_usage_quantity(tree, FT_QUANTITY_BILLING, 0, usage, 4));
}

static void configure(ft_tree *tree, ft_config *config)
{
    const char *const twice[] = {"cpu", "cpu"};
    const char *const nothing[] = {""};
    const char *const null[] = {NULL};
    const char *const latin[] = {"\xff"};
    const char *const other[] = {"mem"};
    const char *const names[] = {"cpu"};
    EXPECT(FT_OK, load(config, "usage = 'window:1-0'\n[accounts.99]\nplan = 'total:2026-01-01'"));
    EXPECT(FT_ERR_UNKNOWN_ID, ft_usage_configure(tree, config, "UTC", names, 1));
    EXPECT(FT_OK, load(config, "usage = 'window:1:00'\nresolution = '0:10'"));
    EXPECT(FT_ERR_MODEL, ft_usage_advance(tree, config, 1000, "UTC", NULL));
    EXPECT(FT_ERR_RANGE, ft_usage_configure(tree, config, "UTC", twice, 2));
    EXPECT(FT_ERR_RANGE, ft_usage_configure(tree, config, "UTC", nothing, 1));
    EXPECT(FT_ERR_NULL, ft_usage_configure(tree, config, "UTC", null, 1));
    EXPECT(FT_ERR_UTF8, ft_usage_configure(tree, config, "UTC", latin, 1));
    EXPECT(FT_ERR_NULL, ft_usage_configure(NULL, config, "UTC", names, 1));
    EXPECT(FT_ERR_NULL, ft_usage_configure(tree, NULL, "UTC", names, 1));
    EXPECT(FT_ERR_NULL, ft_usage_configure(tree, config, "UTC", NULL, 1));
    EXPECT(FT_ERR_LENGTH, ft_usage_configure(tree, config, "UTC", names, SIZE_MAX / 2));
    EXPECT(FT_ERR_TIME_ZONE, ft_usage_configure(tree, config, "Nowhere/At_All", names, 1));
    EXPECT(FT_OK, ft_usage_configure(tree, config, "UTC", names, 1));
    EXPECT(FT_OK, ft_usage_configure(tree, config, "UTC", names, 1));
    EXPECT(FT_ERR_MODEL, ft_usage_configure(tree, config, "UTC", other, 1));
    EXPECT(FT_OK, load(config, "usage = 'window:1:00'\nresolution = '0:03'"));
    EXPECT(FT_ERR_MODEL, ft_usage_configure(tree, config, "UTC", names, 1));
    EXPECT(FT_OK, load(config, "usage = 'window:1:00'\nresolution = '0:10'"));
}

static void charges(ft_tree *tree, const ft_config *config)
{
    const double bad[] = {(double)NAN, -1.0, (double)INFINITY, 1e20};
    const uint64_t counts[] = {UINT64_MAX};
    double usage[4] = {0.0};
    const uint32_t ids[] = {3};
    const double amount[] = {1.0};
    ft_run_use use;
    ft_use period;
    memset(&use, 0, sizeof(use));
    memset(&period, 0, sizeof(period));
    use.assoc = 3;
    use.from = 990;
    use.to = 1000;
    use.usage_factor = 1.0;
    use.tres_row = FT_NONE;
    for (size_t i = 0; i < 4; i++) {
        use.tres = bad[i];
        EXPECT(FT_ERR_USAGE, ft_usage_charge_runs(tree, &use, 1, sizeof(use), NULL, 0));
        use.tres = 1.0;
        use.usage_factor = bad[i];
        EXPECT(FT_ERR_USAGE, ft_usage_charge_runs(tree, &use, 1, sizeof(use), NULL, 0));
        use.usage_factor = 1.0;
    }
    use.to = 1001;
    EXPECT(FT_ERR_TIME, ft_usage_charge_runs(tree, &use, 1, sizeof(use), NULL, 0));
    use.to = INT64_MAX;
    EXPECT(FT_ERR_TIME, ft_usage_charge_runs(tree, &use, 1, sizeof(use), NULL, 0));
    use.from = INT64_MIN;
    EXPECT(FT_ERR_TIME, ft_usage_charge_runs(tree, &use, 1, sizeof(use), NULL, 0));
    use.from = 1000;
    use.to = 990;
    EXPECT(FT_ERR_TIME, ft_usage_charge_runs(tree, &use, 1, sizeof(use), NULL, 0));
    use.from = 990;
    use.to = 1000;
    use.reserved = 1;
    EXPECT(FT_ERR_RANGE, ft_usage_charge_runs(tree, &use, 1, sizeof(use), NULL, 0));
    use.reserved = 0;
    use.assoc = 99;
    EXPECT(FT_ERR_UNKNOWN_ID, ft_usage_charge_runs(tree, &use, 1, sizeof(use), NULL, 0));
    use.assoc = 3;
    use.tres_row = 0;
    EXPECT(FT_ERR_UNKNOWN_INDEX, ft_usage_charge_runs(tree, &use, 1, sizeof(use), NULL, 0));
    use.tres_row = FT_NONE - 1;
    EXPECT(FT_ERR_UNKNOWN_INDEX, ft_usage_charge_runs(tree, &use, 1, sizeof(use), counts, 1));
    EXPECT(FT_ERR_NULL, ft_usage_charge_runs(NULL, &use, 1, sizeof(use), counts, 1));
    EXPECT(FT_ERR_NULL, ft_usage_charge_runs(tree, NULL, 1, sizeof(use), counts, 1));
    EXPECT(FT_ERR_NULL, ft_usage_charge_runs(tree, &use, 1, sizeof(use), NULL, 1));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_usage_charge_runs(tree, &use, 1, 8, counts, 1));
    EXPECT(FT_ERR_ALIGN, ft_usage_charge_runs(tree, MISALIGNED(ft_run_use, &use), 1, sizeof(use),
                                              counts, 1));
    EXPECT(FT_OK, ft_usage_charge_runs(tree, NULL, 0, sizeof(use), NULL, 0));
    use.tres_row = 0;
    EXPECT(FT_OK, ft_usage_charge_runs(tree, &use, 1, sizeof(use), counts, 1));
    EXPECT(FT_ERR_RUN, ft_usage_charge_runs(tree, &use, 1, sizeof(use), counts, 1));

    EXPECT(FT_ERR_RUN, ft_usage_take_back(tree, 1, 0));
    EXPECT(FT_ERR_RUN, ft_usage_take_back(tree, 0, INT64_MIN));
    EXPECT(FT_ERR_NULL, ft_usage_take_back(NULL, 0, 0));
    EXPECT(FT_ERR_ENUM, ft_usage_end_run(tree, config, 0, 0, 99, 0, NULL));
    EXPECT(FT_ERR_RUN, ft_usage_end_run(tree, config, 99, 0, FT_END_FAILED, 256, NULL));
    EXPECT(FT_ERR_RUN, ft_usage_end_run(tree, config, 0, 7, FT_END_FAILED, 1, NULL));
    EXPECT(FT_ERR_NULL, ft_usage_end_run(NULL, config, 0, 0, FT_END_FAILED, 1, NULL));
    EXPECT(FT_ERR_NULL, ft_usage_end_run(tree, NULL, 0, 0, FT_END_FAILED, 1, NULL));
    EXPECT(FT_ERR_ALIGN, ft_usage_end_run(tree, config, 0, 0, FT_END_FAILED, 1,
                                          MISALIGNED(int32_t, usage)));

    EXPECT(FT_ERR_ENUM, ft_usage_quantity(tree, 3, 0, usage, 4));
    EXPECT(FT_ERR_RANGE, ft_usage_quantity(tree, FT_QUANTITY_WALL, 1, usage, 4));
    EXPECT(FT_ERR_UNKNOWN_TRES, ft_usage_quantity(tree, FT_QUANTITY_TRES, 1, usage, 4));
    EXPECT(FT_ERR_UNKNOWN_TRES, ft_usage_quantity(tree, FT_QUANTITY_TRES, UINT32_MAX, usage, 4));
    EXPECT(FT_ERR_LENGTH, ft_usage_quantity(tree, FT_QUANTITY_WALL, 0, usage, 3));
    EXPECT(FT_ERR_NULL, ft_usage_quantity(tree, FT_QUANTITY_WALL, 0, NULL, 4));
    EXPECT(FT_ERR_NULL, ft_usage_quantity(NULL, FT_QUANTITY_WALL, 0, usage, 4));

    /* Calls that are only available with a half-life. */
    EXPECT(FT_ERR_MODEL, ft_usage_charge(tree, ids, 1, amount, 1));
    EXPECT(FT_ERR_MODEL, ft_usage_load(tree, FT_USAGE_RAW, usage, 4));
    EXPECT(FT_ERR_MODEL, ft_usage_read(tree, FT_USAGE_OWN, usage, 4));
    EXPECT(FT_OK, ft_usage_read(tree, FT_USAGE_RAW, usage, 4));
    period.id = 3;
    period.from = 990;
    period.to = 1001;
    period.tres = 1.0;
    EXPECT(FT_ERR_TIME, ft_usage_charge_periods(tree, config, &period, 1, sizeof(period)));
    EXPECT(FT_ERR_TIME, ft_usage_advance(tree, config, INT64_MAX, "UTC", NULL));
}

static void states(ft_tree *tree)
{
    ft_tree *other = NULL;
    size_t size = 0;
    EXPECT(FT_OK, ft_tree_new(0, &other));
    EXPECT(FT_OK, ft_state_size(tree, &size));
    uint8_t *bytes = (uint8_t *)malloc(size);
    if (bytes == NULL)
        exit(EXIT_FAILURE);
    EXPECT(FT_ERR_LENGTH, ft_state_save(tree, bytes, size - 1));
    EXPECT(FT_OK, ft_state_save(tree, bytes, size));
    for (size_t length = 0; length < size; length++)
        EXPECT(FT_ERR_STATE_DAMAGED, ft_state_restore(other, bytes, length));
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 0x40;
        EXPECT(i >= 8 && i < 12 ? FT_ERR_STATE_VERSION : FT_ERR_STATE_DAMAGED,
               ft_state_restore(other, bytes, size));
        bytes[i] ^= 0x40;
    }
    EXPECT(FT_OK, ft_state_restore(other, bytes, size));
    EXPECT(FT_OK, ft_usage_take_back(other, 0, 0));
    free(bytes);
    ft_tree_free(other);
}

void hostile_windows(void)
{
    ft_tree *tree = sample_tree();
    ft_config *config = sample_config();
    policies(config);
    half_life(tree, config);
    configure(tree, config);
    charges(tree, config);
    states(tree);
    EXPECT(FT_ERR_HAS_CHILDREN, ft_tree_remove(tree, 2));
    EXPECT(FT_OK, ft_usage_reset(tree, FT_NONE));
    EXPECT(FT_ERR_RUN, ft_usage_take_back(tree, 0, 0));
    ft_config_free(config);
    ft_tree_free(tree);
}
