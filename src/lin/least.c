/* least: see least.h. */
#include "lin/least.h"

#include <stdlib.h>

#include "base/invariant.h"

static enum lin_verdict try_k(const struct problem *p, uint32_t k, struct result *r)
{
	assert(k >= 1);
	struct problem q = *p;
	q.k = k;
	q.obj = k > 1 ? OBJ_REGISTER : p->obj;
	return lin_atomic(&q, ALG_AUTO, r);
}

/* More values to choose from can only help: bisect. */
enum lin_verdict lin_least_k(const struct problem *p, struct part *part)
{
	uint32_t writes = 1, bad = 0, good = 0;
	for (uint32_t i = 0; i < p->n; i++)
		writes += p->ops[i].fn == FN_WRITE;
	for (uint32_t k = 1; good == 0 || bad + 1 < good;) {
		struct result r;
		enum lin_verdict v = try_k(p, k, &r);
		if (v == LIN_HOLDS || (v == LIN_VIOLATED && !good && k >= writes) || v > LIN_VIOLATED) {
			result_free(&part->r);
			part->r = r;
		} else {
			if (k == 1) { /* keep why it is not atomic */
				result_free(&part->r);
				part->r = r;
			} else {
				result_free(&r);
			}
		}
		if (v == LIN_HOLDS)
			good = k;
		else if (v == LIN_VIOLATED)
			bad = k;
		if (v > LIN_VIOLATED || (!good && k >= writes))
			return v;
		k = good ? bad + (good - bad + 1) / 2 : k * 2 > writes ? writes : k * 2;
		if (good && k >= good)
			break;
	}
	part->k = good;
	return LIN_HOLDS;
}

struct shifted {
	int64_t t;
	uint32_t who; /* operation * 2, + 1 for a response */
};

static int by_time(const void *x, const void *y)
{
	const struct shifted *a = x, *b = y;
	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	if ((a->who & 1) != (b->who & 1)) /* calls first: what touches is concurrent */
		return a->who & 1 ? 1 : -1;
	return a->who < b->who ? -1 : a->who > b->who;
}

/* The same operations with every read invoked `delta` earlier. */
static enum lin_verdict try_delta(const struct problem *p, const int64_t *tc, const int64_t *tr, int64_t delta, struct shifted *ev,
                                  struct hop *ops, uint32_t *number)
{
	uint32_t m = 0, n = 0, rank = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		ev[m++] = (struct shifted){ tc[i] - (p->ops[i].fn == FN_READ ? delta : 0), i * 2 };
		if (p->ops[i].ret != RANK_INF)
			ev[m++] = (struct shifted){ tr[i], i * 2 + 1 };
	}
	qsort(ev, m, sizeof *ev, by_time);
	for (uint32_t i = 0; i < m; i++) {
		uint32_t o = ev[i].who / 2;
		if (ev[i].who & 1) {
			ops[number[o]].ret = rank++;
		} else {
			number[o] = n;
			ops[n] = p->ops[o];
			ops[n].ret = RANK_INF;
			ops[n++].call = rank++;
		}
	}
	struct problem q = *p;
	struct result r;
	q.ops = ops;
	q.nevents = rank;
	enum lin_verdict v = lin_atomic(&q, ALG_AUTO, &r);
	result_free(&r);
	return v;
}

enum lin_verdict lin_least_delta(const struct history *h, const struct check *c, const struct problem *p, struct part *part)
{
	size_t bt = p->n * sizeof(int64_t), be = p->n * 2 * sizeof(struct shifted);
	int64_t *tc = lim_realloc(p->lim, NULL, 0, bt), *tr = lim_realloc(p->lim, NULL, 0, bt);
	struct shifted *ev = lim_realloc(p->lim, NULL, 0, be);
	struct hop *ops = lim_realloc(p->lim, NULL, 0, p->n * sizeof *ops);
	uint32_t *number = lim_realloc(p->lim, NULL, 0, p->n * 4ull);
	enum lin_verdict v = LIN_UNKNOWN;
	part->delta = -1;
	if (tc && tr && ev && ops && number) {
		int64_t first = INT64_MAX, last = INT64_MIN;
		for (uint32_t i = 0; i < p->n; i++) {
			uint32_t o = c->ops ? c->ops[part->first + i] : i;
			tc[i] = h->tcall[o];
			tr[i] = h->tret[o];
			first = tc[i] < first ? tc[i] : first;
			last = tc[i] > last ? tc[i] : last;
			last = p->ops[i].ret != RANK_INF && tr[i] > last ? tr[i] : last;
		}
		int64_t bad = -1, good = last - first + 1;
		v = try_delta(p, tc, tr, good, ev, ops, number);
		while (v == LIN_HOLDS && bad + 1 < good) {
			int64_t mid = bad < 0 ? 0 : bad + (good - bad) / 2;
			enum lin_verdict w = try_delta(p, tc, tr, mid, ev, ops, number);
			if (w > LIN_VIOLATED)
				v = w;
			*(w == LIN_HOLDS ? &good : &bad) = mid;
		}
		if (v == LIN_HOLDS)
			part->delta = good;
	}
	lim_free(p->lim, tc, tc ? bt : 0);
	lim_free(p->lim, tr, tr ? bt : 0);
	lim_free(p->lim, ev, ev ? be : 0);
	lim_free(p->lim, ops, ops ? p->n * sizeof *ops : 0);
	lim_free(p->lim, number, number ? p->n * 4ull : 0);
	return v;
}
