/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Hostile input: on-demand queues. After each refusal the saved bytes are unchanged.
 */

#include "hostile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4096, SECOND = 1000000 };

static ft_on_demand_job good_job(uint64_t id, uint32_t account)
{
    ft_on_demand_job job;
    memset(&job, 0, sizeof(job));
    job.struct_size = sizeof(job);
    job.id = id;
    job.account = account;
    job.machine = "m";
    job.expected_micros = 10;
    return job;
}

/* Machine m: job 1 of account 8 runs, 2 and 3 wait; account 7 has reserved it from second 5 to 9,
   and 6 from 20 to 30. */
static ft_on_demand *sample_on_demand(void)
{
    ft_on_demand *queue = NULL;
    ft_submitted submitted;
    EXPECT(FT_OK, ft_on_demand_new("COMPLETED", 0, &queue));
    EXPECT(FT_OK, ft_on_demand_add_machine(queue, "m", 3, 1, 2));
    EXPECT(FT_OK, ft_on_demand_limit_account(queue, 9, 0));
    EXPECT(FT_OK, ft_on_demand_reserve(queue, 1, "m", 7, 5 * SECOND, 9 * SECOND, 0));
    EXPECT(FT_OK, ft_on_demand_reserve(queue, 2, "m", 6, 20 * SECOND, 30 * SECOND, 0));
    for (uint64_t id = 1; id <= 3; id++) {
        const ft_on_demand_job job = good_job(id, 8);
        EXPECT(FT_OK, ft_on_demand_submit(queue, &job, 0, &submitted, sizeof(submitted)));
    }
    EXPECT(FT_OK, ft_on_demand_start(queue, 1, 100));
    return queue;
}

static void bad_life(void)
{
    uint64_t words[4] = {0, 0, 0, 0};
    ft_on_demand *queue = NULL;
    EXPECT(FT_ERR_NULL, ft_on_demand_new(NULL, 0, NULL));
    EXPECT(FT_ERR_ALIGN, ft_on_demand_new(NULL, 0, MISALIGNED(ft_on_demand *, words)));
    EXPECT(FT_ERR_CONFIG, ft_on_demand_new("WELL", 0, &queue));
    EXPECT(FT_ERR_CONFIG, ft_on_demand_new("FAILED:0", 0, &queue));
    EXPECT(FT_ERR_UTF8, ft_on_demand_new("\xff", 0, &queue));
    if (queue != NULL)
        exit(EXIT_FAILURE);
    ft_on_demand_free((ft_on_demand *)(void *)words);
    ft_on_demand_free(MISALIGNED(ft_on_demand, words));
    ft_on_demand_free(NULL);
}

