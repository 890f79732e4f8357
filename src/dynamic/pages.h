/*
 * pages: memory straight from the kernel, and spin locks, for code that also
 * lives inside the program under test.
 *
 * The analyses of this room are compiled twice: into the tool, and into the
 * runtime, where they may use neither malloc nor a lock of the program's. So
 * all their tables are anonymous mappings: reserved at their full size, paid
 * for as they are touched.
 */
#ifndef INTACT_DYNAMIC_PAGES_H
#define INTACT_DYNAMIC_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/invariant.h"

/* `size` zeroed bytes, or NULL when the address space or limit is used up. */
void *pages_map(size_t size);
void pages_unmap(void *p, size_t size);
/* The same, at a multiple of a large page. */
void *pages_map_large(size_t size);
/* The large page that `p` is in (of pages_map_large) becomes one, if enough
 * of it is in use and the kernel will: one entry of the processor's tables
 * instead of hundreds. */
void pages_dense(void *p);
enum { PAGES_LARGE = 2 << 20 };
/* Which of n pages from `p` on are in memory: bit 0 of there[i]. False: not known. */
bool pages_there(void *p, size_t n, unsigned char *there);
/* Zeroes [p, p + size), giving whole pages back to the kernel. */
void pages_clear(void *p, size_t size);

/* A lock held for a few dozen instructions; yields when it has to wait long. */
struct spin {
	uint32_t held;
};
void spin_wait(struct spin *s);

static inline void spin_lock(struct spin *s)
{
	uint32_t want = 0;
	if (!__atomic_compare_exchange_n(&s->held, &want, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		spin_wait(s);
}

static inline void spin_unlock(struct spin *s)
{
	assert(__atomic_load_n(&s->held, __ATOMIC_RELAXED) == 1);
	__atomic_store_n(&s->held, 0, __ATOMIC_RELEASE);
}

static inline uint64_t mix64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	return x ^ x >> 32;
}

#endif
