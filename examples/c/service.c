/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * service.c - a service for two machines that restarts in mid-month, and then is re-priced
 *
 * An ion trap runs one job of account 7 every day; account 8 reserves it once; account 9 may use the
 * smaller trap only. The service keeps nothing itself: after its restart it asks the restored queue
 * what it holds.
 */
#include <fairtree.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND INT64_C(1000000)
#define HOUR (3600 * SECOND)
#define DAY (24 * HOUR)
/* 2026-03-01T00:00:00Z */
#define START (INT64_C(1772323200) * SECOND)

enum { DAYS = 30, MIDDLE = 14, ROOM = 16 };

static void check(int32_t status)
{
    if (status == FT_OK)
        return;
    fprintf(stderr, "service: %s\n", ft_last_error());
    exit(EXIT_FAILURE);
}

static ft_on_demand *begin(void)
{
    ft_on_demand *queue = NULL;
    const char *const trap[] = {"trap"};
    check(ft_on_demand_new(NULL, START, &queue)); /* completed runs are billed */
    check(ft_on_demand_add_machine(queue, "ion", 10, 3, 1000));
    check(ft_on_demand_add_machine(queue, "trap", 10, 2, 500));
    check(ft_on_demand_bind(queue, 9, trap, 1));
    /* Jobs come without a run time: they are expected to take an hour. */
    check(ft_on_demand_set_default_limit(queue, NULL, (uint64_t)HOUR));
    check(ft_on_demand_reserve(queue, 1, "ion", 8, START + MIDDLE * DAY + 12 * HOUR,
                               START + MIDDLE * DAY + 13 * HOUR, START));
    return queue;
}

static int32_t submit(ft_on_demand *queue, uint64_t id, uint32_t account, const char *machine,
                      int64_t now)
{
    const ft_on_demand_job job = {sizeof(job), id, account, 0, machine, NULL, 0, 0};
    ft_submitted submitted;
    return ft_on_demand_submit(queue, &job, now, &submitted, sizeof(submitted));
}

static void finish(ft_on_demand *queue, uint64_t id, int64_t executed, int64_t now, int tell)
{
    ft_finished bill;
    check(ft_on_demand_finish(queue, id, FT_END_COMPLETED, 0, executed, now, &bill, sizeof(bill)));
    if (tell)
        printf("  job %" PRIu64 ": %" PRIu64 " s at %" PRIu64 " a microsecond, %s: %" PRIu64 "\n",
               id, bill.executed_micros / (uint64_t)SECOND, bill.price,
               bill.counts ? "billed" : "not billed", bill.cost);
}

/* A new process: it has the saved bytes and nothing else. */
static ft_on_demand *restart(ft_on_demand *queue)
{
    size_t len = 0;
    uint8_t *bytes;
    check(ft_on_demand_save(queue, NULL, 0, &len));
    bytes = (uint8_t *)malloc(len);
    if (bytes == NULL)
        exit(EXIT_FAILURE);
    check(ft_on_demand_save(queue, bytes, len, &len));
    ft_on_demand_free(queue);
    queue = NULL;
    check(ft_on_demand_restore(bytes, len, &queue));
    free(bytes);
    return queue;
}

