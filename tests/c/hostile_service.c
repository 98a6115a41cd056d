/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Hostile input: questions to queues, and changes of them in mid-life. After each refusal the saved
 * bytes are unchanged.
 */

#include "hostile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4096, SECOND = 1000000 };

static void require(int line, int holds)
{
    if (holds)
        return;
    fprintf(stderr, "hostile_service.c:%d does not hold\n", line);
    exit(EXIT_FAILURE);
}

#define REQUIRE(condition) require(__LINE__, (condition))

/* Root, account 2 with users 3 and 4; machine m of one slot: job 1 runs, job 2 waits. */
static ft_queue *sample_queue(void)
{
    ft_tree *tree = sample_tree();
    ft_queue *queue = NULL;
    EXPECT(FT_OK, ft_queue_new(tree, NULL, 0, &queue));
    ft_tree_free(tree);
    EXPECT(FT_OK, ft_queue_add_machine(queue, "m", 1));
    EXPECT(FT_OK, ft_queue_add_machine(queue, "n", 2));
    for (uint64_t id = 1; id <= 2; id++) {
        const ft_queue_job job = {sizeof(job), id, 3, 1, "m", 0, 0, 10, 0};
        EXPECT(FT_OK, ft_queue_add_job(queue, &job));
    }
    EXPECT(FT_OK, ft_queue_start(queue, 1, 100));
    return queue;
}

static void asks_queue(ft_queue *queue)
{
    uint64_t words[8] = {7, 7, 7, 7, 7, 7, 7, 7};
    ft_queue *const no_queue = (ft_queue *)(void *)words;
    ft_held_job jobs[2];
    ft_queue_machine machines[2];
    ft_assoc_standing standings[2];
    char name[8] = "7777777";
    size_t found = 7;
    memset(jobs, 7, sizeof(jobs));
    memset(machines, 7, sizeof(machines));
    memset(standings, 7, sizeof(standings));

    EXPECT(FT_ERR_NULL, ft_queue_jobs(NULL, 100, jobs, 2, sizeof(jobs[0]), &found));
    EXPECT(FT_ERR_HANDLE, ft_queue_jobs(no_queue, 100, jobs, 2, sizeof(jobs[0]), &found));
    EXPECT(FT_ERR_NULL, ft_queue_jobs(queue, 100, NULL, 2, sizeof(jobs[0]), &found));
    EXPECT(FT_ERR_NULL, ft_queue_jobs(queue, 100, jobs, 2, sizeof(jobs[0]), NULL));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_queue_jobs(queue, 100, jobs, 2, 8, &found));
    EXPECT(FT_ERR_LENGTH, ft_queue_jobs(queue, 100, jobs, SIZE_MAX, sizeof(jobs[0]), &found));
    EXPECT(FT_ERR_ALIGN, ft_queue_jobs(queue, 100, MISALIGNED(ft_held_job, jobs), 1,
                                       sizeof(jobs[0]), &found));
    EXPECT(FT_ERR_NULL, ft_queue_machines(NULL, machines, 2, sizeof(machines[0]), &found));
    EXPECT(FT_ERR_NULL, ft_queue_machines(queue, NULL, 2, sizeof(machines[0]), &found));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_queue_machines(queue, machines, 2, 4, &found));
    EXPECT(FT_ERR_NULL, ft_queue_machine_name(NULL, 0, name, sizeof(name), &found));
    EXPECT(FT_ERR_NULL, ft_queue_machine_name(queue, 0, NULL, 8, &found));
    EXPECT(FT_ERR_UNKNOWN_MACHINE, ft_queue_machine_name(queue, 2, name, 8, &found));
    EXPECT(FT_ERR_UNKNOWN_MACHINE, ft_queue_machine_name(queue, UINT32_MAX, name, 8, &found));
    EXPECT(FT_ERR_NULL, ft_queue_standings(NULL, 100, standings, 2, sizeof(standings[0]), &found));
    EXPECT(FT_ERR_NULL, ft_queue_standings(queue, 100, NULL, 2, sizeof(standings[0]), &found));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_queue_standings(queue, 100, standings, 2, 24, &found));
    REQUIRE(found == 7 && jobs[0].state == 0x07070707 && machines[0].slots == 0x07070707);
    REQUIRE(standings[0].assoc == 0x07070707 && strcmp(name, "7777777") == 0);

    /* Too little room: only the number is returned. */
    EXPECT(FT_ERR_BUFFER, ft_queue_jobs(queue, INT64_MAX, jobs, 1, sizeof(jobs[0]), &found));
    REQUIRE(found == 2 && jobs[0].state == 0x07070707);
    EXPECT(FT_ERR_BUFFER, ft_queue_machines(queue, machines, 1, sizeof(machines[0]), &found));
    REQUIRE(found == 2 && machines[0].slots == 0x07070707);
    EXPECT(FT_ERR_BUFFER, ft_queue_machine_name(queue, 1, name, 1, &found));
    REQUIRE(found == 1 && name[0] == '7');
    EXPECT(FT_OK, ft_queue_machine_name(queue, 1, name, 2, NULL));
    REQUIRE(strcmp(name, "n") == 0);
    /* Users do not compete unless asked for: account 2 alone has a standing. */
    EXPECT(FT_OK, ft_queue_standings(queue, 100, NULL, 0, sizeof(standings[0]), &found));
    REQUIRE(found == 1);
    EXPECT(FT_OK, ft_queue_jobs(queue, 100, NULL, 0, sizeof(jobs[0]), &found));
    EXPECT(FT_OK, ft_queue_machines(queue, NULL, 0, sizeof(machines[0]), &found));
    EXPECT(FT_OK, ft_queue_machine_name(queue, 0, NULL, 0, &found));
    REQUIRE(found == 1);
}

