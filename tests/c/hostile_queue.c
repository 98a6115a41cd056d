/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Hostile input: queues. After each refusal the saved bytes are unchanged.
 */

#include "hostile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4096 };

static ft_queue_settings good_settings(void)
{
    ft_queue_settings settings;
    memset(&settings, 0, sizeof(settings));
    settings.struct_size = sizeof(settings);
    settings.counting = FT_COUNTING_WINDOW;
    settings.counting_micros = 1000000;
    settings.capacity = 1;
    settings.users_compete = 1;
    return settings;
}

static ft_queue_job good_job(uint64_t id)
{
    ft_queue_job job;
    memset(&job, 0, sizeof(job));
    job.struct_size = sizeof(job);
    job.id = id;
    job.assoc = 3;
    job.rate = 1;
    job.machine = "m";
    job.expected_micros = 10;
    return job;
}

static void bad_settings(const ft_tree *tree)
{
    ft_queue *queue = NULL;
    uint64_t words[4] = {0, 0, 0, 0};
    ft_queue_account accounts[2];
    ft_queue_settings settings = good_settings();
    memset(accounts, 0, sizeof(accounts));
    accounts[0].id = 2;
    accounts[1].id = 3;
#define REFUSED(status)                                                                           \
    EXPECT(status, ft_queue_new(tree, &settings, 0, &queue));                                      \
    settings = good_settings()
    EXPECT(FT_ERR_NULL, ft_queue_new(NULL, &settings, 0, &queue));
    EXPECT(FT_ERR_HANDLE, ft_queue_new((ft_tree *)(void *)words, &settings, 0, &queue));
    EXPECT(FT_ERR_NULL, ft_queue_new(tree, &settings, 0, NULL));
    EXPECT(FT_ERR_ALIGN, ft_queue_new(tree, NULL, 0, MISALIGNED(ft_queue *, words)));
    EXPECT(FT_ERR_ALIGN, ft_queue_new(tree, MISALIGNED(ft_queue_settings, words), 0, &queue));
    settings.struct_size = 8;
    REFUSED(FT_ERR_STRUCT_SIZE);
    settings.struct_size = SIZE_MAX;
    REFUSED(FT_ERR_STRUCT_SIZE);
    settings.choice = 2;
    REFUSED(FT_ERR_ENUM);
    settings.counting = 3;
    REFUSED(FT_ERR_ENUM);
    settings.counting = FT_COUNTING_INHERITED;
    REFUSED(FT_ERR_RANGE);
    settings.counting = FT_COUNTING_INHERITED;
    settings.counting_micros = 0;
    REFUSED(FT_ERR_ENUM);
    settings.counting_micros = 0;
    REFUSED(FT_ERR_RANGE);
    settings.counting_micros = INT64_MIN;
    REFUSED(FT_ERR_RANGE);
    settings.users_compete = 2;
    REFUSED(FT_ERR_ENUM);
    settings.capacity = 0;
    REFUSED(FT_ERR_CONFIG);
    settings.outcomes = "COMPLETE";
    REFUSED(FT_ERR_CONFIG);
    settings.outcomes = "FAILED:4294967296";
    REFUSED(FT_ERR_CONFIG);
    settings.outcomes = "\xff";
    REFUSED(FT_ERR_UTF8);
    settings.accounts_len = 1;
    settings.account_size = sizeof(accounts[0]);
    REFUSED(FT_ERR_NULL);
    settings.accounts = accounts;
    settings.accounts_len = 1;
    REFUSED(FT_ERR_STRUCT_SIZE);
#define REFUSED_ACCOUNTS(status)                                                                  \
    settings.accounts = accounts;                                                                  \
    settings.accounts_len = 2;                                                                     \
    settings.account_size = sizeof(accounts[0]);                                                   \
    EXPECT(status, ft_queue_new(tree, &settings, 0, &queue));                                      \
    memset(accounts, 0, sizeof(accounts));                                                         \
    accounts[0].id = 2;                                                                            \
    accounts[1].id = 3
    settings.accounts_len = SIZE_MAX / 2;
    settings.accounts = accounts;
    settings.account_size = sizeof(accounts[0]);
    EXPECT(FT_ERR_LENGTH, ft_queue_new(tree, &settings, 0, &queue));
    accounts[1].id = 99;
    REFUSED_ACCOUNTS(FT_ERR_UNKNOWN_ID);
    accounts[1].id = 2;
    REFUSED_ACCOUNTS(FT_ERR_DUPLICATE_ID);
    accounts[1].has_minutes = 2;
    REFUSED_ACCOUNTS(FT_ERR_ENUM);
    accounts[1].minutes = 1;
    REFUSED_ACCOUNTS(FT_ERR_RANGE);
    accounts[1].has_minutes = 1;
    accounts[1].minutes = UINT64_MAX;
    REFUSED_ACCOUNTS(FT_ERR_RANGE);
    accounts[1].counting = 9;
    REFUSED_ACCOUNTS(FT_ERR_ENUM);
    accounts[1].counting_micros = 1;
    REFUSED_ACCOUNTS(FT_ERR_RANGE);
    accounts[1].reserved = 1;
    REFUSED_ACCOUNTS(FT_ERR_RANGE);
    accounts[1].counting = FT_COUNTING_SINCE;
    REFUSED_ACCOUNTS(FT_ERR_CONFIG);
    if (queue != NULL)
        exit(EXIT_FAILURE);

    /* A pointer that is not a queue is ignored. */
    ft_queue_free((ft_queue *)(void *)words);
    ft_queue_free(MISALIGNED(ft_queue, words));
    ft_queue_free(NULL);
}

