/* grow: arrays that double. The one idiom for arrays outside arenas (inside one: AVEC of arena.h). * GROW(p, cap, need)
 * makes room for `need` elements in the array p of cap elements, cap being an lvalue of 32 or 64 bits; new elements are
 * zero. False when out of memory or the number does not fit, and then array and capacity are as before. Amortised O(1) an
 * element. * GROW_RAW leaves new elements as they are: for large arrays whose elements are written before they are read,
 * so that no page is touched before it is used. GROW_AS has all that varies: a budget that the bytes are charged to,
 * growth in eighths (large mappings move without being copied, and an eighth at most lies idle), rows of several
 * elements. * What grows otherwise: buf.h (bytes of text, with a sticky failure), lim_realloc of history.h (a budget that
 * threads share), explore/steady.h (elements never move, as other threads read them), and the runtime, which has no
 * malloc of its own. */
#ifndef INTACT_BASE_GROW_H
#define INTACT_BASE_GROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

enum { GROW_FIRST = 16 }; /* elements of an array that was empty */
enum grow_how { GROW_UNSET = 0, GROW_ZERO = 1, GROW_EIGHTHS = 2 };

struct grow_budget {
	uint64_t used, max; /* bytes; max 0: no limit */
};

/* The capacity of an array of `cap` elements that is to hold `need`; 0 when there is none. */
static inline uint64_t grow_size(uint64_t cap, uint64_t need, size_t elem, unsigned how)
{
	uint64_t n = cap ? cap : GROW_FIRST;
	while (n < need && n <= UINT64_MAX / 2)
		n += (how & GROW_EIGHTHS) && n >= 1 << 16 ? n / 8 : n;
	return n < need || (elem && n > (uint64_t)PTRDIFF_MAX / elem) ? 0 : n;
}

/* array: the address of the pointer; copied rather than cast, as its type is not known here. */
static inline bool grow64(void *array, uint64_t *cap, uint64_t need, size_t elem, struct grow_budget *b, unsigned how)
{
	if (need <= *cap)
		return true;
	uint64_t n = grow_size(*cap, need, elem, how), more = (n - *cap) * elem;
	if (!n || (b && b->max && (more > b->max || b->used > b->max - more)))
		return false;
	void *p;
	memcpy(&p, array, sizeof p);
	p = realloc(p, elem ? n * elem : 1);
	if (!p)
		return false;
	if (how & GROW_ZERO)
		memset((char *)p + *cap * elem, 0, more);
	memcpy(array, &p, sizeof p);
	assert(n >= need);
	*cap = n;
	if (b)
		b->used += more;
	return true;
}

static inline bool grow32(void *array, uint32_t *cap, uint64_t need, size_t elem, struct grow_budget *b, unsigned how)
{
	if (need <= *cap)
		return true;
	uint64_t n = *cap;
	if (need > UINT32_C(1) << 31 || !grow64(array, &n, need, elem, b, how))
		return false;
	*cap = (uint32_t)n;
	return true;
}

/* width: elements of a row; budget: NULL or a struct grow_budget. */
#define GROW_AS(how, budget, p, cap, need, width) \
	_Generic((cap), uint32_t : grow32, uint64_t : grow64)(&(p), &(cap), (need), sizeof *(p) * (width), (budget), (how))
#define GROW(p, cap, need)     GROW_AS(GROW_ZERO, NULL, p, cap, need, 1)
#define GROW_RAW(p, cap, need) GROW_AS(GROW_UNSET, NULL, p, cap, need, 1)

#endif
