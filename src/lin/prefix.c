/*
 * prefix: a history as it was known at a moment, and the order that explains a
 * wrong history up to the response with which it went wrong (for the page,
 * which draws the moments at which operations took effect).
 */
#include <stdlib.h>

#include "base/invariant.h"
#include "lin/check.h"

bool hop_still_open(struct hop *op)
{
	if (op->fn == FN_READ || op->fn == FN_PEEK || op->fn == FN_CONTAINS)
		return false;
	op->ret = RANK_INF;
	op->res = RES_NONE;
	if (op->fn == FN_DEQ || op->fn == FN_POP || op->fn == FN_POLL || op->fn >= FN_COUNT)
		op->b = VAL_NONE;
	return true;
}

void lin_prefix(const struct problem *p, uint32_t cut, struct hop *ops, uint32_t *map, struct problem *out)
{
	assert(cut <= p->nevents || cut == RANK_INF);
	*out = *p;
	out->ops = ops;
	out->n = 0;
	for (uint32_t i = 0; i < p->n && p->ops[i].call < cut; i++) {
		struct hop op = p->ops[i];
		if (op.ret >= cut && !hop_still_open(&op))
			continue;
		map[out->n] = i;
		ops[out->n++] = op;
	}
}

#define PREFIX_STEPS 200000

/* The order of a prefix of p, in numbers of the history; NULL: not found. */
static uint32_t *order_before(const struct problem *p, uint32_t cut, const uint32_t *number, uint32_t *n)
{
	struct hop *ops = malloc(p->n * sizeof *ops);
	uint32_t *map = malloc(p->n * 4ull), *order = NULL;
	struct problem q;
	struct result r;
	if (ops && map) {
		lin_prefix(p, cut, ops, map, &q);
		q.max_steps = PREFIX_STEPS;
		if (lin_atomic(&q, ALG_AUTO, &r) == LIN_HOLDS && r.order && (order = malloc(r.norder * 4ull + 4))) {
			for (uint32_t i = 0; i < r.norder; i++)
				order[i] = number ? number[map[r.order[i]]] : map[r.order[i]];
			*n = r.norder;
		}
		result_free(&r);
	}
	free(ops);
	free(map);
	return order;
}

uint32_t *part_order(const struct history *h, const struct interpretation *in, const struct check *c, const struct part *part,
                     uint32_t *n)
{
	struct problem p;
	struct hop *ops;
	uint32_t *order = NULL;
	*n = 0;
	if (part->r.verdict != LIN_VIOLATED || part->r.moment_open || part->r.culprit == RANK_INF || lim_spent(h->lim))
		return NULL;
	if (part_problem(h, in, c, part, &p, &ops)) {
		const uint32_t *number = c->ops ? c->ops + part->first : NULL;
		for (uint32_t i = 0; i < p.n && !order; i++)
			if ((number ? number[i] : i) == part->r.culprit)
				order = order_before(&p, p.ops[i].ret, number, n);
	}
	lim_free(h->lim, ops, ops ? part->n * sizeof *ops : 0);
	return order;
}
