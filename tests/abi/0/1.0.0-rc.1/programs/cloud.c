/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A small quantum cloud: two hubs share two machines for a month. Each hub has groups, each group
 * has projects; groups compete over the whole cloud by what they used in the last 28 days. On the
 * way it prints who stands where, whose job is next and when jobs will start. A third machine is
 * reserved or used on demand, and bills are written at the end.
 *
 * C11; compiles as C++17, too. With fairtree installed:
 *
 *     cc cloud.c $(pkg-config --cflags --libs fairtree) -o cloud
 */

#include <fairtree.h>

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define SECOND INT64_C(1000000)
#define MINUTE (60 * SECOND)
#define DAY (24 * 60 * MINUTE)
/* 2024-01-01 00:00:00 UTC. */
#define START (INT64_C(1704067200) * SECOND)

enum { DAYS = 30, JOBS = DAYS * 72, MACHINES = 2, NOBODY = -1 };

/* Hubs, groups and projects with their shares. Names are ours: the library knows ids. */
static const ft_assoc TREE[] = {
    {1, FT_NONE, 1, FT_ACCOUNT},
    {2, 1, 60, FT_ACCOUNT}, /* Hub A */
    {4, 2, 3, FT_ACCOUNT},  /*   Group 1 */
    {11, 4, 1, FT_ACCOUNT}, /*     Project X */
    {12, 4, 2, FT_ACCOUNT}, /*     Project Y */
    {5, 2, 2, FT_ACCOUNT},  /*   Group 2 */
    {13, 5, 1, FT_ACCOUNT}, /*     Project U */
    {14, 5, 1, FT_ACCOUNT}, /*     Project V */
    {3, 1, 40, FT_ACCOUNT}, /* Hub B */
    {6, 3, 1, FT_ACCOUNT},  /*   Group 1 */
    {15, 6, 1, FT_ACCOUNT}, /*     Project M */
    {7, 3, 1, FT_ACCOUNT},  /*   Group 2 */
    {16, 7, 1, FT_ACCOUNT}, /*     Project N */
    {17, 7, 3, FT_ACCOUNT}, /*     Project O */
};

static const struct {
    uint32_t id;
    const char *name;
} GROUPS[] = {{4, "A1"}, {5, "A2"}, {6, "B1"}, {7, "B2"}};

static const char *const MACHINE[MACHINES] = {"ion", "transmon"};

/* What runs on a machine. */
static struct {
    int64_t job, end;
} runs[MACHINES] = {{NOBODY, 0}, {NOBODY, 0}};

static int requeued[JOBS];

/* Every call can fail; in this program a failure is a reason to stop. */
static void check(int32_t status)
{
    if (status != FT_OK) {
        fprintf(stderr, "cloud: %s (%s)\n", ft_last_error(), ft_status_str(status));
        exit(EXIT_FAILURE);
    }
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) {
        fprintf(stderr, "cloud: out of memory\n");
        exit(EXIT_FAILURE);
    }
    return memory;
}

/* Groups compete; what failed for a reason that is not the user's costs nothing. */
static ft_queue *new_queue(void)
{
    ft_tree *tree = NULL;
    ft_queue *queue = NULL;
    ft_queue_settings settings = {
        sizeof(settings), 2, FT_CHOICE_INTERLEAVED, FT_COUNTING_WINDOW, 0, 28 * DAY, MACHINES,
        "COMPLETED,TIMEOUT", NULL, 0, 0};
    check(ft_tree_new(START / SECOND, &tree));
    check(ft_tree_load(tree, TREE, LENGTH(TREE), sizeof(TREE[0])));
    check(ft_queue_new(tree, &settings, START, &queue));
    ft_tree_free(tree);
    for (int at = 0; at < MACHINES; at++)
        check(ft_queue_add_machine(queue, MACHINE[at], 1));
    return queue;
}

/* Every 20 minutes another project submits a job, to one machine or the other. */
static int64_t submit_time(int64_t job)
{
    return START + job * 20 * MINUTE;
}

static void submit(ft_queue *queue, int64_t job)
{
    ft_queue_job row = {sizeof(row), (uint64_t)job, 11 + (uint32_t)(job % 7), 1,
                        MACHINE[job / 7 % MACHINES], submit_time(job), 0, 0,
                        (uint64_t)(120 * MINUTE)};
    if (job % 5 != 0)
        row.expected_micros = (uint64_t)((30 + job * 37 % 61) * MINUTE);
    check(ft_queue_add_job(queue, &row));
}

/* How long a job really runs. */
static int64_t length(int64_t job)
{
    return (20 + job * 53 % 71) * MINUTE;
}

