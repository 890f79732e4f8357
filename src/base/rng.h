/*
 * rng: a small reproducible generator (xoshiro256**, seeded by splitmix64).
 * The same seed gives the same sequence everywhere; not for secrets.
 */
#ifndef INTACT_BASE_RNG_H
#define INTACT_BASE_RNG_H

#include <stdint.h>

#include "base/invariant.h"

struct rng {
	uint64_t s[4];
};

static inline uint64_t rng_mix(uint64_t *x)
{
	uint64_t z = (*x += 0x9E3779B97F4A7C15u);
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
}

static inline void rng_seed(struct rng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		r->s[i] = rng_mix(&seed);
}

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t *s = r->s;
	uint64_t m = s[1] * 5, t = s[1] << 17;
	uint64_t out = ((m << 7) | (m >> 57)) * 9;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = (s[3] << 45) | (s[3] >> 19);
	return out;
}

/* Uniform in 0..n-1 (n > 0), without modulo bias worth speaking of. */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
	assert(n > 0);
	return (uint32_t)(((rng_next(r) >> 32) * (uint64_t)n) >> 32);
}

#endif
