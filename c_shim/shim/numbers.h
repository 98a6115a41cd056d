/* numbers.h - numbers and arrays, the same on both sides. */
#ifndef FAIRTREE_SHIM_NUMBERS_H
#define FAIRTREE_SHIM_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHIM_NONE UINT32_MAX

/* x87's 80-bit number, with its layout in memory. */
typedef struct {
	uint64_t mantissa;
	uint16_t sign_exponent;
} shim_extended;

/* logl of the C library that slurmctld uses. */
extern shim_extended shim_logl(shim_extended value);

/* An array that grows. */
#define SHIM_ROWS(name, type)									\
	typedef struct {									\
		type *at;									\
		size_t len;									\
		size_t cap;									\
	} name

SHIM_ROWS(shim_u32_rows, uint32_t);
SHIM_ROWS(shim_u64_rows, uint64_t);
SHIM_ROWS(shim_pointer_rows, void *);

#endif