static void end(ft_queue *queue, int at, int64_t now)
{
    const int64_t job = runs[at].job;
    runs[at].job = NOBODY;
    if (job % 25 == 24 && !requeued[job]) {
        requeued[job] = 1;
        check(ft_queue_requeue(queue, (uint64_t)job, FT_END_NODE_FAIL, 0, length(job), now));
    } else if (job % 10 == 9) {
        check(ft_queue_finish(queue, (uint64_t)job, FT_END_FAILED, 1, length(job), now));
    } else {
        check(ft_queue_finish(queue, (uint64_t)job, FT_END_COMPLETED, 0, length(job), now));
    }
}

/* A machine asks what to run. */
static void ask(ft_queue *queue, int at, int64_t now)
{
    uint32_t what = 0;
    uint64_t job = 0;
    check(ft_queue_next(queue, MACHINE[at], now, &what, &job));
    if (what == FT_NEXT_JOB) {
        check(ft_queue_start(queue, job, now));
        runs[at].job = (int64_t)job;
        runs[at].end = now + length((int64_t)job);
    }
}

static void report(ft_queue *queue, int64_t now)
{
    printf("day %d\n", (int)((now - START) / DAY));
    for (size_t i = 0; i < LENGTH(GROUPS); i++) {
        ft_standing standing;
        check(ft_queue_standing(queue, GROUPS[i].id, now, &standing, sizeof(standing)));
        printf("  %s used %" PRIu64 " min, used over entitled %.6f\n", GROUPS[i].name,
               standing.used / (uint64_t)MINUTE, standing.ratio);
    }
    for (int at = 0; at < MACHINES; at++) {
        size_t waiting = 0, found = 0, position = 0;
        check(ft_queue_waiting(queue, MACHINE[at], &waiting));
        uint64_t *jobs = (uint64_t *)allocate(waiting, sizeof(*jobs));
        ft_estimate *starts = (ft_estimate *)allocate(waiting, sizeof(*starts));
        check(ft_queue_positions(queue, MACHINE[at], now, jobs, waiting, &found));
        check(ft_queue_estimate(queue, MACHINE[at], now, starts, waiting, sizeof(*starts), &found));
        printf("  %s: %zu wait, places", MACHINE[at], waiting);
        for (size_t i = 0; i < found; i += 1 + found / 4)
            printf(" %" PRIu64, jobs[i]);
        printf("\n   ");
        for (size_t i = 0; i < found; i += 1 + found / 4)
            printf(" %" PRIu64 " in %" PRId64 " min (%s)", starts[i].job,
                   (starts[i].start_micros - now) / MINUTE,
                   starts[i].proxy == FT_PROXY_EXPECTED ? "expected" : "maximum");
        printf("\n");
        /* Whoever is last gives up. */
        check(ft_queue_position(queue, jobs[found - 1], &position));
        check(ft_queue_cancel(queue, jobs[found - 1]));
        printf("    job %" PRIu64 " at place %zu was cancelled\n", jobs[found - 1], position);
        free(jobs);
        free(starts);
    }
}

/* The service restarts. */
static ft_queue *restart(ft_queue *queue)
{
    size_t len = 0;
    ft_queue *restored = NULL;
    check(ft_queue_save(queue, NULL, 0, &len));
    uint8_t *bytes = (uint8_t *)allocate(len, 1);
    check(ft_queue_save(queue, bytes, len, &len));
    ft_queue_free(queue);
    check(ft_queue_restore(bytes, len, &restored));
    free(bytes);
    return restored;
}

static void month(void)
{
    ft_queue *queue = new_queue();
    int64_t submitted = 0, started_day = 0;
    for (;;) {
        /* The next moment at which something happens. */
        int64_t now = START + started_day * DAY;
        if (submitted < JOBS && submit_time(submitted) < now)
            now = submit_time(submitted);
        for (int at = 0; at < MACHINES; at++)
            if (runs[at].job != NOBODY && runs[at].end < now)
                now = runs[at].end;

        for (int at = 0; at < MACHINES; at++)
            if (runs[at].job != NOBODY && runs[at].end == now)
                end(queue, at, now);
        while (submitted < JOBS && submit_time(submitted) == now)
            submit(queue, submitted++);
        if (now == START + 10 * DAY)
            check(ft_queue_set_paused(queue, "transmon", 1));
        if (now == START + 11 * DAY)
            check(ft_queue_set_paused(queue, "transmon", 0));
        for (int at = 0; at < MACHINES; at++)
            ask(queue, at, now);

        if (now < START + started_day * DAY)
            continue;
        if (started_day == 15)
            queue = restart(queue);
        if (started_day > 0 && (started_day % 7 == 0 || started_day == DAYS))
            report(queue, now);
        if (started_day == DAYS)
            break;
        started_day++;
    }
    ft_queue_free(queue);
}

static int32_t order(ft_on_demand *queue, uint64_t id, uint32_t account, int64_t secs, int64_t now,
                     ft_submitted *submitted)
{
    const ft_on_demand_job job = {sizeof(job), id, account, 0, "annealer", NULL, 0,
                                  (uint64_t)(secs * SECOND)};
    return ft_on_demand_submit(queue, &job, START + now * SECOND, submitted, sizeof(*submitted));
}

