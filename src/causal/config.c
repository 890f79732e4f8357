/*
 * config: see config.h. Esparza, Römer, Vogler, An improvement of McMillan's
 * unfolding algorithm (2002), Sections 4 and 6, for the order.
 */
#include "causal/config.h"

#include <stdlib.h>
#include <string.h>

static inline void bump(struct config *c, uint32_t p, int32_t by)
{
	int32_t was = c->change[p], now = was + by;
	c->change[p] = now;
	c->changed = c->changed + (now != 0) - (was != 0);
	c->hash += by > 0 ? c->place_hash[p] : 0 - c->place_hash[p];
}

void config_shift(struct config *c, uint32_t t, int32_t sign)
{
	const struct net *n = c->net;
	for (uint32_t i = n->pre_at[t]; i < n->pre_at[t + 1]; i++)
		bump(c, n->pre[i], -sign);
	for (uint32_t i = n->post_at[t]; i < n->post_at[t + 1]; i++)
		bump(c, n->post[i], sign);
}

static void set_taken(struct config *c, uint32_t e, uint8_t to)
{
	const uint32_t *pre = uf_pre(c, e);
	uint32_t n = net_npre(c->net, c->events[e].trans);
	for (uint32_t i = 0; i < n; i++)
		c->conds[pre[i]].taken = to;
}

/* Events from `done` on have only been put on the trail. */
static void back(struct config *c, uint32_t len, uint32_t done)
{
	while (c->ntrail > len) {
		uint32_t e = c->trail[--c->ntrail];
		c->events[e].in = 0;
		if (c->ntrail >= done)
			continue;
		set_taken(c, e, 0);
		config_shift(c, c->events[e].trans, -1);
	}
}

void config_undo(struct config *c, uint32_t len)
{
	back(c, len, c->ntrail);
}

bool config_add(struct config *c, uint32_t e)
{
	uint32_t len = c->ntrail;
	if (!e || c->events[e].in)
		return true;
	c->events[e].in = 1;
	c->trail[c->ntrail++] = e;
	for (uint32_t i = len; i < c->ntrail; i++) {
		uint32_t x = c->trail[i], t = c->events[x].trans;
		const uint32_t *pre = uf_pre(c, x);
		uint32_t n = net_npre(c->net, t);
		for (uint32_t k = 0; k < n; k++)
			if (c->conds[pre[k]].taken) {
				back(c, len, i);
				return false;
			}
		set_taken(c, x, 1);
		config_shift(c, t, 1);
		for (uint32_t k = 0; k < n; k++) {
			uint32_t cause = c->conds[pre[k]].event;
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
	uint32_t n = 0;
	if (!e)
		return 0;
	if (++c->stamp == 0) { /* old stamps could be taken for new ones */
		for (uint32_t i = 0; i < c->nevents; i++)
			c->events[i].stamp = 0;
		c->stamp = 1;
	}
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
	return n;
}

bool config_same_marking(struct config *c, uint32_t e)
{
	uint32_t n = config_local(c, e);
	for (uint32_t i = 0; i < n; i++)
		config_shift(c, c->events[c->scratch[i]].trans, -1);
	bool same = c->changed == 0;
	for (uint32_t i = 0; i < n; i++)
		config_shift(c, c->events[c->scratch[i]].trans, 1);
	return same;
}

uint32_t config_marking(const struct config *c, uint32_t *out, uint32_t room)
{
	uint32_t n = 0, k = 0;
	for (uint32_t p = 0; p < c->net->nplaces; p++) {
		int32_t tokens = c->change[p];
		if (k < c->net->ninit && c->net->init[k] == p) {
			tokens++;
			k++;
		}
		for (; tokens > 0 && n < room; tokens--)
			out[n++] = p;
	}
	return n;
}

static int by_key(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;
	return a < b ? -1 : a > b;
}

/* Compares two sorted lists of the same length: the lesser key first is more
 * of the lesser transition, so that list comes first. */
static int compare(uint64_t *a, uint64_t *b, uint32_t n)
{
	qsort(a, n, sizeof *a, by_key);
	qsort(b, n, sizeof *b, by_key);
	for (uint32_t i = 0; i < n; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

int config_before(struct config *c, uint32_t t, uint32_t depth, uint32_t e)
{
	uint32_t n = config_local(c, e);
	uint64_t *a = malloc(2 * (size_t)n * sizeof *a), *b = a + n;
	if (!a)
		return -1;
	int order = 0;
	for (int pass = 0; pass < 2 && !order; pass++) {
		for (uint32_t i = 0; i < n; i++) {
			const struct uf_event *x = &c->events[c->scratch[i]];
			const struct uf_event *y = i + 1 < n ? &c->events[c->trail[i]] : NULL;
			b[i] = (pass ? (uint64_t)x->depth << 32 : 0) | x->trans;
			a[i] = (pass ? (uint64_t)(y ? y->depth : depth) << 32 : 0) |
			       (y ? y->trans : t);
		}
		order = compare(a, b, n);
	}
	free(a);
	return order < 0;
}
