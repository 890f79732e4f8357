/*
 * witness: why an event of a prefix is red, as events and arrows.
 */
#ifndef INTACT_CAUSAL_WITNESS_H
#define INTACT_CAUSAL_WITNESS_H

#include "causal/unfold.h"

/* An event of a causal chain and the condition by which it is after the one
 * before it in the chain: one that it takes; NET_NONE for the first event. */
struct uf_link {
	uint32_t event, cond;
};

/*
 * The events of [e], event 0 apart, in an order in which they can fire; the
 * caller frees *out. How many, or 0 when memory ends.
 */
uint32_t prefix_history(struct prefix *p, uint32_t e, uint32_t **out);

/*
 * For a red event: a chain from the beginning of the chosen occurrence (an
 * event of a CHOOSE transition) by events of its thread, then at least one of
 * another thread, to the red event. Between two neighbours there is a place
 * that both touch and that not both only read: the place of `cond`. The part
 * between the thread's last own event and the red one is as short as it can
 * be. The caller frees *out. How many, or 0 when memory ends.
 */
uint32_t prefix_chain(struct prefix *p, uint32_t red, struct uf_link **out);

#endif