static void tell_next(ft_on_demand *queue, int64_t now)
{
    static const char *const WHAT[] = {"run", "none waits", "paused", "busy", "halt"};
    uint32_t what = 0;
    uint64_t job = 0;
    check(ft_on_demand_next(queue, "annealer", START + now * SECOND, &what, &job));
    printf("  %4" PRId64 " s: %s", now, WHAT[what]);
    if (what == FT_NEXT_JOB || what == FT_NEXT_HALT)
        printf(" %" PRIu64, job);
    printf("\n");
}

static void start(ft_on_demand *queue, uint64_t job, int64_t now)
{
    tell_next(queue, now);
    check(ft_on_demand_start(queue, job, START + now * SECOND));
}

static void finish(ft_on_demand *queue, uint64_t job, ft_end how, int64_t secs, int64_t now)
{
    check(ft_on_demand_finish(queue, job, how, how == FT_END_FAILED, secs * SECOND,
                              START + now * SECOND));
}

/* Project N has reserved the annealer for half an hour; project X uses it on demand. */
static void on_demand(void)
{
    ft_on_demand *queue = NULL;
    ft_submitted submitted;
    ft_estimate estimates[4];
    ft_refused refused[4];
    ft_bill bills[8];
    size_t found = 0;
    printf("on demand\n");
    check(ft_on_demand_new("COMPLETED", START, &queue));
    check(ft_on_demand_add_machine(queue, "annealer", 3, 3, 1000));
    check(ft_on_demand_limit_account(queue, FT_NONE, 2));
    check(ft_on_demand_reserve(queue, 1, "annealer", 16, START + 1000 * SECOND,
                               START + 2800 * SECOND, START));
    check(ft_on_demand_reserve(queue, 2, "annealer", 12, START + 5000 * SECOND,
                               START + 6000 * SECOND, START));
    check(order(queue, 1, 11, 600, 0, &submitted));
    check(order(queue, 2, 11, 600, 0, &submitted));
    if (order(queue, 3, 11, 600, 0, &submitted) == FT_ERR_FULL)
        printf("  %s\n", ft_last_error());
    start(queue, 1, 0);
    finish(queue, 1, FT_END_COMPLETED, 600, 600);
    start(queue, 2, 600);
    /* The owner comes: job 2 makes room and keeps its place. */
    check(order(queue, 4, 16, 300, 1000, &submitted));
    tell_next(queue, 1000);
    check(ft_on_demand_halted(queue, submitted.halt, START + 1000 * SECOND));
    start(queue, 4, 1000);
    finish(queue, 4, FT_END_COMPLETED, 300, 1300);
    check(order(queue, 5, 16, 2000, 1300, &submitted));
    start(queue, 5, 1300);
    check(order(queue, 6, 16, 100, 1400, &submitted));
    /* The reservation ends: job 5 goes on, job 6 is on-demand from now on. */
    check(ft_on_demand_estimate(queue, "annealer", START + 2800 * SECOND, estimates, 4,
                                sizeof(estimates[0]), &found));
    for (size_t i = 0; i < found; i++)
        printf("  job %" PRIu64 " will start at %" PRId64 " s\n", estimates[i].job,
               (estimates[i].start_micros - START) / SECOND);
    check(ft_on_demand_take_refused(queue, START + 2800 * SECOND, refused, 4, sizeof(refused[0]),
                                    &found));
    printf("  %zu refused\n", found);
    check(ft_on_demand_cancel_reservation(queue, 2, START + 2900 * SECOND));
    tell_next(queue, 3000);
    finish(queue, 5, FT_END_COMPLETED, 2000, 3300);
    start(queue, 2, 3300);
    finish(queue, 2, FT_END_FAILED, 500, 3800);
    start(queue, 6, 3800);
    finish(queue, 6, FT_END_COMPLETED, 100, 3900);
    tell_next(queue, 3900);

    check(ft_on_demand_advance(queue, START + DAY));
    check(ft_on_demand_bills(queue, START, START + DAY, bills, 8, sizeof(bills[0]), &found));
    printf("bills\n");
    for (size_t i = 0; i < found; i++)
        printf("  account %" PRIu32 ", machine %" PRIu32 ": executed %" PRIu64
               " us, reserved %" PRIu64 " s, owes %" PRIu64 "\n",
               bills[i].account, bills[i].machine, bills[i].executed_micros,
               bills[i].reserved_secs, bills[i].amount);
    ft_on_demand_free(queue);
}

int main(void)
{
    if (ft_abi_version() != FT_ABI_VERSION) {
        fprintf(stderr, "cloud: the library does not fit this program\n");
        return EXIT_FAILURE;
    }
    month();
    on_demand();
    return EXIT_SUCCESS;
}
