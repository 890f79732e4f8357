/*
 * pqueue: priority queues (least value first) in which every value goes in
 * once. O(n log n).
 *
 * Values from the least up. A poll that returned v needs a gap in which no
 * smaller value is surely inside; the first one is taken. That is enough: if
 * a smaller u were inside there although not surely, u's own poll had begun,
 * and the first gap good for u is not later than one good for v. An insert
 * takes effect as late as it can. An empty answer is a value above all.
 */
#include <stdlib.h>
#include <string.h>

#include "lin/cover.h"

struct pqueue_rank {
	uint32_t value; /* number */
	val v;
};

static int by_value(const void *x, const void *y, void *vals)
{
	return val_compare(vals, ((const struct pqueue_rank *)x)->v, ((const struct pqueue_rank *)y)->v);
}

static enum lin_verdict no_room(struct items *s, const struct pqueue_rank *order, uint32_t at, struct result *r)
{
	const struct item *it = &s->it[order[at].value];
	r->proof = PROOF_PRIORITY;
	r->moment_open = true;
	r->culprit = lin_certain_by(s->p, s->p->ops[it->out].ret);
	if (!result_facts(r, 3))
		return result_unknown(r);
	r->ops[0] = it->out;
	r->ops[1] = r->ops[2] = RANK_INF;
	for (uint32_t k = 0; k < at; k++) { /* a smaller one that was there at first */
		uint32_t lo, hi;
		const struct item *o = &s->it[order[k].value];
		if (item_inside(o, &lo, &hi) && lo <= it->out_lo && hi >= it->out_lo) {
			r->ops[1] = o->in;
			r->ops[2] = o->out;
			if (hi >= it->out_hi)
				break; /* and to the end */
		}
	}
	return r->verdict = LIN_VIOLATED;
}

static enum lin_verdict judge(struct items *s, struct cover *c, struct pqueue_rank *order, struct placed *out, struct result *r)
{
	const struct problem *p = s->p;
	uint32_t n = 0, nout = 0;
	for (uint32_t k = 0; k < s->n; k++)
		if (s->it[k].in != RANK_INF)
			order[n++] = (struct pqueue_rank){ k, p->ops[s->it[k].in].a };
	qsort_r(order, n, sizeof *order, by_value, (void *)(uintptr_t)p->vals);
	for (uint32_t k = 0; k < n; k++) {
		const struct item *it = &s->it[order[k].value];
		uint32_t lo, hi, in = it->in_hi;
		if (it->out != RANK_INF) {
			uint32_t g = cover_first_zero(c, it->out_lo, it->out_hi);
			if (g == RANK_INF)
				return no_room(s, order, k, r);
			bool pair = g <= in;
			out[nout++] = (struct placed){ g, 0, k, pair ? it->in : it->out, pair ? it->out : RANK_INF };
			if (pair)
				in = RANK_INF;
		}
		if (in != RANK_INF)
			out[nout++] = (struct placed){ in, 2, k, it->in, RANK_INF };
		if (item_inside(it, &lo, &hi))
			cover_add(c, lo, hi, 1);
	}
	for (uint32_t k = 0; k < s->nempties; k++) {
		const struct hop *op = &p->ops[s->empties[k]];
		uint32_t g = cover_first_zero(c, op->call + 1, op->ret);
		if (g == RANK_INF) {
			r->proof = PROOF_NOT_EMPTY;
			r->moment_open = true;
			r->culprit = lin_certain_by(p, op->ret);
			if (!result_facts(r, 1))
				return result_unknown(r);
			r->ops[0] = s->empties[k];
			return r->verdict = LIN_VIOLATED;
		}
		out[nout++] = (struct placed){ g, 1, k, s->empties[k], RANK_INF };
	}
	if (!result_order(r, p->n))
		return result_unknown(r);
	placed_emit(out, nout, r);
	return r->verdict = LIN_HOLDS;
}

enum lin_verdict lin_pqueue(const struct problem *p, struct result *r)
{
	result_init(r, ALG_DIRECT, p->lim);
	struct items s;
	enum lin_verdict v = items_open(&s, p, FN_INSERT, FN_POLL, r);
	if (v == LIN_HOLDS) {
		struct cover c = { 0 };
		size_t bo = s.n * sizeof(struct pqueue_rank) + 8, bp = p->n * 2 * sizeof(struct placed) + 8;
		struct pqueue_rank *order = lim_realloc(p->lim, NULL, 0, bo);
		struct placed *out = lim_realloc(p->lim, NULL, 0, bp);
		v = order && out && cover_open(&c, s.ngaps, p->lim) ? judge(&s, &c, order, out, r) : result_unknown(r);
		lim_free(p->lim, order, order ? bo : 0);
		lim_free(p->lim, out, out ? bp : 0);
		if (c.lim)
			cover_close(&c);
	}
	items_close(&s);
	return r->verdict = v;
}
