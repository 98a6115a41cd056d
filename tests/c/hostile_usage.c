/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Hostile input: usage, time, and saved states.
 */

#include "hostile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void charges(ft_tree *tree, const ft_config *config)
{
    const double bad[] = {(double)NAN, -1.0, (double)INFINITY, -(double)INFINITY};
    const double good[] = {1.0, 2.0};
    const uint32_t ids[] = {3, 4};
    const uint32_t lost[] = {3, 99};
    double usage[4];
    ft_use use;
    memset(&use, 0, sizeof(use));

    for (size_t i = 0; i < 4; i++) {
        const double charge[] = {1.0, bad[i]};
        EXPECT(FT_ERR_USAGE, ft_usage_charge(tree, ids, 2, charge, 2));
        use.id = 3;
        use.tres = bad[i];
        EXPECT(FT_ERR_USAGE, ft_usage_charge_periods(tree, config, &use, 1, sizeof(use)));
    }
    EXPECT(FT_ERR_UNKNOWN_ID, ft_usage_charge(tree, lost, 2, good, 2));
    EXPECT(FT_ERR_LENGTH, ft_usage_charge(tree, ids, 2, good, 1));
    EXPECT(FT_ERR_LENGTH, ft_usage_charge(tree, ids, SIZE_MAX / 2, good, SIZE_MAX / 2));
    EXPECT(FT_ERR_NULL, ft_usage_charge(NULL, ids, 2, good, 2));
    EXPECT(FT_ERR_NULL, ft_usage_charge(tree, NULL, 2, good, 2));
    EXPECT(FT_ERR_NULL, ft_usage_charge(tree, ids, 2, NULL, 2));
    EXPECT(FT_ERR_ALIGN, ft_usage_charge(tree, ids, 1, MISALIGNED(double, usage), 1));
    EXPECT(FT_OK, ft_usage_charge(tree, NULL, 0, NULL, 0));

    use.tres = 1.0;
    EXPECT(FT_ERR_NULL, ft_usage_charge_periods(NULL, config, &use, 1, sizeof(use)));
    EXPECT(FT_ERR_NULL, ft_usage_charge_periods(tree, NULL, &use, 1, sizeof(use)));
    EXPECT(FT_ERR_NULL, ft_usage_charge_periods(tree, config, NULL, 1, sizeof(use)));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_usage_charge_periods(tree, config, &use, 1, 12));
    use.from = 10;
    use.to = 9;
    EXPECT(FT_ERR_TIME, ft_usage_charge_periods(tree, config, &use, 1, sizeof(use)));
    use.to = INT64_MIN;
    use.from = INT64_MAX;
    EXPECT(FT_ERR_TIME, ft_usage_charge_periods(tree, config, &use, 1, sizeof(use)));
    use.from = INT64_MIN;
    use.to = 1000;
    EXPECT(FT_OK, ft_usage_charge_periods(tree, config, &use, 1, sizeof(use)));
    use.reserved = 1;
    EXPECT(FT_ERR_RANGE, ft_usage_charge_periods(tree, config, &use, 1, sizeof(use)));
    use.reserved = 0;
    use.id = FT_NONE;
    EXPECT(FT_ERR_UNKNOWN_ID, ft_usage_charge_periods(tree, config, &use, 1, sizeof(use)));

    EXPECT(FT_OK, ft_usage_reset(tree, FT_NONE));
    EXPECT(FT_ERR_UNKNOWN_ID, ft_usage_reset(tree, 99));
    EXPECT(FT_ERR_NULL, ft_usage_reset(NULL, 3));
    EXPECT(FT_OK, ft_usage_read(tree, FT_USAGE_RAW, usage, 4));
    if (usage[0] != 0.0 || usage[3] != 0.0)
        exit(EXIT_FAILURE);
}

static void columns(ft_tree *tree)
{
    double usage[4] = {0.0, 0.0, 1.0, 2.0};
    EXPECT(FT_ERR_ENUM, ft_usage_load(tree, 2, usage, 4));
    EXPECT(FT_ERR_LENGTH, ft_usage_load(tree, FT_USAGE_OWN, usage, 3));
    EXPECT(FT_ERR_NULL, ft_usage_load(tree, FT_USAGE_OWN, NULL, 4));
    EXPECT(FT_ERR_NULL, ft_usage_load(NULL, FT_USAGE_OWN, usage, 4));
    usage[3] = (double)NAN;
    EXPECT(FT_ERR_USAGE, ft_usage_load(tree, FT_USAGE_RAW, usage, 4));
    EXPECT(FT_ERR_ENUM, ft_usage_read(tree, UINT32_MAX, usage, 4));
    EXPECT(FT_ERR_LENGTH, ft_usage_read(tree, FT_USAGE_RAW, usage, 5));
    EXPECT(FT_ERR_NULL, ft_usage_read(tree, FT_USAGE_RAW, NULL, 4));
    EXPECT(FT_ERR_NULL, ft_usage_read(NULL, FT_USAGE_RAW, usage, 4));
    EXPECT(FT_ERR_ALIGN, ft_usage_read(tree, FT_USAGE_OWN, MISALIGNED(double, usage), 4));
}

