/*
 * shadows: the sets of serial executions that still explain an interleaved
 * one (exact atomicity, with no commit points).
 *
 * A *shadow* is a quiescent state of a serial execution of the block instances so far,
 * with a status per thread: outside, inside and not yet taken effect, inside and taken
 * effect. Its thread is before the block in the second case and after it in the third.
 * The set of all shadows still possible is carried along an interleaved execution.
 * Without lag:
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
 * With lag up to K (delayed_shadow.h), a step outside and a block that is left may also
 * be put off: they join the shadow's items and take effect at a later
 * closing, after the items that causally come before them. A shadow with more
 * than K ended items is dropped. A step that touches nothing that another
 * thread's code could disturb or see is never put off: it commutes with
 * everything. So at K = 0 the set holds the explanations in the real order of
 * steps, and as K grows those of all equivalent executions; every shadow is a
 * true serial execution of the same items in a causally allowed order, at
 * every K.
 *
 * The execution is explained at a quiescent state when that state itself is
 * in the (closed) set, with nothing put off. Shadows and sets are interned,
 * transitions between sets are memoised on (set, event).
 */
#ifndef INTACT_EXPLORE_SHADOWS_H
#define INTACT_EXPLORE_SHADOWS_H

#include "explore/delayed_shadow.h"
#include "explore/product.h"

#define SHADOWS_LAG_MAX 16u

struct shadow_sets {
	struct product *x; /* PROD_STANDARD; its ids are ours */
	uint32_t nthreads;
	uint32_t lag;          /* K */
	struct seqtab shadows; /* see delayed_shadow.h */
	struct seqtab sets;    /* sorted shadow ids */
	struct seqtab events;  /* thread, event, block, places touched */
	struct seqtab orders;  /* permutations of the threads */
	struct map memo;       /* (set, event) -> set */
	struct map closed;     /* set -> closed set */
	struct map moved;      /* (set, order) -> set */
	struct map serial;     /* (kind, global, local) -> list of results */
	uint32_t *results;     /* n, then pairs (global, local) */
	uint32_t nresults, cap_results;
	bool *own_business;               /* by node: touches nothing others could meet */
	struct delayed_shadow work, from; /* room */
	bool out_of_memory, limit;
};

enum shadow_event { SHADOW_OUTSIDE, SHADOW_LOCAL, SHADOW_ENTER, SHADOW_INSIDE, SHADOW_LEAVE };

struct shadow_step { /* what happens in reality */
	uint32_t thread;
	enum shadow_event event;
	uint32_t block;       /* SHADOW_ENTER: which */
	const int32_t *touch; /* slot * 2 + 1 when written; only when there is lag */
	uint32_t ntouch;
};

bool shadows_init(struct shadow_sets *s, struct product *x, uint32_t lag);
void shadows_free(struct shadow_sets *s);
uint64_t shadows_bytes(const struct shadow_sets *s);
/* The set holding the initial state alone. */
uint32_t shadows_initial(struct shadow_sets *s, const uint32_t *ids);
/* What a step of `thread` from one node to another is to the sets. */
enum shadow_event shadows_event(const struct product *x, uint32_t from, uint32_t to);
/* The set after that step. */
uint32_t shadows_step(struct shadow_sets *s, uint32_t set, const struct shadow_step *e);
/* Is the (quiescent) state in the set? */
bool shadows_contain(struct shadow_sets *s, uint32_t set, const uint32_t *ids);
/* The set with thread i renamed to[i]. */
uint32_t shadows_permute(struct shadow_sets *s, uint32_t set, const uint32_t *to);

#endif