static void changes_queue(ft_queue *queue)
{
    uint64_t words[4] = {7, 7, 7, 7};
    ft_queue *const no_queue = (ft_queue *)(void *)words;
    const char *names[] = {"m", "x"}, *none[] = {NULL};
    const char *odd[] = {"\xff"};

    EXPECT(FT_ERR_NULL, ft_queue_set_shares(NULL, 2, 1));
    EXPECT(FT_ERR_UNKNOWN_ID, ft_queue_set_shares(queue, 99, 1));
    EXPECT(FT_ERR_SHARES, ft_queue_set_shares(queue, 2, UINT32_MAX));
    /* Job 1 of a user of account 2 would have nobody's shares. */
    EXPECT(FT_ERR_NO_SHARES, ft_queue_set_shares(queue, 2, FT_SHARES_PARENT));
    EXPECT(FT_ERR_NULL, ft_queue_set_minutes(NULL, 2, 1, 5));
    EXPECT(FT_ERR_HANDLE, ft_queue_set_minutes(no_queue, 2, 1, 5));
    EXPECT(FT_ERR_UNKNOWN_ID, ft_queue_set_minutes(queue, 99, 1, 5));
    EXPECT(FT_ERR_ENUM, ft_queue_set_minutes(queue, 2, 2, 5));
    EXPECT(FT_ERR_RANGE, ft_queue_set_minutes(queue, 2, 1, UINT64_MAX));
    EXPECT(FT_ERR_RANGE, ft_queue_set_minutes(queue, 2, 0, 5));
    EXPECT(FT_ERR_CONFIG, ft_queue_set_minutes(queue, 1, 1, 5));
    EXPECT(FT_ERR_CONFIG, ft_queue_set_minutes(queue, 3, 1, 5));
    EXPECT(FT_ERR_NULL, ft_queue_set_slots(NULL, "m", 1));
    EXPECT(FT_ERR_NULL, ft_queue_set_slots(queue, NULL, 1));
    EXPECT(FT_ERR_UTF8, ft_queue_set_slots(queue, "\xff", 1));
    EXPECT(FT_ERR_UNKNOWN_MACHINE, ft_queue_set_slots(queue, "x", 1));
    EXPECT(FT_ERR_CONFIG, ft_queue_set_slots(queue, "m", 0));
    EXPECT(FT_ERR_NULL, ft_queue_remove_machine(NULL, "n"));
    EXPECT(FT_ERR_NULL, ft_queue_remove_machine(queue, NULL));
    EXPECT(FT_ERR_UNKNOWN_MACHINE, ft_queue_remove_machine(queue, "x"));
    EXPECT(FT_ERR_IN_USE, ft_queue_remove_machine(queue, "m"));
    EXPECT(FT_ERR_NULL, ft_queue_bind(NULL, 2, names, 1));
    EXPECT(FT_ERR_NULL, ft_queue_bind(queue, 2, NULL, 1));
    EXPECT(FT_ERR_NULL, ft_queue_bind(queue, 2, none, 1));
    EXPECT(FT_ERR_UTF8, ft_queue_bind(queue, 2, odd, 1));
    EXPECT(FT_ERR_LENGTH, ft_queue_bind(queue, 2, names, SIZE_MAX));
    EXPECT(FT_ERR_ALIGN, ft_queue_bind(queue, 2, MISALIGNED(const char *const, words), 1));
    EXPECT(FT_ERR_UNKNOWN_ID, ft_queue_bind(queue, 99, names, 1));
    EXPECT(FT_ERR_UNKNOWN_MACHINE, ft_queue_bind(queue, 2, names, 2));
    EXPECT(FT_ERR_NULL, ft_queue_set_default_limit(NULL, "m", 5));
    EXPECT(FT_ERR_UTF8, ft_queue_set_default_limit(queue, "\xff", 5));
    EXPECT(FT_ERR_UNKNOWN_MACHINE, ft_queue_set_default_limit(queue, "x", 5));
}

