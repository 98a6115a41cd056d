/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * fairtree.h - Fair Tree fair-share factors and multifactor job priorities
 *
 * This header is generated from the sources of the library; do not edit it.
 *
 * What it is for
 * --------------
 * Machines are shared by accounts and their users. Each has shares: its entitlement. Each has
 * usage: its recent use. This library computes the order of users and jobs. Four kinds of site
 * follow, each with a short program; examples/c/ has complete ones.
 *
 * A Slurm site
 * ------------
 * Jobs have priorities, and one term of them is a fair-share factor. A program
 *
 *   1. builds a tree of associations: accounts, and users in accounts, with shares
 *      (ft_tree_new, ft_tree_load, ft_tree_add);
 *   2. charges usage (ft_usage_charge, ft_usage_charge_periods), and advances the time, so
 *      that old usage decays (ft_usage_advance);
 *      or has usage count in a window or since a date (usage=window:28-0, usage=total:DATE,
 *      ft_config_load_policy, ft_usage_configure): then runs are charged by their job
 *      (ft_usage_charge_runs), and a run whose end does not count is taken back
 *      (ft_usage_end_run);
 *   3. ranks (ft_fairshare_compute) and reads the factors (ft_fairshare_get, _rows, _column);
 *   4. prices waiting jobs (ft_jobs_price), a million in one call;
 *      or does 2. to 4. in one call, for running and waiting jobs (ft_pass);
 *   5. keeps the tree over a restart (ft_state_save, ft_state_restore);
 *   6. explains why one user comes before another (ft_explain, ft_explain_text).
 *
 * Numbers, names and settings are those of Slurm's manual pages: slurm.conf(5), sshare(1),
 * sprio(1). Nothing here needs Slurm.
 *
 *     ft_tree *tree = NULL;
 *     ft_config *config = NULL;
 *     const ft_assoc rows[] = {
 *         {1, FT_NONE, 1, FT_ACCOUNT},     // root
 *         {2, 1, 60, FT_ACCOUNT},          // physics, 60 shares
 *         {3, 1, 40, FT_ACCOUNT},          // biology, 40 shares
 *         {4, 2, 1, FT_USER},              // anna in physics
 *         {5, 3, 1, FT_USER},              // bert in biology
 *     };
 *     const uint32_t who[] = {4, 5};
 *     const double tres_seconds[] = {3600.0, 3600.0};
 *     double factors[5];
 *     if (ft_abi_version() != FT_ABI_VERSION
 *         || ft_tree_new(1700000000, &tree) || ft_config_new(&config)
 *         || ft_tree_load(tree, rows, 5, sizeof rows[0])
 *         || ft_usage_charge(tree, who, 2, tres_seconds, 2)
 *         || ft_fairshare_compute(tree, config)
 *         || ft_fairshare_column(tree, FT_COLUMN_FS_FACTOR, factors, 5))
 *         fprintf(stderr, "%s\n", ft_last_error());
 *     else
 *         printf("anna %.2f bert %.2f\n", factors[3], factors[4]);  // anna 1.00 bert 0.50
 *     ft_config_free(config);
 *     ft_tree_free(tree);
 *
 * Hubs, groups and projects
 * -------------------------
 * A cloud gives shares to hubs, a hub to its groups, a group to its projects. Jobs have no
 * priorities: a machine asks which one is next (ft_queue_next), and it is the oldest job of the
 * project that has used least of what it is entitled to, in the group that has. Use is what was
 * executed in the last 28 days; runs that did not end well cost nothing. Users see the place of
 * their jobs (ft_queue_positions) and when they will start (ft_queue_estimate). A restart loses
 * nothing (ft_queue_save, ft_queue_restore): a service asks what the queue holds (ft_queue_jobs,
 * ft_queue_machines, ft_queue_standings), and changes shares, minutes and machines while it runs
 * (ft_queue_set_shares, ft_queue_set_minutes, ft_queue_set_slots, ft_queue_bind).
 *
 *     ft_tree *tree = NULL;
 *     ft_queue *queue = NULL;
 *     const ft_assoc rows[] = {
 *         {1, FT_NONE, 1, FT_ACCOUNT},
 *         {2, 1, 3, FT_ACCOUNT}, {3, 1, 2, FT_ACCOUNT},     // hubs A and B
 *         {4, 2, 1, FT_ACCOUNT}, {5, 3, 1, FT_ACCOUNT},     // a group of each
 *         {6, 4, 1, FT_ACCOUNT}, {7, 5, 1, FT_ACCOUNT},     // a project of each
 *     };
 *     const ft_queue_settings settings = {sizeof settings, 2, FT_CHOICE_INTERLEAVED,
 *         FT_COUNTING_WINDOW, 0, INT64_C(28) * 86400000000, 1, "COMPLETED", NULL, 0, 0};
 *     const ft_queue_job one = {sizeof one, 100, 6, 1, "ion", 0, 0, 60000000, 0};
 *     const ft_queue_job two = {sizeof two, 101, 6, 1, "ion", 1, 0, 60000000, 0};
 *     const ft_queue_job other = {sizeof other, 102, 7, 1, "ion", 2, 0, 60000000, 0};
 *     uint32_t what;
 *     uint64_t job;
 *     if (ft_tree_new(0, &tree) || ft_tree_load(tree, rows, 7, sizeof rows[0])
 *         || ft_queue_new(tree, &settings, 0, &queue) || ft_queue_add_machine(queue, "ion", 1)
 *         || ft_queue_add_job(queue, &one) || ft_queue_add_job(queue, &two)
 *         || ft_queue_add_job(queue, &other) || ft_queue_start(queue, 100, 10)
 *         || ft_queue_finish(queue, 100, FT_END_COMPLETED, 0, 50000000, 50000010, NULL, 0)
 *         || ft_queue_next(queue, "ion", 50000010, &what, &job) || what != FT_NEXT_JOB)
 *         fprintf(stderr, "%s\n", ft_last_error());
 *     else
 *         printf("next is %u\n", (unsigned)job);  // next is 102
 *     ft_queue_free(queue);
 *     ft_tree_free(tree);
 *
 * Instances
 * ---------
 * Customers buy instances, each with minutes of its own instead of shares, below accounts and
 * child accounts. All instances compete with each other: with twice the minutes one runs twice
 * the work. A flex plan counts all that it used since it was bought against all its minutes, and
 * stands beside those that count the last 28 days (FT_COUNTING_SINCE).
 *
 *     ft_tree *tree = NULL;
 *     ft_queue *queue = NULL;
 *     const ft_assoc rows[] = {
 *         {1, FT_NONE, 1, FT_ACCOUNT}, {2, 1, 1, FT_ACCOUNT},   // a customer
 *         {3, 2, 1, FT_ACCOUNT}, {4, 2, 1, FT_ACCOUNT},         // an instance, a flex plan
 *     };
 *     const ft_queue_account plans[] = {
 *         {3, 1, 400, FT_COUNTING_INHERITED, 0, 0},
 *         {4, 1, 100, FT_COUNTING_SINCE, 0, 0},
 *     };
 *     const ft_queue_settings settings = {sizeof settings, FT_LEVEL_LEAVES,
 *         FT_CHOICE_INTERLEAVED, FT_COUNTING_WINDOW, 0, INT64_C(28) * 86400000000, 1, NULL,
 *         plans, 2, sizeof plans[0]};
 *     const ft_queue_job job = {sizeof job, 100, 4, 1, "ion", 0, 0, 60000000, 0};
 *     ft_standing flex;
 *     if (ft_tree_new(0, &tree) || ft_tree_load(tree, rows, 4, sizeof rows[0])
 *         || ft_queue_new(tree, &settings, 0, &queue) || ft_queue_add_machine(queue, "ion", 1)
 *         || ft_queue_add_job(queue, &job) || ft_queue_start(queue, 100, 0)
 *         || ft_queue_finish(queue, 100, FT_END_COMPLETED, 0, 300000000, 300000000, NULL, 0)
 *         || ft_queue_standing(queue, 4, 300000000, &flex, sizeof flex))
 *         fprintf(stderr, "%s\n", ft_last_error());
 *     else
 *         printf("used %.2f of the plan\n", flex.ratio);  // used 0.05 of the plan
 *     ft_queue_free(queue);
 *     ft_tree_free(tree);
 *
 * On demand
 * ---------
 * No shares: the oldest job is next, and who reserved the machine goes first while the reservation
 * runs. What runs then on demand is halted, goes back to its place and costs nothing. Queues have
 * limits. Bills are exact: a microsecond of execution and a second of reservation have prices,
 * each finish returns what the run costs, and new prices count for what starts after them
 * (ft_on_demand_set_prices).
 *
 *     ft_on_demand *queue = NULL;
 *     const ft_on_demand_job job = {sizeof job, 100, 8, 0, "ion", NULL, 0, 500};
 *     ft_submitted submitted;
 *     ft_bill bills[2];
 *     size_t found;
 *     if (ft_on_demand_new("COMPLETED", 0, &queue)
 *         || ft_on_demand_add_machine(queue, "ion", 10, 3, 1000)
 *         || ft_on_demand_reserve(queue, 1, "ion", 7, 5000000, 9000000, 0)
 *         || ft_on_demand_submit(queue, &job, 0, &submitted, sizeof submitted)
 *         || ft_on_demand_start(queue, 100, 0)
 *         || ft_on_demand_finish(queue, 100, FT_END_COMPLETED, 0, 400, 500, NULL, 0)
 *         || ft_on_demand_advance(queue, 10000000)
 *         || ft_on_demand_bills(queue, 0, 10000000, bills, 2, sizeof bills[0], &found))
 *         fprintf(stderr, "%s\n", ft_last_error());
 *     else
 *         printf("%u and %u\n", (unsigned)bills[0].amount, (unsigned)bills[1].amount);
 *                                                                      // 4000 and 1200
 *     ft_on_demand_free(queue);
 *
 * Rules that hold for every function
 * ----------------------------------
 * Results. A function that can fail returns a status: FT_OK, which is 0, or a negative number of
 * enum ft_status. ft_last_error() then returns one sentence that names the function, the argument
 * and the value. Outputs are written only on success, unless a function says otherwise; and a
 * failed call changes nothing.
 *
 * Arguments. The handle comes first, then inputs, then outputs. An array is followed by its
 * length, in entries. (NULL, 0) is an empty array. A pointer must be aligned for its type.
 * Numbers are checked: a value that is out of range is an error.
 *
 * Results of any number go into an array of yours, and found receives how many there are. With an
 * array of (NULL, 0) a call returns FT_OK and only that number: so ask once for the number, and
 * again with the array. In a call with a moment time passes then as in any other; nothing else
 * changes. An array that is too short for all results gets none of them: FT_ERR_BUFFER, found is
 * written, nothing changes and no time passes.
 *
 * Structs may get more fields at their end in later versions. So an array of structs comes with
 * its sizeof, or a struct begins with its own, struct_size. An old program works with a newer
 * library; a new one with an older library, as long as it leaves newer fields zero.
 *
 * Strings are UTF-8. They end with NUL, or come with a length, as the function says.
 *
 * Ownership. A handle (ft_tree, ft_queue, ...) is yours: free it once, with the function of
 * its name, which accepts NULL. Handles do not refer to each other and may be freed in any
 * order. Arrays and strings that you pass stay yours; the library uses them only during the call.
 * No function returns memory that you would have to free() yourself.
 *
 * Threads. There is no global state but the last error, of which every thread has its own, and
 * the time zones that were looked up. A function that takes a const handle only reads it: any
 * number of threads may do so at a time. During any other function no other thread may use that
 * handle. Different handles are independent.
 *
 * Defects. A defect in the library is caught and becomes FT_ERR_PANIC; a message goes to stderr,
 * and your program continues. Calls with a handle that it left half-changed return FT_ERR_POISONED
 * from then on. Lack of memory ends the program.
 *
 * Time is an argument: seconds since 1970, as from time(NULL), and for ft_queue_ and
 * ft_on_demand_ microseconds, with names that end in _micros: now_micros. The library reads no
 * clock, and no files except the system's time zones (ft_usage_advance, ft_pass).
 */

#ifndef FAIRTREE_H
#define FAIRTREE_H



#include <stddef.h>
#include <stdint.h>

/* The version of this header; ft_version() is that of the library. */
#define FT_VERSION "1.0.0-rc.1"
#define FT_VERSION_MAJOR 1
#define FT_VERSION_MINOR 0
#define FT_VERSION_PATCH 0
/* One number that grows with the version: major, and three digits each for the rest. What comes
   before a release has the number of the release. */
#define FT_VERSION_NUMBER 1000000

/* Ignoring a status is a mistake: compilers that support it warn. */
#if !defined(FT_MUST_USE)
#if defined(__GNUC__) || defined(__clang__)
#define FT_MUST_USE __attribute__((warn_unused_result))
#else
#define FT_MUST_USE
#endif
#endif

/**
 * The number of the C ABI that this header describes, also that of the SONAME.
 *
 * It changes when a program that was built with an older header would go wrong with a newer
 * library. Adding functions, status codes, or fields at the end of a struct does not change it.
 * Compare it with ft_abi_version() before anything else.
 */
#define FT_ABI_VERSION 1u

/**
 * No association, partition, QOS or row: the parent of the root, for instance.
 */
#define FT_NONE 4294967295u

/**
 * The largest number of shares.
 */
#define FT_SHARES_MAX 2147483646u

/**
 * Instead of a number of shares: use the parent's shares (FairShare=parent in Slurm).
 */
#define FT_SHARES_PARENT 2147483647u

/**
 * No limit: the longest time of a partition, or the time limit of a job.
 */
#define FT_UNLIMITED 4294967295u

/**
 * The largest PriorityJobFactor of a partition.
 */
#define FT_JOB_FACTOR_MAX 65533u

/**
 * No time limit was set: the longest time of the partition is used.
 */
#define FT_UNSET 4294967294u

/**
 * ft_job.flags: an administrator set the priority, so it is not changed.
 */
#define FT_JOB_DIRECT 1u

/**
 * The most threads that one call starts.
 */
#define FT_THREADS_MAX 1024u

/**
 * All leaves compete with each other, over the whole tree: ft_queue_settings.level.
 */
#define FT_LEVEL_LEAVES 0u

/**
 * The result of a call: 0 is success, all other values are negative.
 *
 * Numbers are grouped by area with gaps between the groups and are never re-used, so code may
 * compare with them across versions. ft_status_str() has a sentence for each;
 * ft_last_error() says what exactly was wrong in the last call.
 */
