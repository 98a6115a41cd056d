/*
 * The engine through the C ABI: loads, ranks and prices a million rows in one
 * call each. Prints lines of `name=value` words; times are processor times of
 * the thread, the median of several turns.
 *
 *   engine ASSOCS JOBS TURNS
 */
#include <fairtree.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEPTH = 6, PARTITIONS = 4, QOSES = 8, TRES = 3, MOST_TURNS = 101 };

static const int64_t NOW = 1800000000;

static uint64_t chance = 1;

/* xorshift64*: the same numbers in every run. */
static uint32_t below(uint32_t limit)
{
    chance ^= chance >> 12;
    chance ^= chance << 25;
    chance ^= chance >> 27;
    return (uint32_t)(((chance * 0x2545f4914f6cdd1dULL >> 32) * limit) >> 32);
}

static double cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static void need(int32_t status)
{
    if (status == FT_OK)
        return;
    fprintf(stderr, "%s\n", ft_last_error());
    exit(1);
}

static void *array(size_t count, size_t size)
{
    void *found = calloc(count, size);

    if (!found) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    return found;
}

/* ---- figures -------------------------------------------------------------- */

typedef struct {
    double ns[MOST_TURNS];
    int turns;
} figure;

static void add(figure *of, double since)
{
    of->ns[of->turns++] = cpu_ns() - since;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(figure *of)
{
    qsort(of->ns, of->turns, sizeof(of->ns[0]), ascending);
    return of->ns[of->turns / 2];
}

/* ---- a tree of depth 6 ----------------------------------------------------- */

/* Accounts level by level, then users, distributed evenly. */
static ft_assoc *make_rows(size_t count, uint32_t *first_user)
{
    ft_assoc *row = array(count, sizeof(*row));
    size_t accounts = 1, level = 1, above = 0, fan_out = 1;

    while (fan_out * fan_out * fan_out * fan_out * fan_out * 128 < count)
        fan_out++;
    row[0] = (ft_assoc){1, FT_NONE, 1, FT_ACCOUNT};
    for (int depth = 1; depth < DEPTH; depth++) {
        size_t next = level * fan_out;

        for (size_t i = 0; i < next; i++)
            row[accounts + i] = (ft_assoc){
                (uint32_t)(accounts + i + 1),
                (uint32_t)(above + i / fan_out + 1),
                1 + below(1000), FT_ACCOUNT};
        above = accounts;
        accounts += next;
        level = next;
    }
    for (size_t i = accounts; i < count; i++)
        row[i] = (ft_assoc){
            (uint32_t)(i + 1),
            (uint32_t)(above + (i - accounts) * level / (count - accounts) + 1),
            1 + below(1000), FT_USER};
    *first_user = (uint32_t)accounts + 1;
    return row;
}

static void charge_all(ft_tree *tree, uint32_t first, size_t count)
{
    uint32_t *id = array(count, sizeof(*id));
    double *usage = array(count, sizeof(*usage));

    for (size_t i = 0; i < count; i++) {
        id[i] = first + (uint32_t)i;
        usage[i] = below(8) ? below(1u << 30) / 1e3 : 0.0;
    }
    need(ft_usage_charge(tree, id, count, usage, count));
    free(id);
    free(usage);
}

static ft_tree *measure_tree(const ft_config *config, size_t count, int turns,
                             uint32_t *first_user)
{
    ft_assoc *row = make_rows(count, first_user);
    ft_assoc *copy = array(count, sizeof(*copy));
    figure load = {0}, rank = {0}, copies = {0};
    ft_tree *tree = NULL;
    double since;

    need(ft_tree_new(NOW, &tree));
    for (int turn = 0; turn < turns; turn++) {
        since = cpu_ns();
        need(ft_tree_load(tree, row, count, sizeof(*row)));
        add(&load, since);
        since = cpu_ns();
        memcpy(copy, row, count * sizeof(*row));
        add(&copies, since);
    }
    charge_all(tree, *first_user, count + 1 - *first_user);
    for (int turn = 0; turn < turns; turn++) {
        since = cpu_ns();
        need(ft_fairshare_compute(tree, config));
        add(&rank, since);
    }
    printf("load_ms=%.3f load_copy_ms=%.3f compute_ms=%.3f\n", median(&load) / 1e6,
           median(&copies) / 1e6, median(&rank) / 1e6);
    fprintf(stderr, "%u of %u\n", copy[count - 1].id, row[count - 1].id);
    free(row);
    free(copy);
    return tree;
}

/* ---- a queue ------------------------------------------------------------------ */

static ft_site *make_site(void)
{
    static const char *const names[TRES] = {"cpu", "mem", "gres/gpu"};
    static const uint64_t counts[TRES] = {320000, 500000000, 1000};
    ft_site *site = NULL;

    need(ft_site_new(1280000, 10000, names, TRES, &site));
    for (uint32_t i = 0; i < PARTITIONS; i++)
        need(ft_site_add_partition(site, 10 * (i + 1), 2880, counts, TRES, NULL));
    for (uint32_t i = 0; i < QOSES; i++)
        need(ft_site_add_qos(site, 100 * i, NULL));
    return site;
}

static void fill_jobs(ft_job *job, size_t jobs, uint64_t *counts, size_t rows,
                      uint32_t first_user, uint32_t users)
{
    for (size_t i = 0; i < rows; i++) {
        counts[i * TRES] = 128 * (1 + below(64));
        counts[i * TRES + 1] = 200000 * (1 + below(64));
        counts[i * TRES + 2] = below(5);
    }
    for (size_t i = 0; i < jobs; i++) {
        uint32_t nodes = 1 + below(64);

        job[i] = (ft_job){
            .assoc = first_user + below(users),
            .partition = below(PARTITIONS),
            .qos = below(QOSES),
            .accrue_time = NOW - below(1000000),
            .cpus = nodes * 128,
            .nodes = nodes,
            .time_limit_mins = 60 + below(1000),
            .tres_row = (uint32_t)(i % rows),
            .priority = 1,
        };
    }
}

static void measure_prices(const ft_config *config, const ft_tree *tree,
                           const char *name, size_t jobs, int turns,
                           uint32_t first_user, uint32_t users)
{
    enum { ROWS = 4096 };
    ft_site *site = make_site();
    ft_job *job = array(jobs, sizeof(*job)), *job_copy = array(jobs, sizeof(*job));
    uint64_t *counts = array(ROWS * TRES, sizeof(*counts));
    uint32_t *priority = array(jobs, sizeof(*priority));
    ft_priced *term = array(jobs, sizeof(*term)), *term_copy = array(jobs, sizeof(*term));
    ft_batch batch = {
        .struct_size = sizeof(batch), .job_size = sizeof(*job),
        .jobs = job, .jobs_len = jobs,
        .tres_counts = counts, .tres_counts_len = ROWS * TRES,
        .now = NOW,
    };
    figure alone = {0}, with_terms = {0}, copies = {0}, term_copies = {0};
    double since;

    fill_jobs(job, jobs, counts, ROWS, first_user, users);
    for (int turn = 0; turn < turns; turn++) {
        since = cpu_ns();
        need(ft_jobs_price(config, site, tree, &batch, priority, jobs, NULL, 0,
                           sizeof(*term)));
        add(&alone, since);
        since = cpu_ns();
        memcpy(job_copy, job, jobs * sizeof(*job));
        add(&copies, since);
        since = cpu_ns();
        need(ft_jobs_price(config, site, tree, &batch, priority, jobs, term, jobs,
                           sizeof(*term)));
        add(&with_terms, since);
        since = cpu_ns();
        memcpy(job_copy, job, jobs * sizeof(*job));
        memcpy(term_copy, term, jobs * sizeof(*term));
        add(&term_copies, since);
    }
    printf("%s_ns=%.3f %s_copy_ns=%.3f %s_terms_ns=%.3f %s_terms_copy_ns=%.3f\n", name,
           median(&alone) / jobs, name, median(&copies) / jobs, name,
           median(&with_terms) / jobs, name, median(&term_copies) / jobs);
    fprintf(stderr, "%u %g %u\n", priority[jobs / 2], term_copy[jobs / 2].age,
            job_copy[jobs / 2].cpus);
    ft_site_free(site);
    free(job);
    free(job_copy);
    free(counts);
    free(priority);
    free(term);
    free(term_copy);
}

static void set(ft_config *config, const char *key, const char *value)
{
    need(ft_config_set(config, key, value));
}

int main(int argc, char **argv)
{
    size_t assocs = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
    size_t jobs = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000000;
    int turns = argc > 3 ? atoi(argv[3]) : 11;
    ft_config *config = NULL;
    ft_tree *tree;
    uint32_t first_user = 0;

    if (ft_abi_version() != FT_ABI_VERSION || turns < 1 || turns > MOST_TURNS)
        return 2;
    need(ft_config_new(&config));
    set(config, "PriorityWeightAge", "1000");
    set(config, "PriorityWeightAssoc", "100");
    set(config, "PriorityWeightFairshare", "10000");
    set(config, "PriorityWeightJobSize", "500");
    set(config, "PriorityWeightPartition", "1000");
    set(config, "PriorityWeightQOS", "2000");
    tree = measure_tree(config, assocs, turns, &first_user);
    measure_prices(config, tree, "price", jobs, turns, first_user,
                   (uint32_t)assocs + 1 - first_user);
    set(config, "PriorityWeightTRES", "cpu=1000,mem=500,gres/gpu=3000");
    measure_prices(config, tree, "price_tres", jobs, turns, first_user,
                   (uint32_t)assocs + 1 - first_user);
    ft_tree_free(tree);
    ft_config_free(config);
    return 0;
}
