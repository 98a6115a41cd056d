/*
 * nodes.h - walks along slurmctld's lists with prefetch of list nodes.
 */
#ifndef FAIRTREE_NODES_H
#define FAIRTREE_NODES_H

#include "host.h"
#include "prefetch.h"

/* A walk along lists, one after the other, and the addresses of their nodes in the last walk. */
typedef struct {
	shim_u32_rows *nodes;
	size_t last_len; /* notes of the last walk */
	size_t next;	 /* place in the last walk at which to look for the next node */
	size_t seen;
	host_list list;	  /* the present list, until its first element has come */
	const void *node; /* the expected next node; NULL: unknown */
	int (*each)(void *element, void *arg);
	void *arg;
} host_trail;

/* `nodes` is the same for each walk; `expected`: number of elements of all lists. */
extern void host_trail_begin(host_trail *trail, shim_u32_rows *nodes, size_t expected);
/* list_for_each_ro. Needs the lock of the list's elements, from begin to end. */
extern int host_trail_walk(host_trail *trail, host_list list,
			   int (*each)(void *element, void *arg), void *arg);
extern void host_trail_end(host_trail *trail);
/*
 * Prefetch a list that will be walked, then its first node, then the second, each after the one
 * before has arrived. Need the lock of the list's elements.
 */
static inline void host_prefetch_list(const void *list)
{
	prefetch_l2(list);
	prefetch_l2((const char *) list + CACHE_LINE);
}
extern void host_prefetch_first(const void *list);
extern void host_prefetch_second(const void *list);

#endif
