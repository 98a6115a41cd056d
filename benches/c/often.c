/*
 * To be preloaded into slurmctld: the thread that computes priorities waits a
 * second between two passes where it would wait a minute, whichever plugin it
 * belongs to. slurm.conf knows nothing shorter than a minute.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EARLIER_S = 59 };

typedef int wait_call(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

static wait_call *library(void)
{
    union {
        void *symbol;
        wait_call *call;
    } found = {dlsym(RTLD_NEXT, "pthread_cond_timedwait")};

    if (!found.symbol)
        abort();
    return found.call;
}

/* Names of the thread in Slurm's plugin and in this project's. */
static int computes_priorities(void)
{
    char name[16] = "";

    return !pthread_getname_np(pthread_self(), name, sizeof(name)) &&
           (!strcmp(name, "decay") || !strcmp(name, "fairtree"));
}

int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until)
{
    static wait_call *wait;
    struct timespec sooner = *until;

    if (!wait)
        wait = library();
    if (computes_priorities())
        sooner.tv_sec -= EARLIER_S;
    return wait(cond, mutex, &sooner);
}
