/*
 * steady: an array that grows without moving, so that it can be read while
 * somebody else appends.
 *
 * Chunk k holds STEADY_BASE << k elements; the element i is found from the
 * leading bit of i + STEADY_BASE. One writer at a time (the caller's lock);
 * a reader may look at any element whose index it got from the writer
 * through a release store and an acquire load.
 */
#ifndef INTACT_EXPLORE_STEADY_H
#define INTACT_EXPLORE_STEADY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/invariant.h"

#define STEADY_LOG   8u
#define STEADY_BASE  (1u << STEADY_LOG)
#define STEADY_PARTS (33u - STEADY_LOG)

struct steady {
	char *part[STEADY_PARTS];
	uint32_t size;  /* bytes of an element */
	uint32_t nparts;
	uint64_t cap;   /* elements there is room for */
};

static inline void steady_init(struct steady *s, uint32_t size)
{
	*s = (struct steady){ .size = size };
}

static inline void steady_free(struct steady *s)
{
	for (uint32_t i = 0; i < s->nparts; i++)
		free(s->part[i]);
	steady_init(s, s->size);
}

/* Room for n elements, new ones zero; false when memory ends. */
static inline bool steady_reserve(struct steady *s, uint64_t n)
{
	while (s->cap < n) {
		uint64_t more = (uint64_t)STEADY_BASE << s->nparts;
		char *p = s->nparts < STEADY_PARTS ? calloc(more, s->size) : NULL;
		if (!p)
			return false;
		s->part[s->nparts++] = p;
		s->cap += more;
	}
	return true;
}

static inline void *steady_at(const struct steady *s, uint32_t i)
{
	assert(i < s->cap);
	uint64_t j = (uint64_t)i + STEADY_BASE;
	unsigned k = 63u - (unsigned)__builtin_clzll(j);
	return s->part[k - STEADY_LOG] + (j - ((uint64_t)1 << k)) * s->size;
}

/* The first index from i on where n elements lie side by side. */
static inline uint64_t steady_run(uint64_t i, uint64_t n)
{
	for (;;) {
		unsigned k = 63u - (unsigned)__builtin_clzll(i + STEADY_BASE);
		uint64_t end = ((uint64_t)2 << k) - STEADY_BASE;
		assert(n <= (uint64_t)1 << 40 && i < end);
		if (i + n <= end)
			return i;
		i = end;
	}
}

static inline uint64_t steady_bytes(const struct steady *s)
{
	return s->cap * s->size;
}

#endif
