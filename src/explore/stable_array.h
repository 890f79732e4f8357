/*
 * stable_array: an array that grows without moving, so that it can be read while
 * another thread appends.
 *
 * Chunk k holds STABLE_ARRAY_BASE << k elements; the element i is found from the
 * leading bit of i + STABLE_ARRAY_BASE. One writer at a time (the caller's lock);
 * a reader may look at any element whose index it got from the writer
 * through a release store and an acquire load.
 */
#ifndef INTACT_EXPLORE_STABLE_ARRAY_H
#define INTACT_EXPLORE_STABLE_ARRAY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/invariant.h"

#define STABLE_ARRAY_LOG   8u
#define STABLE_ARRAY_BASE  (1u << STABLE_ARRAY_LOG)
#define STABLE_ARRAY_PARTS (33u - STABLE_ARRAY_LOG)

struct stable_array {
	char *part[STABLE_ARRAY_PARTS];
	uint32_t size; /* bytes of an element */
	uint32_t nparts;
	uint64_t cap; /* elements there is room for */
};

static inline void stable_array_init(struct stable_array *s, uint32_t size)
{
	*s = (struct stable_array){ .size = size };
}

static inline void stable_array_free(struct stable_array *s)
{
	for (uint32_t i = 0; i < s->nparts; i++)
		free(s->part[i]);
	stable_array_init(s, s->size);
}

/* Room for n elements, new ones zero; false when out of memory. */
static inline bool stable_array_reserve(struct stable_array *s, uint64_t n)
{
	while (s->cap < n) {
		uint64_t more = (uint64_t)STABLE_ARRAY_BASE << s->nparts;
		char *p = s->nparts < STABLE_ARRAY_PARTS ? calloc(more, s->size) : NULL;
		if (!p)
			return false;
		s->part[s->nparts++] = p;
		s->cap += more;
	}
	return true;
}

static inline void *stable_array_at(const struct stable_array *s, uint32_t i)
{
	assert(i < s->cap);
	uint64_t j = (uint64_t)i + STABLE_ARRAY_BASE;
	unsigned k = 63u - (unsigned)__builtin_clzll(j);
	return s->part[k - STABLE_ARRAY_LOG] + (j - ((uint64_t)1 << k)) * s->size;
}

/* The first index from i on where n elements lie side by side. */
static inline uint64_t stable_array_run(uint64_t i, uint64_t n)
{
	for (;;) {
		unsigned k = 63u - (unsigned)__builtin_clzll(i + STABLE_ARRAY_BASE);
		uint64_t end = ((uint64_t)2 << k) - STABLE_ARRAY_BASE;
		assert(n <= (uint64_t)1 << 40 && i < end);
		if (i + n <= end)
			return i;
		i = end;
	}
}

static inline uint64_t stable_array_bytes(const struct stable_array *s)
{
	return s->cap * s->size;
}

#endif
