/*
 * abstract: the ways one step can go when only kept values are known. Used by
 * program.c alone.
 *
 * The code after a node is run with registers that are known or unknown. Where
 * the outcome is not determined (an unknown condition or index, the value of a
 * cell that keeps one, a choice) a pick is made; all picks are enumerated like
 * an odometer, as ir_choices does for real steps, so each way is run from the
 * beginning.
 *
 * A loop of local code need not end when its condition is unknown. A way that
 * comes back, by a backward jump, to a point of its own past with the same
 * registers and touches is dropped: whatever follows also follows from the
 * first visit. After ABSTRACT_LOOPS backward jumps all registers are made
 * unknown (except the holder's bits of locks), so such a point is always
 * reached.
 */
#ifndef INTACT_CAUSAL_ABSTRACT_H
#define INTACT_CAUSAL_ABSTRACT_H

#include "causal/program.h"

#define ABSTRACT_LOOPS 64u
#define ABSTRACT_WAYS  4096u /* that one step is tried in */
#define ABSTRACT_LOCAL 16u   /* elements of a local array that an unknown index is each of */

struct pick {
	uint32_t value, size;
};

struct moment { /* a point of the way, for loops */
	uint32_t pc, ntouch;
	uint32_t regs, touches; /* into saved[], saved_touches[] */
};

struct abstract {
	const struct program *g;
	const struct ir_template *t;
	struct arena *arena;
	const uint8_t *keep; /* a frame slot: KEEP_* */
	struct kept *r;      /* registers */
	AVEC(struct touch) touches;
	AVEC(struct pick) picks;
	uint32_t at; /* picks used by this way */
	AVEC(struct moment) moments;
	AVEC(struct kept) saved;
	AVEC(struct touch) saved_touches;
	uint32_t loops, ways;
	/* of a way that arrived */
	uint32_t node, entered, exited;
};

enum { KEEP_NOT, KEEP_KNOWN, KEEP_SPLIT }; /* SPLIT: an unknown becomes each value */

/* Runs the next way of a step from `node` with `frame` (nslots values):
 *   1 it arrived (x->r, x->touches, x->node)   0 it did not (blocked, fault)
 * Start with x->picks.len = 0. */
bool abstract_way(struct abstract *x, uint32_t node, const struct kept *frame);
/* The next one: 1 there is, 0 all were run, -1 too many. */
int abstract_next(struct abstract *x);

#endif