enum ft_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Success.
     */
    FT_OK = 0,
    /**
     * A pointer is NULL that must not be; (NULL, 0) is an empty array, (NULL, n) is this error.
     */
    FT_ERR_NULL = -1,
    /**
     * A length is too large for any memory, or does not agree with the rest.
     */
    FT_ERR_LENGTH = -2,
    /**
     * A pointer is not aligned for what it points to.
     */
    FT_ERR_ALIGN = -3,
    /**
     * A struct_size or row size that no version of this header has.
     */
    FT_ERR_STRUCT_SIZE = -4,
    /**
     * A string is not UTF-8.
     */
    FT_ERR_UTF8 = -5,
    /**
     * An enumeration or flag that this version does not know.
     */
    FT_ERR_ENUM = -6,
    /**
     * A number is outside its range, or not a number.
     */
    FT_ERR_RANGE = -7,
    /**
     * A handle that is not of this kind, or was freed.
     */
    FT_ERR_HANDLE = -8,
    /**
     * A handle that an earlier FT_ERR_PANIC left half-changed: only free it.
     */
    FT_ERR_POISONED = -9,
    /**
     * A defect in this library was caught. The program may continue; please report it.
     */
    FT_ERR_PANIC = -10,
    /**
     * A buffer is too small; the needed length was written.
     */
    FT_ERR_BUFFER = -11,
    /**
     * Two associations with one id.
     */
    FT_ERR_DUPLICATE_ID = -20,
    /**
     * No association has this id.
     */
    FT_ERR_UNKNOWN_ID = -21,
    /**
     * A parent that is not in the tree.
     */
    FT_ERR_UNKNOWN_PARENT = -22,
    /**
     * A parent that is a user: only accounts have children.
     */
    FT_ERR_PARENT_IS_USER = -23,
    /**
     * An association that would be its own ancestor.
     */
    FT_ERR_CYCLE = -24,
    /**
     * Not exactly one root, a root that is a user, or an edit that the root does not allow.
     */
    FT_ERR_ROOT = -25,
    /**
     * Shares above FT_SHARES_MAX that are not FT_SHARES_PARENT.
     */
    FT_ERR_SHARES = -26,
    /**
     * An account that still has children cannot be removed.
     */
    FT_ERR_HAS_CHILDREN = -27,
    /**
     * More associations than positions.
     */
    FT_ERR_TOO_MANY = -28,
    /**
     * Usage that is negative, infinite or not a number.
     */
    FT_ERR_USAGE = -40,
    /**
     * A time before the moment of the usage, or a period that ends before it starts.
     */
    FT_ERR_TIME = -41,
    /**
     * A time zone that is neither known to the system nor a POSIX TZ string.
     */
    FT_ERR_TIME_ZONE = -42,
    /**
     * No run has this number, it was charged for that time before, or to another association.
     */
    FT_ERR_RUN = -43,
    /**
     * The usage model of the tree does not have this, or is not the one of the settings.
     */
    FT_ERR_MODEL = -44,
    /**
     * Factors were not computed since the tree was last edited.
     */
    FT_ERR_NOT_COMPUTED = -50,
    /**
     * Only users are ranked, but this association is an account.
     */
    FT_ERR_NOT_A_USER = -51,
    /**
     * A setting whose name or value is not allowed.
     */
    FT_ERR_CONFIG = -60,
    /**
     * No partition or QOS has this position, or no TRES row, or a list ends outside its array.
     */
    FT_ERR_UNKNOWN_INDEX = -80,
    /**
     * A TRES that the site does not have.
     */
    FT_ERR_UNKNOWN_TRES = -81,
    /**
     * Saved bytes are truncated or altered, or are not a saved state.
     */
    FT_ERR_STATE_DAMAGED = -100,
    /**
     * Saved by a version whose format this one does not read.
     */
    FT_ERR_STATE_VERSION = -101,
    /**
     * No machine of the queue has this name.
     */
    FT_ERR_UNKNOWN_MACHINE = -120,
    /**
     * Two machines with one name.
     */
    FT_ERR_DUPLICATE_MACHINE = -121,
    /**
     * No job of the queue has this id.
     */
    FT_ERR_UNKNOWN_JOB = -122,
    /**
     * Two jobs with one id.
     */
    FT_ERR_DUPLICATE_JOB = -123,
    /**
     * A job that runs, where one must wait.
     */
    FT_ERR_NOT_WAITING = -124,
    /**
     * A job that waits, where one must run.
     */
    FT_ERR_NOT_RUNNING = -125,
    /**
     * An association that no node of the shares stands for.
     */
    FT_ERR_NO_SHARES = -126,
    /**
     * A machine that runs all that it can at a time.
     */
    FT_ERR_BUSY = -127,
    /**
     * A machine in maintenance.
     */
    FT_ERR_PAUSED = -128,
    /**
     * A machine that the account is not bound to: ft_last_error() names those that it is bound to.
     */
    FT_ERR_ELSEWHERE = -129,
    /**
     * A machine that still has jobs or reservations.
     */
    FT_ERR_IN_USE = -130,
    /**
     * No room for another waiting job: ft_last_error() names the limit, its size, how full it is.
     */
    FT_ERR_FULL = -140,
    /**
     * A job of a reservation, where one must be on-demand.
     */
    FT_ERR_NOT_ON_DEMAND = -141,
    /**
     * No reservation has this id, or it is over.
     */
    FT_ERR_UNKNOWN_RESERVATION = -142,
    /**
     * Two reservations with one id.
     */
    FT_ERR_DUPLICATE_RESERVATION = -143,
    /**
     * Two reservations of one machine at one time.
     */
    FT_ERR_OVERLAP = -144,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ft_status ft_status;
#else
typedef int32_t ft_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What an association is.
 */
enum ft_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * An account: it may have children.
     */
    FT_ACCOUNT = 0,
    /**
     * A user in an account: a leaf. Only users are ranked.
     */
    FT_USER = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ft_kind ft_kind;
#else
typedef uint32_t ft_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The kind of usage of an association.
 */
enum ft_usage_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The charges to the association itself.
     */
    FT_USAGE_OWN = 0,
    /**
     * The charges to the association and to all below it (RawUsage of sshare).
     */
    FT_USAGE_RAW = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ft_usage_kind ft_usage_kind;
#else
typedef uint32_t ft_usage_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What is counted.
 */
enum ft_quantity
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Billable TRES times seconds times usage factor: what fair share is computed from.
     */
    FT_QUANTITY_BILLING = 0,
    /**
     * Seconds of runs times usage factor (GrpWall of Slurm).
     */
    FT_QUANTITY_WALL = 1,
    /**
     * One TRES times seconds times usage factor (GrpTRESMins of Slurm, in seconds).
     */
    FT_QUANTITY_TRES = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ft_quantity ft_quantity;
#else
typedef uint32_t ft_quantity;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * One column of ft_fairshare; in brackets its name in sshare.
 */
enum ft_column
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Normalized shares (NormShares).
     */
    FT_COLUMN_NORM_SHARES = 0,
    /**
     * Raw usage (RawUsage).
     */
    FT_COLUMN_RAW_USAGE = 1,
    /**
     * Normalized usage (NormUsage).
     */
    FT_COLUMN_NORM_USAGE = 2,
    /**
     * Effective usage (EffectvUsage).
     */
    FT_COLUMN_EFFECTIVE_USAGE = 3,
    /**
     * Level fairshare (LevelFS).
     */
    FT_COLUMN_LEVEL_FS = 4,
    /**
     * Fair-share factor (FairShare).
     */
    FT_COLUMN_FS_FACTOR = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ft_column ft_column;
#else
typedef uint32_t ft_column;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * When jobs are priced.
 */
enum ft_mode
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * In a regular pass over waiting jobs: held jobs stay held, and INCR_ONLY of PriorityFlags
     * applies.
     */
    FT_MODE_PASS = 0,
    /**
     * When jobs are submitted, changed or released: held jobs get a priority, and INCR_ONLY
     * does not apply.
     */
    FT_MODE_SET = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ft_mode ft_mode;
#else
typedef uint32_t ft_mode;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The number that decides between two users.
 */
enum ft_basis
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Fair Tree: the level fairshare of the two sides, at the level below their common account.
     */
    FT_BASIS_LEVEL_FS = 0,
    /**
     * Otherwise: the fair-share factors of the users themselves.
     */
    FT_BASIS_FS_FACTOR = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ft_basis ft_basis;
#else
typedef uint32_t ft_basis;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * In which order jobs are chosen.
 */
enum ft_choice
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * A job that runs counts as if it ran for its expected time, from its start on. So jobs that
     * are started at one moment follow the order that ft_queue_positions() tells.
     */
    FT_CHOICE_INTERLEAVED = 0,
    /**
     * By what was used so far.
     */
    FT_CHOICE_STRICT = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ft_choice ft_choice;
#else
typedef uint32_t ft_choice;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What counts as used at a moment.
 */
enum ft_counting
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * As above it; for an account only.
     */
    FT_COUNTING_INHERITED = 0,
    /**
     * What was used in the last so many microseconds, from 1 up.
     */
    FT_COUNTING_WINDOW = 1,
    /**
     * What was used since a moment, in microseconds since 1970.
     */
    FT_COUNTING_SINCE = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ft_counting ft_counting;
#else
typedef uint32_t ft_counting;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a machine is to do.
 */
enum ft_next
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Run this job.
     */
    FT_NEXT_JOB = 0,
    /**
     * Nothing: no job waits for it.
     */
    FT_NEXT_NONE_WAITS = 1,
    /**
     * Nothing: it is in maintenance.
     */
    FT_NEXT_PAUSED = 2,
    /**
     * Nothing: it runs all that it can at a time.
     */
    FT_NEXT_BUSY = 3,
    /**
     * Halt this on-demand job, as one of a reservation waits: see ft_on_demand_halted().
     */
    FT_NEXT_HALT = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ft_next ft_next;
#else
typedef uint32_t ft_next;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * How a run ended, in the words of sacct and with the numbers of Slurm.
 */
enum ft_end
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Exit code 0.
     */
    FT_END_COMPLETED = 3,
    /**
     * By a user or an administrator.
     */
    FT_END_CANCELLED = 4,
    /**
     * Another exit code.
     */
    FT_END_FAILED = 5,
    /**
     * At its time limit.
     */
    FT_END_TIMEOUT = 6,
    /**
     * A part of the machine failed.
     */
    FT_END_NODE_FAIL = 7,
    /**
     * For another job.
     */
    FT_END_PREEMPTED = 8,
    /**
     * A part of the machine did not boot.
     */
    FT_END_BOOT_FAIL = 9,
    /**
     * At its deadline.
     */
    FT_END_DEADLINE = 10,
    /**
     * Out of memory.
     */
    FT_END_OUT_OF_MEMORY = 11,
    /**
     * By an administrator, to run again.
     */
    FT_END_REQUEUED = 1024,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ft_end ft_end;
#else
typedef uint32_t ft_end;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Where the expected run time of a job comes from.
 */
enum ft_proxy
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * It was told: expected_micros.
     */
    FT_PROXY_EXPECTED = 0,
    /**
     * The maximum stands for it: limit_micros.
     */
    FT_PROXY_MAXIMUM = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ft_proxy ft_proxy;
#else
typedef uint32_t ft_proxy;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What limits waiting on-demand jobs.
 */
enum ft_limit
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Those of an account, for all machines.
     */
    FT_LIMIT_ACCOUNT = 0,
    /**
     * Those for a machine, of all accounts.
     */
    FT_LIMIT_MACHINE = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ft_limit ft_limit;
#else
typedef uint32_t ft_limit;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * State of a job.
 */
enum ft_job_state
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * It waits.
     */
    FT_JOB_WAITS = 0,
    /**
     * It runs.
     */
    FT_JOB_RUNS = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum ft_job_state ft_job_state;
#else
typedef uint32_t ft_job_state;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Settings, in the words and the syntax of slurm.conf.
 *
 * The settings are FairShareDampeningFactor, PriorityCalcPeriod, PriorityDecayHalfLife,
 * PriorityFavorSmall, PriorityFlags, PriorityMaxAge, PriorityParameters,
 * PriorityUsageResetPeriod, PriorityWeightAge, PriorityWeightAssoc, PriorityWeightFairshare,
 * PriorityWeightJobSize, PriorityWeightPartition, PriorityWeightQOS and PriorityWeightTRES; the
 * manual page slurm.conf(5) describes them. PriorityParameters has the keys compat=documented
 * (the default) or compat=slurm:24.11.5 (compute as that release does, with its defects),
 * ranking=NAME (fair_tree, classic, depth_oblivious, difference, weighted_walk,
 * least_used:LEVEL or least_used:leaf; without it PriorityFlags choose), calc_period=SECONDS and
 * max_lock_ms=MILLISECONDS; usage=half_life (the default), usage=window:LENGTH or
 * usage=total:DATE, and beside the last two resolution=TIME and counts=STATES: see
 * ft_usage_configure(). What no function here follows is refused by name with FT_ERR_CONFIG, as
 * order=strict is: for that there is ft_queue.
 * Made by ft_config_new(); freed by ft_config_free().
 */
typedef struct ft_config ft_config;

/**
 * An on-demand queue: machines that accounts reserve for a time and that run all accounts' jobs
 * otherwise, first come, first served; and what each account owes.
 *
 * A job that the owner of a reservation submits to its machine while it runs is a job of the
 * reservation. Every other job is on-demand, and stays so. Jobs of the running reservation go
 * first, also side by side where their parts of the machine are disjoint, and past one that waits
 * for parts that they do not use; where one waits and an on-demand job runs, ft_on_demand_next()
 * says to halt that one: it goes back to the very place that it had, costs nothing and starts
 * again. When a reservation ends, jobs of it that still wait become on-demand jobs of that
 * moment, within the limits; one that runs goes on.
 *
 * Times are MICROseconds since 1970 and their names end with _micros. An earlier moment than the
 * latest one that the queue was told counts as the latest. A call that fails leaves the queue as
 * it was: no time passes.
 * Made by ft_on_demand_new(), ft_on_demand_restore(); freed by ft_on_demand_free().
 */
typedef struct ft_on_demand ft_on_demand;

/**
 * A queue: jobs that wait for machines, and what accounts have used of them.
 *
 * A machine asks ft_queue_next() which job to run. It is the job whose account stands lowest:
 * used over entitled is compared among those on the level of competition, then among those below
 * the lowest of them, and so on; the oldest job of the leaf that remains is next. You report what
 * happens (ft_queue_start, ft_queue_finish, ft_queue_cancel, ft_queue_requeue), and use follows.
 *
 * Equal ratios tie, among groups as among leaves: then the one goes first of which the job that
 * would be next is the oldest, by submit time, then by id. Within a leaf nice comes before both.
 * Entitled to nothing are associations with 0 shares or 0 minutes, or below such ones: they come
 * after all others, among themselves first those that used nothing, and then the oldest job.
 *
 * Times are MICROseconds since 1970 here and their names end with _micros. Time does not run
 * backwards: an earlier moment than the latest one that the queue was told counts as the latest.
 * All numbers are whole, so nothing drifts.
 * A call that fails leaves the queue as it was: no time passes.
 * Made by ft_queue_new(), ft_queue_restore(); freed by ft_queue_free().
 */
typedef struct ft_queue ft_queue;

/**
 * The tables that jobs refer to: the size of the cluster, its TRES, partitions and QOS.
 *
 * Partitions and QOS have positions, from 0 up, in the order in which they were added.
 * Made by ft_site_new(); freed by ft_site_free().
 */
typedef struct ft_site ft_site;

