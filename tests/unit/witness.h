/*
 * witness: why an event of a prefix is red, as events and arrows. Tests hold colours against
 * it; no engine uses it.
 *
 * Colours are followed back to where they come from. A token's colour w is that
 * of the last event that did not only read it; r is that, or that of an event
 * that read it since. So the source of a colour is found by going back over
 * the conditions of one place, through events that only read it. From the red
 * event breadth first over sources in Y until one is in B, which is an event
 * of the block's own thread; from there back in B to the beginning.
 */
#ifndef INTACT_TESTS_WITNESS_H
#define INTACT_TESTS_WITNESS_H

#include <stdlib.h>
#include <string.h>

#include "causal/unfold.h"

/* An event of a causal chain and the condition by which it is after the one
 * before it in the chain: one that it takes; NET_NONE for the first event. */
struct uf_link {
	uint32_t event, cond;
};

struct trace {
	struct prefix *p;
	uint32_t *next;  /* an event: the one after it on the way to red, + 1 */
	uint32_t *by;    /* and the condition that one takes */
	uint32_t *queue, nqueue;
};

/* The event that gave condition b the colour `want` in r (or w). */
static uint32_t source_of(const struct config *c, uint32_t b, bool read, enum colour want)
{
	for (;;) {
		uint32_t g = c->conds[b].event;
		if (!g)
			return 0;
		const struct uf_event *ev = &c->events[g];
		uint32_t from = c->kept_from[c->net->post_at[ev->trans] + (b - ev->post)];
		if (from == NET_NONE || (!read && ev->colour == want))
			return g;
		b = uf_pre(c, g)[from];
	}
}

/* Puts the sources in colour `want` of what e finds on the queue, if they were
 * not there before; when `one`, just the first, wherever it was. */
static void push_sources(struct trace *x, uint32_t e, enum colour want, bool one)
{
	const struct config *c = &x->p->cfg;
	uint32_t t = c->events[e].trans, n = net_npre(c->net, t);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t b = uf_pre(c, e)[i];
		bool read = c->colours->read[c->net->pre_at[t] + i];
		if (colour_take(COLOUR_A, c->tint[b], read) != want)
			continue;
		uint32_t g = source_of(c, b, read, want);
		if (!g || (x->next[g] && !one))
			continue;
		x->next[g] = e + 1;
		x->by[g] = b;
		x->queue[x->nqueue++] = g;
		if (one)
			return;
	}
}

/* The beginning of the occurrence, with next[] leading to red; 0: none. */
static uint32_t search(struct trace *x, uint32_t red)
{
	const struct config *c = &x->p->cfg;
	push_sources(x, red, COLOUR_Y, false);
	for (uint32_t i = 0; i < x->nqueue; i++) {
		uint32_t e = x->queue[i];
		if (c->events[e].colour == COLOUR_Y) {
			push_sources(x, e, COLOUR_B, false);
			push_sources(x, e, COLOUR_Y, false);
			continue;
		}
		while (c->colours->role[c->events[e].trans] != ROLE_CHOOSE) {
			x->nqueue = 0;
			push_sources(x, e, COLOUR_B, true);
			if (!x->nqueue)
				return 0;
			e = x->queue[0];
		}
		return e;
	}
	return 0;
}

/*
 * For a red event: a chain from the beginning of the chosen occurrence (an
 * event of a CHOOSE transition) by events of its thread, then at least one of
 * another thread, to the red event. Between two neighbours there is a place
 * that both touch and that not both only read: the place of `cond`. The part
 * between the thread's last own event and the red one is as short as it can
 * be. The caller frees *out. How many, or 0 when memory ends.
 */
static inline uint32_t prefix_chain(struct prefix *p, uint32_t red, struct uf_link **out)
{
	uint32_t *room = calloc((size_t)p->nevents * 3, sizeof *room), n = 0;
	struct trace x = { p, room, room + p->nevents, room + (size_t)2 * p->nevents, 0 };
	*out = NULL;
	if (!room)
		return 0;
	uint32_t first = search(&x, red), by = NET_NONE;
	if (first)
		*out = calloc(p->nevents, sizeof **out);
	for (uint32_t e = first; *out && e;) {
		(*out)[n++] = (struct uf_link){ e, by };
		by = x.by[e];
		e = e == red ? 0 : x.next[e] - 1;
	}
	free(room);
	return n;
}

struct placed {
	uint32_t depth, event;
};

static int by_depth(const void *pa, const void *pb)
{
	const struct placed *a = pa, *b = pb;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
}

/*
 * The events of [e], event 0 apart, in an order in which they can fire; the
 * caller frees *out. How many, or 0 when memory ends.
 */
static inline uint32_t prefix_history(struct prefix *p, uint32_t e, uint32_t **out)
{
	uint32_t n = config_local(&p->cfg, e);
	struct placed *all = calloc((size_t)n + 1, sizeof *all);
	*out = calloc((size_t)n + 1, sizeof **out);
	if (!all || !*out) {
		free(all);
		free(*out);
		*out = NULL;
		return 0;
	}
	for (uint32_t i = 0; i < n; i++)
		all[i] = (struct placed){ p->cfg.events[p->cfg.scratch[i]].depth, p->cfg.scratch[i] };
	qsort(all, n, sizeof *all, by_depth);
	for (uint32_t i = 0; i < n; i++)
		(*out)[i] = all[i].event;
	free(all);
	return n;
}

#endif
