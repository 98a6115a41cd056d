/*
 * Counts malloc and similar calls, and scatters their memory on request.
 *
 * The executable comes first in symbol lookup, so the plugin, libslurmfull and
 * the host itself allocate here. Memory is the plugin's own if its code
 * requested it; memory that it requests through libslurmfull belongs to
 * slurmctld's records.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "bench.h"

/* The C library's own functions, exported under these names. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

/* ---- counting ------------------------------------------------------------------- */

static _Atomic uint64_t calls;
static _Atomic uint64_t owned, owned_most;
/* The plugin's code. */
static struct {
	uintptr_t from, to;
} code;

#define CALLER ((uintptr_t)__builtin_return_address(0))

static bool is_plugin(uintptr_t caller)
{
	return (caller >= code.from) && (caller < code.to);
}

static void *note_new(void *block, uintptr_t caller)
{
	uint64_t now;

	atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
	if (!block || !is_plugin(caller))
		return block;
	now = atomic_fetch_add_explicit(&owned, malloc_usable_size(block),
					memory_order_relaxed) +
	      malloc_usable_size(block);
	if (now > owned_most)
		owned_most = now;
	return block;
}

static void note_gone(void *block, uintptr_t caller)
{
	if (block && is_plugin(caller))
		atomic_fetch_sub_explicit(&owned, malloc_usable_size(block),
					  memory_order_relaxed);
}

static int find_code(struct dl_phdr_info *object, size_t size, void *name)
{
	(void)size;
	if (strcmp(object->dlpi_name, name))
		return 0;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];

		if ((part->p_type != PT_LOAD) || !(part->p_flags & PF_X))
			continue;
		code.from = object->dlpi_addr + part->p_vaddr;
		code.to = code.from + part->p_memsz;
	}
	return 1;
}

void bench_memory_count(const char *plugin)
{
	struct link_map *map;
	/* Slurm's own loader will find it loaded. */
	void *handle = dlopen(plugin, RTLD_LAZY);

	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map))
		twin_usage_error("%s: %s", plugin, dlerror());
	dl_iterate_phdr(find_code, map->l_name);
	if (!code.to)
		twin_usage_error("%s: no code", plugin);
}

bench_memory bench_memory_take(void)
{
	bench_memory found = {
		.calls = atomic_exchange(&calls, 0),
		.owned = owned,
		.owned_most = owned_most,
	};

	owned_most = owned;
	return found;
}

/* ---- scattering -------------------------------------------------------------------- */

enum { CLASS = 16, CLASSES = 128 };

/* Slots of one size, given out in random order, and never reused. */
static struct {
	char *base;
	uint32_t *order;
	uint32_t next;
} pool[CLASSES];
static uint32_t slots;
static uint64_t chance;
/* Set only in the thread that makes the jobs. */
static __thread bool scattering;
/* Memory of the pools: no other mapping is in between. */
static char *arena, *arena_next, *arena_end;

static void *map(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		twin_usage_error("no memory for the jobs");
	return at;
}

static bool is_scattered(const void *block)
{
	return ((const char *)block >= arena) && ((const char *)block < arena_end);
}

static void fill_pool(size_t class)
{
	size_t size = (class + 1) * CLASS * slots;

	if (!arena) {
		size_t all = (size_t)1 << 40;

		arena = arena_next = map(all);
		arena_end = arena + all;
	}
	pool[class].base = arena_next;
	arena_next += (size + 4095) & ~(size_t)4095;
	if (!pool[class].order)
		pool[class].order = map(slots * sizeof(uint32_t));
	for (uint32_t i = 0; i < slots; i++) {
		uint32_t other = bench_random_below(&chance, i + 1);

		pool[class].order[i] = pool[class].order[other];
		pool[class].order[other] = i;
	}
	pool[class].next = 0;
}

/* Zeroed: new from the system, and never used before. */
static void *slot_of(size_t size)
{
	size_t class = (size ? size - 1 : 0) / CLASS;

	if (!pool[class].base || (pool[class].next == slots))
		fill_pool(class);
	return pool[class].base +
	       (size_t)pool[class].order[pool[class].next++] * (class + 1) * CLASS;
}

static bool wants_slot(size_t size)
{
	return scattering && (size <= CLASS * CLASSES);
}

void bench_memory_scatter(uint32_t count, uint64_t seed)
{
	slots = count;
	chance = seed;
	scattering = true;
}

void bench_memory_together(void)
{
	scattering = false;
}

/* ---- the functions themselves --------------------------------------------------------- */

void *malloc(size_t size)
{
	if (wants_slot(size))
		return slot_of(size);
	return note_new(__libc_malloc(size), CALLER);
}

void *calloc(size_t count, size_t size)
{
	if (wants_slot(count * size))
		return slot_of(count * size);
	return note_new(__libc_calloc(count, size), CALLER);
}

static void *resize(void *block, size_t size, uintptr_t caller)
{
	void *new;

	if (is_scattered(block)) {
		/* Its size is unknown, but no slot is larger; memory follows the last. */
		if ((new = note_new(__libc_malloc(size), caller)))
			memcpy(new, block, size < CLASS * CLASSES ?
					   size : CLASS * CLASSES);
		return new;
	}
	note_gone(block, caller);
	return note_new(__libc_realloc(block, size), caller);
}

void *realloc(void *block, size_t size)
{
	return resize(block, size, CALLER);
}

void *reallocarray(void *block, size_t count, size_t size)
{
	size_t all;

	if (__builtin_mul_overflow(count, size, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	return resize(block, all, CALLER);
}

void *memalign(size_t alignment, size_t size)
{
	return note_new(__libc_memalign(alignment, size), CALLER);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return note_new(__libc_memalign(alignment, size), CALLER);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
	void *new = note_new(__libc_memalign(alignment, size), CALLER);

	if (!new)
		return ENOMEM;
	*block = new;
	return 0;
}

void free(void *block)
{
	if (is_scattered(block))
		return;
	note_gone(block, CALLER);
	__libc_free(block);
}