/* Two machines; job 1 runs on the first one, 2 and 3 wait for it. */
static ft_queue *sample_queue(const ft_tree *tree)
{
    const ft_queue_settings settings = good_settings();
    ft_queue *queue = NULL;
    EXPECT(FT_OK, ft_queue_new(tree, &settings, 0, &queue));
    EXPECT(FT_OK, ft_queue_add_machine(queue, "m", 1));
    EXPECT(FT_OK, ft_queue_add_machine(queue, "n", 2));
    for (uint64_t id = 1; id <= 3; id++) {
        const ft_queue_job job = good_job(id);
        EXPECT(FT_OK, ft_queue_add_job(queue, &job));
    }
    EXPECT(FT_OK, ft_queue_start(queue, 1, 100));
    return queue;
}

static void bad_calls(ft_queue *queue)
{
    uint64_t words[4] = {7, 7, 7, 7};
    ft_queue *const no_queue = (ft_queue *)(void *)words;
    ft_queue_job job = good_job(9);

    EXPECT(FT_ERR_NULL, ft_queue_add_machine(NULL, "x", 1));
    EXPECT(FT_ERR_HANDLE, ft_queue_add_machine(no_queue, "x", 1));
    EXPECT(FT_ERR_NULL, ft_queue_add_machine(queue, NULL, 1));
    EXPECT(FT_ERR_UTF8, ft_queue_add_machine(queue, "\xc0", 1));
    EXPECT(FT_ERR_DUPLICATE_MACHINE, ft_queue_add_machine(queue, "m", 1));
    EXPECT(FT_ERR_CONFIG, ft_queue_add_machine(queue, "x", 0));
    EXPECT(FT_ERR_NULL, ft_queue_set_paused(NULL, "m", 1));
    EXPECT(FT_ERR_UNKNOWN_MACHINE, ft_queue_set_paused(queue, "x", 1));
    EXPECT(FT_ERR_ENUM, ft_queue_set_paused(queue, "m", 2));
    EXPECT(FT_ERR_NULL, ft_queue_set_paused(queue, NULL, 1));

    EXPECT(FT_ERR_NULL, ft_queue_add_job(NULL, &job));
    EXPECT(FT_ERR_NULL, ft_queue_add_job(queue, NULL));
    EXPECT(FT_ERR_ALIGN, ft_queue_add_job(queue, MISALIGNED(ft_queue_job, &job)));
#define REFUSED_JOB(status)                                                                       \
    EXPECT(status, ft_queue_add_job(queue, &job));                                                 \
    job = good_job(9)
    job.struct_size = 4;
    REFUSED_JOB(FT_ERR_STRUCT_SIZE);
    job.machine = NULL;
    REFUSED_JOB(FT_ERR_NULL);
    job.machine = "\xff";
    REFUSED_JOB(FT_ERR_UTF8);
    job.machine = "x";
    REFUSED_JOB(FT_ERR_UNKNOWN_MACHINE);
    job.rate = 0;
    REFUSED_JOB(FT_ERR_RANGE);
    job.expected_micros = 0;
    REFUSED_JOB(FT_ERR_RANGE);
    job.id = 1;
    REFUSED_JOB(FT_ERR_DUPLICATE_JOB);
    job.id = 2;
    REFUSED_JOB(FT_ERR_DUPLICATE_JOB);
    job.assoc = 99;
    REFUSED_JOB(FT_ERR_UNKNOWN_ID);
    job.assoc = FT_NONE;
    REFUSED_JOB(FT_ERR_UNKNOWN_ID);
    job.assoc = 1;
    REFUSED_JOB(FT_ERR_NO_SHARES);

    EXPECT(FT_ERR_NULL, ft_queue_start(NULL, 2, 0));
    EXPECT(FT_ERR_UNKNOWN_JOB, ft_queue_start(queue, 9, INT64_MAX));
    EXPECT(FT_ERR_NOT_WAITING, ft_queue_start(queue, 1, INT64_MAX));
    EXPECT(FT_ERR_BUSY, ft_queue_start(queue, 2, INT64_MAX));
    EXPECT(FT_ERR_NULL, ft_queue_finish(NULL, 1, FT_END_COMPLETED, 0, 0, 0, NULL, 0));
    EXPECT(FT_ERR_UNKNOWN_JOB,
           ft_queue_finish(queue, 9, FT_END_COMPLETED, 0, 0, INT64_MAX, NULL, 0));
    EXPECT(FT_ERR_NOT_RUNNING,
           ft_queue_finish(queue, 2, FT_END_COMPLETED, 0, 0, INT64_MAX, NULL, 0));
    EXPECT(FT_ERR_TIME, ft_queue_finish(queue, 1, FT_END_COMPLETED, 0, 101, 200, NULL, 0));
    EXPECT(FT_ERR_TIME, ft_queue_finish(queue, 1, FT_END_COMPLETED, 0, -1, 200, NULL, 0));
    EXPECT(FT_ERR_TIME,
           ft_queue_finish(queue, 1, FT_END_COMPLETED, 0, INT64_MIN, INT64_MAX, NULL, 0));
    EXPECT(FT_ERR_ENUM, ft_queue_finish(queue, 1, 0, 0, 0, 200, NULL, 0));
    EXPECT(FT_ERR_ENUM, ft_queue_finish(queue, 1, UINT32_MAX, 0, 0, 200, NULL, 0));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_queue_finish(queue, 1, FT_END_FAILED, 0, 0, 200, NULL, 8));
    EXPECT(FT_ERR_NULL, ft_queue_finish(queue, 1, FT_END_FAILED, 0, 0, 200, NULL,
                                        sizeof(ft_finished)));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_queue_requeue(queue, 1, FT_END_FAILED, 0, 0, 200, NULL, 1));
    EXPECT(FT_ERR_NULL, ft_queue_requeue(NULL, 1, FT_END_REQUEUED, 0, 0, 0, NULL, 0));
    EXPECT(FT_ERR_NOT_RUNNING,
           ft_queue_requeue(queue, 2, FT_END_REQUEUED, 0, 0, INT64_MAX, NULL, 0));
    EXPECT(FT_ERR_TIME,
           ft_queue_requeue(queue, 1, FT_END_REQUEUED, 0, INT64_MAX, 200, NULL, 0));
    EXPECT(FT_ERR_ENUM, ft_queue_requeue(queue, 1, 2, 0, 0, 200, NULL, 0));
    EXPECT(FT_ERR_NULL, ft_queue_cancel(NULL, 2));
    EXPECT(FT_ERR_HANDLE, ft_queue_cancel(no_queue, 2));
    EXPECT(FT_ERR_UNKNOWN_JOB, ft_queue_cancel(queue, 0));
    EXPECT(FT_ERR_NOT_WAITING, ft_queue_cancel(queue, 1));
}

