/*
 * set: one element of a set, every answer known. O(n log n).
 *
 * The element is inside or not. An operation that answered is a flip (an add
 * that said it was new, a remove that said it was there) or an observation
 * (contains, an add or remove that changed nothing). Sweep over the events
 * and let things happen as late as they must:
 *
 *   an observation happens as soon as the element is as it saw it;
 *   a flip happens when its own response, the response of an observation or
 *   that of the opposite flip asks for it, and of the flips that are open the
 *   one with the earliest response goes.
 *
 * Late loses nothing: whatever sees the element in a state that was passed
 * earlier is either open still when the state is passed later, or its
 * response asked for it before. Earliest response first loses nothing: two
 * open flips of one kind differ in nothing but how long they can wait, and
 * one that never returned can wait forever (and need not happen). A response
 * that cannot be given is therefore impossible in every order.
 *
 * Representation: two binary heaps of open flips by response, two lists of
 * waiting observations, the order as it grows.
 */
#include <string.h>

#include "lin/lin.h"

struct heap {
	uint32_t *op;
	uint32_t n;
};

struct sweep {
	const struct problem *p;
	struct result *r;
	bool inside;
	struct heap flips[2];              /* [1]: those that put it in */
	uint32_t *waiting[2], nwaiting[2]; /* [1]: those that must see it inside */
	uint8_t *done;
	size_t b4, b1;
};

static bool sooner(const struct problem *p, uint32_t a, uint32_t b)
{
	return p->ops[a].ret != p->ops[b].ret ? p->ops[a].ret < p->ops[b].ret : a < b;
}

static void heap_push(const struct problem *p, struct heap *h, uint32_t op)
{
	uint32_t i = h->n++;
	for (; i && sooner(p, op, h->op[(i - 1) / 2]); i = (i - 1) / 2)
		h->op[i] = h->op[(i - 1) / 2];
	h->op[i] = op;
}

static uint32_t heap_pop(const struct problem *p, struct heap *h)
{
	uint32_t top = h->op[0], last = h->op[--h->n], i = 0;
	for (uint32_t k; (k = 2 * i + 1) < h->n; i = k) {
		if (k + 1 < h->n && sooner(p, h->op[k + 1], h->op[k]))
			k++;
		if (!sooner(p, h->op[k], last))
			break;
		h->op[i] = h->op[k];
	}
	if (h->n)
		h->op[i] = last;
	return top;
}

/* What it does, given its answer: flips to *to, or sees *to. */
static bool is_flip(const struct hop *op, bool *to)
{
	bool yes = op->res != RES_FALSE; /* one that never answered may have done it */
	*to = op->fn == FN_CONTAINS ? yes : (op->fn == FN_ADD) == yes;
	if (op->fn != FN_CONTAINS && !yes)
		*to = op->fn == FN_ADD; /* it was inside already, or out */
	return op->fn != FN_CONTAINS && yes;
}

static void happen(struct sweep *s, uint32_t op)
{
	s->done[op] = 1;
	s->r->order[s->r->norder++] = op;
}

/* The element goes in or out; false: nothing that is open can do it. */
static bool flip(struct sweep *s, bool to)
{
	if (!s->flips[to].n)
		return false;
	happen(s, heap_pop(s->p, &s->flips[to]));
	s->inside = to;
	for (uint32_t i = 0; i < s->nwaiting[to]; i++)
		if (!s->done[s->waiting[to][i]])
			happen(s, s->waiting[to][i]);
	s->nwaiting[to] = 0;
	return true;
}

static void call(struct sweep *s, uint32_t op)
{
	bool to;
	if (is_flip(&s->p->ops[op], &to))
		heap_push(s->p, &s->flips[to], op);
	else if (s->inside == to)
		happen(s, op);
	else
		s->waiting[to][s->nwaiting[to]++] = op;
}

/* By now it must have happened. */
static bool respond(struct sweep *s, uint32_t op)
{
	bool to, flips = is_flip(&s->p->ops[op], &to);
	if (s->done[op])
		return true;
	if (flips && s->inside == to && !flip(s, !to))
		return false;
	return flip(s, to); /* of the open flips its own response is the next */
}

static const char *misfit(const struct problem *p, uint32_t *at)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const struct hop *op = &p->ops[i];
		*at = i;
		if (op->fn != FN_ADD && op->fn != FN_REMOVE && op->fn != FN_CONTAINS)
			return "the set is read as a whole";
		if (op->a != p->ops[0].a)
			return "it checks one element at a time";
		if (op->ret != RANK_INF && op->res == RES_NONE)
			return "an operation did not say whether it changed the set";
	}
	return NULL;
}

static bool sweep_open(struct sweep *s)
{
	const struct problem *p = s->p;
	uint32_t len;
	const val *e = val_elems(p->vals, p->init, &len);
	for (uint32_t i = 0; i < len && p->n; i++)
		s->inside |= e[i] == p->ops[0].a;
	s->b4 = p->n * 4ull + 4;
	s->b1 = p->n + 1ull;
	for (int k = 0; k < 2; k++) {
		s->flips[k].op = lim_realloc(p->lim, NULL, 0, s->b4);
		s->waiting[k] = lim_realloc(p->lim, NULL, 0, s->b4);
	}
	s->done = lim_realloc(p->lim, NULL, 0, s->b1);
	if (s->done)
		memset(s->done, 0, s->b1);
	return s->done && s->flips[0].op && s->flips[1].op && s->waiting[0] && s->waiting[1];
}

static void sweep_close(struct sweep *s)
{
	for (int k = 0; k < 2; k++) {
		lim_free(s->p->lim, s->flips[k].op, s->flips[k].op ? s->b4 : 0);
		lim_free(s->p->lim, s->waiting[k], s->waiting[k] ? s->b4 : 0);
	}
	lim_free(s->p->lim, s->done, s->done ? s->b1 : 0);
}

enum lin_verdict lin_set(const struct problem *p, struct result *r)
{
	struct sweep s = { .p = p, .r = r };
	uint32_t at;
	result_init(r, ALG_DIRECT, p->lim);
	const char *why = misfit(p, &at);
	if (why)
		return result_refuse(r, why, at, RANK_INF);
	uint32_t *ev = events_of(p), bad = RANK_INF;
	bool ok = ev && sweep_open(&s) && result_order(r, p->n);
	if (ok)
		r->norder = 0;
	for (uint32_t t = 0; ok && t < p->nevents && bad == RANK_INF; t++) {
		if (ev[t] == RANK_INF)
			continue;
		if (!(ev[t] & 1))
			call(&s, ev[t] / 2);
		else if (!respond(&s, ev[t] / 2))
			bad = ev[t] / 2;
	}
	sweep_close(&s);
	lim_free(p->lim, ev, ev ? p->nevents * 4ull + 4 : 0);
	if (!ok)
		return result_unknown(r);
	if (bad == RANK_INF)
		return r->verdict = LIN_HOLDS;
	r->culprit = lin_certain_by(p, p->ops[bad].ret); /* the sweep knew answers that came later */
	r->moment_open = true;
	r->proof = PROOF_COUNTS;
	if (!result_facts(r, 1))
		return r->verdict;
	r->ops[0] = bad;
	return r->verdict = LIN_VIOLATED;
}
