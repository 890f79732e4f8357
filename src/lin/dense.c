/*
 * dense: numbers 0..n-1 for the values that are written, so that algorithms
 * can keep one array entry per value. The initial value is number 0.
 *
 * Integers from a narrow range use a direct table; anything else through
 * open addressing. Also here: what every algorithm of lin.h shares.
 */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "lin/lin.h"

void result_init(struct result *r, enum algorithm a, struct limits *lim)
{
	memset(r, 0, sizeof *r);
	r->verdict = LIN_UNKNOWN;
	r->algorithm = a;
	r->culprit = RANK_INF;
	r->refused[0] = r->refused[1] = RANK_INF;
	r->lim = lim;
}

void result_free(struct result *r)
{
	lim_free(r->lim, r->order, r->order_bytes);
	lim_free(r->lim, r->ops, r->ops_bytes);
	for (uint32_t i = 0; i < r->nstates; i++)
		free(r->states[i]);
	r->order = r->ops = NULL;
	r->nstates = 0;
}

bool result_order(struct result *r, uint32_t n)
{
	r->order_bytes = n * sizeof *r->order;
	r->order = lim_realloc(r->lim, NULL, 0, r->order_bytes);
	r->norder = 0;
	return r->order != NULL;
}

bool result_facts(struct result *r, uint32_t n)
{
	assert(n);
	lim_free(r->lim, r->ops, r->ops_bytes);
	r->ops_bytes = n * sizeof *r->ops;
	r->ops = lim_realloc(r->lim, NULL, 0, r->ops_bytes);
	r->nops = r->ops ? n : 0;
	return r->ops != NULL;
}

enum lin_verdict result_unknown(struct result *r)
{
	return r->verdict = LIN_UNKNOWN;
}

enum lin_verdict result_refuse(struct result *r, const char *why, uint32_t a, uint32_t b)
{
	assert(why);
	r->why = why;
	r->refused[0] = a;
	r->refused[1] = b;
	return r->verdict = LIN_REFUSED;
}

uint32_t *events_of(const struct problem *p)
{
	uint32_t *ev = lim_realloc(p->lim, NULL, 0, p->nevents * sizeof *ev + 4);
	if (!ev)
		return NULL;
	memset(ev, 0xFF, p->nevents * sizeof *ev);
	for (uint32_t i = 0; i < p->n; i++) {
		ev[p->ops[i].call] = i * 2;
		if (p->ops[i].ret != RANK_INF)
			ev[p->ops[i].ret] = i * 2 + 1;
	}
	return ev;
}

static void *zeroed(struct limits *lim, size_t bytes)
{
	void *p = lim_realloc(lim, NULL, 0, bytes);
	return p ? memset(p, 0, bytes) : NULL;
}

static uint32_t slot_of(const struct dense *d, val v)
{
	assert(d->table && !((d->mask + 1) & d->mask));
	uint32_t s = (uint32_t)hash64(v) & d->mask;
	while (d->table[s] && d->keys[s] != v)
		s = (s + 1) & d->mask;
	return s;
}

uint32_t dense_get(const struct dense *d, val v)
{
	if (d->direct) {
		uint32_t i = v - d->base;
		return i < d->range ? d->table[i] - 1 : RANK_INF;
	}
	return d->table[slot_of(d, v)] - 1;
}

static void add(struct dense *d, val v)
{
	uint32_t s = d->direct ? v - d->base : slot_of(d, v);
	if (d->table[s])
		return;
	assert(!d->direct || s < d->range);
	d->table[s] = ++d->n;
	if (!d->direct)
		d->keys[s] = v;
}

bool dense_build(struct dense *d, const struct problem *p)
{
	return dense_build_fn(d, p, FN_WRITE);
}

bool dense_build_fn(struct dense *d, const struct problem *p, enum fn fn)
{
	memset(d, 0, sizeof *d);
	d->lim = p->lim;
	uint32_t lo = p->init, hi = p->init, writes = 1;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->ops[i].fn == fn) {
			val v = p->ops[i].a;
			lo = v < lo ? v : lo;
			hi = v > hi ? v : hi;
			writes++;
		}
	d->direct = hi - lo < 4 * (uint64_t)writes + 1024;
	if (d->direct) {
		d->base = lo;
		d->range = hi - lo + 1;
		d->bytes_table = d->range * 4ull;
	} else {
		uint32_t cap = 64;
		while (cap < writes * 2ull)
			cap *= 2;
		d->mask = cap - 1;
		d->bytes_table = d->bytes_keys = cap * 4ull;
		d->keys = zeroed(p->lim, d->bytes_keys);
	}
	d->table = zeroed(p->lim, d->bytes_table);
	if (!d->table || (!d->direct && !d->keys)) {
		dense_free(d);
		return false;
	}
	add(d, p->init);
	for (uint32_t i = 0; i < p->n; i++)
		if (p->ops[i].fn == fn)
			add(d, p->ops[i].a);
	return true;
}

void dense_free(struct dense *d)
{
	lim_free(d->lim, d->table, d->bytes_table);
	lim_free(d->lim, d->keys, d->bytes_keys);
	d->table = d->keys = NULL;
}

bool writes_in_sequence(const struct problem *p, uint32_t *a, uint32_t *b)
{
	uint32_t last = RANK_INF;
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->ops[i].fn != FN_WRITE)
			continue;
		if (last != RANK_INF && p->ops[last].ret > p->ops[i].call) {
			*a = last;
			*b = i;
			return false;
		}
		last = i;
	}
	return true;
}

bool values_distinct(const struct problem *p, const struct dense *d, uint32_t *a, uint32_t *b)
{
	uint32_t *first = zeroed(p->lim, (d->n + 1) * sizeof *first);
	bool ok = first != NULL;
	*a = *b = RANK_INF;
	for (uint32_t i = 0; ok && i < p->n; i++) {
		if (p->ops[i].fn != FN_WRITE)
			continue;
		uint32_t v = dense_get(d, p->ops[i].a);
		if (v == 0 || first[v]) {
			*a = v ? first[v] - 1 : RANK_INF;
			*b = i;
			ok = false;
		}
		first[v] = i + 1;
	}
	lim_free(p->lim, first, (d->n + 1) * sizeof *first);
	return ok;
}
