/*
 * For ThreadSanitizer: functions that the plugin's compiler calls, and that the
 * library of an older gcc does not have. Its own memset and similar functions
 * are watched, too.
 */
#ifdef __SANITIZE_THREAD__
#include <stddef.h>
#include <string.h>

void *__tsan_memset(void *to, int value, size_t size);
void *__tsan_memcpy(void *to, const void *from, size_t size);
void *__tsan_memmove(void *to, const void *from, size_t size);

__attribute__((weak)) void *__tsan_memset(void *to, int value, size_t size)
{
	return memset(to, value, size);
}

__attribute__((weak)) void *__tsan_memcpy(void *to, const void *from,
					  size_t size)
{
	return memcpy(to, from, size);
}

__attribute__((weak)) void *__tsan_memmove(void *to, const void *from,
					   size_t size)
{
	return memmove(to, from, size);
}
#endif