/* The calls that succeed, and what they refuse from then on. */
static void changed_queue(ft_queue *queue)
{
    const char *names[] = {"m"};
    ft_queue_job job = {sizeof(job), 3, 4, 1, "n", 0, 0, 0, 0};
    ft_held_job jobs[3];
    ft_queue_machine machine;
    ft_finished finished;
    size_t found = 0;
    EXPECT(FT_ERR_RANGE, ft_queue_add_job(queue, &job));
    EXPECT(FT_OK, ft_queue_set_default_limit(queue, NULL, 50));
    EXPECT(FT_OK, ft_queue_bind(queue, 2, names, 1));
    EXPECT(FT_ERR_ELSEWHERE, ft_queue_add_job(queue, &job));
    REQUIRE(strstr(ft_last_error(), "account 2 runs on machine \"m\" only, not on machine \"n\"")
            != NULL);
    job.machine = "m";
    EXPECT(FT_OK, ft_queue_add_job(queue, &job));
    EXPECT(FT_OK, ft_queue_set_shares(queue, 2, 5));
    EXPECT(FT_OK, ft_queue_set_minutes(queue, 2, 1, 5));
    EXPECT(FT_OK, ft_queue_set_minutes(queue, 2, 0, 0));
    EXPECT(FT_OK, ft_queue_remove_machine(queue, "n"));
    EXPECT(FT_ERR_UNKNOWN_MACHINE, ft_queue_remove_machine(queue, "n"));
    EXPECT(FT_OK, ft_queue_set_slots(queue, "m", 2));
    EXPECT(FT_OK, ft_queue_machines(queue, &machine, 1, sizeof(machine), &found));
    REQUIRE(found == 1 && machine.machine == 0 && machine.slots == 2 && machine.running == 1
            && machine.waiting == 2 && machine.paused == 0 && machine.default_limit_micros == 0);
    EXPECT(FT_OK, ft_queue_jobs(queue, 200, jobs, 3, sizeof(jobs[0]), &found));
    REQUIRE(found == 3 && jobs[0].job == 1 && jobs[0].state == FT_JOB_RUNS
            && jobs[0].since_micros == 100 && jobs[1].job == 2 && jobs[1].place == 0
            && jobs[2].job == 3 && jobs[2].place == 1 && jobs[2].account == 4
            && jobs[2].state == FT_JOB_WAITS);
    EXPECT(FT_OK, ft_queue_finish(queue, 1, FT_END_FAILED, UINT32_MAX, 50, 200, &finished,
                                  sizeof(finished)));
    REQUIRE(finished.executed_micros == 50 && finished.counts == 1 && finished.price == 0
            && finished.cost == 0);
}

