/*
 * lock_order: threads that take locks in a circle, and locks that are released or destroyed by who must not.
 *
 * A thread that takes a lock while it holds another is an edge from that to this one, with
 * the thread, the places, and all locks that it held. A circle of edges is a potential
 * deadlock when
 *   - each edge is another thread's;
 *   - no two of these threads hold a common lock then, unless both only for reading (a gate: it lets
 *     one of them in at a time);
 *   - no edge came before another in every schedule, by creation and join of threads;
 *   - each thread has to wait for the next: not a reader for a reader.
 * To a lock that is tried for, or waited for with a time, no edge leads; it counts among those
 * held. A circle may have any number of edges up to ORDER_CYCLE. Circles with the same
 * places are one finding.
 *
 * Kept is an edge for each pair of locks, thread and set of locks held, with the places of the first
 * time. The search for circles, when an edge is new, is bounded in steps; `lost` says that
 * a bound was met.
 *
 * Cost: for each lock taken under others, a look-up in a hash table for each of these.
 */
#ifndef INTACT_DYNAMIC_LOCK_ORDER_H
#define INTACT_DYNAMIC_LOCK_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "dynamic/pages.h"

struct dynamic;
struct thread;
struct held;

enum { ORDER_CYCLE = 16, ORDER_EDGES = 1 << 16, ORDER_STEPS = 20000 };

struct order_edge {
	uint32_t from, to, from_life, to_life;
	uint32_t uid, tid, epoch;
	uint32_t hold, take;   /* stacks */
	uint32_t all, wr;      /* locks held, `from` among them; those for writing */
	uint32_t next;         /* from the same lock */
	const uint32_t *fixed; /* what came before by creation and join (reduction.h) */
	uint32_t nfixed;
	bool from_read, to_read;
};

struct lock_order {
	struct order_edge *edges; /* 1 .. n - 1; NULL: not asked for */
	uint32_t n;
	uint32_t *heads; /* by lock: its edges */
	uint64_t *keys;  /* hash: edges that are known */
	bool lost;
	struct spin lock;
};

bool lock_order_init(struct dynamic *d);
void lock_order_free(struct dynamic *d);
/* Thread t takes the lock of `taken`, and waits for it if need be; its other locks are held. */
void lock_order_take(struct dynamic *d, struct thread *t, const struct held *taken);
/* Thread t released the lock at `addr`, which it does not hold, and the library let it. */
void lock_order_unheld(struct dynamic *d, struct thread *t, uintptr_t addr, uintptr_t pc);
/* Thread t destroys the lock at `addr`, which is held. */
void lock_order_busy(struct dynamic *d, struct thread *t, uintptr_t addr, uintptr_t pc);

#endif
