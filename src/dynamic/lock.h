/*
 * lock: what is known of every synchronisation object, by address.
 *
 * Ids are 32-bit and never reused; an object that is destroyed, freed or
 * initialised again keeps its id and loses its history. Objects are found by
 * a hash of their 256-byte granule, so that freeing memory can find the
 * objects inside; a filter of pages makes that free when there are none.
 *
 * A clock is an array of epochs by thread slot; slots from CLOCK_MAX on are
 * not followed (and are taken as ordered: see shadow.c).
 *
 * Evidence is what other threads were seen doing under a lock. It is what
 * makes a block that releases the lock a finding (reduction.h).
 */
#ifndef INTACT_DYNAMIC_LOCK_H
#define INTACT_DYNAMIC_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dynamic/pages.h"

enum { CLOCK_MAX = 1024, LOCK_EVIDENCE = 4 };

struct bump { /* memory that is given back all at once, if ever */
	char *next, *end;
	struct bump_chunk *chunks;
	struct spin lock;
};
void *bump_alloc(struct bump *b, size_t size);
/* All of it, when it is no longer used. */
void bump_free(struct bump *b);

struct clock {
	uint32_t *e;
	uint32_t n, cap;
};
/* dst = max(dst, src) entry by entry; dst = src. False without memory. */
bool clock_join(struct bump *b, struct clock *dst, const struct clock *src);
bool clock_copy(struct bump *b, struct clock *dst, const struct clock *src);
void clock_clear(struct clock *c);
bool clock_reserve(struct bump *b, struct clock *c, uint32_t n);
/* Entry by entry; what is not there is zero. */
bool clock_equal(const struct clock *a, const struct clock *b);

struct evidence {
	uint32_t uid;            /* the thread; 0: none */
	uint32_t held;           /* its other locks */
	uint32_t acquire, write; /* stacks; write 0: it only read */
	uint16_t tid, kept;      /* its slot; what is kept of its sections (facts.h) */
	uint32_t epoch;          /* the last time, by the thread's own count */
	uint32_t since;          /* its `since` then (reduction.h) */
	uint32_t token;          /* all it did was to take it or give it back (token.h) */
};

/* A section on a lock that has ended; uid 0: none has. */
struct lock_section {
	uint32_t uid, seq;       /* whose, and the lock's count then */
	uint32_t acquire, write; /* stacks; write 0: it only read */
	uint32_t held;           /* the other locks held at its end */
	bool read;               /* a reader's */
};

struct lock {
	uintptr_t addr;
	uint32_t next;         /* in the same granule's chain */
	uint32_t life;         /* counts the objects that lived here */
	uint32_t seq;          /* acquisitions so far */
	uint32_t taker;        /* thread whose section last took a token (token.h) */
	uint32_t owner, owned; /* thread that holds it, not as a reader, and since where; 0: none, or not asked (lock_order.h) */
	uint32_t untraced;     /* sections before this `seq` may have read what is in no trail */
	bool pending, monitor; /* findings wait for evidence; it was used with a condition (token.h) */
	uint32_t created;      /* stack of its initialisation, or of the first acquire
	                          (LOCK_FIRST_USE); 0: unknown */
	uint32_t nev;
	struct spin spin;
	/* Whose release `clock` is a copy of, and when: who knows that epoch of
	 * that thread knows all of the clock. tid 0: it is several threads'. */
	uint32_t rel_tid, rel_epoch;
	uint32_t lived;       /* earlier objects here that were taken as locks */
	uint64_t rel_note;    /* what a recorder knows that release by */
	struct clock clock;   /* of releases after writing: for everyone */
	struct clock readers; /* of releases after reading: for writers */
	/* The last sections that wrote and that did not. Of readers since the last
	 * writer the one with the lowest number is kept: they have no order. */
	struct lock_section wrote, last;
	struct evidence ev[LOCK_EVIDENCE];
};

#define LOCK_FIRST_USE (1u << 31)

/* The last section of all. */
static inline const struct lock_section *lock_last(const struct lock *l)
{
	return !l->last.uid || (l->wrote.uid && l->wrote.seq > l->last.seq) ? &l->wrote : &l->last;
}

/* Is `last` a reader's, since the last that was none? */
static inline bool lock_readers(const struct lock *l)
{
	return l->last.uid && l->last.read && (!l->wrote.uid || l->last.seq > l->wrote.seq);
}

struct lock_table {
	struct lock *locks;
	uint32_t *heads;
	uint64_t *pages; /* the filter */
	uint32_t n, max; /* n == max: full */
	struct spin spin[64];
};

bool lock_init(struct lock_table *t);
void lock_free(struct lock_table *t);
/* The id of the object at this address, made when new; 0 when full. */
uint32_t lock_id(struct lock_table *t, uintptr_t addr);
/* The same, when there is one; else 0. */
uint32_t lock_known(const struct lock_table *t, uintptr_t addr);
/* A new object begins at this address: forget the old one's history. */
void lock_renew(struct lock *l);
/* Memory is gone: renew every object in it. */
void lock_forget(struct lock_table *t, uintptr_t addr, size_t size);
/* Those in memory that is gone get `delta` added to their addresses: what is there
 * from now on are other objects. Returns how many there were. */
uint32_t lock_move(struct lock_table *t, uintptr_t addr, size_t size, uintptr_t delta);
/* Was there ever an object in this memory, a small piece? */
bool lock_within(const struct lock_table *t, uintptr_t addr, size_t size);

#endif
