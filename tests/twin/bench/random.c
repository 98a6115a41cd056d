/* Random numbers, the same in every run: splitmix64. */
#include "bench.h"

uint64_t bench_random(uint64_t *state)
{
	uint64_t mixed = (*state += 0x9e3779b97f4a7c15ULL);

	mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
	mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
	return mixed ^ (mixed >> 31);
}

uint32_t bench_random_below(uint64_t *state, uint32_t limit)
{
	return ((bench_random(state) >> 32) * limit) >> 32;
}