/**
 * A tree of accounts and users, their usage, and their factors.
 *
 * The usage is decayed to a moment, which ft_usage_advance() sets. Associations have an id of
 * your choice, and a position: their place in the order in which they were added, from 0 up.
 * Arrays with one entry per association are in the order of position.
 * Made by ft_tree_new(), ft_tree_clone(); freed by ft_tree_free().
 */
typedef struct ft_tree ft_tree;

/**
 * One association.
 */
typedef struct {
    /**
     * Unique in the tree; any number but FT_NONE.
     */
    uint32_t id;
    /**
     * The id of the account above it; FT_NONE for the root, of which there is exactly one.
     */
    uint32_t parent;
    /**
     * 0..FT_SHARES_MAX, compared with those of its siblings; or FT_SHARES_PARENT.
     */
    uint32_t raw_shares;
    /**
     * FT_ACCOUNT or FT_USER (enum ft_kind). The root is an account.
     */
    uint32_t kind;
} ft_assoc;

/**
 * TRES in use over a period, to be charged.
 */
typedef struct {
    /**
     * The association to charge.
     */
    uint32_t id;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * Start of the period, in seconds since 1970.
     */
    int64_t from;
    /**
     * Its end, not before its start.
     */
    int64_t to;
    /**
     * Billable TRES in use throughout, from 0 up: CPUs, for instance.
     */
    double tres;
} ft_use;

/**
 * What a run used over a period.
 */
typedef struct {
    /**
     * The association to charge; the same for all periods of a run.
     */
    uint32_t assoc;
    /**
     * A number of the job.
     */
    uint32_t job;
    /**
     * What tells the run from others of the job, as its start time does. Job and run together
     * identify it. ft_pass() takes ft_run.start for it.
     */
    int64_t run;
    /**
     * Start of the period, in seconds since 1970.
     */
    int64_t from;
    /**
     * Its end, not before its start and not after the tree's moment.
     */
    int64_t to;
    /**
     * Billable TRES in use throughout, 0..1e19: CPUs, for instance.
     */
    double tres;
    /**
     * UsageFactor of its QOS, 0..1e19: the weight of each second; 1 without QOS.
     */
    double usage_factor;
    /**
     * The row of counts with its TRES, from 0 up; FT_NONE: no TRES is counted.
     */
    uint32_t tres_row;
    /**
     * Zero.
     */
    uint32_t reserved;
} ft_run_use;

/**
 * The results of a computation for one association.
 *
 * A value that an association does not have is NaN: test it with isnan().
 */
typedef struct {
    /**
     * The association.
     */
    uint32_t id;
    /**
     * FT_ACCOUNT or FT_USER.
     */
    uint32_t kind;
    /**
     * Its shares over those of itself and its siblings, 0..1.
     */
    double norm_shares;
    /**
     * Its usage and that of all below it, in TRES-seconds.
     */
    double raw_usage;
    /**
     * Raw usage over that of the root, 0..1.
     */
    double norm_usage;
    /**
     * Fair Tree: raw usage over that of its parent: 0..1, and beyond 1 where usage that was
     * loaded (FT_USAGE_RAW, ft_state_restore) has children with more than their parent.
     * Otherwise as PriorityFlags defines it, from 0 up.
     */
    double effective_usage;
    /**
     * Shares over usage, 0..infinity (HUGE_VAL, when nothing was used). NaN for the root, for
     * accounts that share as their parent does, and in rankings that have none.
     */
    double level_fs;
    /**
     * Fair-share factor, 0..1: larger goes first. NaN for accounts where only users are ranked,
     * as under Fair Tree.
     */
    double fs_factor;
} ft_fairshare;

/**
 * One side of a comparison: the user, or the account above it that is compared in its place.
 */
typedef struct {
    /**
     * The association whose numbers decide.
     */
    uint32_t id;
    /**
     * FT_ACCOUNT or FT_USER.
     */
    uint32_t kind;
    /**
     * Its shares, or FT_SHARES_PARENT.
     */
    uint32_t raw_shares;
    /**
     * The user of this side.
     */
    uint32_t user;
    /**
     * As in ft_fairshare, of the association.
     */
    double norm_shares;
    /**
     * As in ft_fairshare, of the association.
     */
    double raw_usage;
    /**
     * As in ft_fairshare, of the association.
     */
    double effective_usage;
    /**
     * As in ft_fairshare, of the association; NaN without Fair Tree.
     */
    double level_fs;
    /**
     * Fair-share factor of the user.
     */
    double fs_factor;
} ft_side;

/**
 * Why one user comes before another.
 */
typedef struct {
    /**
     * -1: a goes first; 1: b goes first; 0: they are tied.
     */
    int32_t order;
    /**
     * What decides: FT_BASIS_LEVEL_FS or FT_BASIS_FS_FACTOR.
     */
    uint32_t basis;
    /**
     * The nearest account above both that shares are taken from.
     */
    uint32_t common;
    /**
     * Levels from that account down to the sides, from 1 up: the levels between were tied.
     */
    uint32_t depth;
    /**
     * The first user's side.
     */
    ft_side a;
    /**
     * The second user's side.
     */
    ft_side b;
} ft_comparison;

/**
 * The fields of a job that its priority depends on. Fields that few jobs have, site factors and
 * lists, are in arrays of ft_batch.
 */
typedef struct {
    /**
     * When it began to age, in seconds since 1970; 0: it does not age.
     */
    int64_t accrue_time;
    /**
     * Id of the user's association; FT_NONE: no fair-share and association factor.
     */
    uint32_t assoc;
    /**
     * Position of its partition; FT_NONE for none.
     */
    uint32_t partition;
    /**
     * Position of its QOS; FT_NONE for none.
     */
    uint32_t qos;
    /**
     * CPUs that it requests.
     */
    uint32_t cpus;
    /**
     * Minimum number of nodes that it requests.
     */
    uint32_t nodes;
    /**
     * Time limit in minutes, FT_UNLIMITED or FT_UNSET.
     */
    uint32_t time_limit_mins;
    /**
     * Nice value, subtracted.
     */
    int32_t nice;
    /**
     * The row of batch->tres_counts with its TRES, from 0 up; FT_NONE: unknown.
     */
    uint32_t tres_row;
    /**
     * Its priority now; 0: it is held. 1 for a new job.
     */
    uint32_t priority;
    /**
     * 0 or FT_JOB_DIRECT.
     */
    uint32_t flags;
} ft_job;

/**
 * The places of the lists of a job that requested several partitions or several QOS.
 */
typedef struct {
    /**
     * Where its partitions start in batch->partition_lists.
     */
    uint32_t partitions_start;
    /**
     * How many there are; 0 for a job in one partition.
     */
    uint32_t partitions_len;
    /**
     * Where its QOS start in batch->qos_lists.
     */
    uint32_t qos_start;
    /**
     * How many there are; 0 for a job with one QOS.
     */
    uint32_t qos_len;
} ft_job_lists;

/**
 * Jobs to price, and further arrays of their data. The arrays stay yours. A field that is zero is
 * absent: set struct_size, job_size and jobs, and the fields that the jobs need.
 */
typedef struct {
    /**
     * sizeof(ft_batch).
     */
    size_t struct_size;
    /**
     * sizeof(ft_job).
     */
    size_t job_size;
    /**
     * The jobs.
     */
    const ft_job *jobs;
    /**
     * How many there are.
     */
    size_t jobs_len;
    /**
     * Site factors, added, one per job; or (NULL, 0): all are 0.
     */
    const int32_t *site_factors;
    /**
     * As many as there are jobs, or 0.
     */
    size_t site_factors_len;
    /**
     * The lists of each job, one row per job; or (NULL, 0): no job has any.
     */
    const ft_job_lists *lists;
    /**
     * As many as there are jobs, or 0.
     */
    size_t lists_len;
    /**
     * sizeof(ft_job_lists), where there are lists.
     */
    size_t list_size;
    /**
     * Positions of partitions: the lists of all jobs, concatenated. May be (NULL, 0).
     */
    const uint32_t *partition_lists;
    /**
     * How many there are in all.
     */
    size_t partition_lists_len;
    /**
     * Positions of QOS: the lists of all jobs, concatenated. May be (NULL, 0).
     */
    const uint32_t *qos_lists;
    /**
     * How many there are in all.
     */
    size_t qos_lists_len;
    /**
     * Rows of counts, one number per TRES in the order of the names given to ft_site_new();
     * jobs that request the same may share a row. May be (NULL, 0).
     */
    const uint64_t *tres_counts;
    /**
     * How many numbers there are in all: rows times TRES.
     */
    size_t tres_counts_len;
    /**
     * The time at which the ages are computed, in seconds since 1970.
     */
    int64_t now;
    /**
     * FT_MODE_PASS or FT_MODE_SET.
     */
    uint32_t mode;
    /**
     * How many threads may share the work, up to FT_THREADS_MAX; 0 or 1: only the caller's.
     * Results do not depend on it. Only ft_jobs_price() uses it.
     */
    uint32_t threads;
} ft_batch;

/**
 * The weighted terms of a job, and their sum.
 */
typedef struct {
    /**
     * Age factor times PriorityWeightAge. The factor is the seconds since accrue_time over those of
     * PriorityMaxAge, at most 1; 0 where accrue_time is 0, 1 otherwise where PriorityMaxAge is 0.
     */
    double age;
    /**
     * Association factor times PriorityWeightAssoc. The factor is the priority of the association
     * over the highest of all; with NO_NORMAL_ASSOC the priority itself.
     */
    double assoc;
    /**
     * Fair-share factor times PriorityWeightFairshare: ft_fairshare.fs_factor of the association,
     * 0..1.
     */
    double fairshare;
    /**
     * Job size factor times PriorityWeightJobSize. With n nodes and c CPUs of the job, N and C of
     * the site, and t minutes of time limit the factor, 0..1, is (n/N + c/C) / 2, or n/N where c is
     * 0; with PriorityFavorSmall 1 minus that; with SMALL_RELATIVE_TO_TIME max(n C/N, c) / t / C,
     * and with both 1 minus that. NaN, and with it the sum (priority 4294967295,
     * overflow 1), under compat=slurm with SMALL_RELATIVE_TO_TIME for a job of 0 CPUs, 0 nodes and
     * a time limit of 0: Slurm divides 0 by 0.
     */
    double job_size;
    /**
     * Partition factor times PriorityWeightPartition. The factor is the PriorityJobFactor of the
     * partition over the highest of all; with NO_NORMAL_PART the PriorityJobFactor itself.
     */
    double partition;
    /**
     * QOS factor times PriorityWeightQOS. The factor is the priority of the QOS over the highest of
     * all; with NO_NORMAL_QOS the priority itself.
     */
    double qos;
    /**
     * Sum of the TRES factors, each times its weight in PriorityWeightTRES. A factor is the job's
     * count of the TRES over that of its partition, 0 where either is 0 or unknown; with
     * NO_NORMAL_TRES the count itself.
     */
    double tres;
    /**
     * Site factor, in points.
     */
    int32_t site;
    /**
     * Nice value, in points.
     */
    int32_t nice;
    /**
     * The priority, 1..4294967295; 0: held.
     */
    uint32_t priority;
    /**
     * 1 when the sum was above 4294967295 and the priority is 4294967295, else 0.
     */
    uint32_t overflow;
} ft_priced;

/**
 * A job that runs, or has ended since the last pass.
 */
typedef struct {
    /**
     * The association to charge.
     */
    uint32_t assoc;
    /**
     * A number of the job. Job and start together identify a run; a requeued job has several.
     */
    uint32_t job;
    /**
     * When it started, in seconds since 1970, from 1 up.
     */
    int64_t start;
    /**
     * When it ended, not before its start; 0: it runs.
     */
    int64_t end;
    /**
     * Billable TRES in use throughout, from 0 up: CPUs, for instance.
     */
    double tres;
    /**
     * UsageFactor of its QOS, from 0 up: the weight of each second; 1 without QOS.
     */
    double usage_factor;
} ft_run;

/**
 * The input of a pass. The arrays stay yours. A field that is zero is absent: set struct_size and
 * now, and the fields that you need.
 */
typedef struct {
    /**
     * sizeof(ft_pass_input).
     */
    size_t struct_size;
    /**
     * sizeof(ft_run), where there are runs.
     */
    size_t run_size;
    /**
     * Now, in seconds since 1970.
     */
    int64_t now;
    /**
     * Time zone of PriorityUsageResetPeriod; as for ft_usage_advance().
     */
    const char *time_zone;
    /**
     * Jobs that run, and those that ended since the last pass, each once. May be (NULL, 0).
     */
    const ft_run *runs;
    /**
     * How many there are.
     */
    size_t runs_len;
    /**
     * The jobs to price, with FT_MODE_PASS and the same now; NULL: none.
     */
    const ft_batch *batch;
} ft_pass_input;

/**
 * What an account has instead of the queue's own rules.
 */
typedef struct {
    /**
     * The account, of the tree.
     */
    uint32_t id;
    /**
     * 1: it has minutes instead of shares; 0: it has not.
     */
    uint32_t has_minutes;
    /**
     * Minutes of one unit that it is entitled to, 0..1000000000000; 0 without has_minutes.
     * Children with minutes may have no more together than their parent, where both count the
     * same use; children without minutes divide by their shares what is left.
     */
    uint64_t minutes;
    /**
     * How its use and that of all below it counts: one of enum ft_counting. With
     * FT_COUNTING_SINCE it must have minutes, or an account above that has them and counts alike,
     * unless all accounts count so.
     */
    uint32_t counting;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * The length or the moment; 0 for FT_COUNTING_INHERITED.
     */
    int64_t counting_micros;
} ft_queue_account;

/**
 * What a queue goes by.
 */
typedef struct {
    /**
     * sizeof(ft_queue_settings).
     */
    size_t struct_size;
    /**
     * Who competes over the whole tree: accounts of this depth, where 1 is directly below the
     * root, and leaves that are not as deep; or FT_LEVEL_LEAVES.
     */
    uint32_t level;
    /**
     * One of enum ft_choice.
     */
    uint32_t choice;
    /**
     * How use counts: FT_COUNTING_WINDOW or FT_COUNTING_SINCE.
     */
    uint32_t counting;
    /**
     * 1: users compete with each other by their shares. 0: the jobs of all users of an account
     * are one line, first in, first out; only users directly below the root compete.
     */
    uint32_t users_compete;
    /**
     * The length or the moment.
     */
    int64_t counting_micros;
    /**
     * Units that all machines together can give out at a time, from 1 up. Only where minutes and
     * shares stand side by side does it change an order.
     */
    uint64_t capacity;
    /**
     * Which ends of runs count, in the words of enum ft_end without FT_END_:
     * "COMPLETED,TIMEOUT,FAILED:12:20", where failures count with these exit codes only. A run
     * that ended in another way costs nothing. NULL: all of them.
     */
    const char *outcomes;
    /**
     * Accounts with rules of their own, each once. May be (NULL, 0).
     */
    const ft_queue_account *accounts;
    /**
     * How many there are.
     */
    size_t accounts_len;
    /**
     * sizeof(ft_queue_account), where there are some.
     */
    size_t account_size;
} ft_queue_settings;

/**
 * A job that begins to wait.
 */
