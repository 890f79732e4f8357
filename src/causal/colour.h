/*
 * colour: what the colours of Section 4 of the causal-atomicity paper mean, and
 * what an unfolder has to know about a net to carry them.
 *
 * One occurrence of a block is *chosen*. Colours describe the relation of an
 * event or a token to the beginning of that occurrence:
 *     A  not causally after it
 *     B  after it, by events of the block's own thread alone
 *     Y  after an event of another thread that is itself after it
 * They are ordered A < B < Y and joined by taking the larger one. The chosen
 * occurrence is not causally atomic when one of its own events, its end apart,
 * has Y before it: *red*.
 *
 * The net (program_net) is the plain net of the program and, for each thread
 * whose blocks are looked at, a copy of the control places inside those blocks:
 * the places of the chosen occurrence. A transition has a role:
 *     PLAIN   any step that does not belong to the chosen occurrence
 *     CHOOSE  the beginning of a block, entering the copy: from now on this
 *             occurrence is the chosen one (the ordinary beginning is a
 *             transition beside it: not chosen)
 *     INSIDE  a step within the copy
 * The end of the chosen occurrence has no transition: the run stops there, as
 * the paper has it. Only one occurrence is chosen in a run: a thread in the copy
 * never leaves it, and when several threads have copies all CHOOSE transitions
 * take one place (`pick`) that no transition fills again. So no colour needs an
 * owner: INSIDE events are the owner's, all others are foreign.
 *
 * Reads of one variable by different threads are independent although the net
 * may let them pass through the same place (only threads that never write a
 * variable have a copy of it to themselves). A token therefore has two colours
 *     w  of the last write: what a reader is after
 *     r  join of w and of the reads since: what a writer is after;   w <= r
 * and an arc that only reads (the place is taken and put back, colour_net.read
 * of the arc is 1) takes w and leaves (w, r joined with the event), every other
 * arc takes r and leaves (c, c) of the event's colour c. The order in which
 * reads pass through a place does not matter to (w, r): join is commutative. So
 * the colours are those of the paper's net with a place per variable and thread,
 * where a read takes one's own place and a write all of them:
 *     w(token) = colour of the last write
 *     r(token) = join of all the places' colours in the paper's net.
 * Proof, by induction over a run. A write takes all places: it is after the join
 * of all their colours, r; it leaves all in its own colour: (c, c). A read by
 * thread i takes place i, whose colour is the join of w and of thread i's own
 * reads since; those reads are before the present one in the thread's control,
 * whose colour the event joins anyhow, so w is enough. It leaves the join of all
 * places at r joined with c. (For the owner, whose control is B: place i is at
 * most Y, and it is Y exactly when w is, as its own reads leave B; for another
 * thread the control is at least what its reads left.)
 *
 * So for an event e with `in` the join over its preconditions (w for reading
 * arcs, r for the others):
 *     PLAIN   out = A when in is A, else Y
 *     CHOOSE  out = B                (in is A: nothing is coloured before it)
 *     INSIDE  red when in is Y, else out = B
 * Initially every token is (A, A). Colours are a function of the configuration,
 * not of the order of its events; two configurations with the same marking and
 * the same (w, r) on every token have the same future, colours included.
 */
#ifndef INTACT_CAUSAL_COLOUR_H
#define INTACT_CAUSAL_COLOUR_H

#include <stdbool.h>
#include <stdint.h>

#include "causal/net.h"

enum colour { COLOUR_A, COLOUR_B, COLOUR_Y };
enum colour_role { ROLE_PLAIN, ROLE_CHOOSE, ROLE_INSIDE };

/* Both colours of a token in a byte: w in the low half, r in the high one. */
typedef uint8_t colours;

static inline colours colours_make(enum colour w, enum colour r)
{
	return (colours)((unsigned)w | (unsigned)r << 4);
}
static inline enum colour colours_w(colours c)
{
	return (enum colour)(c & 15);
}
static inline enum colour colours_r(colours c)
{
	return (enum colour)(c >> 4);
}
static inline enum colour colour_join(enum colour a, enum colour b)
{
	return a > b ? a : b;
}

/* What an event is after, one precondition at a time; start with COLOUR_A. */
static inline enum colour colour_take(enum colour in, colours token, bool read)
{
	return colour_join(in, read ? colours_w(token) : colours_r(token));
}
/* Is the chosen occurrence broken by this event? */
static inline bool colour_red(enum colour_role role, enum colour in)
{
	return role == ROLE_INSIDE && in == COLOUR_Y;
}
/* The colour of an event that is not red. */
static inline enum colour colour_event(enum colour_role role, enum colour in)
{
	if (role == ROLE_PLAIN)
		return in == COLOUR_A ? COLOUR_A : COLOUR_Y;
	return COLOUR_B;
}
/* A token after an event of colour c; `before` is the one it took from the
 * same place when it only read it. */
static inline colours colours_put(enum colour c, bool read, colours before)
{
	if (!read)
		return colours_make(c, c);
	return colours_make(colours_w(before), colour_join(colours_r(before), c));
}

/* A net with what its colours need. Reading arcs take and put the same place. */
struct colour_net {
	struct net net;
	const uint8_t *role;             /* a transition: enum colour_role */
	const uint8_t *read;             /* an arc of net.pre: 1 when it only reads */
	uint32_t pick;                   /* the place all CHOOSE transitions take, or NET_NONE */
	const uint32_t *thread, *action; /* a transition: whose step, which action (program.h) */
};

/* The same for an arc transition -> place: does t only read place p? */
static inline bool colour_reads(const struct colour_net *n, uint32_t t, uint32_t p)
{
	for (uint32_t i = n->net.pre_at[t]; i < n->net.pre_at[t + 1]; i++)
		if (n->net.pre[i] == p)
			return n->read[i];
	return false;
}

#endif
