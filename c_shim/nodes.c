/*
 * nodes.c - walks along slurmctld's lists with prefetch of list nodes.
 *
 * A node holds the address of the next one, so a walk misses the cache once per node, one miss
 * after the other. Lists hardly change between passes: the addresses of the nodes in the last walk
 * are kept, and are prefetched some nodes ahead. They are only hints: they are never dereferenced,
 * and the walk is that of list_for_each, under the list's own lock.
 *
 * The layout of lists and nodes is not in Slurm's headers. It is the same in all known releases,
 * and is tested at start on a list of our own (shim_nodes_learn); if it differs, or with
 * FAIRTREE_NODE_PREFETCH=off in slurmctld's environment, nothing is kept or prefetched.
 *
 * The head of a job's list of partitions is read without that list's own lock. slurmctld changes
 * and sorts such a list only under the job write lock, and the caller holds a job lock.
 *
 * Gain: without this a pass takes 40 % more CPU time with job records scattered in memory, 7 % with
 * fresh ones; without it for the lists of partitions alone, 10 % more (`time_pass` of the bench
 * host in tests/twin/bench, 100,000 jobs and 50,000 users, alternating processes; 32fc6dc).
 */
#define _GNU_SOURCE /* pipe2 */
#include "nodes.h"

#include <fcntl.h>
#include <unistd.h>

typedef struct node {
	void *data;
	const struct node *next;
} list_node;

/* The pointer to the first node follows the magic number of a list. */
typedef struct {
	uint64_t magic;
	const list_node *head;
} list_start;

/* Set once, before the plugin has threads. */
static bool known;

/* Copies memory that may be unmapped: the kernel checks it first. */
static bool read_unsure(const int pipe[2], const void *from, void *to, size_t len)
{
	return write(pipe[1], from, len) == (ssize_t) len &&
	       read(pipe[0], to, len) == (ssize_t) len;
}

/* Returns true if a list of these elements consists of such nodes. */
static bool is_chain(const int pipe[2], const void *list, int *const *elements, size_t len)
{
	list_start start;
	const list_node *at;
	list_node node;

	if (!read_unsure(pipe, list, &start, sizeof(start)))
		return false;
	at = start.head;
	for (size_t i = 0; i < len; i++) {
		if (!read_unsure(pipe, at, &node, sizeof(node)) || node.data != elements[i])
			return false;
		at = node.next;
	}
	return !at;
}

bool shim_nodes_learn(void)
{
	int marks[3];
	int *const elements[] = { &marks[0], &marks[1], &marks[2] };
	int pipe[2];
	host_list list;

	known = false;
	if (pipe2(pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		return false;
	list = list_create(NULL);
	for (size_t i = 0; i < 3; i++)
		list_append(list, elements[i]);
	known = is_chain(pipe, list, elements, 3);
	list_destroy(list);
	close(pipe[0]);
	close(pipe[1]);
	return known;
}

/* ---- walks ------------------------------------------------------------------------------- */

/* Nodes are prefetched this many elements ahead, eight together: TLB misses overlap, too. */
#define NODES_AHEAD 64
#define NODES_AT_ONCE 8
/* A walk searches for a node within this distance after its place in the last walk. */
#define GONE_AT_ONCE 64

/* If memory is short, fewer nodes are kept: that is not an error. */
static void make_room(shim_u32_rows *nodes, size_t expected)
{
	size_t want = expected < nodes->cap + nodes->cap / 16 ? nodes->cap + nodes->cap / 16 :
								expected;
	uint32_t *grown;

	if (expected <= nodes->cap)
		return;
	grown = reallocarray(nodes->at, want, sizeof(*grown));
	if (!grown)
		return;
	nodes->at = grown;
	nodes->cap = want;
}

void host_trail_begin(host_trail *trail, shim_u32_rows *nodes, size_t expected)
{
	*trail = (host_trail) { .nodes = nodes, .last_len = nodes->len };
	nodes->len = 0;
	if (known)
		make_room(nodes, expected);
}

/* Addresses of nodes are multiples of 16, and less than 32 GiB from each other. */
static uint32_t note_of(const list_node *node)
{
	return (uint32_t) ((uintptr_t) node >> 4);
}

static const void *noted(uint32_t note, const list_node *near)
{
	int64_t distance = (int32_t) (note - note_of(near));

	return (const void *) ((uintptr_t) near + (uintptr_t) (distance * 16));
}

/* Moves to the place of the node in the last walk, if it was there. */
static bool find_noted(host_trail *trail, uint32_t note)
{
	for (size_t i = trail->next; i < trail->last_len && i < trail->next + GONE_AT_ONCE; i++) {
		if (trail->nodes->at[i] == note) {
			trail->next = i + 1;
			return true;
		}
	}
	return false;
}

/*
 * Notes of this walk overwrite those of the last one in the same array. A node that the last walk
 * did not visit is left out, unless all nodes of the last walk have been visited.
 */
static __attribute__((noinline)) void keep_other_note(host_trail *trail, uint32_t note)
{
	bool found = find_noted(trail, note);
	shim_u32_rows *nodes = trail->nodes;

	if (found || trail->next == trail->last_len) {
		if (nodes->len < nodes->cap)
			nodes->at[nodes->len++] = note;
	}
}

static void keep_note(host_trail *trail, uint32_t note)
{
	shim_u32_rows *nodes = trail->nodes;
	size_t len = nodes->len;

	trail->seen++;
	if (len == trail->next && len < trail->last_len && nodes->at[len] == note) {
		/* The usual case: nothing has changed since the last walk. */
		trail->next = nodes->len = len + 1;
	} else {
		keep_other_note(trail, note);
	}
}

static void prefetch_ahead(const host_trail *trail, const list_node *node)
{
	const uint32_t *notes = trail->nodes->at;
	size_t end = trail->next + NODES_AHEAD + NODES_AT_ONCE;

	if (end > trail->last_len)
		end = trail->last_len;
	for (size_t i = trail->next + NODES_AHEAD; i < end; i++)
		prefetch_l2(noted(notes[i], node));
}

static int follow(void *element, void *arg)
{
	host_trail *trail = arg;
	const list_node *node = trail->node;

	if (trail->list) {
		/* Under the list's own lock, as all of list_for_each. */
		node = ((const list_start *) trail->list)->head;
		trail->list = NULL;
	}
	if (node && node->data == element) {
		keep_note(trail, note_of(node));
		if (trail->next % NODES_AT_ONCE == 0)
			prefetch_ahead(trail, node);
		trail->node = node->next;
	} else {
		trail->node = NULL;
	}
	return trail->each(element, trail->arg);
}

int host_trail_walk(host_trail *trail, host_list list, int (*each)(void *element, void *arg),
		    void *arg)
{
	if (!known)
		return list_for_each_ro(list, each, arg);
	trail->list = list;
	trail->node = NULL;
	trail->each = each;
	trail->arg = arg;
	return list_for_each_ro(list, follow, trail);
}

void host_trail_end(host_trail *trail)
{
	/* The lists differ from those of the last walk: the next walk starts without notes. */
	if (trail->nodes->len < trail->seen / 2)
		trail->nodes->len = 0;
}

void host_prefetch_first(const void *list)
{
	if (known)
		prefetch_l2(((const list_start *) list)->head);
}

void host_prefetch_second(const void *list)
{
	const list_node *first = known ? ((const list_start *) list)->head : NULL;

	if (first)
		prefetch_l2(first->next);
}
