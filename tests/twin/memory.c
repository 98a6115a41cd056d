/*
 * A guard after every block of Slurm's allocator.
 *
 * slurm_xcalloc() is defined here; the executable comes first in symbol lookup,
 * so the plugin and libslurmfull call this one. The block is larger than
 * requested, and its header, which is in front of it, has the requested size:
 * no other code sees the difference.
 */
#include <dlfcn.h>

#include "host.h"

enum { GUARD = 64, PAINT = 0xa5 };

typedef void *(*allocator)(size_t count, size_t size, bool clear, bool try,
			   const char *file, int line, const char *function);

static allocator library(void)
{
	static union {
		void *symbol;
		allocator call;
	} found;

	if (!found.symbol)
		found.symbol = dlsym(RTLD_NEXT, "slurm_xcalloc");
	if (!found.symbol)
		abort();
	return found.call;
}

void *slurm_xcalloc(size_t count, size_t size, bool clear, bool try,
		    const char *file, int line, const char *function)
{
	size_t bytes;
	char *block;

	/* The library must refuse an overflow or an empty block. */
	if (__builtin_mul_overflow(count, size, &bytes) || !bytes ||
	    (bytes > SIZE_MAX / 4))
		return library()(count, size, clear, try, file, line, function);
	block = library()(bytes + GUARD, 1, clear, try, file, line, function);
	if (!block)
		return NULL;
	((size_t *)block)[-1] = bytes;
	if (xsize(block) != bytes)
		twin_usage_error("a block of memory has another header than is known");
	memset(block + bytes, PAINT, GUARD);
	return block;
}

void twin_memory_check(void *block, const char *what, uint32_t id)
{
	const unsigned char *guard = (unsigned char *)block + xsize(block);

	for (int i = 0; i < GUARD; i++)
		if (guard[i] != PAINT)
			twin_memory_error("%s %" PRIu32 " is written past its end of %zu bytes",
					  what, id, xsize(block));
}
