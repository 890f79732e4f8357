/* grow: arrays that double, and memory that may end. * GROW(p, cap, need) makes room for `need` elements in
 * the array p of cap elements, cap being an lvalue of 32 or 64 bits; new elements are zero. False when out of
 * memory or the number does not fit, and then array and capacity are as before. Amortised O(1) an element. */
#ifndef INTACT_BASE_GROW_H
#define INTACT_BASE_GROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

#define GROW_FIRST 64u /* elements of an array that was empty */

/* array: the address of the pointer; copied rather than cast, as its type is not known here. */
static inline bool grow64(void *array, uint64_t *cap, uint64_t need, size_t elem)
{
	assert(elem);
	if (need <= *cap)
		return true;
	uint64_t n = *cap ? *cap : GROW_FIRST;
	while (n < need && n <= UINT64_MAX / 2)
		n *= 2;
	if (n < need || n > PTRDIFF_MAX / elem)
		return false;
	void *p;
	memcpy(&p, array, sizeof p);
	p = realloc(p, n * elem);
	if (!p)
		return false;
	memset((char *)p + *cap * elem, 0, (n - *cap) * elem);
	memcpy(array, &p, sizeof p);
	assert(n >= need);
	*cap = n;
	return true;
}

static inline bool grow32(void *array, uint32_t *cap, uint64_t need, size_t elem)
{
	if (need <= *cap)
		return true;
	uint64_t n = *cap;
	if (need > UINT32_C(1) << 31 || !grow64(array, &n, need, elem))
		return false;
	*cap = (uint32_t)n;
	return true;
}

#define GROW(p, cap, need)                                                                         \
	_Generic((cap), uint32_t: grow32, uint64_t: grow64)(&(p), &(cap), (need), sizeof *(p))

#endif