static void bad_calls(ft_on_demand *queue)
{
    uint64_t words[4] = {7, 7, 7, 7};
    ft_on_demand *const no_queue = (ft_on_demand *)(void *)words;
    ft_on_demand_job job = good_job(9, 8);
    ft_submitted submitted;
    const uint32_t parts[2] = {1, 2};
    memset(&submitted, 7, sizeof(submitted));

    EXPECT(FT_ERR_NULL, ft_on_demand_add_machine(NULL, "x", 1, 1, 1));
    EXPECT(FT_ERR_HANDLE, ft_on_demand_add_machine(no_queue, "x", 1, 1, 1));
    EXPECT(FT_ERR_NULL, ft_on_demand_add_machine(queue, NULL, 1, 1, 1));
    EXPECT(FT_ERR_UTF8, ft_on_demand_add_machine(queue, "\xff", 1, 1, 1));
    EXPECT(FT_ERR_DUPLICATE_MACHINE, ft_on_demand_add_machine(queue, "m", 1, 1, 1));
    EXPECT(FT_ERR_NULL, ft_on_demand_set_paused(NULL, "m", 1));
    EXPECT(FT_ERR_UNKNOWN_MACHINE, ft_on_demand_set_paused(queue, "x", 1));
    EXPECT(FT_ERR_ENUM, ft_on_demand_set_paused(queue, "m", 7));
    EXPECT(FT_ERR_NULL, ft_on_demand_limit_account(NULL, 1, 1));
    EXPECT(FT_ERR_HANDLE, ft_on_demand_limit_account(no_queue, 1, 1));

    EXPECT(FT_ERR_NULL, ft_on_demand_reserve(NULL, 5, "m", 7, 40 * SECOND, 41 * SECOND, 100));
    EXPECT(FT_ERR_UNKNOWN_MACHINE,
           ft_on_demand_reserve(queue, 5, "x", 7, 40 * SECOND, 41 * SECOND, 100));
    EXPECT(FT_ERR_DUPLICATE_RESERVATION,
           ft_on_demand_reserve(queue, 1, "m", 7, 40 * SECOND, 41 * SECOND, 100));
    EXPECT(FT_ERR_RANGE, ft_on_demand_reserve(queue, 5, "m", 7, 40 * SECOND, 40 * SECOND, 100));
    EXPECT(FT_ERR_RANGE, ft_on_demand_reserve(queue, 5, "m", 7, 40 * SECOND, 39 * SECOND, 100));
    EXPECT(FT_ERR_RANGE, ft_on_demand_reserve(queue, 5, "m", 7, 40 * SECOND, 41 * SECOND + 1, 100));
    EXPECT(FT_ERR_RANGE, ft_on_demand_reserve(queue, 5, "m", 7, INT64_MIN, INT64_MAX, 100));
    EXPECT(FT_ERR_RANGE,
           ft_on_demand_reserve(queue, 5, "m", FT_NONE, 40 * SECOND, 41 * SECOND, 100));
    EXPECT(FT_ERR_TIME, ft_on_demand_reserve(queue, 5, "m", 7, 99, 99 + SECOND, 100));
    EXPECT(FT_ERR_OVERLAP, ft_on_demand_reserve(queue, 5, "m", 7, 8 * SECOND, 10 * SECOND, 100));
    EXPECT(FT_ERR_NULL, ft_on_demand_cancel_reservation(NULL, 1, 100));
    EXPECT(FT_ERR_UNKNOWN_RESERVATION, ft_on_demand_cancel_reservation(queue, 5, 100));
    EXPECT(FT_ERR_NULL, ft_on_demand_advance(NULL, 100));
    EXPECT(FT_ERR_HANDLE, ft_on_demand_advance(no_queue, 100));

#define SUBMIT(status, argument)                                                                  \
    EXPECT(status, ft_on_demand_submit(queue, argument, 100, &submitted, sizeof(submitted)));      \
    job = good_job(9, 8)
    EXPECT(FT_ERR_NULL, ft_on_demand_submit(NULL, &job, 100, &submitted, sizeof(submitted)));
    EXPECT(FT_ERR_NULL, ft_on_demand_submit(queue, &job, 100, NULL, sizeof(submitted)));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_on_demand_submit(queue, &job, 100, &submitted, 4));
    SUBMIT(FT_ERR_NULL, NULL);
    SUBMIT(FT_ERR_ALIGN, MISALIGNED(ft_on_demand_job, &job));
    job.struct_size = 8;
    SUBMIT(FT_ERR_STRUCT_SIZE, &job);
    job.machine = NULL;
    SUBMIT(FT_ERR_NULL, &job);
    job.machine = "\xff";
    SUBMIT(FT_ERR_UTF8, &job);
    job.machine = "x";
    SUBMIT(FT_ERR_UNKNOWN_MACHINE, &job);
    job.id = 1;
    SUBMIT(FT_ERR_DUPLICATE_JOB, &job);
    job.account = FT_NONE;
    SUBMIT(FT_ERR_RANGE, &job);
    job.reserved = 1;
    SUBMIT(FT_ERR_RANGE, &job);
    job.parts_len = 1;
    SUBMIT(FT_ERR_NULL, &job);
    job.parts = parts;
    job.parts_len = SIZE_MAX;
    SUBMIT(FT_ERR_LENGTH, &job);
    job.parts = MISALIGNED(uint32_t, parts);
    job.parts_len = 1;
    SUBMIT(FT_ERR_ALIGN, &job);
    job.account = 9;
    SUBMIT(FT_ERR_FULL, &job);
    if (submitted.in_reservation != 0x07070707)
        exit(EXIT_FAILURE);

    EXPECT(FT_ERR_NULL, ft_on_demand_start(NULL, 2, 100));
    EXPECT(FT_ERR_UNKNOWN_JOB, ft_on_demand_start(queue, 9, 100));
    EXPECT(FT_ERR_NOT_WAITING, ft_on_demand_start(queue, 1, 100));
    EXPECT(FT_ERR_BUSY, ft_on_demand_start(queue, 2, 100));
    EXPECT(FT_ERR_NULL, ft_on_demand_halted(NULL, 1, 100));
    EXPECT(FT_ERR_NOT_RUNNING, ft_on_demand_halted(queue, 2, 100));
    EXPECT(FT_ERR_UNKNOWN_JOB, ft_on_demand_halted(queue, 9, 100));
    EXPECT(FT_ERR_NULL, ft_on_demand_finish(NULL, 1, FT_END_COMPLETED, 0, 0, 100, NULL, 0));
    EXPECT(FT_ERR_NOT_RUNNING,
           ft_on_demand_finish(queue, 2, FT_END_COMPLETED, 0, 0, 100, NULL, 0));
    EXPECT(FT_ERR_TIME, ft_on_demand_finish(queue, 1, FT_END_COMPLETED, 0, 1, 100, NULL, 0));
    EXPECT(FT_ERR_TIME,
           ft_on_demand_finish(queue, 1, FT_END_COMPLETED, 0, INT64_MIN, 100, NULL, 0));
    EXPECT(FT_ERR_ENUM, ft_on_demand_finish(queue, 1, 1, 0, 0, 100, NULL, 0));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_on_demand_finish(queue, 1, FT_END_FAILED, 0, 0, 100, NULL, 8));
    EXPECT(FT_ERR_NULL, ft_on_demand_finish(queue, 1, FT_END_FAILED, UINT32_MAX, 0, 100, NULL,
                                            sizeof(ft_finished)));
    EXPECT(FT_ERR_NULL, ft_on_demand_cancel(NULL, 2, 100));
    EXPECT(FT_ERR_NOT_WAITING, ft_on_demand_cancel(queue, 1, 100));
    EXPECT(FT_ERR_UNKNOWN_JOB, ft_on_demand_cancel(queue, 9, 100));
    EXPECT(FT_ERR_NULL, ft_on_demand_forget_bills(NULL, 100));
    EXPECT(FT_ERR_HANDLE, ft_on_demand_forget_bills(no_queue, 100));
}