static const ft_on_demand_job JOB = {sizeof(JOB), 1, 8, 0, "m", NULL, 0, 10};

/* Job 1 runs on m; account 7 has reserved it from second 5 to 9, and 6 from 20 to 30. */
static ft_on_demand *sample_on_demand(void)
{
    ft_on_demand *queue = NULL;
    ft_submitted submitted;
    EXPECT(FT_OK, ft_on_demand_new(NULL, 0, &queue));
    EXPECT(FT_OK, ft_on_demand_add_machine(queue, "m", 3, 1, 2));
    EXPECT(FT_OK, ft_on_demand_add_machine(queue, "n", FT_UNLIMITED, 3, 4));
    EXPECT(FT_OK, ft_on_demand_reserve(queue, 1, "m", 7, 5 * SECOND, 9 * SECOND, 0));
    EXPECT(FT_OK, ft_on_demand_reserve(queue, 2, "m", 6, 20 * SECOND, 30 * SECOND, 0));
    EXPECT(FT_OK, ft_on_demand_submit(queue, &JOB, 0, &submitted, sizeof(submitted)));
    EXPECT(FT_OK, ft_on_demand_start(queue, 1, 100));
    return queue;
}

static void asks_on_demand(ft_on_demand *queue)
{
    uint64_t words[8] = {7, 7, 7, 7, 7, 7, 7, 7};
    ft_on_demand *const no_queue = (ft_on_demand *)(void *)words;
    ft_held_job jobs[2];
    ft_on_demand_machine machines[2];
    ft_reservation reservations[2];
    char name[8] = "7777777";
    size_t found = 7;
    memset(jobs, 7, sizeof(jobs));
    memset(reservations, 7, sizeof(reservations));

    EXPECT(FT_ERR_NULL, ft_on_demand_jobs(NULL, 100, jobs, 2, sizeof(jobs[0]), &found));
    EXPECT(FT_ERR_HANDLE, ft_on_demand_jobs(no_queue, 100, jobs, 2, sizeof(jobs[0]), &found));
    EXPECT(FT_ERR_NULL, ft_on_demand_jobs(queue, 100, NULL, 2, sizeof(jobs[0]), &found));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_on_demand_jobs(queue, 100, jobs, 2, 8, &found));
    EXPECT(FT_ERR_NULL, ft_on_demand_machines(NULL, machines, 2, sizeof(machines[0]), &found));
    EXPECT(FT_ERR_NULL, ft_on_demand_machines(queue, machines, 2, sizeof(machines[0]), NULL));
    EXPECT(FT_ERR_STRUCT_SIZE, ft_on_demand_machines(queue, machines, 2, 8, &found));
    EXPECT(FT_ERR_NULL, ft_on_demand_machine_name(NULL, 0, name, sizeof(name), &found));
    EXPECT(FT_ERR_UNKNOWN_MACHINE, ft_on_demand_machine_name(queue, 2, name, 8, &found));
    EXPECT(FT_ERR_BUFFER, ft_on_demand_machine_name(queue, 0, name, 1, NULL));
    EXPECT(FT_ERR_NULL,
           ft_on_demand_reservations(NULL, 100, reservations, 2, sizeof(reservations[0]), &found));
    EXPECT(FT_ERR_NULL,
           ft_on_demand_reservations(queue, 100, NULL, 2, sizeof(reservations[0]), &found));
    EXPECT(FT_ERR_STRUCT_SIZE,
           ft_on_demand_reservations(queue, 100, reservations, 2, 16, &found));
    REQUIRE(found == 7 && jobs[0].state == 0x07070707 && reservations[0].account == 0x07070707);
    EXPECT(FT_ERR_BUFFER,
           ft_on_demand_reservations(queue, 100, reservations, 1, sizeof(reservations[0]), &found));
    REQUIRE(found == 2 && reservations[0].account == 0x07070707);
    EXPECT(FT_OK, ft_on_demand_jobs(queue, 100, jobs, 2, sizeof(jobs[0]), &found));
    REQUIRE(found == 1 && jobs[0].job == 1 && jobs[0].state == FT_JOB_RUNS && jobs[0].account == 8);
    EXPECT(FT_OK, ft_on_demand_machines(queue, machines, 2, sizeof(machines[0]), &found));
    REQUIRE(found == 2 && machines[0].limit == 3 && machines[0].running == 1
            && machines[1].limit == FT_UNLIMITED && machines[1].execution_price == 3
            && machines[1].reserved_price == 4);
    EXPECT(FT_OK, ft_on_demand_machine_name(queue, 1, name, 8, &found));
    REQUIRE(found == 1 && strcmp(name, "n") == 0);
}

