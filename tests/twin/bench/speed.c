/* The best speed of the machine's memory, for one thread. */
#include "bench.h"

/* Larger than any cache; a power of two, as the walk below needs. */
#define BYTES ((size_t)1 << 30)
#define LINE 64

enum { TURNS = 5, STEPS = 1000000 };

/* Volatile, so that the compiler removes no access. */
static volatile uint64_t sink;

static double read_once(const uint64_t *number)
{
	uint64_t from = twin_clock_real_ns(), sum[8] = { 0 };

	/* Several sums, so that additions do not wait for each other. */
	for (size_t i = 0; i < BYTES / sizeof(*number); i += 8)
		for (int k = 0; k < 8; k++)
			sum[k] += number[i + k];
	for (int k = 0; k < 8; k++)
		sink += sum[k];
	return twin_clock_real_ns() - from;
}

static double copy_once(uint64_t *number)
{
	uint64_t from = twin_clock_real_ns();

	memcpy(number, (char *)number + BYTES / 2, BYTES / 2);
	sink = number[sink % (BYTES / 2 / sizeof(*number))];
	return twin_clock_real_ns() - from;
}

/* A path over all lines, each with the next one's index: a full period modulo 2^n. */
static void lay_path(char *memory)
{
	size_t at = 0, lines = BYTES / LINE;

	for (size_t i = 0; i < lines; i++) {
		size_t to = (at * 5 + 2654435761u) % lines;

		memcpy(memory + at * LINE, &to, sizeof(to));
		at = to;
	}
}

static double walk_once(const char *memory, size_t *at)
{
	uint64_t from = twin_clock_real_ns();

	for (int i = 0; i < STEPS; i++)
		memcpy(at, memory + *at * LINE, sizeof(*at));
	return twin_clock_real_ns() - from;
}

bench_speed bench_speed_measure(void)
{
	bench_speed best = { 0 };
	uint64_t *number = malloc(BYTES);
	double read_ns = 1e18, copy_ns = 1e18, walk_ns = 1e18;
	size_t at = 0;

	if (!number)
		twin_usage_error("no memory to measure");
	memset(number, 1, BYTES);
	for (int i = 0; i < TURNS; i++) {
		read_ns = MIN(read_ns, read_once(number));
		copy_ns = MIN(copy_ns, copy_once(number));
	}
	lay_path((char *)number);
	for (int i = 0; i < TURNS; i++)
		walk_ns = MIN(walk_ns, walk_once((const char *)number, &at));
	sink = at;
	free(number);
	best.read_bytes_per_ns = BYTES / read_ns;
	best.copy_bytes_per_ns = BYTES / 2 / copy_ns;
	best.latency_ns = walk_ns / STEPS;
	return best;
}