static void bad_outputs(ft_on_demand *queue)
{
    uint64_t jobs[4] = {7, 7, 7, 7}, job = 7;
    uint32_t what = 7;
    size_t found = 7;
    ft_estimate estimates[4];
    ft_refused refused[4];
    ft_bill bills[4];
    memset(estimates, 0, sizeof(estimates));

    EXPECT(FT_ERR_NULL, ft_on_demand_next(NULL, "m", 100, &what, &job));
    EXPECT(FT_ERR_NULL, ft_on_demand_next(queue, "m", 100, NULL, &job));
    EXPECT(FT_ERR_NULL, ft_on_demand_next(queue, "m", 100, &what, NULL));
    EXPECT(FT_ERR_UNKNOWN_MACHINE, ft_on_demand_next(queue, "x", 100, &what, &job));
    EXPECT(FT_ERR_NULL, ft_on_demand_positions(NULL, "m", 100, jobs, 4, &found));
    EXPECT(FT_ERR_NULL, ft_on_demand_positions(queue, "m", 100, NULL, 4, &found));
    EXPECT(FT_ERR_NULL, ft_on_demand_positions(queue, "m", 100, jobs, 4, NULL));
    EXPECT(FT_ERR_LENGTH, ft_on_demand_positions(queue, "m", 100, jobs, SIZE_MAX, &found));
    EXPECT(FT_ERR_UNKNOWN_MACHINE, ft_on_demand_positions(queue, "x", 100, jobs, 4, &found));
    EXPECT(FT_ERR_NULL, ft_on_demand_estimate(NULL, "m", 100, estimates, 4, sizeof(estimates[0]),
                                              &found));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_on_demand_estimate(queue, "m", 100, estimates, 4, 7, &found));
    EXPECT(FT_ERR_UNKNOWN_MACHINE, ft_on_demand_estimate(queue, "x", 100, estimates, 4,
                                                         sizeof(estimates[0]), &found));
    EXPECT(FT_ERR_NULL, ft_on_demand_take_refused(NULL, 100, refused, 4, sizeof(refused[0]),
                                                  &found));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_on_demand_take_refused(queue, 100, refused, 4, 1, &found));
    EXPECT(FT_ERR_NULL, ft_on_demand_take_refused(queue, 100, refused, 4, sizeof(refused[0]),
                                                  NULL));
    EXPECT(FT_ERR_NULL, ft_on_demand_bills(NULL, 0, 1, bills, 4, sizeof(bills[0]), &found));
    EXPECT(FT_ERR_NULL, ft_on_demand_bills(queue, 0, 1, NULL, 4, sizeof(bills[0]), &found));
    EXPECT(FT_ERR_NULL, ft_on_demand_bills(queue, 0, 1, bills, 4, sizeof(bills[0]), NULL));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_on_demand_bills(queue, 0, 1, bills, 4, 3, &found));
    if (what != 7 || job != 7 || found != 7 || jobs[0] != 7)
        exit(EXIT_FAILURE);
    EXPECT(FT_ERR_BUFFER, ft_on_demand_positions(queue, "m", 100, jobs, 1, &found));
    EXPECT(FT_ERR_BUFFER, ft_on_demand_estimate(queue, "m", 100, estimates, 1,
                                                sizeof(estimates[0]), &found));
    if (found != 2 || jobs[0] != 7 || estimates[0].job != 0)
        exit(EXIT_FAILURE);
    /* A period that ends before it starts has no bills. */
    EXPECT(FT_OK, ft_on_demand_bills(queue, 1, 0, bills, 4, sizeof(bills[0]), &found));
    EXPECT(FT_OK, ft_on_demand_bills(queue, INT64_MAX, INT64_MIN, NULL, 0, sizeof(bills[0]),
                                     &found));
    if (found != 0)
        exit(EXIT_FAILURE);
}