static void times(ft_tree *tree, ft_config *config)
{
    int64_t moment = 0, last_reset = 0;
    int32_t was_reset = 7;
    EXPECT(FT_ERR_TIME, ft_usage_advance(tree, config, 999, "UTC", &was_reset));
    EXPECT(FT_ERR_TIME, ft_usage_advance(tree, config, INT64_MIN, "UTC", &was_reset));
    EXPECT(FT_ERR_TIME_ZONE, ft_usage_advance(tree, config, 1000, "Nowhere/At_All", NULL));
    EXPECT(FT_ERR_TIME_ZONE, ft_usage_advance(tree, config, 1000, "../../etc/passwd", NULL));
    EXPECT(FT_ERR_UTF8, ft_usage_advance(tree, config, 1000, "\xff", NULL));
    EXPECT(FT_ERR_NULL, ft_usage_advance(NULL, config, 1000, "UTC", NULL));
    EXPECT(FT_ERR_NULL, ft_usage_advance(tree, NULL, 1000, "UTC", NULL));
    EXPECT(FT_ERR_ALIGN, ft_usage_advance(tree, config, 1000, "UTC", MISALIGNED(int32_t, &moment)));
    EXPECT(FT_ERR_NULL, ft_usage_time(NULL, &moment, &last_reset));
    EXPECT(FT_ERR_ALIGN, ft_usage_time(tree, MISALIGNED(int64_t, &moment), NULL));
    EXPECT(FT_OK, ft_usage_time(tree, NULL, NULL));
    EXPECT(FT_OK, ft_usage_time(tree, &moment, &last_reset));
    if (moment != 1000 || last_reset != 1000 || was_reset != 7)
        exit(EXIT_FAILURE);

    /* The largest time is a valid time. */
    EXPECT(FT_OK, ft_config_set(config, "PriorityUsageResetPeriod", "DAILY"));
    EXPECT(FT_OK, ft_usage_advance(tree, config, INT64_MAX, NULL, &was_reset));
    EXPECT(FT_OK, ft_fairshare_compute(tree, config));
}

void hostile_usage(void)
{
    ft_tree *tree = sample_tree();
    ft_config *config = sample_config();
    charges(tree, config);
    columns(tree);
    times(tree, config);
    ft_config_free(config);
    ft_tree_free(tree);
}

void hostile_state(void)
{
    ft_tree *tree = sample_tree();
    ft_tree *other = NULL;
    size_t size = 0;
    uint8_t *bytes = NULL;
    EXPECT(FT_OK, ft_tree_new(0, &other));
    EXPECT(FT_ERR_NULL, ft_state_size(NULL, &size));
    EXPECT(FT_ERR_NULL, ft_state_size(tree, NULL));
    EXPECT(FT_OK, ft_state_size(tree, &size));
    bytes = (uint8_t *)malloc(size);
    if (bytes == NULL)
        exit(EXIT_FAILURE);
    EXPECT(FT_ERR_NULL, ft_state_save(NULL, bytes, size));
    EXPECT(FT_ERR_NULL, ft_state_save(tree, NULL, size));
    EXPECT(FT_ERR_LENGTH, ft_state_save(tree, bytes, size - 1));
    EXPECT(FT_ERR_LENGTH, ft_state_save(tree, NULL, 0));
    EXPECT(FT_ERR_LENGTH, ft_state_save(tree, bytes, SIZE_MAX));
    EXPECT(FT_OK, ft_state_save(tree, bytes, size));

    EXPECT(FT_ERR_NULL, ft_state_restore(NULL, bytes, size));
    EXPECT(FT_ERR_NULL, ft_state_restore(other, NULL, size));
    EXPECT(FT_ERR_LENGTH, ft_state_restore(other, bytes, SIZE_MAX));
    EXPECT(FT_ERR_STATE_DAMAGED, ft_state_restore(other, NULL, 0));
    for (size_t length = 0; length < size; length++)
        EXPECT(FT_ERR_STATE_DAMAGED, ft_state_restore(other, bytes, length));
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 0x40;
        EXPECT(i >= 8 && i < 12 ? FT_ERR_STATE_VERSION : FT_ERR_STATE_DAMAGED,
               ft_state_restore(other, bytes, size));
        bytes[i] ^= 0x40;
    }
    EXPECT(FT_OK, ft_state_restore(other, bytes, size));
    free(bytes);
    ft_tree_free(other);
    ft_tree_free(tree);
}