typedef struct {
    /**
     * sizeof(ft_queue_job).
     */
    size_t struct_size;
    /**
     * Unique among the jobs that wait or run.
     */
    uint64_t id;
    /**
     * The association it is charged to: a user or an account.
     */
    uint32_t assoc;
    /**
     * Units that it uses at a time, from 1 up; 1 for a machine that runs one job.
     */
    uint32_t rate;
    /**
     * The machine that it waits for.
     */
    const char *machine;
    /**
     * When it was submitted.
     */
    int64_t submit_micros;
    /**
     * Added by the user to come later among the jobs of the same leaf.
     */
    int64_t nice;
    /**
     * How long it is expected to run; 0: unknown.
     */
    uint64_t expected_micros;
    /**
     * How long it may run at most, which is used if the expected time is unknown; 0: no limit.
     * One of the two must be there, or a default: ft_queue_set_default_limit().
     */
    uint64_t limit_micros;
} ft_queue_job;

/**
 * The bill of a run that ended. All numbers are exact.
 */
typedef struct {
    /**
     * How long the machine executed it, in microseconds.
     */
    uint64_t executed_micros;
    /**
     * 1: its use counts, or on demand it is billed; 0: neither.
     */
    uint32_t counts;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * On demand the price of a microsecond that the machine had when the run started; 0 for a job
     * of a reservation. An ft_queue has no prices: 0.
     */
    uint64_t price;
    /**
     * Its cost, executed_micros times price if it counts: the lower 64 bits.
     */
    uint64_t cost;
    /**
     * The upper 64 bits of the cost: 0 except for enormous ones.
     */
    uint64_t cost_high;
} ft_finished;

/**
 * When a waiting job will start.
 */
typedef struct {
    /**
     * Its id.
     */
    uint64_t job;
    /**
     * When, in microseconds since 1970; 0 when it never does.
     */
    int64_t start_micros;
    /**
     * 1: it starts. 0: never, as the machine is paused, or as the limits of an on-demand queue
     * will leave no room for it.
     */
    uint32_t starts;
    /**
     * What stands for its run time: one of enum ft_proxy.
     */
    uint32_t proxy;
} ft_estimate;

/**
 * What an association stands at.
 */
typedef struct {
    /**
     * Used by it and all below it, as far as it counts now: units times microseconds, of which
     * these are the lower 64 bits. Jobs that run count up to now.
     */
    uint64_t used;
    /**
     * The upper 64 bits of the same: 0 but for very long or wide use.
     */
    uint64_t used_high;
    /**
     * What it is entitled to, rounded: its part of what the capacity gives in the window, or its
     * minutes, in the same unit.
     */
    double entitled;
    /**
     * Used over entitled as jobs are chosen, rounded: with FT_CHOICE_INTERLEAVED jobs that run
     * count with their expected time. Infinity for one that is entitled to nothing.
     */
    double ratio;
} ft_standing;

/**
 * A job that waits or runs.
 */
typedef struct {
    /**
     * Its id.
     */
    uint64_t job;
    /**
     * The association that it is charged to; on demand the account that pays.
     */
    uint32_t account;
    /**
     * The number of its machine.
     */
    uint32_t machine;
    /**
     * One of enum ft_job_state.
     */
    uint32_t state;
    /**
     * 1: a job of a reservation; 0: any other.
     */
    uint32_t in_reservation;
    /**
     * When it was submitted, in microseconds since 1970.
     */
    int64_t submit_micros;
    /**
     * Since when it waits or runs. A waiting job: since it was submitted, or on demand since the
     * end of its reservation; after a run that was halted or requeued still since then.
     */
    int64_t since_micros;
    /**
     * Its place among the jobs that wait for its machine, 0 for the first; 0 for a job that runs.
     */
    uint64_t place;
} ft_held_job;

/**
 * A machine of an ft_queue.
 */
typedef struct {
    /**
     * Its number: how many machines were added before it.
     */
    uint32_t machine;
    /**
     * Jobs that it runs at a time.
     */
    uint32_t slots;
    /**
     * Jobs that run there: those of ft_queue_jobs() with this machine and FT_JOB_RUNS.
     */
    uint32_t running;
    /**
     * 1: in maintenance; 0: not.
     */
    uint32_t paused;
    /**
     * Jobs that wait for it.
     */
    uint64_t waiting;
    /**
     * The maximum run time of jobs that come without any; 0: that of the queue.
     */
    uint64_t default_limit_micros;
} ft_queue_machine;

/**
 * The standing of an association of an ft_queue.
 */
typedef struct {
    /**
     * Its id.
     */
    uint32_t assoc;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * As from ft_queue_standing().
     */
    ft_standing standing;
} ft_assoc_standing;

/**
 * A job that is submitted to an on-demand queue.
 */
typedef struct {
    /**
     * sizeof(ft_on_demand_job).
     */
    size_t struct_size;
    /**
     * Unique among the jobs that wait or run.
     */
    uint64_t id;
    /**
     * Who pays: any number but FT_NONE.
     */
    uint32_t account;
    /**
     * Zero.
     */
    uint32_t reserved;
    /**
     * The machine that it waits for.
     */
    const char *machine;
    /**
     * Numbers of the parts of the machine that it uses; (NULL, 0): all of it. Jobs of a
     * reservation run side by side on disjoint parts.
     */
    const uint32_t *parts;
    /**
     * How many there are.
     */
    size_t parts_len;
    /**
     * How long it is expected to run, or may at most: for estimates. 0: the default
     * (ft_on_demand_set_default_limit); without one no time.
     */
    uint64_t expected_micros;
} ft_on_demand_job;

/**
 * What became of a job that was submitted.
 */
typedef struct {
    /**
     * 1: a job of the reservation that runs; 0: an on-demand job.
     */
    uint32_t in_reservation;
    /**
     * 1: an on-demand job is to be halted for it; ft_on_demand_next() says so, too.
     */
    uint32_t must_halt;
    /**
     * The id of that job, or 0.
     */
    uint64_t halt;
} ft_submitted;

/**
 * A job that is gone, as there was no room for it when its reservation ended.
 */
typedef struct {
    /**
     * Its id.
     */
    uint64_t job;
    /**
     * Which limit: one of enum ft_limit.
     */
    uint32_t limit;
    /**
     * The account, or the number of the machine.
     */
    uint32_t whose;
    /**
     * How many jobs may wait.
     */
    uint32_t size;
    /**
     * How many did.
     */
    uint32_t waiting;
} ft_refused;

/**
 * What an account owes for a machine. All numbers are exact.
 */
typedef struct {
    /**
     * The account.
     */
    uint32_t account;
    /**
     * The number of the machine.
     */
    uint32_t machine;
    /**
     * Microseconds that its on-demand jobs were executed, of runs that ended well.
     */
    uint64_t executed_micros;
    /**
     * Seconds that it had reserved, whatever ran.
     */
    uint64_t reserved_secs;
    /**
     * Both at the prices under which they ran: the lower 64 bits.
     */
    uint64_t amount;
    /**
     * The upper 64 bits of the amount: 0 but for enormous ones.
     */
    uint64_t amount_high;
} ft_bill;

/**
 * A machine of an ft_on_demand.
 */
typedef struct {
    /**
     * Its number: how many machines were added before it.
     */
    uint32_t machine;
    /**
     * How many on-demand jobs may wait for it, or FT_UNLIMITED.
     */
    uint32_t limit;
    /**
     * Jobs that run there: those of ft_on_demand_jobs() with this machine and FT_JOB_RUNS.
     */
    uint32_t running;
    /**
     * 1: in maintenance; 0: not.
     */
    uint32_t paused;
    /**
     * Jobs that wait for it.
     */
    uint64_t waiting;
    /**
     * Its price of a microsecond of an on-demand run that starts now.
     */
    uint64_t execution_price;
    /**
     * Its price of a second of a reservation that begins now.
     */
    uint64_t reserved_price;
    /**
     * The run time of jobs that come without any; 0: that of the queue.
     */
    uint64_t default_limit_micros;
} ft_on_demand_machine;

/**
 * A reservation that is not over.
 */
typedef struct {
    /**
     * Its id.
     */
    uint64_t reservation;
    /**
     * The number of its machine.
     */
    uint32_t machine;
    /**
     * Its owner.
     */
    uint32_t account;
    /**
     * From this moment, in microseconds since 1970.
     */
    int64_t start_micros;
    /**
     * Until before this one.
     */
    int64_t end_micros;
    /**
     * Its price of a second: if it has begun, that of the machine at its begin; otherwise the
     * present one of the machine.
     */
    uint64_t price;
    /**
     * 1: it has begun; 0: not yet.
     */
    uint32_t begun;
    /**
     * Zero.
     */
    uint32_t reserved;
} ft_reservation;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The C ABI of the library that is loaded: works when it equals FT_ABI_VERSION.
 *
 * Threads: any.
 */
FT_MUST_USE uint32_t ft_abi_version(void);

/**
 * The version of the library that is loaded, as "1.0.0-rc.1".
 *
 * Returns a string that lives as long as the program; never NULL.
 * Threads: any.
 */
FT_MUST_USE const char *ft_version(void);

/**
 * The fixed sentence for a status, in English without a full stop.
 *
 * status: any number; "unknown status" for one that is none.
 *
 * Returns a string that lives as long as the program; never NULL.
 * Threads: any.
 */
FT_MUST_USE const char *ft_status_str(int32_t status);

/**
 * What was wrong in this thread's last call that returned a status.
 *
 * One sentence that names the function, the argument and the value; empty after success. In a
 * destructor of thread-specific data (pthread_key_create) it may be empty after a failure, too:
 * the library's own data of the thread may be gone by then.
 *
 * Returns a string that is valid until the second call of this thread after this one that fails;
 * never NULL. So both may be arguments of one call, as in printf("%d %s", ft_x(), ft_last_error()),
 * but C may evaluate the latter first: then it is of the call before. Copy the string to keep it.
 * Threads: any; each has a last error of its own.
 */
FT_MUST_USE
const char *ft_last_error(void);

/**
 * Makes settings with the defaults of slurm.conf: all weights 0, a half-life of 7 days, Fair
 * Tree.
 *
 * config: receives them, which are yours to free.
 *
 * Errors: FT_ERR_NULL, FT_ERR_ALIGN.
 * Threads: any.
 */
FT_MUST_USE
int32_t ft_config_new(ft_config **config);

/**
 * Frees settings. NULL is allowed; freeing settings twice is an error.
 *
 * Trees and sites hold no reference to them and may outlive them.
 * Threads: no other thread may use the settings.
 */
void ft_config_free(ft_config *config);

/**
 * Changes one setting: ft_config_set(config, "PriorityDecayHalfLife", "7-0").
 *
 * key: in any case of letters. value: as on a line of slurm.conf, without quotes. As in
 * slurmctld, an unknown word in PriorityFlags is ignored, and a half-life of 0 needs
 * PriorityUsageResetPeriod: set that one first.
 *
 * Errors: FT_ERR_CONFIG (ft_last_error() tells the setting, what was found, and what is
 * allowed), FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED. The settings
 * are then unchanged.
 * Threads: one at a time per handle.
 */
FT_MUST_USE
int32_t ft_config_set(ft_config *config,
                      const char *key,
                      const char *value);

/**
 * Reads the settings of a slurm.conf and changes these; other lines, also include lines, are
 * ignored.
 *
 * text: the file's text. name: its name, for messages.
 *
 * Errors: FT_ERR_CONFIG (ft_last_error() begins with file:line:column), FT_ERR_UTF8,
 * FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED. The settings are
 * then unchanged.
 * Threads: one at a time per handle.
 */
FT_MUST_USE
int32_t ft_config_load(ft_config *config,
                       const char *text,
                       size_t text_len,
                       const char *name);

/**
 * Reads a policy file: the keys of PriorityParameters that are a policy, as TOML, such as
 * usage = "window:28-0" and counts = ["COMPLETED", "TIMEOUT", "FAILED:12"], and accounts with a
 * usage model of their own, such as plan = "total:2026-01-01" in the table [accounts.17]. It
 * replaces the policy that was loaded before.
 *
 * A tree has no names: an account is named by its id, as a decimal number, which need not be in any
 * tree yet. A key stands here or in PriorityParameters, not in both.
 *
 * With ranking=least_used:LEVEL an account may have minutes instead of shares, such as minutes =
 * 400 in its table: it is entitled to 60 times as many TRES-seconds. Those below it without minutes
 * divide by their shares what those with minutes leave. Where any account has minutes, these alone
 * count: shares of the root entitle to nothing. With the key minutes = "shares" the raw shares of
 * accounts below the root are their minutes, and no account has minutes in the file.
 *
 * text: the file's text; an empty one takes the policy away. name: its name, for messages.
 *
 * Errors: FT_ERR_CONFIG (ft_last_error() begins with file:line:column where one is known),
 * FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED. The
 * settings are then unchanged.
 * Threads: one at a time per handle.
 */
FT_MUST_USE
int32_t ft_config_load_policy(ft_config *config,
                              const char *text,
                              size_t text_len,
                              const char *name);

/**
 * Makes an empty tree.
 *
 * now: the moment of its usage, in seconds since 1970; also counts as the last reset of
 * usage.
 * tree: receives the tree, which is yours to free.
 *
 * Errors: FT_ERR_NULL, FT_ERR_ALIGN.
 * Threads: any.
 */
FT_MUST_USE int32_t ft_tree_new(int64_t now, ft_tree **tree);

/**
 * Makes a copy of a tree: to try a change, or to compute on one tree while readers use the other.
 *
 * copy: receives the tree, which is yours to free.
 *
 * Errors: FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: any number may read one tree at a time.
 */
FT_MUST_USE
int32_t ft_tree_clone(const ft_tree *tree,
                      ft_tree **copy);

/**
 * Frees a tree. NULL is allowed; freeing a tree twice is an error.
 *
 * Threads: no other thread may use the tree.
 */
void ft_tree_free(ft_tree *tree);

/**
 * Replaces all associations by these; there is no usage afterwards.
 *
 * A million rows are no problem, and the depth is not limited.
 *
 * rows: in any order, children may come before parents. No rows make an empty tree.
 * row_size: sizeof(ft_assoc).
 *
 * Errors, naming the association: FT_ERR_DUPLICATE_ID, FT_ERR_UNKNOWN_PARENT,
 * FT_ERR_PARENT_IS_USER, FT_ERR_CYCLE, FT_ERR_ROOT, FT_ERR_SHARES, FT_ERR_ENUM, FT_ERR_RANGE;
 * FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE,
 * FT_ERR_POISONED. The tree is then unchanged.
 * Threads: one at a time per tree.
 */
FT_MUST_USE
int32_t ft_tree_load(ft_tree *tree,
                     const ft_assoc *rows,
                     size_t rows_len,
                     size_t row_size);

/**
 * Adds one association, without usage, at the last position.
 *
 * row: its parent must be in the tree already; the first one is the root.
 * row_size: sizeof(ft_assoc).
 *
 * Errors: FT_ERR_DUPLICATE_ID, FT_ERR_UNKNOWN_PARENT, FT_ERR_PARENT_IS_USER, FT_ERR_ROOT,
 * FT_ERR_SHARES, FT_ERR_ENUM, FT_ERR_RANGE, FT_ERR_TOO_MANY, FT_ERR_NULL, FT_ERR_ALIGN,
 * FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE, FT_ERR_POISONED. The tree is then unchanged.
 * Threads: one at a time per tree.
 */