static void bad_outputs(ft_queue *queue)
{
    uint64_t words[4] = {7, 7, 7, 7};
    uint32_t what = 7;
    uint64_t job = 7;
    size_t found = 7;
    ft_estimate estimates[2];
    ft_standing standing;
    memset(estimates, 0, sizeof(estimates));
    memset(&standing, 0, sizeof(standing));

    EXPECT(FT_ERR_NULL, ft_queue_next(NULL, "m", 100, &what, &job));
    EXPECT(FT_ERR_NULL, ft_queue_next(queue, NULL, 100, &what, &job));
    EXPECT(FT_ERR_NULL, ft_queue_next(queue, "m", 100, NULL, &job));
    EXPECT(FT_ERR_NULL, ft_queue_next(queue, "m", 100, &what, NULL));
    EXPECT(FT_ERR_ALIGN, ft_queue_next(queue, "m", 100, &what, MISALIGNED(uint64_t, words)));
    EXPECT(FT_ERR_UNKNOWN_MACHINE, ft_queue_next(queue, "", INT64_MAX, &what, &job));
    EXPECT(FT_ERR_NULL, ft_queue_waiting(NULL, "m", &found));
    EXPECT(FT_ERR_NULL, ft_queue_waiting(queue, "m", NULL));
    EXPECT(FT_ERR_UNKNOWN_MACHINE, ft_queue_waiting(queue, "x", &found));
    EXPECT(FT_ERR_NULL, ft_queue_position(NULL, 2, &found));
    EXPECT(FT_ERR_NULL, ft_queue_position(queue, 2, NULL));
    EXPECT(FT_ERR_NOT_WAITING, ft_queue_position(queue, 1, &found));
    EXPECT(FT_ERR_UNKNOWN_JOB, ft_queue_position(queue, 9, &found));
    EXPECT(FT_ERR_NULL, ft_queue_positions(NULL, "m", 100, words, 4, &found));
    EXPECT(FT_ERR_NULL, ft_queue_positions(queue, "m", 100, NULL, 4, &found));
    EXPECT(FT_ERR_NULL, ft_queue_positions(queue, "m", 100, words, 4, NULL));
    EXPECT(FT_ERR_LENGTH, ft_queue_positions(queue, "m", 100, words, SIZE_MAX, &found));
    EXPECT(FT_ERR_ALIGN,
           ft_queue_positions(queue, "m", 100, MISALIGNED(uint64_t, words), 2, &found));
    EXPECT(FT_ERR_UNKNOWN_MACHINE, ft_queue_positions(queue, "x", INT64_MAX, words, 4, &found));
    EXPECT(FT_ERR_NULL, ft_queue_estimate(NULL, "m", 100, estimates, 2, sizeof(estimates[0]),
                                          &found));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_queue_estimate(queue, "m", 100, estimates, 2, 8, &found));
    EXPECT(FT_ERR_LENGTH, ft_queue_estimate(queue, "m", 100, estimates, SIZE_MAX / 8,
                                            sizeof(estimates[0]), &found));
    EXPECT(FT_ERR_NULL, ft_queue_estimate(queue, "m", 100, estimates, 2, sizeof(estimates[0]),
                                          NULL));
    EXPECT(FT_ERR_UNKNOWN_MACHINE, ft_queue_estimate(queue, "x", INT64_MAX, estimates, 2,
                                                     sizeof(estimates[0]), &found));
    EXPECT(FT_ERR_NULL, ft_queue_standing(NULL, 2, 100, &standing, sizeof(standing)));
    EXPECT(FT_ERR_NULL, ft_queue_standing(queue, 2, 100, NULL, sizeof(standing)));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_queue_standing(queue, 2, 100, &standing, 1));
    EXPECT(FT_ERR_UNKNOWN_ID, ft_queue_standing(queue, 99, INT64_MAX, &standing,
                                                sizeof(standing)));
    EXPECT(FT_ERR_NO_SHARES, ft_queue_standing(queue, 1, 100, &standing, sizeof(standing)));
    if (what != 7 || job != 7 || found != 7 || words[0] != 7 || estimates[0].job != 0)
        exit(EXIT_FAILURE);
    /* Too little room: only the number is returned. */
    EXPECT(FT_ERR_BUFFER, ft_queue_positions(queue, "m", 100, words, 1, &found));
    if (found != 2 || words[0] != 7)
        exit(EXIT_FAILURE);
    found = 7;
    EXPECT(FT_ERR_BUFFER, ft_queue_estimate(queue, "m", 100, estimates, 1, sizeof(estimates[0]),
                                            &found));
    if (found != 2 || estimates[0].job != 0)
        exit(EXIT_FAILURE);
    EXPECT(FT_OK, ft_queue_estimate(queue, "m", 100, NULL, 0, sizeof(estimates[0]), &found));
}

