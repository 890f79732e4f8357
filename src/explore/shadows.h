/*
 * shadows: the sets of serial executions that still explain an interleaved
 * one (exact atomicity, with no commit points).
 *
 * A *shadow* is a quiescent state of a serial execution of the block
 * instances so far, with a status per thread: outside, inside and not yet
 * taken effect, inside and taken effect. Its thread is before the block in
 * the second case and behind it in the third. The set of all shadows still
 * possible is carried along an interleaved execution:
 *
 *   a step outside every block is taken by every shadow (one that cannot is
 *   dropped: there the step would not have happened);
 *   entering changes the status of the shadows whose thread is before the
 *   same block and drops the others;
 *   a step inside changes nothing;
 *   leaving keeps the shadows in which the block has taken effect.
 *
 * Before a step outside that touches shared state, and before leaving, the
 * set is closed under "some block that is inside and has not taken effect
 * does so now", in every order. Doing this only then is enough: between two
 * such moments nothing happens to a shadow, so a block that takes effect in
 * between may as well do it right before the later one.
 *
 * The execution is explained at a quiescent state when that state itself is
 * in the set. Shadows and sets are interned, transitions between sets are
 * memoised on (set, thread, event).
 */
#ifndef INTACT_EXPLORE_SHADOWS_H
#define INTACT_EXPLORE_SHADOWS_H

#include "explore/product.h"

struct shadow_sets {
	struct product *x;      /* PROD_STANDARD; its ids are ours */
	uint32_t nthreads;
	struct vectab shadows;  /* (globals, locals..., status words...) */
	uint32_t *pool;         /* the sets: sorted shadow ids */
	uint64_t npool, cap_pool;
	uint64_t *start;        /* set -> first in pool; start[nsets] ends */
	uint32_t nsets, cap_sets;
	struct map by_hash;     /* hash of a set -> one set with it */
	uint32_t *same_hash;    /* set -> an older one with the same hash + 1 */
	struct vectab events;   /* (thread, event, block) */
	struct map memo;        /* (set, event) -> set */
	struct map serial;      /* (kind, global, local) -> list of results */
	uint32_t *results;      /* n, then pairs (global, local) */
	uint32_t nresults, cap_results;
	bool out_of_memory, limit;
};

enum shadow_event { SHADOW_OUTSIDE, SHADOW_LOCAL, SHADOW_ENTER, SHADOW_INSIDE, SHADOW_LEAVE };

bool shadows_init(struct shadow_sets *s, struct product *x);
void shadows_free(struct shadow_sets *s);
/* The set holding the initial state alone. */
uint32_t shadows_initial(struct shadow_sets *s, const uint32_t *ids);
/* What a step of `thread` from one node to another is to the sets. */
enum shadow_event shadows_event(const struct product *x, uint32_t from, uint32_t to);
/* The set after that event; `block` matters for SHADOW_ENTER. */
uint32_t shadows_step(struct shadow_sets *s, uint32_t set, uint32_t thread,
                      enum shadow_event event, uint32_t block);
/* Is the (quiescent) state in the set? */
bool shadows_contain(const struct shadow_sets *s, uint32_t set, const uint32_t *ids);

#endif
