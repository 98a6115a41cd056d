/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Usage in a window: usage of the last 28 days counts, and a cancelled run does not count.
 */
#include <fairtree.h>

#include <stdio.h>

#define DAY INT64_C(86400)

static int show(ft_tree *tree, const ft_config *config, int day)
{
    double usage[5], factors[5];
    if (ft_usage_advance(tree, config, day * DAY, "UTC", NULL)
        || ft_fairshare_compute(tree, config)
        || ft_usage_quantity(tree, FT_QUANTITY_BILLING, 0, usage, 5)
        || ft_fairshare_column(tree, FT_COLUMN_FS_FACTOR, factors, 5))
        return 1;
    printf("day %d: anna %.0f %.2f, carl %.0f %.2f\n", day, usage[2], factors[2], usage[4],
           factors[4]);
    return 0;
}

int main(void)
{
    const ft_assoc rows[] = {
        {1, FT_NONE, 1, FT_ACCOUNT},
        {2, 1, 40, FT_ACCOUNT}, {20, 2, 1, FT_USER}, /* physics: anna */
        {3, 1, 60, FT_ACCOUNT}, {30, 3, 1, FT_USER}, /* biology: carl */
    };
    /* User, job, run, from, to, billable TRES, UsageFactor, no single TRES. */
    const ft_run_use uses[] = {
        {20, 101, 0, 0, 10 * DAY, 1.0, 1.0, FT_NONE, 0},
        {30, 102, 0, 5 * DAY, 10 * DAY, 2.0, 1.0, FT_NONE, 0},
        {30, 103, 0, 9 * DAY, 10 * DAY, 8.0, 1.0, FT_NONE, 0},
    };
    int32_t counts = 1;
    ft_tree *tree = NULL;
    ft_config *config = NULL;

    if (ft_tree_new(10 * DAY, &tree) || ft_config_new(&config)
        || ft_config_set(config, "PriorityParameters", "usage=window:28-0,counts=COMPLETED")
        || ft_tree_load(tree, rows, 5, sizeof rows[0])
        || ft_usage_configure(tree, config, "UTC", NULL, 0)
        || ft_usage_charge_runs(tree, uses, 3, sizeof uses[0], NULL, 0)
        || ft_usage_end_run(tree, config, 103, 0, FT_END_CANCELLED, 0, &counts)
        || show(tree, config, 10) || show(tree, config, 33)) {
        fprintf(stderr, "%s\n", ft_last_error());
        return 1;
    }
    ft_config_free(config);
    ft_tree_free(tree);
    return counts;
}