/* Bytes that are truncated, changed, or of a different kind. */
static void bad_bytes(const ft_queue *queue)
{
    uint8_t bytes[ROOM];
    size_t len = 0;
    ft_queue *made = NULL;
    EXPECT(FT_ERR_NULL, ft_queue_save(NULL, bytes, ROOM, &len));
    EXPECT(FT_ERR_NULL, ft_queue_save(queue, bytes, ROOM, NULL));
    EXPECT(FT_ERR_NULL, ft_queue_save(queue, NULL, ROOM, &len));
    EXPECT(FT_ERR_BUFFER, ft_queue_save(queue, bytes, 10, &len));
    EXPECT(FT_OK, ft_queue_save(queue, bytes, ROOM, &len));
    EXPECT(FT_ERR_NULL, ft_queue_restore(NULL, len, &made));
    EXPECT(FT_ERR_NULL, ft_queue_restore(bytes, len, NULL));
    EXPECT(FT_ERR_LENGTH, ft_queue_restore(bytes, SIZE_MAX, &made));
    EXPECT(FT_ERR_STATE_DAMAGED, ft_queue_restore(NULL, 0, &made));
    for (size_t cut = 0; cut < len; cut++)
        EXPECT(FT_ERR_STATE_DAMAGED, ft_queue_restore(bytes, cut, &made));
    for (size_t at = 12; at < len; at++) {
        bytes[at] ^= 0x10;
        EXPECT(FT_ERR_STATE_DAMAGED, ft_queue_restore(bytes, len, &made));
        bytes[at] ^= 0x10;
    }
    if (made != NULL)
        exit(EXIT_FAILURE);
    EXPECT(FT_OK, ft_queue_restore(bytes, len, &made));
    ft_queue_free(made);
}