static void list(ft_on_demand *queue, int64_t now)
{
    ft_on_demand_machine machines[ROOM];
    ft_held_job jobs[ROOM];
    ft_reservation reservations[ROOM];
    size_t found = 0;
    check(ft_on_demand_machines(queue, machines, ROOM, sizeof(machines[0]), &found));
    for (size_t i = 0; i < found; i++) {
        char name[32];
        check(ft_on_demand_machine_name(queue, machines[i].machine, name, sizeof(name), NULL));
        printf("  %s: %" PRIu32 " runs, %" PRIu64 " waits, prices %" PRIu64 " and %" PRIu64 "\n",
               name, machines[i].running, machines[i].waiting, machines[i].execution_price,
               machines[i].reserved_price);
    }
    check(ft_on_demand_jobs(queue, now, jobs, ROOM, sizeof(jobs[0]), &found));
    for (size_t i = 0; i < found; i++)
        printf("  job %" PRIu64 " of account %" PRIu32 " %s on machine %" PRIu32 " for %" PRId64
               " s%s\n",
               jobs[i].job, jobs[i].account, jobs[i].state == FT_JOB_RUNS ? "runs" : "waits",
               jobs[i].machine, (now - jobs[i].since_micros) / SECOND,
               jobs[i].in_reservation ? ", in the reservation" : "");
    check(ft_on_demand_reservations(queue, now, reservations, ROOM, sizeof(reservations[0]),
                                    &found));
    for (size_t i = 0; i < found; i++)
        printf("  reservation %" PRIu64 " of account %" PRIu32 " ends in %" PRId64 " s\n",
               reservations[i].reservation, reservations[i].account,
               (reservations[i].end_micros - now) / SECOND);
}

/* Account 8 uses its reservation, and needs it for longer. The service restarts meanwhile. */
static ft_on_demand *middle_of_the_month(ft_on_demand *queue, int64_t day)
{
    check(submit(queue, 100, 9, "trap", day + 10 * HOUR));
    check(ft_on_demand_start(queue, 100, day + 10 * HOUR));
    if (submit(queue, 103, 9, "ion", day + 10 * HOUR) == FT_ERR_ELSEWHERE)
        printf("%s\n", ft_last_error());
    check(submit(queue, 101, 8, "ion", day + 12 * HOUR));
    check(ft_on_demand_start(queue, 101, day + 12 * HOUR));
    check(submit(queue, 102, 8, "ion", day + 12 * HOUR + HOUR / 10));
    printf("restart\n");
    queue = restart(queue);
    list(queue, day + 12 * HOUR + HOUR / 4);
    check(ft_on_demand_set_reservation_end(queue, 1, day + 14 * HOUR, day + 12 * HOUR + HOUR / 4));
    finish(queue, 101, HOUR / 2, day + 12 * HOUR + HOUR / 2, 1);
    check(ft_on_demand_start(queue, 102, day + 12 * HOUR + HOUR / 2));
    finish(queue, 102, HOUR, day + 13 * HOUR + HOUR / 2, 1);
    finish(queue, 100, 10 * HOUR, day + 20 * HOUR, 1);
    return queue;
}

int main(void)
{
    ft_on_demand *queue;
    ft_bill bills[ROOM];
    size_t found = 0;
    if (ft_abi_version() != FT_ABI_VERSION) {
        fprintf(stderr, "service: the library does not fit this program\n");
        return EXIT_FAILURE;
    }
    queue = begin();
    for (int at = 0; at < DAYS; at++) {
        const int64_t day = START + at * DAY;
        const int tell = at == 0 || at == MIDDLE || at == MIDDLE + 1;
        const uint64_t job = (uint64_t)at + 1;
        if (tell)
            printf("day %d\n", at);
        check(submit(queue, job, 7, "ion", day));
        check(ft_on_demand_start(queue, job, day));
        /* It runs already: the new prices are for those after it. */
        if (at == MIDDLE)
            check(ft_on_demand_set_prices(queue, "ion", 5, 2000, day + HOUR / 2));
        finish(queue, job, HOUR, day + HOUR, tell);
        if (at == MIDDLE)
            queue = middle_of_the_month(queue, day);
    }
    check(ft_on_demand_advance(queue, START + DAYS * DAY));
    check(ft_on_demand_bills(queue, START, START + DAYS * DAY, bills, ROOM, sizeof(bills[0]),
                             &found));
    printf("bills\n");
    for (size_t i = 0; i < found; i++)
        printf("  account %" PRIu32 ", machine %" PRIu32 ": executed %" PRIu64 " s, reserved %" PRIu64
               " s, owes %" PRIu64 "\n",
               bills[i].account, bills[i].machine, bills[i].executed_micros / (uint64_t)SECOND,
               bills[i].reserved_secs, bills[i].amount);
    ft_on_demand_free(queue);
    return EXIT_SUCCESS;
}