static void bad_bytes(const ft_on_demand *queue)
{
    uint8_t bytes[ROOM];
    size_t len = 0;
    ft_on_demand *made = NULL;
    EXPECT(FT_ERR_NULL, ft_on_demand_save(NULL, bytes, ROOM, &len));
    EXPECT(FT_ERR_NULL, ft_on_demand_save(queue, bytes, ROOM, NULL));
    EXPECT(FT_ERR_BUFFER, ft_on_demand_save(queue, bytes, 10, &len));
    EXPECT(FT_OK, ft_on_demand_save(queue, bytes, ROOM, &len));
    EXPECT(FT_ERR_NULL, ft_on_demand_restore(NULL, len, &made));
    EXPECT(FT_ERR_NULL, ft_on_demand_restore(bytes, len, NULL));
    EXPECT(FT_ERR_LENGTH, ft_on_demand_restore(bytes, SIZE_MAX, &made));
    for (size_t cut = 0; cut < len; cut++)
        EXPECT(FT_ERR_STATE_DAMAGED, ft_on_demand_restore(bytes, cut, &made));
    for (size_t at = 12; at < len; at++) {
        bytes[at] ^= 0x10;
        EXPECT(FT_ERR_STATE_DAMAGED, ft_on_demand_restore(bytes, len, &made));
        bytes[at] ^= 0x10;
    }
    if (made != NULL)
        exit(EXIT_FAILURE);
}

