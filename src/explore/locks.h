/*
 * locks: which steps commute with those of the other threads, by a static
 * must-lockset analysis.
 *
 * A *lock* is a `lock`, or a plain scalar that starts at 0 and is used as one:
 * it is only ever touched by cas(m, 0, 1), which on failure leads back to
 * itself with nothing changed (a busy wait), and by m = 0 while it is held.
 * Of such a variable the analysis knows at every node whether a thread that
 * is there holds it on every path (forward, intersection over the paths; the
 * outcome of a cas is followed through the jumps that test it).
 *
 * Hence at most one thread is where the lock is held, and all others fail to
 * take it without an effect or wait. A variable is *protected* when some lock
 * is held at every access to it, by every thread; when it is never written;
 * when no thread reads it and all write the same constant (a flag that
 * something has happened: the order does not matter); or when it belongs to
 * one thread. Then a step is
 *
 *   both  mover: all its accesses are to protected variables: while this
 *         thread is there, no other thread can do anything to them that this
 *         step would notice, nor notice what this step does;
 *   right mover: it takes a lock, and nothing else but the above: what another
 *         thread does right after cannot touch the lock (except for failed
 *         attempts), so it can be done before;
 *   left  mover: it frees a lock it holds, likewise.
 *
 * A left mover (or both) is never blocked: it contains no assume.
 * Cost: a few passes over the code, once a search.
 */
#ifndef INTACT_EXPLORE_LOCKS_H
#define INTACT_EXPLORE_LOCKS_H

#include "base/invariant.h"
#include "ir/ir.h"

enum { LOCKS_RIGHT = 1, LOCKS_LEFT = 2 };

struct locks {
	uint8_t *mover;   /* by node: LOCKS_RIGHT, LOCKS_LEFT, both or none */
	uint32_t nmovers; /* nodes that are one */
};

/*
 * `busy_wait(arg, node)`: may a thread wait busily there, that is, does a cas
 * that fails have no effect at all? With the shadow store it has one outside
 * the blocks that count: such a step is taken on both stores and may succeed
 * on the other; and where a block commits by it. False when out of memory.
 */
bool locks_init(struct locks *l, const struct ir *p, bool (*busy_wait)(const void *arg, uint32_t node), const void *arg);
void locks_free(struct locks *l);

static inline bool locks_right(const struct locks *l, uint32_t node)
{
	assert(l->mover);
	return l->mover[node] & LOCKS_RIGHT;
}
static inline bool locks_left(const struct locks *l, uint32_t node)
{
	assert(l->mover);
	return l->mover[node] & LOCKS_LEFT;
}

#endif
