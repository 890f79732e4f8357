/*
 * config: see config.h. Esparza, Römer, Vogler, An improvement of McMillan's
 * unfolding algorithm (2002), Sections 4 and 6, for the order.
 */
#include "causal/config.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

/* Events from `done` on have only been put on the trail. */
static void back(struct config *c, uint32_t len, uint32_t done)
{
	assert(len <= c->ntrail);
	while (c->ntrail > len) {
		uint32_t e = c->trail[--c->ntrail];
		struct uf_event *ev = &c->events[e];
		ev->in = 0;
		if (c->ntrail >= done)
			continue;
		const uint32_t *pre = c->pres + ev->pre;
		uint32_t n = net_npre(c->net, ev->trans);
		for (uint32_t i = 0; i < n; i++)
			c->taken[pre[i]] = 0;
		c->hash -= ev->delta;
	}
}

void config_undo(struct config *c, uint32_t len)
{
	back(c, len, c->ntrail);
}

bool config_add(struct config *c, uint32_t e)
{
	assert(e < c->nevents);
	uint32_t len = c->ntrail;
	if (!e || c->events[e].in)
		return true;
	c->events[e].in = 1;
	c->trail[c->ntrail++] = e;
	for (uint32_t i = len; i < c->ntrail; i++) {
		struct uf_event *x = &c->events[c->trail[i]];
		const uint32_t *pre = c->pres + x->pre;
		uint32_t n = net_npre(c->net, x->trans);
		for (uint32_t k = 0; k < n; k++)
			if (c->taken[pre[k]]) {
				back(c, len, i);
				return false;
			}
		c->hash += x->delta;
		for (uint32_t k = 0; k < n; k++) {
			uint32_t cause = c->conds[pre[k]].event;
			c->taken[pre[k]] = 1;
			if (!cause || c->events[cause].in)
				continue;
			c->events[cause].in = 1;
			c->trail[c->ntrail++] = cause;
		}
	}
	return true;
}

uint32_t config_local(struct config *c, uint32_t e)
{
	assert(e < c->nevents);
	uint32_t n = 0;
	if (++c->stamp == 0) { /* old stamps could be taken for new ones */
		for (uint32_t i = 0; i < c->nevents; i++)
			c->events[i].stamp = 0;
		c->stamp = 1;
	}
	if (!e)
		return 0;
	c->events[e].stamp = c->stamp;
	c->scratch[n++] = e;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t *pre = uf_pre(c, c->scratch[i]);
		uint32_t np = net_npre(c->net, c->events[c->scratch[i]].trans);
		for (uint32_t k = 0; k < np; k++) {
			uint32_t cause = c->conds[pre[k]].event;
			if (!cause || c->events[cause].stamp == c->stamp)
				continue;
			c->events[cause].stamp = c->stamp;
			c->scratch[n++] = cause;
		}
	}
	assert(n <= c->nevents);
	return n;
}

/* ---- markings ----------------------------------------------------------- */

/* The counter of a token. */
static inline int32_t *tokens(struct config *c, uint32_t place, colours tint)
{
	return c->colours && !c->plain ? &c->change[place * COLOUR_PAIRS + colour_index(tint)] : &c->change[place];
}

/*
 * The tokens that transition t takes and puts, `by` times; gives the counters
 * that were left at 0 minus those that left it. by = 0 resets them.
 */
static int32_t shift(struct config *c, uint32_t t, const uint32_t *pre, enum colour ev, int32_t by)
{
	assert(t < c->net->ntrans && (by == 1 || by == -1));
	const struct net *n = c->net;
	int32_t away = 0;
	for (uint32_t i = n->pre_at[t], k = 0; i < n->pre_at[t + 1]; i++, k++) {
		int32_t *x = tokens(c, n->pre[i], c->tint[pre[k]]), was = *x;
		*x = by ? was - by : 0;
		away += (*x != 0) - (was != 0);
	}
	for (uint32_t i = n->post_at[t]; i < n->post_at[t + 1]; i++) {
		int32_t *x = tokens(c, n->post[i], config_put(c, i, pre, ev)), was = *x;
		*x = by ? was + by : 0;
		away += (*x != 0) - (was != 0);
	}
	return away;
}

