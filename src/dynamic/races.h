/*
 * races: data races by happens-before, exact for the execution that is watched.
 *
 * Two accesses race when they touch the same byte, one of them writes, not both are
 * atomic operations, and neither happened before the other by the clocks of threads
 * (reduction.h, `clock`). A cell of eight bytes keeps the accesses that a later one
 * could still race with: an access is dropped for bytes that a later one covers which
 * it happened before, and which conflicts with all that it conflicts with (a write covers
 * reads and writes, a read only reads; what is not atomic covers what is). Whatever races
 * with the dropped one races with the later one, too: so of every variable on which there is a
 * race, one is found. No access is forgotten for lack of room, as long as there is
 * memory; when there is none that is said.
 *
 * Representation. Two marks for each cell, of 16 bytes, in leaves of their own (shadow.h has
 * those of the reduction). A mark's key:
 *   63..32 epoch   31..16 thread's slot   15..8 bytes   7..0 RACE_*
 * When two do not suffice, the first says where a list is (RACE_MORE), and the second is a
 * copy of the latest. RACE_BUSY in the first key: the cell is being changed.
 *
 * Epochs are those after a thread's last release (`stamp`): between two releases nothing
 * that it does can be distinguished by another thread, so the same access again is known
 * by one comparison of the key (races_known), without writing.
 *
 * Threads beyond CLOCK_MAX, and those whose creation was not seen, are not followed. What
 * a program does before it makes its first thread is not entered: it came before all else.
 *
 * Cost: about 40 instructions for an access that is new in its thread's stamp, those of its
 * stack, and of memory four bytes for each byte that is touched, where threads exist.
 */
#ifndef INTACT_DYNAMIC_RACES_H
#define INTACT_DYNAMIC_RACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dynamic/pages.h"

struct dynamic;
struct thread;

enum { RACE_WRITE = 1, RACE_ATOMIC = 2, RACE_FREED = 4, RACE_USED = 8, RACE_MORE = 0x40, RACE_BUSY = 0x80 };

struct race_mark {
	uint64_t key;
	uint32_t stack, locks; /* of RACE_MORE: stack is the list's index */
};

struct race_cell {
	struct race_mark m[2];
};

enum { RACE_LIST = 7 };
struct race_list {
	uint32_t next, n;
	uint64_t pad;
	struct race_mark m[RACE_LIST];
};

struct races {
	bool on;                /* asked for, and there are threads */
	bool lost;              /* no memory for some accesses: races may have been missed */
	bool off;               /* an order between threads could not be kept: nothing more is told */
	struct race_cell **dir; /* NULL: not asked for */
	uint32_t *used, nused;  /* entries of dir with a leaf */
	struct race_list *lists;
	uint32_t nlists, free;
	struct spin grow, lock;
};

static inline uint64_t race_key(uint32_t stamp, uint32_t tid, unsigned mask, unsigned how)
{
	return (uint64_t)stamp << 32 | (uint64_t)tid << 16 | (uint64_t)mask << 8 | how | RACE_USED;
}

/* Does an access that was entered with key `k` say all that `key` says? */
static inline bool race_covers(uint64_t k, uint64_t key)
{
	return !((k ^ key) >> 16) && !(key & ~k & (0xff00 | RACE_WRITE)) &&
	       !(k & ~key & (RACE_ATOMIC | RACE_FREED | RACE_MORE | RACE_BUSY));
}

static inline bool race_known(const struct race_cell *c, uint64_t key)
{
	return race_covers(__atomic_load_n(&c->m[0].key, __ATOMIC_RELAXED), key) ||
	       race_covers(__atomic_load_n(&c->m[1].key, __ATOMIC_RELAXED), key);
}

/* False: there is not enough address space. */
bool races_init(struct races *r);
void races_free(struct races *r);
/* The cell of an address, made when missing; NULL when memory has ended. */
struct race_cell *races_cell(struct races *r, uintptr_t addr);
/* The thread accesses bytes `mask` of the cell at `addr`; how: RACE_WRITE, RACE_ATOMIC. */
void races_access(struct dynamic *d, struct thread *t, uintptr_t addr, unsigned mask, unsigned how, uintptr_t pc);
/* Memory is given back by thread t at `pc`, as if it wrote there; or (t NULL) is new, or another's.
 * True: accesses had been entered for it. */
bool races_forget(struct dynamic *d, struct thread *t, uintptr_t addr, size_t size, uintptr_t pc);
/* All that was seen came before whatever follows: a process of one thread begins. */
void races_forked(struct races *r);

/* ---- atomic operations (happens.c) ---- */

enum atomic_kind { ATOMIC_LOAD, ATOMIC_STORE, ATOMIC_RMW, ATOMIC_FENCE };
/* An atomic operation of thread t, as it came out (a compare-and-swap that failed is a load), with its
 * order as the compiler numbers them; for a fence no address. The thread has the location to itself. */
void red_atomic(struct dynamic *d, struct thread *t, uintptr_t addr, unsigned size, enum atomic_kind kind, int order, uintptr_t pc);

#endif
