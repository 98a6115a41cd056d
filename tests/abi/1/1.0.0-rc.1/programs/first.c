/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fairtree.h>

#include <stdio.h>

int main(void)
{
    /* Number, the one above, shares, kind; an account before what is below it. */
    const ft_assoc rows[] = {
        {1, FT_NONE, 1, FT_ACCOUNT},                         /* root */
        {2, 1, 60, FT_ACCOUNT},                              /* physics */
        {20, 2, 1, FT_USER},    {21, 2, 1, FT_USER},         /* anna, bert */
        {3, 1, 40, FT_ACCOUNT}, {30, 3, 1, FT_USER},         /* biology: carl */
    };
    const uint32_t users[] = {20, 21, 30};
    const char *const names[] = {"anna", "bert", "carl"};
    const double used[] = {36000, 0, 3600}; /* TRES-seconds */
    double factors[6];
    ft_tree *tree = NULL;
    ft_config *config = NULL;

    if (ft_tree_new(0, &tree) || ft_config_new(&config)
        || ft_tree_load(tree, rows, 6, sizeof rows[0])
        || ft_usage_charge(tree, users, 3, used, 3)
        || ft_fairshare_compute(tree, config)
        || ft_fairshare_column(tree, FT_COLUMN_FS_FACTOR, factors, 6)) {
        fprintf(stderr, "%s\n", ft_last_error());
        return 1;
    }
    /* One factor per row, in the order of the rows. */
    printf("%s %f\n%s %f\n%s %f\n", names[0], factors[2], names[1], factors[3], names[2],
           factors[5]);
    ft_config_free(config);
    ft_tree_free(tree);
    return 0;
}