/* Jobs above the limits are reported once, and only if the buffer has room for them. */
static void refusals_are_told_once(ft_on_demand *queue)
{
    ft_refused refused[2];
    ft_submitted submitted;
    size_t found = 0;
    EXPECT(FT_ERR_TIME, ft_on_demand_cancel_reservation(queue, 1, 5 * SECOND));
    EXPECT(FT_OK, ft_on_demand_limit_account(queue, 7, 0));
    for (uint64_t id = 11; id <= 12; id++) {
        const ft_on_demand_job job = good_job(id, 7);
        EXPECT(FT_OK, ft_on_demand_submit(queue, &job, 5 * SECOND, &submitted, sizeof(submitted)));
        if (submitted.in_reservation != 1 || submitted.must_halt != 1 || submitted.halt != 1)
            exit(EXIT_FAILURE);
    }
    EXPECT(FT_OK, ft_on_demand_halted(queue, 1, 5 * SECOND));
    EXPECT(FT_OK, ft_on_demand_start(queue, 11, 5 * SECOND));
    EXPECT(FT_ERR_NOT_ON_DEMAND, ft_on_demand_halted(queue, 11, 5 * SECOND));
    EXPECT(FT_OK, ft_on_demand_finish(queue, 11, FT_END_COMPLETED, 0, 0, 5 * SECOND, NULL, 0));
    for (uint64_t id = 13; id <= 13; id++) {
        const ft_on_demand_job job = good_job(id, 7);
        EXPECT(FT_OK, ft_on_demand_submit(queue, &job, 5 * SECOND, &submitted, sizeof(submitted)));
    }
    EXPECT(FT_ERR_BUFFER, ft_on_demand_take_refused(queue, 9 * SECOND, refused, 1,
                                                    sizeof(refused[0]), &found));
    if (found != 2)
        exit(EXIT_FAILURE);
    /* That call failed: the reservation is not over. */
    EXPECT(FT_OK, ft_on_demand_take_refused(queue, 0, refused, 2, sizeof(refused[0]), &found));
    if (found != 0)
        exit(EXIT_FAILURE);
    EXPECT(FT_OK,
           ft_on_demand_take_refused(queue, 9 * SECOND, refused, 2, sizeof(refused[0]), &found));
    if (found != 2 || refused[0].job != 12 || refused[1].job != 13 || refused[0].whose != 7
        || refused[0].limit != FT_LIMIT_ACCOUNT || refused[0].size != 0 || refused[0].waiting != 0)
        exit(EXIT_FAILURE);
    EXPECT(FT_OK, ft_on_demand_take_refused(queue, 0, refused, 2, sizeof(refused[0]), &found));
    if (found != 0)
        exit(EXIT_FAILURE);
    EXPECT(FT_OK, ft_on_demand_set_paused(queue, "m", 1));
    EXPECT(FT_ERR_PAUSED, ft_on_demand_start(queue, 2, 0));
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
static void life(void)
{
    const int64_t times[] = {INT64_MIN, INT64_MIN + SECOND, -SECOND, 0, SECOND,
                             INT64_MAX - SECOND, INT64_MAX};
    for (int round = 0; round < 30; round++) {
        ft_on_demand *queue = NULL;
        EXPECT(FT_OK, ft_on_demand_new(NULL, INT64_MIN, &queue));
        EXPECT(FT_OK, ft_on_demand_add_machine(queue, "m", FT_UNLIMITED, UINT64_MAX, UINT64_MAX));
        for (int i = 0; i < 60; i++) {
            const uint64_t id = random_number(6);
            const int64_t at = times[random_number(7)], other = times[random_number(7)];
            /* Time mostly stands still, so that events happen in between. */
            const int64_t now = random_number(8) ? INT64_MIN : at;
            uint8_t bytes[ROOM];
            uint64_t told = 0;
            uint32_t what = 0;
            size_t found = 0;
            ft_estimate estimates[6];
            ft_submitted submitted;
            ft_bill bills[4];
            ft_on_demand *copy = NULL;
            int32_t status = FT_OK;
            ft_on_demand_job job = good_job(id, random_number(2));
            job.expected_micros = random_number(2) ? UINT64_MAX : 0;
            switch (random_number(8)) {
            case 0: case 1:
                status = ft_on_demand_submit(queue, &job, now, &submitted, sizeof(submitted));
                break;
            case 2: status = ft_on_demand_start(queue, id, now); break;
            case 3:
                status = ft_on_demand_finish(queue, id, FT_END_COMPLETED, 0, other, now, NULL, 0);
                break;
            case 4: status = ft_on_demand_halted(queue, id, now); break;
            case 5: status = ft_on_demand_reserve(queue, id, "m", 1, at, other, now); break;
            case 6:
                status = ft_on_demand_estimate(queue, "m", now, estimates, 6, sizeof(estimates[0]),
                                               &found);
                break;
            default: status = ft_on_demand_cancel(queue, id, now); break;
            }
            if (status == FT_ERR_PANIC || status == FT_ERR_POISONED) {
                fprintf(stderr, "round %d: %s\n", round, ft_last_error());
                exit(EXIT_FAILURE);
            }
            EXPECT(FT_OK, ft_on_demand_save(queue, bytes, ROOM, &found));
            EXPECT(FT_OK, ft_on_demand_restore(bytes, found, &copy));
            EXPECT(FT_OK, ft_on_demand_next(copy, "m", INT64_MIN, &what, &told));
            EXPECT(FT_OK, ft_on_demand_bills(copy, INT64_MIN, INT64_MAX, bills, 4,
                                             sizeof(bills[0]), &found));
            ft_on_demand_free(copy);
        }
        EXPECT(FT_OK, ft_on_demand_forget_bills(queue, INT64_MAX));
        ft_on_demand_free(queue);
    }
}

void hostile_on_demand(void)
{
    static uint8_t before[ROOM], after[ROOM];
    size_t len = 0, len_after = 0;
    ft_on_demand *queue = sample_on_demand();
    bad_life();
    EXPECT(FT_OK, ft_on_demand_save(queue, before, ROOM, &len));
    bad_calls(queue);
    bad_outputs(queue);
    bad_bytes(queue);
    EXPECT(FT_OK, ft_on_demand_save(queue, after, ROOM, &len_after));
    if (len != len_after || memcmp(before, after, len) != 0)
        exit(EXIT_FAILURE);
    refusals_are_told_once(queue);
    EXPECT(FT_OK, ft_on_demand_advance(queue, 15 * SECOND));
    EXPECT(FT_OK, ft_on_demand_cancel_reservation(queue, 2, 15 * SECOND));
    life();
    ft_on_demand_free(queue);
}
