/* SPDX-License-Identifier: MIT */
/* Random decisions that a seed repeats (splitmix64). */
#ifndef STORM_CHANCE_H
#define STORM_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

struct chance {
	uint64_t state; /* the seed at first */
};

static inline uint64_t chance_next(struct chance *c)
{
	uint64_t x = c->state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* Uniform in 0 .. n-1. */
static inline uint64_t chance_below(struct chance *c, uint64_t n)
{
	return chance_next(c) % n;
}

/* Uniform in from .. to. */
static inline uint64_t chance_in(struct chance *c, uint64_t from, uint64_t to)
{
	return from + chance_below(c, to - from + 1);
}

static inline bool chance_percent(struct chance *c, uint32_t percent)
{
	return chance_below(c, 100) < percent;
}

#endif