FT_MUST_USE int32_t ft_tree_add(ft_tree *tree, const ft_assoc *row, size_t row_size);

/**
 * Changes the shares of an association.
 *
 * raw_shares: 0..FT_SHARES_MAX, or FT_SHARES_PARENT.
 *
 * Errors: FT_ERR_UNKNOWN_ID, FT_ERR_SHARES, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
 * FT_ERR_POISONED. The tree is then unchanged.
 * Threads: one at a time per tree.
 */
FT_MUST_USE int32_t ft_tree_set_shares(ft_tree *tree, uint32_t id, uint32_t raw_shares);

/**
 * Moves an association with all below it, and their usage, to another account.
 *
 * Positions stay as they are.
 *
 * Errors: FT_ERR_UNKNOWN_ID, FT_ERR_UNKNOWN_PARENT, FT_ERR_PARENT_IS_USER, FT_ERR_CYCLE,
 * FT_ERR_ROOT, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED. The tree is then
 * unchanged.
 * Threads: one at a time per tree.
 */
FT_MUST_USE
int32_t ft_tree_move(ft_tree *tree,
                     uint32_t id,
                     uint32_t parent);

/**
 * Removes an association that has no children. Its usage stays with its account.
 *
 * The positions after it decrease by one.
 *
 * Errors: FT_ERR_UNKNOWN_ID, FT_ERR_HAS_CHILDREN, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
 * FT_ERR_POISONED. The tree is then unchanged.
 * Threads: one at a time per tree.
 */
FT_MUST_USE
int32_t ft_tree_remove(ft_tree *tree,
                       uint32_t id);

/**
 * Counts the associations: the length of arrays with one entry per association.
 *
 * len: receives the number of associations, accounts and users.
 * users: receives the number of users; may be NULL.
 *
 * Errors: FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: any number may read one tree at a time.
 */
FT_MUST_USE int32_t ft_tree_len(const ft_tree *tree, size_t *len, size_t *users);

/**
 * Finds the position of an association.
 *
 * position: receives it; it is valid until an association is removed, or the tree is replaced.
 *
 * Errors: FT_ERR_UNKNOWN_ID, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: any number may read one tree at a time.
 */
FT_MUST_USE
int32_t ft_tree_find(const ft_tree *tree,
                     uint32_t id,
                     size_t *position);

/**
 * Reads all associations, in the order of position.
 *
 * rows: receives one row per association. rows_len: as from ft_tree_len().
 * row_size: sizeof(ft_assoc).
 *
 * Errors: FT_ERR_LENGTH, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE,
 * FT_ERR_POISONED.
 * Threads: any number may read one tree at a time.
 */
FT_MUST_USE
int32_t ft_tree_rows(const ft_tree *tree,
                     ft_assoc *rows,
                     size_t rows_len,
                     size_t row_size);

/**
 * Charges associations, and thereby all accounts above them, at the tree's moment.
 *
 * ids: associations; an id may be repeated. tres_seconds: billable TRES times seconds, from
 * 0 up, one per id. Either all are charged or, on an error, none. Factors do not change
 * until ft_fairshare_compute().
 *
 * Errors, naming the entry: FT_ERR_UNKNOWN_ID, FT_ERR_USAGE, FT_ERR_LENGTH (the two lengths
 * differ); FT_ERR_MODEL (usage in a window or since a date: it must be told when);
 * FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per tree.
 */
FT_MUST_USE
int32_t ft_usage_charge(ft_tree *tree,
                        const uint32_t *ids,
                        size_t ids_len,
                        const double *tres_seconds,
                        size_t tres_seconds_len);

/**
 * Charges what was in use over periods, decayed to the tree's moment.
 *
 * With a half-life h, one TRES from from to to counts the integral of 2^(-(moment - t)/h)
 * over t, in TRES-seconds; without one (PriorityDecayHalfLife=0) it counts to - from. So it
 * makes no difference whether a period is charged at once or in pieces, before or after the moment
 * advances. Periods after the moment count more than their seconds, and decay to the right amount.
 * Either all are charged or, on an error, none.
 *
 * In a window or since a date (ft_usage_configure) only the part of a period counts that is inside,
 * and a period must not end after the moment. Use that may have to be taken back is charged by
 * ft_usage_charge_runs() instead.
 *
 * config: the function uses its PriorityDecayHalfLife, usage= and compat=.
 * uses: what was used. row_size: sizeof(ft_use).
 *
 * Errors, naming the row: FT_ERR_UNKNOWN_ID, FT_ERR_USAGE, FT_ERR_TIME, FT_ERR_RANGE
 * (reserved is not zero); FT_ERR_MODEL (usage= is not the tree's); FT_ERR_NULL, FT_ERR_LENGTH,
 * FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per tree; the configuration is only read.
 */
FT_MUST_USE
int32_t ft_usage_charge_periods(ft_tree *tree,
                                const ft_config *config,
                                const ft_use *uses,
                                size_t uses_len,
                                size_t row_size);

/**
 * Advances the moment: all usage decays to now, and is cleared when a reset is due.
 *
 * In a window (ft_usage_configure) what leaves it counts no more, and nothing is reset.
 *
 * Half of it is left after PriorityDecayHalfLife. When a PriorityUsageResetPeriod began since
 * the last reset, all usage is cleared. Calling it twice with the same now changes nothing,
 * but under compat=slurm with MONTHLY, QUARTERLY or YEARLY: there each call makes up for one
 * reset that was missed, as Slurm's passes do, so that further calls may reset again.
 *
 * now: seconds since 1970, not before the tree's moment.
 * time_zone: the time zone of PriorityUsageResetPeriod: a name ("Europe/Berlin"), a
 * POSIX TZ string ("CET-1CEST,M3.5.0,M10.5.0/3"), or NULL for the machine's own.
 * was_reset: receives 1 when usage was cleared, else 0; may be NULL.
 *
 * Errors: FT_ERR_TIME, FT_ERR_TIME_ZONE, FT_ERR_MODEL (usage= of config is not the tree's),
 * FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED. The usage is then
 * unchanged.
 * Threads: one at a time per tree; the configuration is only read.
 */
FT_MUST_USE
int32_t ft_usage_advance(ft_tree *tree,
                         const ft_config *config,
                         int64_t now,
                         const char *time_zone,
                         int32_t *was_reset);

/**
 * Reads the moment that the usage is decayed to, and when it was last cleared.
 *
 * moment, last_reset: receive them, in seconds since 1970; either may be NULL.
 *
 * Errors: FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: any number may read one tree at a time.
 */
FT_MUST_USE
int32_t ft_usage_time(const ft_tree *tree,
                      int64_t *moment,
                      int64_t *last_reset);

/**
 * Clears the usage of an association and of all below it; FT_NONE: of all associations.
 *
 * It is subtracted from the usage of the accounts above. In a window or since a date, runs that
 * go on there begin again: what they were charged before is not taken back later.
 *
 * Errors: FT_ERR_UNKNOWN_ID, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per tree.
 */
FT_MUST_USE
int32_t ft_usage_reset(ft_tree *tree,
                       uint32_t id);

/**
 * Replaces the usage of all associations by values from another source, decayed to the tree's
 * moment.
 *
 * kind: FT_USAGE_OWN: the usage of accounts is the sum; or FT_USAGE_RAW, as sshare
 * prints it: the own usage of an account is its raw usage minus that of its children.
 * usage: TRES-seconds from 0 up, one per association in the order of position.
 *
 * Errors: FT_ERR_ENUM, FT_ERR_USAGE, FT_ERR_LENGTH, FT_ERR_MODEL (usage in a window or since a
 * date), FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED. The usage is then unchanged.
 * Threads: one at a time per tree.
 */
FT_MUST_USE
int32_t ft_usage_load(ft_tree *tree,
                      uint32_t kind,
                      const double *usage,
                      size_t usage_len);

/**
 * Reads the usage of all associations, decayed to the tree's moment.
 *
 * kind: FT_USAGE_OWN or FT_USAGE_RAW; in a window or since a date only the latter is known.
 * usage: receives TRES-seconds, one per association in the order of position.
 * usage_len: as from ft_tree_len().
 *
 * Errors: FT_ERR_ENUM, FT_ERR_LENGTH, FT_ERR_MODEL (FT_USAGE_OWN, where it is not known),
 * FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: any number may read one tree at a time.
 */
FT_MUST_USE
int32_t ft_usage_read(const ft_tree *tree,
                      uint32_t kind,
                      double *usage,
                      size_t usage_len);

/**
 * Makes the tree's usage the one that settings ask for: with a half-life, in a window, or since a
 * date.
 *
 * usage=half_life is what a new tree has. With usage=window:LENGTH usage is what was used in
 * (moment - LENGTH, moment]; with usage=total:DATE, what was used since that date. A policy
 * (ft_config_load_policy) may give accounts another one of these than the rest. Usage is kept in
 * buckets of resolution=TIME, 1 second to 1 day, by default an hour: the far edge of a window that
 * divides a bucket counts a part of it in proportion.
 *
 * From a half-life to a window, usage begins with nothing, as nobody knows when it was; back, it
 * goes on from the numbers that are there, and no run is known any more. Where only length, dates
 * or plans change, usage stays; of what a longer window reaches back to, nothing was kept before.
 * Resolution may become a multiple of what it was. Calling it again with the same settings changes
 * nothing. While usage is in a window, an edit of the tree takes time for all associations.
 *
 * config: the function uses usage=, resolution= and the accounts of a policy.
 * time_zone: that of the dates; as for ft_usage_advance().
 * tres_names: names of the TRES that are counted besides billing, at most 126, in the order that
 * counts of TRES will have; none with usage=half_life. May be (NULL, 0).
 *
 * Errors: FT_ERR_MODEL (TRES with usage=half_life, other TRES than before, a finer resolution),
 * FT_ERR_UNKNOWN_ID (an account of the policy), FT_ERR_TIME (a moment or a date outside the years
 * 1970 to 9999), FT_ERR_TIME_ZONE, FT_ERR_CONFIG (more than 64 dates), FT_ERR_RANGE (a name that
 * is empty or stands twice, or too many), FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN,
 * FT_ERR_HANDLE, FT_ERR_POISONED. The usage is then unchanged.
 * Threads: one at a time per tree; the configuration is only read.
 */
FT_MUST_USE
int32_t ft_usage_configure(ft_tree *tree,
                           const ft_config *config,
                           const char *time_zone,
                           const char *const *tres_names,
                           size_t tres_names_len);

/**
 * Charges what runs used over periods, in a window or since a date: it may be taken back.
 *
 * A run counts while it goes on; tell its end with ft_usage_end_run(). Until then each run takes
 * memory. A period may be charged in pieces, in any order, but no second of a run twice. Either all
 * are charged or, on an error, none.
 *
 * uses: what was used. row_size: sizeof(ft_run_use).
 * tres_counts: rows of counts, one number per TRES in the order of the names given to
 * ft_usage_configure(); runs that use the same may share a row. May be (NULL, 0).
 * tres_counts_len: how many numbers there are in all: rows times TRES.
 *
 * Errors, naming the row: FT_ERR_MODEL (usage with a half-life), FT_ERR_RUN (a second that the run
 * was charged before, or another association), FT_ERR_UNKNOWN_ID, FT_ERR_USAGE, FT_ERR_TIME,
 * FT_ERR_UNKNOWN_INDEX (no such row of counts), FT_ERR_RANGE (reserved is not zero);
 * FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per tree.
 */
FT_MUST_USE
int32_t ft_usage_charge_runs(ft_tree *tree,
                             const ft_run_use *uses,
                             size_t uses_len,
                             size_t row_size,
                             const uint64_t *tres_counts,
                             size_t tres_counts_len);

/**
 * Takes back all that a run was charged, as if it had never run, and forgets it.
 *
 * Errors: FT_ERR_RUN (no such run, or its end was told), FT_ERR_MODEL (usage with a half-life),
 * FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per tree.
 */
FT_MUST_USE
int32_t ft_usage_take_back(ft_tree *tree,
                           uint32_t job,
                           int64_t run);

/**
 * Tells how a run ended: its charges stay, or are taken back where counts= says that such an end
 * does not count. The run is forgotten then.
 *
 * Charge it to its end before.
 *
 * config: the function uses counts=.
 * end: one of enum ft_end. exit_code: matters to FT_END_FAILED only; in Slurm 0..255.
 * counted: receives 1 when its charges stay, 0 when they were taken back; may be NULL.
 *
 * Errors: FT_ERR_RUN (no such run, or its end was told), FT_ERR_MODEL (usage with a half-life),
 * FT_ERR_ENUM, FT_ERR_RANGE, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per tree; the configuration is only read.
 */
FT_MUST_USE
int32_t ft_usage_end_run(ft_tree *tree,
                         const ft_config *config,
                         uint32_t job,
                         int64_t run,
                         uint32_t end,
                         uint32_t exit_code,
                         int32_t *counted);

/**
 * Reads the usage of all associations, with that of all below them: billing, wall time or a TRES.
 *
 * With a half-life there is billing alone.
 *
 * quantity: one of enum ft_quantity.
 * tres: for FT_QUANTITY_TRES the position of the TRES in the names given to
 * ft_usage_configure(); else 0.
 * usage: receives TRES-seconds, or seconds of wall time, one per association in the order of
 * position. usage_len: as from ft_tree_len().
 *
 * Errors: FT_ERR_MODEL (wall time and TRES with a half-life), FT_ERR_UNKNOWN_TRES, FT_ERR_ENUM,
 * FT_ERR_RANGE (tres is not 0), FT_ERR_LENGTH, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
 * FT_ERR_POISONED.
 * Threads: any number may read one tree at a time.
 */
FT_MUST_USE
int32_t ft_usage_quantity(const ft_tree *tree,
                          uint32_t quantity,
                          uint32_t tres,
                          double *usage,
                          size_t usage_len);

/**
 * Computes all factors from shares and usage, and stores them in the tree.
 *
 * They do not change with charges and with time, only with the next computation; an edit of the
 * tree (ft_tree_load, _add, _set_shares, _move, _remove) discards them.
 *
 * config: the function uses PriorityFlags, FairShareDampeningFactor, ranking= and compat= of
 * PriorityParameters, and the minutes of accounts of ft_config_load_policy(); with minutes=shares
 * the raw shares of accounts are their minutes, and children that have more together than the
 * account above divide its minutes by theirs.
 *
 * Errors: FT_ERR_UNKNOWN_ID (an account with minutes is not in the tree), FT_ERR_CONFIG (accounts
 * have more minutes than the account above them), FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
 * FT_ERR_POISONED.
 * Threads: one at a time per tree; the configuration is only read.
 */
FT_MUST_USE
int32_t ft_fairshare_compute(ft_tree *tree,
                             const ft_config *config);

