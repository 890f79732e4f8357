/*
 * brute_force: every permutation that respects real time, without memory of what
 * was tried. The naive twin of the other algorithms; for small histories.
 */
#include <string.h>

#include "base/invariant.h"
#include "lin/lin.h"
#include "history/spec.h"

#define BRUTE_MAX 14

struct brute {
	const struct problem *p;
	struct spec_ctx *c;
	uint32_t used, order[BRUTE_MAX], n;
};

static bool permute(struct brute *b, uint32_t state)
{
	assert(b->p->n <= BRUTE_MAX);
	uint32_t first_ret = RANK_INF; /* nothing invoked later may come first */
	bool done = true;
	for (uint32_t i = 0; i < b->p->n; i++)
		if (!(b->used >> i & 1) && b->p->ops[i].ret != RANK_INF) {
			done = false;
			if (b->p->ops[i].ret < first_ret)
				first_ret = b->p->ops[i].ret;
		}
	if (done)
		return true;
	for (uint32_t i = 0; i < b->p->n; i++) {
		uint32_t next;
		if (b->used >> i & 1 || b->p->ops[i].call > first_ret || !b->c->spec->apply(b->c, state, &b->p->ops[i], &next))
			continue;
		b->used |= 1u << i;
		b->order[b->n++] = i;
		if (permute(b, next))
			return true;
		b->n--;
		b->used &= ~(1u << i);
	}
	return false;
}

enum lin_verdict lin_brute(const struct problem *p, struct result *r)
{
	result_init(r, ALG_BRUTE, p->lim);
	if (p->n > BRUTE_MAX)
		return result_refuse(r, "it tries every order: at most 14 operations", RANK_INF, RANK_INF);
	struct spec_ctx c;
	spec_open(&c, spec_of(p->obj, p->k), p->vals, p->lim, p->k);
	c.user = p->user;
	struct brute b = { .p = p, .c = &c };
	bool ok = permute(&b, c.spec->init(&c, p->init));
	r->verdict = c.failed ? LIN_UNKNOWN : ok ? LIN_HOLDS : LIN_VIOLATED;
	if (r->verdict == LIN_HOLDS && result_order(r, b.n)) {
		memcpy(r->order, b.order, b.n * sizeof *b.order);
		r->norder = b.n;
	}
	spec_close(&c);
	return r->verdict;
}