static void changes_on_demand(ft_on_demand *queue)
{
    const char *names[] = {"m", "x"}, *none[] = {NULL};

    EXPECT(FT_ERR_NULL, ft_on_demand_set_prices(NULL, "m", 1, 1, 100));
    EXPECT(FT_ERR_NULL, ft_on_demand_set_prices(queue, NULL, 1, 1, 100));
    EXPECT(FT_ERR_UNKNOWN_MACHINE, ft_on_demand_set_prices(queue, "x", 1, 1, INT64_MAX));
    EXPECT(FT_ERR_NULL, ft_on_demand_limit_machine(NULL, "m", 1));
    EXPECT(FT_ERR_UTF8, ft_on_demand_limit_machine(queue, "\xff", 1));
    EXPECT(FT_ERR_UNKNOWN_MACHINE, ft_on_demand_limit_machine(queue, "x", 1));
    EXPECT(FT_ERR_NULL, ft_on_demand_remove_machine(NULL, "n", 100));
    EXPECT(FT_ERR_UNKNOWN_MACHINE, ft_on_demand_remove_machine(queue, "x", INT64_MAX));
    EXPECT(FT_ERR_IN_USE, ft_on_demand_remove_machine(queue, "m", INT64_MAX));
    EXPECT(FT_ERR_NULL, ft_on_demand_set_reservation_end(NULL, 1, 8 * SECOND, 100));
    EXPECT(FT_ERR_UNKNOWN_RESERVATION,
           ft_on_demand_set_reservation_end(queue, 9, 8 * SECOND, INT64_MAX));
    EXPECT(FT_ERR_RANGE, ft_on_demand_set_reservation_end(queue, 1, 8 * SECOND + 1, 100));
    EXPECT(FT_ERR_RANGE, ft_on_demand_set_reservation_end(queue, 1, 5 * SECOND, 100));
    EXPECT(FT_ERR_RANGE, ft_on_demand_set_reservation_end(queue, 1, INT64_MIN, 100));
    EXPECT(FT_ERR_TIME, ft_on_demand_set_reservation_end(queue, 1, 6 * SECOND, 7 * SECOND));
    EXPECT(FT_ERR_OVERLAP, ft_on_demand_set_reservation_end(queue, 1, 21 * SECOND, 100));
    EXPECT(FT_ERR_NULL, ft_on_demand_bind(NULL, 8, names, 1));
    EXPECT(FT_ERR_NULL, ft_on_demand_bind(queue, 8, NULL, 1));
    EXPECT(FT_ERR_NULL, ft_on_demand_bind(queue, 8, none, 1));
    EXPECT(FT_ERR_RANGE, ft_on_demand_bind(queue, FT_NONE, names, 1));
    EXPECT(FT_ERR_LENGTH, ft_on_demand_bind(queue, 8, names, SIZE_MAX));
    EXPECT(FT_ERR_UNKNOWN_MACHINE, ft_on_demand_bind(queue, 8, names, 2));
    EXPECT(FT_ERR_NULL, ft_on_demand_set_default_limit(NULL, "m", 5));
    EXPECT(FT_ERR_UNKNOWN_MACHINE, ft_on_demand_set_default_limit(queue, "x", 5));
}