/* Refused calls have changed nothing. */
static void saved(const ft_queue *queue, uint8_t *bytes, size_t *len)
{
    memset(bytes, 0, ROOM);
    EXPECT(FT_OK, ft_queue_save(queue, bytes, ROOM, len));
}

static uint32_t random_number(uint32_t below)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % below;
}

/* Calls in any order, with times at the limits of a number, never cause a caught defect. */
static void life(const ft_tree *tree)
{
    const int64_t times[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, 1000000, INT64_MAX - 1, INT64_MAX};
    const uint64_t lengths[] = {0, 1, 1000, INT64_MAX, UINT64_MAX};
    for (int round = 0; round < 30; round++) {
        ft_queue_settings settings = good_settings();
        ft_queue *queue = NULL;
        settings.level = random_number(4);
        settings.choice = random_number(2);
        settings.counting = 1 + random_number(2);
        settings.counting_micros = round % 2 ? INT64_MAX : 1000;
        settings.capacity = round % 3 ? 1 : UINT64_MAX;
        EXPECT(FT_OK, ft_queue_new(tree, &settings, times[random_number(8)], &queue));
        EXPECT(FT_OK, ft_queue_add_machine(queue, "m", 1 + random_number(2) * UINT32_MAX / 2));
        for (int i = 0; i < 60; i++) {
            const uint64_t id = random_number(6);
            const int64_t now = times[random_number(8)], executed = times[random_number(8)];
            uint8_t bytes[ROOM];
            uint64_t jobs[6] = {0}, told = 0;
            uint32_t what = 0;
            size_t found = 0;
            ft_estimate estimates[6];
            ft_standing standing;
            ft_queue *copy = NULL;
            int32_t status = FT_OK;
            ft_queue_job job = good_job(id);
            job.rate = random_number(2) ? UINT32_MAX : 1;
            job.assoc = 2 + random_number(3);
            job.submit_micros = now;
            job.nice = executed;
            job.expected_micros = lengths[random_number(5)];
            job.limit_micros = lengths[random_number(5)];
            switch (random_number(9)) {
            case 0: case 1: status = ft_queue_add_job(queue, &job); break;
            case 2: status = ft_queue_start(queue, id, now); break;
            case 3:
                status = ft_queue_finish(queue, id, FT_END_COMPLETED, 0, executed, now, NULL, 0);
                break;
            case 4: status = ft_queue_requeue(queue, id, FT_END_FAILED, 9, 0, now, NULL, 0); break;
            case 5: status = ft_queue_cancel(queue, id); break;
            case 6:
                status = ft_queue_estimate(queue, "m", now, estimates, 6, sizeof(estimates[0]),
                                           &found);
                break;
            case 7:
                status = ft_queue_standing(queue, job.assoc, now, &standing, sizeof(standing));
                break;
            default: status = ft_queue_positions(queue, "m", now, jobs, 6, &found); break;
            }
            if (status == FT_ERR_PANIC || status == FT_ERR_POISONED) {
                fprintf(stderr, "round %d: %s\n", round, ft_last_error());
                exit(EXIT_FAILURE);
            }
            /* A saved queue continues like the original. */
            EXPECT(FT_OK, ft_queue_save(queue, bytes, ROOM, &found));
            EXPECT(FT_OK, ft_queue_restore(bytes, found, &copy));
            EXPECT(FT_OK, ft_queue_next(copy, "m", INT64_MIN, &what, &told));
            ft_queue_free(copy);
        }
        ft_queue_free(queue);
    }
}

