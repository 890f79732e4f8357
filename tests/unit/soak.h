/*
 * soak: how long a random campaign of the history and event tests is.
 *
 *   INTACT_SOAK unset    a sample
 *   INTACT_SOAK=1        the whole of it
 *   INTACT_SOAK=N        N of each kind
 *   INTACT_SOAK_PART=k/n the k-th of n parts (k from 0), each with seeds of
 *                        its own, so that n processes share the work
 */
#ifndef INTACT_TESTS_SOAK_H
#define INTACT_TESTS_SOAK_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline void soak_part(uint64_t *part, uint64_t *parts)
{
	const char *s = getenv("INTACT_SOAK_PART"), *slash = s ? strchr(s, '/') : NULL;
	*parts = slash ? strtoull(slash + 1, NULL, 10) : 1;
	*parts = *parts ? *parts : 1;
	*part = slash ? strtoull(s, NULL, 10) % *parts : 0;
}

/* How many this process judges. */
static inline uint32_t soak_rounds(uint32_t sample, uint32_t whole)
{
	const char *s = getenv("INTACT_SOAK");
	uint64_t part, parts, n = sample;
	if (!s)
		return sample;
	soak_part(&part, &parts);
	n = strtoull(s, NULL, 10);
	n = n > 1 ? n : whole;
	return (uint32_t)((n + parts - 1 - part) / parts);
}

/* Where to begin: INTACT_SEED, or this. */
static inline uint64_t soak_from(uint64_t seed)
{
	const char *s = getenv("INTACT_SEED");
	return s ? strtoull(s, NULL, 10) : seed;
}

static inline uint64_t soak_seed(uint64_t seed)
{
	uint64_t part, parts;
	soak_part(&part, &parts);
	return seed + 1000000 * part;
}

#endif