/**
 * Reads the results of the last computation for one association.
 *
 * row: receives it. row_size: sizeof(ft_fairshare).
 *
 * Errors: FT_ERR_UNKNOWN_ID, FT_ERR_NOT_COMPUTED, FT_ERR_NULL, FT_ERR_ALIGN,
 * FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: any number may read one tree at a time.
 */
FT_MUST_USE
int32_t ft_fairshare_get(const ft_tree *tree,
                         uint32_t id,
                         ft_fairshare *row,
                         size_t row_size);

/**
 * Reads the results of the last computation for all associations.
 *
 * rows: receives one row per association, in the order of position.
 * rows_len: as from ft_tree_len(). row_size: sizeof(ft_fairshare).
 *
 * Errors: FT_ERR_NOT_COMPUTED, FT_ERR_LENGTH, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE,
 * FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: any number may read one tree at a time.
 */
FT_MUST_USE
int32_t ft_fairshare_rows(const ft_tree *tree,
                          ft_fairshare *rows,
                          size_t rows_len,
                          size_t row_size);

/**
 * Reads one column of the last computation for all associations.
 *
 * column: one of enum ft_column.
 * values: receives one value per association, in the order of position; see ft_fairshare for the
 * meaning of NaN. values_len: as from ft_tree_len().
 *
 * Errors: FT_ERR_ENUM, FT_ERR_NOT_COMPUTED, FT_ERR_LENGTH, FT_ERR_NULL, FT_ERR_ALIGN,
 * FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: any number may read one tree at a time.
 */
FT_MUST_USE
int32_t ft_fairshare_column(const ft_tree *tree,
                            uint32_t column,
                            double *values,
                            size_t values_len);

/**
 * Explains why one user comes before another, in numbers.
 *
 * Under Fair Tree, the first level below their common account where level fairshare differs
 * decides; there the accounts of the users are compared.
 *
 * a, b: ids of users. comparison: receives the reason. row_size:
 * sizeof(ft_comparison).
 *
 * Errors: FT_ERR_UNKNOWN_ID, FT_ERR_NOT_A_USER, FT_ERR_NOT_COMPUTED, FT_ERR_NULL,
 * FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: any number may read one tree at a time.
 */
FT_MUST_USE
int32_t ft_explain(const ft_tree *tree,
                   uint32_t a,
                   uint32_t b,
                   ft_comparison *comparison,
                   size_t row_size);

/**
 * Explains why one user comes before another, in words: English, some lines, in ASCII.
 *
 * Call it with (NULL, 0) to learn the length first.
 *
 * a, b: ids of users.
 * text: receives the lines and a NUL. text_size: bytes there are for both.
 * text_len: receives the length without the NUL, also with FT_ERR_BUFFER; may be NULL.
 *
 * Errors: FT_ERR_BUFFER, FT_ERR_UNKNOWN_ID, FT_ERR_NOT_A_USER, FT_ERR_NOT_COMPUTED,
 * FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: any number may read one tree at a time.
 */
FT_MUST_USE
int32_t ft_explain_text(const ft_tree *tree,
                        uint32_t a,
                        uint32_t b,
                        char *text,
                        size_t text_size,
                        size_t *text_len);

/**
 * Makes a site without partitions and QOS.
 *
 * cpus, nodes: size of the cluster, for the job size factor; 0 makes that factor 0.
 * tres_names: names of the TRES that jobs may request, as in PriorityWeightTRES ("cpu",
 * "mem", "gres/gpu"), in the order that counts of TRES will have; may be empty.
 * site: receives the site, which is yours to free.
 *
 * Errors: FT_ERR_UTF8, FT_ERR_RANGE (two TRES with one name, or an empty one), FT_ERR_NULL,
 * FT_ERR_LENGTH, FT_ERR_ALIGN.
 * Threads: any.
 */
FT_MUST_USE
int32_t ft_site_new(uint32_t cpus,
                    uint32_t nodes,
                    const char *const *tres_names,
                    size_t tres_names_len,
                    ft_site **site);

/**
 * Frees a site. NULL is allowed; freeing a site twice is an error.
 *
 * Threads: no other thread may use the site.
 */
void ft_site_free(ft_site *site);

/**
 * Adds a partition.
 *
 * priority_job_factor: PriorityJobFactor of the partition, 0..FT_JOB_FACTOR_MAX.
 * max_time_mins: MaxTime in minutes, or FT_UNLIMITED.
 * tres: how much of each TRES the partition has, in the order of the names given to
 * ft_site_new(); or (NULL, 0), if that is not known: its jobs then have no TRES factors.
 * position: receives the position of the partition; may be NULL.
 *
 * Errors: FT_ERR_RANGE, FT_ERR_LENGTH, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
 * FT_ERR_POISONED. The site is then unchanged.
 * Threads: one at a time per site.
 */
FT_MUST_USE
int32_t ft_site_add_partition(ft_site *site,
                              uint32_t priority_job_factor,
                              uint32_t max_time_mins,
                              const uint64_t *tres,
                              size_t tres_len,
                              uint32_t *position);

/**
 * Adds a QOS.
 *
 * priority: Priority of the QOS.
 * position: receives the position of the QOS; may be NULL.
 *
 * Errors: FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED. The site is then
 * unchanged.
 * Threads: one at a time per site.
 */
FT_MUST_USE int32_t ft_site_add_qos(ft_site *site, uint32_t priority, uint32_t *position);

/**
 * Sets the priority of associations, for PriorityWeightAssoc; others have 0.
 *
 * ids: associations, in the tree or not (yet). priorities: one per id.
 *
 * Errors: FT_ERR_LENGTH (the two lengths differ), FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
 * FT_ERR_POISONED. The site is then unchanged.
 * Threads: one at a time per site.
 */
FT_MUST_USE
int32_t ft_site_set_assoc_priorities(ft_site *site,
                                     const uint32_t *ids,
                                     size_t ids_len,
                                     const uint32_t *priorities,
                                     size_t priorities_len);

/**
 * Prices jobs, a million or more in one call.
 *
 * The priority of a job is the sum of its factors, each times its weight, plus the site factor,
 * minus nice, truncated to an integer in 1..4294967295. A job that is held, priority 0, stays held
 * (unless batch->mode says otherwise), and one with FT_JOB_DIRECT keeps its priority.
 *
 * tree: the function uses its last computed factors; NULL when no job has an association.
 * priorities: receives one priority per job, in the order of the jobs.
 * terms: receives the weighted terms of each job; (NULL, 0) when they are not wanted.
 * row_size: sizeof(ft_priced).
 *
 * Errors, naming the job: FT_ERR_UNKNOWN_ID, FT_ERR_NOT_A_USER, FT_ERR_UNKNOWN_INDEX,
 * FT_ERR_ENUM; FT_ERR_UNKNOWN_TRES (in PriorityWeightTRES), FT_ERR_NOT_COMPUTED, FT_ERR_RANGE,
 * FT_ERR_LENGTH, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE,
 * FT_ERR_POISONED. Nothing is written then.
 * Threads: any number may read the same handles at a time; you may split a queue among them.
 */
FT_MUST_USE
int32_t ft_jobs_price(const ft_config *config,
                      const ft_site *site,
                      const ft_tree *tree,
                      const ft_batch *batch,
                      uint32_t *priorities,
                      size_t priorities_len,
                      ft_priced *terms,
                      size_t terms_len,
                      size_t row_size);

/**
 * Prices jobs that asked for several partitions or several QOS: one priority for each way in
 * which a job could run.
 *
 * Of a job with p partitions and q QOS there are p * q priorities: partition by partition in
 * the order of its list, and QOS by QOS within each. A job without any list has none.
 *
 * offsets: receives, per job, the index of its first priority, and after the last job their
 * total: one more entry than there are jobs.
 * priorities: receives them, as many as the total; or (NULL, 0) to learn the offsets first.
 * It must be initialised (to 0, or with the last pass's priorities): those of held and
 * FT_JOB_DIRECT jobs stay as they are, and under INCR_ONLY numbers only grow.
 *
 * Errors: as ft_jobs_price().
 * Threads: as ft_jobs_price().
 */
FT_MUST_USE
int32_t ft_jobs_price_lists(const ft_config *config,
                            const ft_site *site,
                            const ft_tree *tree,
                            const ft_batch *batch,
                            size_t *offsets,
                            size_t offsets_len,
                            uint32_t *priorities,
                            size_t priorities_len);

/**
 * Computes the single weighted TRES factors of jobs; the terms have only their sum.
 *
 * terms: receives one row per job, in the order of the jobs, each with one number per TRES,
 * in the order of the names given to ft_site_new().
 *
 * Errors: as ft_jobs_price().
 * Threads: as ft_jobs_price().
 */
FT_MUST_USE
int32_t ft_jobs_tres_terms(const ft_config *config,
                           const ft_site *site,
                           const ft_tree *tree,
                           const ft_batch *batch,
                           double *terms,
                           size_t terms_len);

/**
 * Makes a pass: decays usage, charges runs, computes all factors, prices jobs.
 *
 * A scheduler makes one every few minutes. The steps are these, in this order.
 * First usage decays to now, and is cleared when a reset is due, as by ft_usage_advance().
 * Then each run is charged what it used since the pass that charged it last, or since its start:
 * until now, or until its end.
 * Then all factors are computed and stored, as by ft_fairshare_compute(), but faster if few runs
 * were charged since the last pass and nothing else has changed the tree or its usage.
 * Last, jobs are priced with these factors, as by ft_jobs_price().
 *
 * In a window or since a date (ft_usage_configure) nothing decays and nothing is reset: a run is
 * charged by its job and start, as by ft_usage_charge_runs() but without single TRES, from where it
 * was charged last. Tell how it ended with ft_usage_end_run(), after a pass that was given its end;
 * where counts= is not set, all ends count, and that pass has told it.
 *
 * Before the first pass, what was used until the tree's moment at ft_tree_new() or
 * ft_state_restore() counts as charged. Give every run to every pass: one that is left out is not
 * charged for that time.
 *
 * The clock may step back: no time is charged twice, the moment of the usage does not change, and
 * a run that began before the time of the last pass is charged from its start. A run that ended is
 * charged to its end by the first pass that is given it, and not by later ones.
 *
 * Under compat=slurm everything is computed as by Slurm's own plugin: when the clock steps back,
 * time is charged again. Without Fair Tree the order of the steps is also that of Slurm's plugin:
 * jobs count as listed after all runs, and a pass whose time is not after that of the previous one
 * charges nothing and changes no priority.
 *
 * config: the function uses all settings.
 * site: as for ft_jobs_price(); NULL when there is no batch.
 * input: time, runs and jobs.
 * charged: receives what each run was charged, in TRES-seconds decayed to now, or of these the
 * ones in the window or since the date of usage=; or (NULL, 0), when that is not wanted.
 * priorities: receives one priority per job of the batch; (NULL, 0) without a batch.
 * was_reset: receives 1 when usage was cleared, else 0; may be NULL.
 *
 * Errors, naming the row: FT_ERR_UNKNOWN_ID, FT_ERR_USAGE, FT_ERR_TIME, FT_ERR_RUN (in a window,
 * a run of another association than before), and those of ft_jobs_price(); FT_ERR_UNKNOWN_ID (an
 * account with minutes is not in the tree), FT_ERR_CONFIG (accounts have more minutes than the
 * account above them), FT_ERR_MODEL (usage= of config is not the tree's), FT_ERR_TIME_ZONE,
 * FT_ERR_UTF8. Nothing is changed or written then: no run is charged.
 * Threads: one at a time per tree; configuration and site are only read.
 */
FT_MUST_USE
int32_t ft_pass(ft_tree *tree,
                const ft_config *config,
                const ft_site *site,
                const ft_pass_input *input,
                double *charged,
                size_t charged_len,
                uint32_t *priorities,
                size_t priorities_len,
                int32_t *was_reset);

/**
 * Tells how many bytes ft_state_save() writes for this tree.
 *
 * bytes_len: receives the number; it is valid until associations are added or removed, and in a
 * window or since a date (ft_usage_configure) until anything changes.
 *
 * Errors: FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: any number may read one tree at a time.
 */
FT_MUST_USE
int32_t ft_state_size(const ft_tree *tree,
                      size_t *bytes_len);

/**
 * Saves associations, shares, usage, its moment and the last reset into bytes of yours.
 *
 * The bytes have a version and a checksum, and are the same on every machine. Factors are not
 * saved: they follow from the rest. In a window or since a date (ft_usage_configure) runs whose end
 * was not told are saved, too, in a format that versions without ft_usage_configure() do not read.
 *
 * bytes: receives them. bytes_len: as from ft_state_size().
 *
 * Errors: FT_ERR_LENGTH, FT_ERR_NULL, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: any number may read one tree at a time.
 */
FT_MUST_USE
int32_t ft_state_save(const ft_tree *tree,
                      uint8_t *bytes,
                      size_t bytes_len);

/**
 * Replaces the tree by a saved one. Its usage is equal to the last bit; compute factors next.
 * For ft_pass() all runs count as charged until the saved moment.
 *
 * bytes: as from ft_state_save() of this version or an earlier one.
 *
 * Errors: FT_ERR_STATE_DAMAGED, FT_ERR_STATE_VERSION, FT_ERR_NULL, FT_ERR_LENGTH,
 * FT_ERR_HANDLE, FT_ERR_POISONED. The tree is then unchanged.
 * Threads: one at a time per tree.
 */
FT_MUST_USE
int32_t ft_state_restore(ft_tree *tree,
                         const uint8_t *bytes,
                         size_t bytes_len);

/**
 * Makes a queue without machines or jobs, nothing used.
 *
 * tree: who shares with whom. Its shares are taken over; its usage and factors are not, and the
 * tree may be freed afterwards.
 * settings: what the queue goes by. NULL: all leaves compete, interleaved, by what was used in
 * the last 28 days; all ends count; one unit of capacity; users do not compete.
 * now_micros: now, in microseconds since 1970.
 * queue: receives the queue, which is yours to free.
 *
 * Errors, naming the setting: FT_ERR_CONFIG, FT_ERR_ENUM, FT_ERR_RANGE, FT_ERR_UNKNOWN_ID,
 * FT_ERR_DUPLICATE_ID; FT_ERR_STRUCT_SIZE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_LENGTH,
 * FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: any number may read one tree at a time.
 */
FT_MUST_USE
int32_t ft_queue_new(const ft_tree *tree,
                     const ft_queue_settings *settings,
                     int64_t now_micros,
                     ft_queue **queue);

/**
 * Frees a queue. NULL is harmless; freeing one twice is not.
 *
 * Threads: no other thread may use the queue.
 */
void ft_queue_free(ft_queue *queue);

/**
 * Goes on with another tree or other settings.
 *
 * Jobs stay. Use stays with its association by id; that of one which is gone counts no more.
 * Where use counts from farther back than before, only what was still known counts.
 *
 * tree, settings: as for ft_queue_new().
 *
 * Errors: those of ft_queue_new(); FT_ERR_NO_SHARES and FT_ERR_UNKNOWN_ID when the association
 * of a job is gone; FT_ERR_RANGE when more use than is counted would count. The queue is then
 * unchanged.
 * Threads: one at a time per queue; the tree is only read.
 */
