/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A batch system in small: it builds a tree of accounts and users, charges what they used, lets
 * a week pass, ranks them, prices 100,000 waiting jobs in one call, saves and restores, and
 * prints a table like that of sshare.
 *
 * C11; compiles as C++17, too. With fairtree installed:
 *
 *     cc harness.c $(pkg-config --cflags --libs fairtree) -o harness
 */

#include <fairtree.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

enum { DAY = 86400, JOBS = 100000 };

/* The accounts and users of the site. Names are ours: the library knows ids. */
static const struct {
    ft_assoc row;
    const char *account;
    const char *user;
} SITE[] = {
    {{1, FT_NONE, 1, FT_ACCOUNT}, "root", ""},
    {{2, 1, 60, FT_ACCOUNT}, " physics", ""},
    {{10, 2, 1, FT_USER}, "  physics", "anna"},
    {{11, 2, 1, FT_USER}, "  physics", "bert"},
    {{3, 1, 40, FT_ACCOUNT}, " biology", ""},
    {{12, 3, 3, FT_USER}, "  biology", "cleo"},
    {{13, 3, 1, FT_USER}, "  biology", "dora"},
};

static const uint32_t USERS[] = {10, 11, 12, 13};
static const double TRES_SECONDS[] = {60000.0, 20000.0, 90000.0, 30000.0};

/* Every call can fail; in this program a failure is a reason to stop. */
static void check(int32_t status)
{
    if (status != FT_OK) {
        fprintf(stderr, "harness: %s (%s)\n", ft_last_error(), ft_status_str(status));
        exit(EXIT_FAILURE);
    }
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) {
        fprintf(stderr, "harness: out of memory\n");
        exit(EXIT_FAILURE);
    }
    return memory;
}

static ft_config *new_config(void)
{
    static const struct {
        const char *key;
        const char *value;
    } SETTINGS[] = {
        {"PriorityDecayHalfLife", "7-0"},      {"PriorityMaxAge", "7-0"},
        {"PriorityWeightFairshare", "10000"},  {"PriorityWeightAge", "1000"},
        {"PriorityWeightPartition", "2000"},   {"PriorityWeightQOS", "500"},
        {"PriorityWeightTRES", "gres/gpu=400"},
    };
    ft_config *config = NULL;
    check(ft_config_new(&config));
    for (size_t i = 0; i < LENGTH(SETTINGS); i++)
        check(ft_config_set(config, SETTINGS[i].key, SETTINGS[i].value));
    return config;
}

static ft_tree *new_tree(int64_t now)
{
    ft_assoc rows[LENGTH(SITE)];
    ft_tree *tree = NULL;
    for (size_t i = 0; i < LENGTH(SITE); i++)
        rows[i] = SITE[i].row;
    check(ft_tree_new(now, &tree));
    check(ft_tree_load(tree, rows, LENGTH(rows), sizeof(rows[0])));
    return tree;
}

/* Two partitions of 8 GPUs, of which the second has four times the priority, and two QOS. */
static ft_site *new_site(void)
{
    static const char *const TRES[] = {"cpu", "gres/gpu"};
    static const uint64_t COUNTS[] = {128, 8};
    ft_site *site = NULL;
    check(ft_site_new(256, 2, TRES, LENGTH(TRES), &site));
    check(ft_site_add_partition(site, 1, FT_UNLIMITED, COUNTS, LENGTH(COUNTS), NULL));
    check(ft_site_add_partition(site, 4, FT_UNLIMITED, COUNTS, LENGTH(COUNTS), NULL));
    check(ft_site_add_qos(site, 0, NULL));
    check(ft_site_add_qos(site, 10, NULL));
    return site;
}

static void print_shares(const ft_tree *tree)
{
    ft_fairshare rows[LENGTH(SITE)];
    check(ft_fairshare_rows(tree, rows, LENGTH(rows), sizeof(rows[0])));
    printf("%-12s %6s %10s %10s %10s %12s %10s %10s\n", "Account", "User", "RawShares",
           "NormShares", "RawUsage", "EffectvUsage", "LevelFS", "FairShare");
    for (size_t i = 0; i < LENGTH(rows); i++) {
        printf("%-12s %6s ", SITE[i].account, SITE[i].user);
        if (isnan(rows[i].level_fs)) {
            printf("%10s %10s %10.0f\n", "", "", rows[i].raw_usage);
            continue;
        }
        printf("%10u %10.6f %10.0f %12.6f %10.6f", (unsigned)SITE[i].row.raw_shares,
               rows[i].norm_shares, rows[i].raw_usage, rows[i].effective_usage,
               rows[i].level_fs);
        if (isnan(rows[i].fs_factor))
            printf("\n");
        else
            printf(" %10.6f\n", rows[i].fs_factor);
    }
}

