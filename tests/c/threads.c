/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Threads that read the same handles at the same time, each with its own errors.
 */

#include <fairtree.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 20 };

struct shared {
    const ft_tree *tree;
    const ft_config *config;
    const ft_site *site;
};

static void check(int32_t status)
{
    if (status != FT_OK) {
        fprintf(stderr, "%s\n", ft_last_error());
        exit(EXIT_FAILURE);
    }
}

/* Reads, prices and explains; and fails on purpose, with an id of its own. */
static void one_round(const struct shared *shared, uint32_t own_id)
{
    double factors[3];
    uint32_t priority = 0;
    size_t length = 0;
    char number[16];
    ft_job job;
    ft_batch batch;
    ft_tree *copy = NULL;

    check(ft_fairshare_column(shared->tree, FT_COLUMN_FS_FACTOR, factors, 3));
    check(ft_explain_text(shared->tree, 2, 3, NULL, 0, &length));
    memset(&job, 0, sizeof(job));
    memset(&batch, 0, sizeof(batch));
    job.assoc = 2;
    job.partition = job.qos = job.tres_row = FT_NONE;
    job.priority = 1;
    batch.struct_size = sizeof(batch);
    batch.job_size = sizeof(job);
    batch.jobs = &job;
    batch.jobs_len = 1;
    check(ft_jobs_price(shared->config, shared->site, shared->tree, &batch, &priority, 1, NULL, 0,
                        sizeof(ft_priced)));
    check(ft_tree_clone(shared->tree, &copy));
    check(ft_tree_set_shares(copy, 2, own_id));
    check(ft_fairshare_compute(copy, shared->config));
    if (ft_tree_remove(copy, own_id) != FT_ERR_UNKNOWN_ID)
        exit(EXIT_FAILURE);
    snprintf(number, sizeof(number), " %u ", (unsigned)own_id);
    if (factors[1] != 1.0 || priority != 1000 || strstr(ft_last_error(), number) == NULL)
        exit(EXIT_FAILURE);
    ft_tree_free(copy);
}

/* Saves and restores a queue over the shared tree. */
static void save_and_restore(const struct shared *shared)
{
    uint8_t bytes[1024];
    size_t length = 0;
    ft_queue *queue = NULL;
    ft_queue *restored = NULL;

    check(ft_queue_new(shared->tree, NULL, 0, &queue));
    check(ft_queue_save(queue, bytes, sizeof(bytes), &length));
    check(ft_queue_restore(bytes, length, &restored));
    ft_queue_free(restored);
    ft_queue_free(queue);
}

struct task {
    const struct shared *shared;
    uint32_t own_id;
};

static void *work(void *argument)
{
    const struct task *task = (const struct task *)argument;
    for (int i = 0; i < ROUNDS; i++) {
        save_and_restore(task->shared);
        one_round(task->shared, task->own_id);
    }
    return NULL;
}

int main(void)
{
    static const ft_assoc ROWS[] = {
        {1, FT_NONE, 1, FT_ACCOUNT}, {2, 1, 1, FT_USER}, {3, 1, 1, FT_USER}};
    ft_tree *tree = NULL;
    ft_config *config = NULL;
    ft_site *site = NULL;
    struct shared shared;
    struct task tasks[THREADS];
    pthread_t threads[THREADS];

    check(ft_tree_new(0, &tree));
    check(ft_tree_load(tree, ROWS, 3, sizeof(ROWS[0])));
    check(ft_config_new(&config));
    check(ft_config_set(config, "PriorityWeightFairshare", "1000"));
    check(ft_site_new(1, 1, NULL, 0, &site));
    check(ft_fairshare_compute(tree, config));
    shared.tree = tree;
    shared.config = config;
    shared.site = site;
    for (uint32_t i = 0; i < THREADS; i++) {
        tasks[i].shared = &shared;
        tasks[i].own_id = 1000 + i;
        if (pthread_create(&threads[i], NULL, work, &tasks[i]) != 0)
            return EXIT_FAILURE;
    }
    for (int i = 0; i < THREADS; i++)
        if (pthread_join(threads[i], NULL) != 0)
            return EXIT_FAILURE;
    ft_site_free(site);
    ft_config_free(config);
    ft_tree_free(tree);
    puts("threads agree");
    return EXIT_SUCCESS;
}