FT_MUST_USE
int32_t ft_queue_change(ft_queue *queue,
                        const ft_tree *tree,
                        const ft_queue_settings *settings);

/**
 * Adds a machine. Use counts over all machines. Its number is how many were added before, also
 * those that were removed.
 *
 * machine: its name. slots: jobs that it runs at a time, from 1 up.
 *
 * Errors: FT_ERR_DUPLICATE_MACHINE, FT_ERR_CONFIG (no slots), FT_ERR_UTF8, FT_ERR_NULL,
 * FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_queue_add_machine(ft_queue *queue,
                             const char *machine,
                             uint32_t slots);

/**
 * Begins or ends maintenance. A paused machine gives no job; what runs there is your business.
 *
 * paused: 1: begins; 0: ends.
 *
 * Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_ENUM, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN,
 * FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_queue_set_paused(ft_queue *queue,
                            const char *machine,
                            uint32_t paused);

/**
 * Adds a job that waits.
 *
 * job: the job; a copy is kept.
 *
 * Errors: FT_ERR_DUPLICATE_JOB, FT_ERR_UNKNOWN_MACHINE, FT_ERR_UNKNOWN_ID, FT_ERR_NO_SHARES,
 * FT_ERR_ELSEWHERE (its account is bound to other machines), FT_ERR_RANGE (no rate, or neither an
 * expected nor a maximum time); FT_ERR_STRUCT_SIZE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN,
 * FT_ERR_LENGTH, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_queue_add_job(ft_queue *queue,
                         const ft_queue_job *job);

/**
 * Tells which job a machine is to run; does not start it.
 *
 * Costs little, however many jobs wait. The answer holds until something is reported or time
 * passes: after each start ask again.
 *
 * machine: its name. now_micros: now.
 * what: receives FT_NEXT_JOB, or why there is none: FT_NEXT_NONE_WAITS, FT_NEXT_PAUSED or
 * FT_NEXT_BUSY.
 * job: receives the id of the job; 0 when there is none.
 *
 * Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
 * FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_queue_next(ft_queue *queue,
                      const char *machine,
                      int64_t now_micros,
                      uint32_t *what,
                      uint64_t *job);

/**
 * A waiting job starts: the one that ft_queue_next() told, or any other of its machine.
 *
 * Errors: FT_ERR_UNKNOWN_JOB, FT_ERR_NOT_WAITING, FT_ERR_PAUSED, FT_ERR_BUSY, FT_ERR_RANGE (more
 * use than is counted, 2^126 units times microseconds, could come of it), FT_ERR_NULL,
 * FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_queue_start(ft_queue *queue,
                       uint64_t job,
                       int64_t now_micros);

/**
 * A run has ended, and its job is gone. What it executed counts where such ends count, and
 * otherwise nothing of it does.
 *
 * end: one of enum ft_end. exit_code: any; matters to FT_END_FAILED only.
 * executed_micros: how long it was on the machine, from its start on; from 0 up to what has
 * passed since.
 * finished: receives the bill of the run; what it cost is 0. row_size: sizeof(ft_finished).
 * (NULL, 0): not wanted.
 *
 * Errors: FT_ERR_UNKNOWN_JOB, FT_ERR_NOT_RUNNING, FT_ERR_TIME (it cannot have run for so long),
 * FT_ERR_ENUM, FT_ERR_STRUCT_SIZE, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_queue_finish(ft_queue *queue,
                        uint64_t job,
                        uint32_t end,
                        uint32_t exit_code,
                        int64_t executed_micros,
                        int64_t now_micros,
                        ft_finished *finished,
                        size_t row_size);

/**
 * As ft_queue_finish(), but the job waits again, in the place that it had.
 *
 * Errors: those of ft_queue_finish(): FT_ERR_UNKNOWN_JOB, FT_ERR_NOT_RUNNING and so on.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_queue_requeue(ft_queue *queue,
                         uint64_t job,
                         uint32_t end,
                         uint32_t exit_code,
                         int64_t executed_micros,
                         int64_t now_micros,
                         ft_finished *finished,
                         size_t row_size);

/**
 * A waiting job is gone. One that runs is ended by ft_queue_finish().
 *
 * Errors: FT_ERR_UNKNOWN_JOB, FT_ERR_NOT_WAITING, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
 * FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_queue_cancel(ft_queue *queue,
                        uint64_t job);

/**
 * Tells how many jobs wait for a machine.
 *
 * found: receives the number.
 *
 * Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
 * FT_ERR_POISONED.
 * Threads: any number may read one queue at a time.
 */
FT_MUST_USE
int32_t ft_queue_waiting(const ft_queue *queue,
                         const char *machine,
                         size_t *found);

/**
 * Tells the place of a waiting job among those that wait for its machine, as
 * ft_queue_positions() orders them at the latest moment that the queue was told.
 *
 * For many jobs call ft_queue_positions() once: one place costs as much as all of them.
 *
 * position: receives the place, 0 for the next job.
 *
 * Errors: FT_ERR_UNKNOWN_JOB, FT_ERR_NOT_WAITING, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
 * FT_ERR_POISONED.
 * Threads: any number may read one queue at a time.
 */
FT_MUST_USE
int32_t ft_queue_position(const ft_queue *queue,
                          uint64_t job,
                          size_t *position);

/**
 * Orders all jobs that wait for a machine, first to last.
 *
 * With FT_CHOICE_INTERLEAVED this is the order in which they would start if each were charged
 * its expected use at once; with FT_CHOICE_STRICT the order by present ratios.
 *
 * jobs: receives their ids. jobs_len: how many fit; (NULL, 0) to learn the number first.
 * found: receives how many there are, also with FT_ERR_BUFFER.
 *
 * Errors: FT_ERR_BUFFER, FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_LENGTH,
 * FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_queue_positions(ft_queue *queue,
                           const char *machine,
                           int64_t now_micros,
                           uint64_t *jobs,
                           size_t jobs_len,
                           size_t *found);

/**
 * Foretells when the jobs that wait for a machine will start, in this order.
 *
 * All machines run on, each job for its expected time, or for its maximum if that is unknown, and
 * nothing comes; the row says which of the two was used. A job that has run longer than that
 * already ends now. Every run ends well. Machines that become idle at one moment choose one after
 * the other, in the order in which they were added: what a machine takes is charged before the
 * next one chooses.
 *
 * estimates: receives one row per job. estimates_len: how many fit; (NULL, 0) to learn the
 * number first. row_size: sizeof(ft_estimate).
 * found: receives how many there are, also with FT_ERR_BUFFER.
 *
 * Errors: FT_ERR_BUFFER, FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_LENGTH,
 * FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_queue_estimate(ft_queue *queue,
                          const char *machine,
                          int64_t now_micros,
                          ft_estimate *estimates,
                          size_t estimates_len,
                          size_t row_size,
                          size_t *found);

/**
 * Tells what an association has used, is entitled to, and stands at. For one that shares as its
 * parent does this is the account that shares for it.
 *
 * standing: receives it. row_size: sizeof(ft_standing).
 *
 * Errors: FT_ERR_UNKNOWN_ID (it is not in the tree), FT_ERR_NO_SHARES (neither it nor an account
 * above it has shares, as with the root), FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE,
 * FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_queue_standing(ft_queue *queue,
                          uint32_t assoc,
                          int64_t now_micros,
                          ft_standing *standing,
                          size_t row_size);

/**
 * Saves all that a queue holds into bytes, for you to keep: tree, settings, machines, jobs, use.
 *
 * The bytes have a version and a checksum, and are the same on every machine.
 *
 * bytes: receives them. bytes_len: how many fit; (NULL, 0) to learn the number first.
 * found: receives how many there are, also with FT_ERR_BUFFER.
 *
 * Errors: FT_ERR_BUFFER, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_HANDLE,
 * FT_ERR_POISONED.
 * Threads: any number may read one queue at a time.
 */
FT_MUST_USE
int32_t ft_queue_save(const ft_queue *queue,
                      uint8_t *bytes,
                      size_t bytes_len,
                      size_t *found);

/**
 * Makes the queue that was saved.
 *
 * bytes: as from ft_queue_save(), of this version of the format.
 * queue: receives the queue, which is yours to free.
 *
 * Errors: FT_ERR_STATE_DAMAGED, FT_ERR_STATE_VERSION, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN.
 * Threads: any.
 */
FT_MUST_USE
int32_t ft_queue_restore(const uint8_t *bytes,
                         size_t bytes_len,
                         ft_queue **queue);

/**
 * Reads all jobs of a queue, also after ft_queue_restore(): machine by machine, first those that
 * run, by start and id, then those that wait, by place.
 *
 * jobs: receives one row per job. jobs_len: how many fit; (NULL, 0) to learn the number
 * first.
 * row_size: sizeof(ft_held_job).
 * found: receives how many there are, also with FT_ERR_BUFFER.
 *
 * Errors: FT_ERR_BUFFER, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE,
 * FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_queue_jobs(ft_queue *queue,
                      int64_t now_micros,
                      ft_held_job *jobs,
                      size_t jobs_len,
                      size_t row_size,
                      size_t *found);

/**
 * Reads all machines of a queue, in the order in which they were added: slots, jobs that run and
 * wait, in maintenance or not. ft_queue_machine_name() has their names.
 *
 * machines: receives one row per machine. machines_len: how many fit; (NULL, 0) to learn the
 * number first. row_size: sizeof(ft_queue_machine).
 * found: receives how many there are, also with FT_ERR_BUFFER.
 *
 * Errors: FT_ERR_BUFFER, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE,
 * FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: any number may read one queue at a time.
 */
FT_MUST_USE
int32_t ft_queue_machines(const ft_queue *queue,
                          ft_queue_machine *machines,
                          size_t machines_len,
                          size_t row_size,
                          size_t *found);

/**
 * Reads the name of a machine of a queue.
 *
 * machine: its number, as in rows.
 * text: receives the name and a NUL. text_size: bytes there are for both; (NULL, 0) to learn
 * the length first. text_len: receives the length without the NUL, also with FT_ERR_BUFFER; may
 * be NULL.
 *
 * Errors: FT_ERR_BUFFER, FT_ERR_UNKNOWN_MACHINE (also for one that was removed), FT_ERR_NULL,
 * FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: any number may read one queue at a time.
 */
FT_MUST_USE
int32_t ft_queue_machine_name(const ft_queue *queue,
                              uint32_t machine,
                              char *text,
                              size_t text_size,
                              size_t *text_len);

/**
 * Reads the standings of all associations that have shares or minutes and compete, in the order
 * of the tree. One that shares as its parent does has no row; nor has the root.
 *
 * standings: receives one row per association. standings_len: how many fit; (NULL, 0) to
 * learn the number first. row_size: sizeof(ft_assoc_standing).
 * found: receives how many there are, also with FT_ERR_BUFFER.
 *
 * Errors: FT_ERR_BUFFER, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE,
 * FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_queue_standings(ft_queue *queue,
                           int64_t now_micros,
                           ft_assoc_standing *standings,
                           size_t standings_len,
                           size_t row_size,
                           size_t *found);

/**
 * Gives an association other shares: ft_queue_change() without the whole tree. While it has
 * minutes, shares have no effect.
 *
 * Rebuilds the queue, in a time that grows with its jobs and associations.
 *
 * raw_shares: 0..FT_SHARES_MAX, or FT_SHARES_PARENT.
 *
 * Errors: FT_ERR_UNKNOWN_ID, FT_ERR_SHARES, FT_ERR_ROOT, FT_ERR_CONFIG (it has a rule of its own
 * and would share as its parent does), FT_ERR_NO_SHARES (of the association of a job),
 * FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_queue_set_shares(ft_queue *queue,
                            uint32_t assoc,
                            uint32_t raw_shares);

/**
 * Gives an association minutes instead of shares, or its shares again: ft_queue_change() without
 * the whole tree. How its use counts stays.
 *
 * Rebuilds the queue, in a time that grows with its jobs and associations.
 *
 * has_minutes: 1: it has minutes; 0: it has its shares. minutes: 0..1000000000000; 0 without
 * has_minutes. Children with minutes may have no more together than their parent.
 *
 * Errors: FT_ERR_UNKNOWN_ID, FT_ERR_ENUM, FT_ERR_RANGE, FT_ERR_CONFIG (more minutes than the
 * parent has, use since a moment without minutes, or an association that does not compete),
 * FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_queue_set_minutes(ft_queue *queue,
                             uint32_t assoc,
                             uint32_t has_minutes,
                             uint64_t minutes);

/**
 * Changes how many jobs a machine runs at a time. Where more run, they continue, and none starts
 * until fewer than that run.
 *
 * machine: its name. slots: from 1 up.
 *
 * Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_CONFIG (no slots), FT_ERR_UTF8, FT_ERR_NULL,
 * FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_queue_set_slots(ft_queue *queue,
                           const char *machine,
                           uint32_t slots);

/**
 * Removes a machine for which no job waits and on which none runs. What was used there still
 * counts. Its number is not used again; its name may be.
 *
 * Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_IN_USE (cancel or finish its jobs first: ft_queue_jobs()
 * has them), FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_queue_remove_machine(ft_queue *queue,
                                const char *machine);

/**
 * Binds an association and all below it to machines: a job for another machine is refused with
 * FT_ERR_ELSEWHERE. Where an association and one above it are bound, both bindings hold. Jobs
 * that wait or run stay where they are.
 *
 * machines: names. machines_len: how many; (NULL, 0): bound no more.
 *
 * Errors: FT_ERR_UNKNOWN_ID, FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_LENGTH,
 * FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_queue_bind(ft_queue *queue,
                      uint32_t assoc,
                      const char *const *machines,
                      size_t machines_len);

/**
 * Sets the maximum run time of jobs that come from now on with neither an expected nor a maximum
 * run time. Without such a default they are refused.
 *
 * machine: the machine; NULL: all machines that have none of their own.
 * limit_micros: the time; 0: none.
 *
 * Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
 * FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_queue_set_default_limit(ft_queue *queue,
                                   const char *machine,
                                   uint64_t limit_micros);

/**
 * Makes an on-demand queue without machines.
 *
 * billed: which ends of on-demand runs are billed, in the words of enum ft_end without
 * FT_END_: "COMPLETED,TIMEOUT"; "ALL": all of them. NULL: "COMPLETED".
 * now_micros: now, in microseconds since 1970.
 * queue: receives the queue, which is yours to free.
 *
 * Errors: FT_ERR_CONFIG, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN.
 * Threads: any.
 */
FT_MUST_USE
int32_t ft_on_demand_new(const char *billed,
                         int64_t now_micros,
                         ft_on_demand **queue);

/**
 * Frees an on-demand queue. NULL is harmless; freeing one twice is not.
 *
 * Threads: no other thread may use the queue.
 */
void ft_on_demand_free(ft_on_demand *queue);

