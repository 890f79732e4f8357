/*
 * trail: what a thread did to data while it held locks: a ring of its accesses.
 *
 * An access is entered when it is the first of its kind to these bytes since the
 * thread took or released a lock: all others are settled by the fast path of the hooks.
 * Sections know the positions at which they began and ended, so their data is a piece
 * of the ring. Neighbouring words that one instruction touches one after the other
 * (a copy, a loop) are one entry.
 *
 * Traced are the first TRAIL_FIRST sections of a lock, and all from the first gap in its
 * protection on: what a program does all the time without a gap costs nothing.
 *
 * Not entered: reads of data that no thread has written since all only read it. When
 * such data is written under a lock, `untraced` of the lock says until when its
 * sections may have read it unseen (reduction.h).
 *
 * A ring belongs to a slot of threads and is never given back; only its thread looks at
 * it. Positions only grow. Of the first sections of a thread under a lock, copies are kept
 * where others see them (facts.h).
 *
 * facts.c makes of this what a finding says about variables.
 */
#ifndef INTACT_DYNAMIC_TRAIL_H
#define INTACT_DYNAMIC_TRAIL_H

#include <stdbool.h>
#include <stdint.h>

enum { TRAIL_SIZE = 2048, TRAIL_FIRST = 1024 };

/* `info`: bits 7..0 the bytes of the word, then these. */
enum {
	TRAIL_WRITE = 1 << 8,
	TRAIL_SHARED = 1 << 9,  /* several threads use it */
	TRAIL_FORGET = 1 << 10, /* no access: `pc` bytes were given back */
	TRAIL_BARE = 1 << 11    /* of no section: read without a lock, in front of one (sections.c, looked_before) */
};

struct trail_entry {
	uintptr_t addr;
	uintptr_t pc;
	uint64_t was; /* the cell's first word as it was found (shadow.h); 0: it was the thread's own */
	uint32_t info;
	uint32_t more; /* words that follow */
};

struct trail {
	uint32_t n; /* entries so far */
	uint32_t pad;
	struct trail_entry none; /* in front of the first: of no instruction */
	struct trail_entry e[TRAIL_SIZE];
};

/* A piece of a ring. */
struct trail_piece {
	uint32_t from, to;
};

/* How many entries so far. */
static inline uint32_t trail_now(const struct trail *r)
{
	return r->n;
}

static inline const struct trail_entry *trail_at(const struct trail *r, uint32_t i)
{
	return &r->e[i % TRAIL_SIZE];
}

/* Is the entry at this position still there? */
static inline bool trail_has(const struct trail *r, uint32_t i)
{
	return trail_now(r) - i <= TRAIL_SIZE;
}

/* The same instruction touches the word after that of the last entry, both whole. */
static inline bool trail_grows(struct trail *r, uintptr_t addr, uint32_t info)
{
	struct trail_entry *last = &r->e[(r->n - 1) % TRAIL_SIZE];
	if ((info & 0xff) != 0xff || last->info != info || last->addr + 8 * (uintptr_t)(last->more + 1) != addr)
		return false;
	last->more++;
	return true;
}

/* `floor`: where the section that is open began: what was there before stays as it is. */
static inline __attribute__((always_inline)) void trail_push(struct trail *r, uintptr_t addr, uint32_t info, uint64_t was,
                                                             uintptr_t pc, uint32_t floor)
{
	uint32_t n = r->n;
	struct trail_entry *e = &r->e[n % TRAIL_SIZE];
	if (__builtin_expect(e[-1].pc == pc, 0) && n != floor && trail_grows(r, addr, info))
		return;
	e->addr = addr;
	e->pc = pc;
	e->was = was;
	e->info = info;
	e->more = 0;
	r->n = n + 1;
}

#endif