void hostile_queue(void)
{
    static uint8_t before[ROOM], after[ROOM];
    size_t len = 0, len_after = 0;
    ft_tree *tree = sample_tree(), *smaller = NULL;
    ft_queue *queue = NULL;
    ft_queue_settings settings = good_settings();
    bad_settings(tree);
    queue = sample_queue(tree);
    saved(queue, before, &len);
    bad_calls(queue);
    bad_outputs(queue);
    bad_bytes(queue);

    EXPECT(FT_OK, ft_tree_clone(tree, &smaller));
    EXPECT(FT_OK, ft_tree_remove(smaller, 3));
    EXPECT(FT_ERR_NULL, ft_queue_change(NULL, tree, &settings));
    EXPECT(FT_ERR_NULL, ft_queue_change(queue, NULL, &settings));
    EXPECT(FT_ERR_HANDLE, ft_queue_change((ft_queue *)(void *)tree, tree, &settings));
    EXPECT(FT_ERR_UNKNOWN_ID, ft_queue_change(queue, smaller, &settings));
    settings.capacity = 0;
    EXPECT(FT_ERR_CONFIG, ft_queue_change(queue, tree, &settings));
    saved(queue, after, &len_after);
    if (len != len_after || memcmp(before, after, len) != 0)
        exit(EXIT_FAILURE);
    EXPECT(FT_OK, ft_queue_set_paused(queue, "m", 1));
    EXPECT(FT_OK, ft_queue_finish(queue, 1, FT_END_COMPLETED, 0, 5, 200, NULL, 0));
    EXPECT(FT_ERR_PAUSED, ft_queue_start(queue, 2, 200));
    EXPECT(FT_OK, ft_queue_change(queue, tree, NULL));
    life(tree);
    ft_queue_free(queue);
    ft_tree_free(smaller);
    ft_tree_free(tree);
}