/**
 * Adds a machine. Its number is how many were added before, also those that were removed: 0 for
 * the first one.
 *
 * machine: its name.
 * limit: how many on-demand jobs may wait for it; FT_UNLIMITED: any number.
 * execution_price: for a microsecond that an on-demand job was executed.
 * reserved_price: for a second that was reserved. Prices are in a unit of your choice.
 *
 * Errors: FT_ERR_DUPLICATE_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
 * FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_add_machine(ft_on_demand *queue,
                                 const char *machine,
                                 uint32_t limit,
                                 uint64_t execution_price,
                                 uint64_t reserved_price);

/**
 * Begins or ends maintenance. A paused machine gives no job; what runs there is your business.
 *
 * paused: 1: begins; 0: ends.
 *
 * Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_ENUM, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN,
 * FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_set_paused(ft_on_demand *queue,
                                const char *machine,
                                uint32_t paused);

/**
 * Limits how many on-demand jobs of an account may wait, for all machines together. Jobs that
 * wait already stay.
 *
 * account: the account; FT_NONE: every one that has no limit of its own.
 * limit: how many; FT_UNLIMITED: any number, as without this call.
 *
 * Errors: FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_limit_account(ft_on_demand *queue,
                                   uint32_t account,
                                   uint32_t limit);

/**
 * Reserves a machine for an account, from start_micros until before end_micros.
 *
 * reservation: an id of your choice, unique among those that are not over.
 * start_micros: not before now. end_micros: whole seconds later, at least 1.
 *
 * Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_ELSEWHERE (the account is bound to other machines),
 * FT_ERR_DUPLICATE_RESERVATION, FT_ERR_OVERLAP, FT_ERR_TIME (it would start in the past),
 * FT_ERR_RANGE (its length, or FT_NONE as an account), FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN,
 * FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_reserve(ft_on_demand *queue,
                             uint64_t reservation,
                             const char *machine,
                             uint32_t account,
                             int64_t start_micros,
                             int64_t end_micros,
                             int64_t now_micros);

/**
 * Cancels a reservation that has not begun; it costs nothing.
 *
 * Errors: FT_ERR_UNKNOWN_RESERVATION, FT_ERR_TIME (it has begun), FT_ERR_NULL, FT_ERR_ALIGN,
 * FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_cancel_reservation(ft_on_demand *queue,
                                        uint64_t reservation,
                                        int64_t now_micros);

/**
 * Lets time pass: reservations end. Every other call with a moment does so first, unless it
 * fails.
 *
 * Errors: FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_advance(ft_on_demand *queue,
                             int64_t now_micros);

/**
 * Saves all that an on-demand queue holds into bytes, for you to keep: machines, limits,
 * reservations, jobs and what is billed.
 *
 * The bytes have a version and a checksum, and are the same on every machine.
 *
 * bytes: receives them. bytes_len: how many fit; (NULL, 0) to learn the number first.
 * found: receives how many there are, also with FT_ERR_BUFFER.
 *
 * Errors: FT_ERR_BUFFER, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_HANDLE,
 * FT_ERR_POISONED.
 * Threads: any number may read one queue at a time.
 */
FT_MUST_USE
int32_t ft_on_demand_save(const ft_on_demand *queue,
                          uint8_t *bytes,
                          size_t bytes_len,
                          size_t *found);

/**
 * Makes the on-demand queue that was saved.
 *
 * bytes: as from ft_on_demand_save(), of this version of the format.
 * queue: receives the queue, which is yours to free.
 *
 * Errors: FT_ERR_STATE_DAMAGED, FT_ERR_STATE_VERSION, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN.
 * Threads: any.
 */
FT_MUST_USE
int32_t ft_on_demand_restore(const uint8_t *bytes,
                             size_t bytes_len,
                             ft_on_demand **queue);

/**
 * Submits a job: one of a reservation if the account owns the reservation that runs on the
 * machine at this moment, otherwise an on-demand job.
 *
 * job: the job; a copy is kept.
 * submitted: receives which of the two it is. row_size: sizeof(ft_submitted).
 *
 * Errors: FT_ERR_FULL, FT_ERR_UNKNOWN_MACHINE, FT_ERR_DUPLICATE_JOB, FT_ERR_ELSEWHERE (the
 * account is bound to other machines), FT_ERR_RANGE (FT_NONE as an account, reserved is not
 * zero), FT_ERR_STRUCT_SIZE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN,
 * FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_submit(ft_on_demand *queue,
                            const ft_on_demand_job *job,
                            int64_t now_micros,
                            ft_submitted *submitted,
                            size_t row_size);

/**
 * Tells what a machine is to do; starts and halts nothing.
 *
 * machine: its name. now_micros: now.
 * what: receives one of enum ft_next.
 * job: receives the id of the job to run or to halt; 0 when there is none.
 *
 * Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
 * FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_next(ft_on_demand *queue,
                          const char *machine,
                          int64_t now_micros,
                          uint32_t *what,
                          uint64_t *job);

/**
 * A waiting job starts: the one that ft_on_demand_next() told, or any other that can.
 *
 * Errors: FT_ERR_UNKNOWN_JOB, FT_ERR_NOT_WAITING, FT_ERR_PAUSED, FT_ERR_BUSY, FT_ERR_NULL,
 * FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_start(ft_on_demand *queue,
                           uint64_t job,
                           int64_t now_micros);

/**
 * An on-demand job was halted: its partial result is discarded, it costs nothing, and it waits
 * again in the very place that it had, whatever the limits.
 *
 * Errors: FT_ERR_UNKNOWN_JOB, FT_ERR_NOT_RUNNING, FT_ERR_NOT_ON_DEMAND, FT_ERR_NULL,
 * FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_halted(ft_on_demand *queue,
                            uint64_t job,
                            int64_t now_micros);

/**
 * A run has ended, and its job is gone. It is billed if the job is on-demand and such ends are.
 *
 * end: one of enum ft_end. exit_code: any; matters to FT_END_FAILED only.
 * executed_micros: how long it was on the machine; from 0 up to what has passed since its
 * start.
 * finished: receives the bill of the run. row_size: sizeof(ft_finished). (NULL, 0): not
 * wanted.
 *
 * Errors: FT_ERR_UNKNOWN_JOB, FT_ERR_NOT_RUNNING, FT_ERR_TIME (it cannot have run for so long),
 * FT_ERR_ENUM, FT_ERR_STRUCT_SIZE, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_finish(ft_on_demand *queue,
                            uint64_t job,
                            uint32_t end,
                            uint32_t exit_code,
                            int64_t executed_micros,
                            int64_t now_micros,
                            ft_finished *finished,
                            size_t row_size);

/**
 * A waiting job is gone. One that runs is ended by ft_on_demand_finish().
 *
 * Errors: FT_ERR_UNKNOWN_JOB, FT_ERR_NOT_WAITING, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
 * FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_cancel(ft_on_demand *queue,
                            uint64_t job,
                            int64_t now_micros);

/**
 * Orders all jobs that wait for a machine, first to last.
 *
 * jobs: receives their ids. jobs_len: how many fit; (NULL, 0) to learn the number first.
 * found: receives how many there are, also with FT_ERR_BUFFER.
 *
 * Errors: FT_ERR_BUFFER, FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_LENGTH,
 * FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_positions(ft_on_demand *queue,
                               const char *machine,
                               int64_t now_micros,
                               uint64_t *jobs,
                               size_t jobs_len,
                               size_t *found);

/**
 * Foretells when the jobs that wait for a machine will start, in this order, if each runs for
 * its expected time, halted ones restart and nothing comes.
 *
 * estimates: receives one row per job; proxy is FT_PROXY_EXPECTED in each.
 * estimates_len: how many fit; (NULL, 0) to learn the number first.
 * row_size: sizeof(ft_estimate).
 * found: receives how many there are, also with FT_ERR_BUFFER.
 *
 * Errors: FT_ERR_BUFFER, FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_LENGTH,
 * FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_estimate(ft_on_demand *queue,
                              const char *machine,
                              int64_t now_micros,
                              ft_estimate *estimates,
                              size_t estimates_len,
                              size_t row_size,
                              size_t *found);

/**
 * Tells which jobs are gone, as they still waited when their reservation ended and the limits
 * left no room for them. Each is told once: it stays to be told while the array is too short.
 *
 * refused: receives one row per job. refused_len: how many fit; (NULL, 0) to learn the
 * number.
 * row_size: sizeof(ft_refused).
 * found: receives how many there are, also with FT_ERR_BUFFER.
 *
 * Errors: FT_ERR_BUFFER, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE,
 * FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_take_refused(ft_on_demand *queue,
                                  int64_t now_micros,
                                  ft_refused *refused,
                                  size_t refused_len,
                                  size_t row_size,
                                  size_t *found);

/**
 * Tells what accounts owe for what ended from from_micros until before to_micros.
 *
 * On-demand runs are billed by the microsecond of their execution, reservations by the second of
 * their length when they end. Time spent waiting, halted runs, runs that did not end well, and
 * jobs of reservations cost nothing. Prices are those that the machine had when a run started or
 * a reservation began. The queue knows the ends up to the latest moment of a call: see
 * ft_on_demand_advance().
 *
 * bills: receives one row per account and machine, by account, then by number of the machine.
 * bills_len: how many fit; (NULL, 0) to learn the number first. row_size: sizeof(ft_bill).
 * found: receives how many there are, also with FT_ERR_BUFFER.
 *
 * Errors: FT_ERR_BUFFER, FT_ERR_RANGE (2^64 microseconds or more, or an amount of 2^128 or
 * more), FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE, FT_ERR_HANDLE,
 * FT_ERR_POISONED.
 * Threads: any number may read one queue at a time.
 */
FT_MUST_USE
int32_t ft_on_demand_bills(const ft_on_demand *queue,
                           int64_t from_micros,
                           int64_t to_micros,
                           ft_bill *bills,
                           size_t bills_len,
                           size_t row_size,
                           size_t *found);

/**
 * Forgets what was billed before a moment, once those bills are written.
 *
 * Errors: FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE int32_t ft_on_demand_forget_bills(ft_on_demand *queue, int64_t before_micros);

/**
 * Reads all jobs of an on-demand queue, also after ft_on_demand_restore(): machine by machine,
 * first those that run, by start and id, then those that wait, by place.
 *
 * jobs: receives one row per job. jobs_len: how many fit; (NULL, 0) to learn the number
 * first.
 * row_size: sizeof(ft_held_job).
 * found: receives how many there are, also with FT_ERR_BUFFER.
 *
 * Errors: FT_ERR_BUFFER, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE,
 * FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_jobs(ft_on_demand *queue,
                          int64_t now_micros,
                          ft_held_job *jobs,
                          size_t jobs_len,
                          size_t row_size,
                          size_t *found);

/**
 * Reads all machines of an on-demand queue, in the order in which they were added, as they are at
 * the latest moment of a call. ft_on_demand_machine_name() has their names.
 *
 * machines: receives one row per machine. machines_len: how many fit; (NULL, 0) to learn the
 * number first. row_size: sizeof(ft_on_demand_machine).
 * found: receives how many there are, also with FT_ERR_BUFFER.
 *
 * Errors: FT_ERR_BUFFER, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE,
 * FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: any number may read one queue at a time.
 */
FT_MUST_USE
int32_t ft_on_demand_machines(const ft_on_demand *queue,
                              ft_on_demand_machine *machines,
                              size_t machines_len,
                              size_t row_size,
                              size_t *found);

/**
 * Reads the name of a machine of an on-demand queue.
 *
 * machine: its number, as in rows.
 * text: receives the name and a NUL. text_size: bytes there are for both; (NULL, 0) to learn
 * the length first. text_len: receives the length without the NUL, also with FT_ERR_BUFFER; may
 * be NULL.
 *
 * Errors: FT_ERR_BUFFER, FT_ERR_UNKNOWN_MACHINE (also for one that was removed), FT_ERR_NULL,
 * FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: any number may read one queue at a time.
 */
FT_MUST_USE
int32_t ft_on_demand_machine_name(const ft_on_demand *queue,
                                  uint32_t machine,
                                  char *text,
                                  size_t text_size,
                                  size_t *text_len);

/**
 * Reads all reservations that are not over, by machine and start.
 *
 * reservations: receives one row per reservation. reservations_len: how many fit; (NULL, 0)
 * to learn the number first. row_size: sizeof(ft_reservation).
 * found: receives how many there are, also with FT_ERR_BUFFER.
 *
 * Errors: FT_ERR_BUFFER, FT_ERR_NULL, FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_STRUCT_SIZE,
 * FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_reservations(ft_on_demand *queue,
                                  int64_t now_micros,
                                  ft_reservation *reservations,
                                  size_t reservations_len,
                                  size_t row_size,
                                  size_t *found);

/**
 * Changes the prices of a machine for runs that start, and reservations that begin, from now on.
 * What started or began before is billed at the prices that it had.
 *
 * execution_price, reserved_price: as for ft_on_demand_add_machine().
 *
 * Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
 * FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_set_prices(ft_on_demand *queue,
                                const char *machine,
                                uint64_t execution_price,
                                uint64_t reserved_price,
                                int64_t now_micros);

/**
 * Changes how many on-demand jobs may wait for a machine. Jobs that wait already stay.
 *
 * limit: how many; FT_UNLIMITED: any number.
 *
 * Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
 * FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_limit_machine(ft_on_demand *queue,
                                   const char *machine,
                                   uint32_t limit);

/**
 * Removes a machine without jobs and without reservations that are not over. What was used there
 * is still billed. Its number is not used again; its name may be.
 *
 * Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_IN_USE (end what it has first: ft_on_demand_jobs() and
 * ft_on_demand_reservations() have it), FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
 * FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_remove_machine(ft_on_demand *queue,
                                    const char *machine,
                                    int64_t now_micros);

/**
 * Shortens or extends a reservation that is not over. Jobs of it that still wait become on-demand
 * jobs at the new end, and it is billed by its new length.
 *
 * end_micros: its new end, whole seconds after its start, at least 1; not before now.
 *
 * Errors: FT_ERR_UNKNOWN_RESERVATION, FT_ERR_RANGE (its length), FT_ERR_TIME (it would have ended
 * already), FT_ERR_OVERLAP (with the next one of the machine), FT_ERR_NULL, FT_ERR_ALIGN,
 * FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_set_reservation_end(ft_on_demand *queue,
                                         uint64_t reservation,
                                         int64_t end_micros,
                                         int64_t now_micros);

/**
 * Binds an account to machines: a job or a reservation elsewhere is refused with
 * FT_ERR_ELSEWHERE. Present jobs and reservations stay.
 *
 * account: any number except FT_NONE.
 * machines: names. machines_len: how many; (NULL, 0): bound no more.
 *
 * Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_RANGE (FT_NONE as an account), FT_ERR_UTF8, FT_ERR_NULL,
 * FT_ERR_LENGTH, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_bind(ft_on_demand *queue,
                          uint32_t account,
                          const char *const *machines,
                          size_t machines_len);

/**
 * Sets the run time, for estimates, of jobs that come from now on with expected_micros 0.
 *
 * machine: the machine; NULL: all machines that have none of their own.
 * limit_micros: the time; 0: none.
 *
 * Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE,
 * FT_ERR_POISONED.
 * Threads: one at a time per queue.
 */
FT_MUST_USE
int32_t ft_on_demand_set_default_limit(ft_on_demand *queue,
                                       const char *machine,
                                       uint64_t limit_micros);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FAIRTREE_H */