static void changed_on_demand(ft_on_demand *queue)
{
    const char *names[] = {"n"};
    ft_on_demand_job job = JOB;
    ft_submitted submitted;
    ft_finished finished;
    ft_reservation reservations[2];
    size_t found = 0;
    EXPECT(FT_OK, ft_on_demand_bind(queue, 8, names, 1));
    job.id = 2;
    EXPECT(FT_ERR_ELSEWHERE, ft_on_demand_submit(queue, &job, 100, &submitted, sizeof(submitted)));
    EXPECT(FT_ERR_ELSEWHERE,
           ft_on_demand_reserve(queue, 3, "m", 8, 10 * SECOND, 11 * SECOND, 100));
    EXPECT(FT_OK, ft_on_demand_bind(queue, 8, NULL, 0));
    EXPECT(FT_OK, ft_on_demand_set_default_limit(queue, "m", 5));
    EXPECT(FT_OK, ft_on_demand_limit_machine(queue, "m", 0));
    EXPECT(FT_ERR_FULL, ft_on_demand_submit(queue, &job, 100, &submitted, sizeof(submitted)));
    /* Job 1 runs under the price that was there when it started. */
    EXPECT(FT_OK, ft_on_demand_set_prices(queue, "m", 50, UINT64_MAX, 200));
    EXPECT(FT_OK, ft_on_demand_finish(queue, 1, FT_END_COMPLETED, 0, 100, 200, &finished,
                                      sizeof(finished)));
    REQUIRE(finished.executed_micros == 100 && finished.counts == 1 && finished.price == 1
            && finished.cost == 100 && finished.cost_high == 0);
    EXPECT(FT_OK, ft_on_demand_remove_machine(queue, "n", 200));
    EXPECT(FT_OK, ft_on_demand_set_reservation_end(queue, 1, 20 * SECOND, 6 * SECOND));
    EXPECT(FT_OK, ft_on_demand_set_reservation_end(queue, 1, 6 * SECOND, 6 * SECOND));
    EXPECT(FT_OK, ft_on_demand_reservations(queue, 6 * SECOND, reservations, 2,
                                            sizeof(reservations[0]), &found));
    REQUIRE(found == 1 && reservations[0].reservation == 2 && reservations[0].begun == 0
            && reservations[0].price == UINT64_MAX);
}

void hostile_service(void)
{
    static uint8_t before[ROOM], after[ROOM];
    size_t len = 0, len_after = 0;
    ft_queue *queue = sample_queue();
    ft_on_demand *demand = sample_on_demand();
    EXPECT(FT_OK, ft_queue_save(queue, before, ROOM, &len));
    asks_queue(queue);
    changes_queue(queue);
    EXPECT(FT_OK, ft_queue_save(queue, after, ROOM, &len_after));
    REQUIRE(len == len_after && memcmp(before, after, len) == 0);
    changed_queue(queue);
    EXPECT(FT_OK, ft_on_demand_save(demand, before, ROOM, &len));
    asks_on_demand(demand);
    changes_on_demand(demand);
    EXPECT(FT_OK, ft_on_demand_save(demand, after, ROOM, &len_after));
    REQUIRE(len == len_after && memcmp(before, after, len) == 0);
    changed_on_demand(demand);
    ft_queue_free(queue);
    ft_on_demand_free(demand);
}
