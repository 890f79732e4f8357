/*
 * verify_sequential: sequential consistency checked again: an order is followed
 * step by step, with a state for each key; that there is none is checked by
 * trying all orders, without memoisation, within a budget.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/invariant.h"
#include "history/spec.h"
#include "verdict/verify_history.h"

struct objects {
	struct spec_ctx c;
	uint32_t *state; /* by key */
};

static bool objects_open(struct objects *o, const struct problem *p)
{
	assert(p->obj != OBJ_GUESS);
	uint32_t nkeys = 1;
	for (uint32_t i = 0; i < p->n; i++)
		nkeys = p->ops[i].key >= nkeys ? p->ops[i].key + 1 : nkeys;
	spec_open(&o->c, spec_of(p->obj, p->k), p->vals, p->lim, p->k);
	o->c.user = p->user;
	o->state = calloc(nkeys, sizeof *o->state);
	uint32_t init = o->c.spec->init(&o->c, p->init);
	for (uint32_t k = 0; k < nkeys && o->state; k++)
		o->state[k] = init;
	return o->state != NULL;
}

static void objects_close(struct objects *o)
{
	spec_close(&o->c);
	free(o->state);
}

enum verify_answer verify_order_sequential(const struct problem *p, const uint32_t *order, uint32_t n, struct why *why)
{
	enum verify_answer out = verify_permutation(p, order, n, why);
	struct objects o;
	uint32_t nproc = 0;
	for (uint32_t i = 0; i < p->n; i++)
		nproc = p->ops[i].proc >= nproc ? p->ops[i].proc + 1 : nproc;
	uint32_t *last = calloc(nproc + 1ull, sizeof *last); /* the latest of each process so far, + 1 */
	if (!objects_open(&o, p) || !last)
		out = VERIFY_UNDECIDED;
	for (uint32_t i = 0; i < n && out == VERIFY_ACCEPTED; i++) {
		const struct hop *op = &p->ops[order[i]];
		uint32_t *l = &last[op->proc], *state = &o.state[op->key];
		if (order[i] + 1 <= *l && op->ret != RANK_INF)
			out = verify_reject(why, "two operations of one process are exchanged", order[i]);
		else if (!o.c.spec->apply(&o.c, *state, op, state))
			out = verify_reject(why, "the object does not allow an operation at its place", order[i]);
		*l = order[i] + 1 > *l ? order[i] + 1 : *l;
	}
	if (o.c.failed)
		out = VERIFY_UNDECIDED;
	objects_close(&o);
	free(last);
	return out;
}

/* ---- no order ------------------------------------------------------------------- */

struct sequential_attempt {
	const struct problem *p;
	struct objects o;
	unsigned char *done;
	uint32_t left, budget; /* answered ones still to come; steps */
};

/* Everything of its process that came before it and answered has happened. */
static bool its_turn(const struct sequential_attempt *a, uint32_t op)
{
	assert(op < a->p->n && !a->done[op]);
	for (uint32_t i = 0; i < op; i++)
		if (!a->done[i] && a->p->ops[i].proc == a->p->ops[op].proc && a->p->ops[i].ret != RANK_INF)
			return false;
	return true;
}

/* Can the rest be put in order? (The depth is the number of operations.) */
static bool complete(struct sequential_attempt *a)
{
	assert(a->left <= a->p->n);
	if (!a->left)
		return true;
	for (uint32_t i = 0; i < a->p->n && a->budget; i++) {
		const struct hop *op = &a->p->ops[i];
		uint32_t before = a->o.state[op->key], next;
		if (a->done[i] || !its_turn(a, i) || !a->o.c.spec->apply(&a->o.c, before, op, &next))
			continue;
		a->budget--;
		a->done[i] = 1;
		a->left -= op->ret != RANK_INF;
		a->o.state[op->key] = next;
		if (complete(a))
			return true;
		a->o.state[op->key] = before;
		a->left += op->ret != RANK_INF;
		a->done[i] = 0;
	}
	return false;
}

#define MOST_TRIED 1000 /* operations: the depth of the recursion */

enum verify_answer verify_no_sequential(const struct problem *p, uint32_t budget, struct why *why)
{
	struct sequential_attempt a = { .p = p, .budget = budget, .done = calloc(p->n + 1ull, 1) };
	bool open = objects_open(&a.o, p), found = false;
	for (uint32_t i = 0; i < p->n; i++)
		a.left += p->ops[i].ret != RANK_INF;
	bool tried = open && a.done && p->n <= MOST_TRIED;
	if (tried)
		found = complete(&a);
	enum verify_answer out = VERIFY_ACCEPTED;
	if (found) {
		why_set(why, "there is an order");
		out = VERIFY_REJECTED;
	} else if (!tried || !a.budget || a.o.c.failed) {
		why_set(why, "checking that no sequential order exists would take too long");
		out = VERIFY_UNDECIDED;
	}
	objects_close(&a.o);
	free(a.done);
	return out;
}