/* Waiting jobs of all users, in both partitions and QOS, up to a week old, with 0 to 8 GPUs. */
static void fill_jobs(ft_job *jobs, int64_t now)
{
    for (uint32_t i = 0; i < JOBS; i++) {
        ft_job *job = &jobs[i];
        job->assoc = USERS[i % 4];
        job->partition = i / 4 % 2;
        job->qos = i / 8 % 2;
        job->accrue_time = now - (int64_t)(i / 16 % 3) * (DAY * 7 / 2);
        job->cpus = 1;
        job->nodes = 1;
        job->time_limit_mins = FT_UNSET;
        job->tres_row = i / 48 % 3;
        job->priority = 1;
    }
}

static void price_jobs(const ft_config *config, const ft_site *site, const ft_tree *tree,
                       int64_t now)
{
    static const uint64_t TRES_COUNTS[] = {1, 0, 1, 4, 1, 8};
    ft_job *jobs = (ft_job *)allocate(JOBS, sizeof(*jobs));
    uint32_t *priorities = (uint32_t *)allocate(JOBS, sizeof(*priorities));
    ft_priced *terms = (ft_priced *)allocate(JOBS, sizeof(*terms));
    ft_batch batch;
    uint64_t sum = 0;

    fill_jobs(jobs, now);
    memset(&batch, 0, sizeof(batch));
    batch.struct_size = sizeof(batch);
    batch.job_size = sizeof(*jobs);
    batch.jobs = jobs;
    batch.jobs_len = JOBS;
    batch.tres_counts = TRES_COUNTS;
    batch.tres_counts_len = LENGTH(TRES_COUNTS);
    batch.now = now;
    batch.mode = FT_MODE_PASS;
    check(ft_jobs_price(config, site, tree, &batch, priorities, JOBS, terms, JOBS,
                        sizeof(*terms)));

    printf("%8s %10s %8s %10s %10s %8s %8s\n", "JobID", "Priority", "Age", "FairShare",
           "Partition", "QOS", "TRES");
    for (size_t i = 0; i < JOBS; i++) {
        sum += priorities[i];
        if (i % 20023 == 0)
            printf("%8u %10u %8.0f %10.0f %10.0f %8.0f %8.0f\n", (unsigned)i + 1,
                   (unsigned)priorities[i], terms[i].age, terms[i].fairshare,
                   terms[i].partition, terms[i].qos, terms[i].tres);
    }
    printf("%d jobs, sum of priorities %llu\n", JOBS, (unsigned long long)sum);
    free(terms);
    free(priorities);
    free(jobs);
}

/* Saves the tree, restores it into another, and sees that nothing got lost. */
static void save_and_restore(const ft_tree *tree, const ft_config *config)
{
    ft_fairshare before[LENGTH(SITE)], after[LENGTH(SITE)];
    ft_tree *restored = NULL;
    uint8_t *bytes = NULL;
    size_t size = 0;
    int64_t moment = 0;

    check(ft_state_size(tree, &size));
    bytes = (uint8_t *)allocate(size, 1);
    check(ft_state_save(tree, bytes, size));

    check(ft_tree_new(0, &restored));
    bytes[size / 2] ^= 1;
    if (ft_state_restore(restored, bytes, size) != FT_ERR_STATE_DAMAGED)
        printf("damage went unnoticed\n");
    bytes[size / 2] ^= 1;
    check(ft_state_restore(restored, bytes, size));
    check(ft_usage_time(restored, &moment, NULL));
    check(ft_fairshare_compute(restored, config));

    memset(before, 0, sizeof(before));
    memset(after, 0, sizeof(after));
    check(ft_fairshare_rows(tree, before, LENGTH(before), sizeof(before[0])));
    check(ft_fairshare_rows(restored, after, LENGTH(after), sizeof(after[0])));
    printf("saved %u bytes, valued at %lld, restored %s\n", (unsigned)size,
           (long long)moment, memcmp(before, after, sizeof(before)) == 0 ? "the same" : "other");
    ft_tree_free(restored);
    free(bytes);
}

static void explain(const ft_tree *tree, uint32_t a, uint32_t b)
{
    char text[1024];
    check(ft_explain_text(tree, a, b, text, sizeof(text), NULL));
    fputs(text, stdout);
}

int main(void)
{
    const int64_t start = 1700000000;
    const int64_t now = start + 7 * DAY;
    int32_t was_reset = 0;
    ft_config *config = NULL;
    ft_tree *tree = NULL;
    ft_site *site = NULL;

    if (ft_abi_version() != FT_ABI_VERSION) {
        fprintf(stderr, "harness: compiled for another version of libfairtree\n");
        return EXIT_FAILURE;
    }
    printf("fairtree %s\n\n", ft_version());

    config = new_config();
    site = new_site();
    tree = new_tree(start);
    check(ft_usage_charge(tree, USERS, LENGTH(USERS), TRES_SECONDS, LENGTH(TRES_SECONDS)));
    check(ft_usage_advance(tree, config, now, "UTC", &was_reset));
    check(ft_fairshare_compute(tree, config));

    print_shares(tree);
    printf("\n");
    explain(tree, 10, 12);
    printf("\n");
    price_jobs(config, site, tree, now);
    printf("\n");
    save_and_restore(tree, config);

    ft_tree_free(tree);
    ft_site_free(site);
    ft_config_free(config);
    return EXIT_SUCCESS;
}