static int32_t shift_event(struct config *c, uint32_t e, int32_t by)
{
	const struct uf_event *x = &c->events[e];
	return shift(c, x->trans, c->pres + x->pre, (enum colour)x->colour, by);
}

bool config_same_marking(struct config *c, uint32_t t, const uint32_t *pre, enum colour ev, uint32_t e)
{
	uint32_t n = config_local(c, e);
	int32_t away = 0;
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < c->ntrail; i++)
			if (c->events[c->trail[i]].stamp != c->stamp)
				away += shift_event(c, c->trail[i], pass ? 0 : 1);
		for (uint32_t i = 0; i < n; i++)
			if (!c->events[c->scratch[i]].in)
				away += shift_event(c, c->scratch[i], pass ? 0 : -1);
		if (t != NET_NONE)
			away += shift(c, t, pre, ev, pass ? 0 : 1);
		if (!pass && !away)
			return true; /* and every counter is 0 again */
	}
	return false;
}

uint32_t config_marking(struct config *c, uint32_t *out, uint32_t room)
{
	const struct net *net = c->net;
	uint32_t n = 0, per = c->colours && !c->plain ? COLOUR_PAIRS : 1;
	for (uint32_t i = 0; i < net->ninit; i++)
		++*tokens(c, net->init[i], 0);
	for (uint32_t i = 0; i < c->ntrail; i++)
		shift_event(c, c->trail[i], 1);
	for (uint32_t p = 0; p < net->nplaces; p++)
		for (uint32_t k = 0; k < per; k++) {
			for (int32_t have = c->change[p * per + k]; have > 0 && n < room; have--)
				out[n++] = p;
			c->change[p * per + k] = 0;
		}
	assert(n <= room);
	return n;
}

/* ---- the order ---------------------------------------------------------- */

static int by_key(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;
	return a < b ? -1 : a > b;
}

/* Compares two lists of n keys, (level, transition) or (0, transition): at the
 * first level that is not the same, fewer events come first; as many, more of
 * the first transition of which there are not as many. */
static int compare(uint64_t *a, uint64_t *b, uint32_t n)
{
	uint32_t i = 0, na, nb;
	qsort(a, n, sizeof *a, by_key);
	qsort(b, n, sizeof *b, by_key);
	while (i < n && a[i] == b[i])
		i++;
	if (i == n)
		return 0;
	uint64_t level = (a[i] < b[i] ? a[i] : b[i]) >> 32;
	for (na = i; na < n && a[na] >> 32 == level;)
		na++;
	for (nb = i; nb < n && b[nb] >> 32 == level;)
		nb++;
	if (na != nb)
		return na < nb ? -1 : 1;
	return a[i] < b[i] ? -1 : 1;
}

int config_before(struct config *c, uint32_t t, uint32_t depth, uint32_t e)
{
	assert(e < c->nevents && t < c->net->ntrans);
	uint32_t n = config_local(c, e), na = 0, nb = 0, *own, *other;
	uint64_t *keys = malloc(2 * (size_t)n * sizeof *keys + 2 * (size_t)n * sizeof *own);
	if (!keys)
		return -1;
	own = (uint32_t *)(keys + 2 * (size_t)n);
	other = own + n;
	/* common elements are in both lists, at the same level */
	for (uint32_t i = 0; i < c->ntrail; i++)
		if (c->events[c->trail[i]].stamp != c->stamp)
			own[na++] = c->trail[i];
	for (uint32_t i = 0; i < n; i++)
		if (!c->events[c->scratch[i]].in)
			other[nb++] = c->scratch[i];
	int order = 0;
	for (int pass = 0; pass < 2 && !order; pass++) {
		uint64_t *a = keys, *b = keys + nb;
		for (uint32_t i = 0; i < nb; i++) {
			const struct uf_event *x = &c->events[other[i]];
			const struct uf_event *y = i < na ? &c->events[own[i]] : NULL;
			b[i] = (pass ? (uint64_t)x->depth << 32 : 0) | x->trans;
			a[i] = (pass ? (uint64_t)(y ? y->depth : depth) << 32 : 0) | (y ? y->trans : t);
		}
		order = compare(a, b, nb);
	}
	free(keys);
	return order < 0;
}
