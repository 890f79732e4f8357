/*
 * value_supply: a register that had to become a value more often than anything could
 * have made it so. O(n log n), values repeated or not, cas or not.
 *
 * When an operation shows the register in another state than v (a read of
 * another value, a write of one, a cas that succeeded), and one that begins
 * after its end shows v, then in between, from the invocation of the first to
 * the response of the second, something brought v: a write of v or a cas to v,
 * also one that never answered. Such stretches that do not overlap need an
 * operation each. For each value the most stretches are taken, the earliest ends
 * first, and operations are given to them in order, the first to end first,
 * which serves as many as can be. When one gets none, it and the stretches that
 * took what it could have had are the proof: there are fewer operations that
 * reach into them than stretches.
 */
#include <stdlib.h>
#include <string.h>

#include "lin/lin.h"

struct supply_entry { /* an operation that shows, or brings, a value */
	val v;
	uint32_t when, op; /* its response, or its invocation */
};

struct stretch {
	uint32_t lo, hi;       /* something brings the value in between */
	uint32_t other, shows; /* the operations; other RANK_INF: the initial value */
	uint32_t by;           /* the operation given to it */
};

struct value_supply {
	const struct problem *p;
	struct supply_entry *shows, *brings;
	uint32_t nshows, nbrings;
	uint32_t *witness; /* two by event: see witnesses() */
	struct stretch *stretch;
	uint32_t nstretches;
	uint32_t *ready, nready; /* operations that can still be given, a heap by response */
	size_t be, bw, bs, br;
};

#define ANY VAL_NONE /* of a witness: shows two values, so always another one */

/* The value that a completed operation shows for certain; false: none. */
static bool shown(const struct hop *o, val *v)
{
	if (o->ret == RANK_INF || (o->fn == FN_CAS && o->res != RES_TRUE))
		return false;
	*v = o->fn == FN_READ ? o->b : o->fn == FN_WRITE || o->a == o->b ? o->a : ANY;
	return true;
}

static int by_value(const void *x, const void *y)
{
	const struct supply_entry *a = x, *b = y;
	if (a->v != b->v)
		return a->v < b->v ? -1 : 1;
	return a->when < b->when ? -1 : a->when > b->when;
}

static bool open_supply(struct value_supply *s, const struct problem *p)
{
	memset(s, 0, sizeof *s);
	s->p = p;
	s->be = (p->n + 1ull) * sizeof *s->shows;
	s->bw = (p->nevents + 1ull) * 8;
	s->bs = (p->n + 1ull) * sizeof *s->stretch;
	s->br = (p->n + 1ull) * 4;
	s->shows = lim_realloc(p->lim, NULL, 0, s->be);
	s->brings = lim_realloc(p->lim, NULL, 0, s->be);
	s->witness = lim_realloc(p->lim, NULL, 0, s->bw);
	s->stretch = lim_realloc(p->lim, NULL, 0, s->bs);
	s->ready = lim_realloc(p->lim, NULL, 0, s->br);
	if (!s->shows || !s->brings || !s->witness || !s->stretch || !s->ready)
		return false;
	for (uint32_t i = 0; i < p->n; i++) {
		const struct hop *o = &p->ops[i];
		bool cas = o->fn == FN_CAS, sees = o->fn == FN_READ || (cas && o->res == RES_TRUE);
		if (sees && o->ret != RANK_INF)
			s->shows[s->nshows++] = (struct supply_entry){ cas ? o->a : o->b, o->ret, i };
		if (o->fn == FN_WRITE || (cas && o->res != RES_FALSE && o->a != o->b))
			s->brings[s->nbrings++] = (struct supply_entry){ cas ? o->b : o->a, o->call, i };
	}
	qsort(s->shows, s->nshows, sizeof *s->shows, by_value);
	qsort(s->brings, s->nbrings, sizeof *s->brings, by_value);
	return true;
}

static void close_supply(struct value_supply *s)
{
	struct limits *l = s->p->lim;
	lim_free(l, s->shows, s->shows ? s->be : 0);
	lim_free(l, s->brings, s->brings ? s->be : 0);
	lim_free(l, s->witness, s->witness ? s->bw : 0);
	lim_free(l, s->stretch, s->stretch ? s->bs : 0);
	lim_free(l, s->ready, s->ready ? s->br : 0);
}

/* By event: of the operations that ended before it, the one invoked last, and
 * the one invoked last among those that show another value than that one. */
static bool witnesses(struct value_supply *s)
{
	const struct hop *ops = s->p->ops;
	uint32_t *ev = events_of(s->p), one = RANK_INF, two = RANK_INF;
	val v, w = ANY;
	if (!ev)
		return false;
	for (uint32_t t = 0; t <= s->p->nevents; t++) {
		s->witness[2 * t] = one;
		s->witness[2 * t + 1] = two;
		uint32_t o = t < s->p->nevents && ev[t] != RANK_INF && ev[t] & 1 ? ev[t] / 2 : RANK_INF;
		if (o == RANK_INF || !shown(&ops[o], &v))
			continue;
		bool later = one == RANK_INF || ops[o].call > ops[one].call;
		if (later) {
			two = one != RANK_INF && v != w ? one : two;
			one = o;
			w = v;
		} else if (v != w && (two == RANK_INF || ops[o].call > ops[two].call)) {
			two = o;
		}
	}
	lim_free(s->p->lim, ev, s->p->nevents * 4ull + 4);
	return true;
}

/* The stretches in which the value was brought; they do not overlap. */
static void find_stretches(struct value_supply *s, const struct supply_entry *e, uint32_t n)
{
	const struct hop *ops = s->p->ops;
	bool first = s->p->init != e->v;
	s->nstretches = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct hop *o = &ops[e[i].op];
		val v = ANY;
		uint32_t w = s->witness[2 * o->call];
		if (w != RANK_INF && shown(&ops[w], &v) && v == e->v)
			w = s->witness[2 * o->call + 1];
		bool fits = w != RANK_INF && (!s->nstretches || ops[w].call > s->stretch[s->nstretches - 1].hi);
		if (!fits && (!first || s->nstretches))
			continue;
		if (!fits)
			w = RANK_INF;
		s->stretch[s->nstretches++] = (struct stretch){ w == RANK_INF ? 0 : ops[w].call, o->ret, w, e[i].op, RANK_INF };
	}
}

static bool ends_first(const struct value_supply *s, uint32_t a, uint32_t b)
{
	return s->p->ops[a].ret < s->p->ops[b].ret;
}

static void ready_push(struct value_supply *s, uint32_t op)
{
	uint32_t i = s->nready++;
	for (; i > 0 && ends_first(s, op, s->ready[(i - 1) / 2]); i = (i - 1) / 2)
		s->ready[i] = s->ready[(i - 1) / 2];
	s->ready[i] = op;
}

static uint32_t ready_pop(struct value_supply *s)
{
	uint32_t top = s->ready[0], op = s->ready[--s->nready], i = 0;
	for (uint32_t c; (c = 2 * i + 1) < s->nready; i = c) {
		c += c + 1 < s->nready && ends_first(s, s->ready[c + 1], s->ready[c]);
		if (!ends_first(s, s->ready[c], op))
			break;
		s->ready[i] = s->ready[c];
	}
	s->ready[i] = op;
	return top;
}

/* Gives each stretch an operation; the number of the first that gets none. */
static uint32_t serve(struct value_supply *s, const struct supply_entry *e, uint32_t n)
{
	s->nready = 0;
	for (uint32_t i = 0, k = 0; i < s->nstretches; i++) {
		for (; k < n && e[k].when < s->stretch[i].hi; k++)
			ready_push(s, e[k].op);
		while (s->nready && s->p->ops[s->ready[0]].ret < s->stretch[i].lo)
			ready_pop(s);
		if (!s->nready)
			return i;
		s->stretch[i].by = ready_pop(s);
	}
	return s->nstretches;
}

static bool reaches(const struct value_supply *s, uint32_t op, const struct stretch *x)
{
	return s->p->ops[op].call < x->hi && s->p->ops[op].ret > x->lo;
}

/* The first of the stretches that lack one operation, of which the last is `i`. */
static uint32_t first_lacking(const struct value_supply *s, uint32_t i)
{
	uint32_t from = i;
	for (uint32_t k = i; k-- > 0;) /* what was given to k could have served from `from` on */
		for (uint32_t m = from; m <= i; m++)
			if (reaches(s, s->stretch[k].by, &s->stretch[m])) {
				from = k;
				break;
			}
	return from;
}

static enum lin_verdict lacking(struct value_supply *s, uint32_t i, bool unwritten, struct result *r)
{
	uint32_t from = first_lacking(s, i), n = i - from + 1;
	r->culprit = s->stretch[i].shows;
	r->window = s->stretch[from].lo;
	r->proof = unwritten ? PROOF_UNWRITTEN : PROOF_SUPPLY;
	if (!result_facts(r, unwritten ? 1 : 3 * n - 1))
		return result_unknown(r);
	for (uint32_t k = 0; k < n && !unwritten; k++) {
		r->ops[2 * k] = s->stretch[from + k].other;
		r->ops[2 * k + 1] = s->stretch[from + k].shows;
		if (k + 1 < n)
			r->ops[2 * n + k] = s->stretch[from + k].by;
	}
	if (unwritten)
		r->ops[0] = r->culprit;
	return r->verdict = LIN_VIOLATED;
}

/* The value whose lack is certain first. */
static enum lin_verdict run(struct value_supply *s, struct result *r)
{
	struct result *best = NULL, one;
	uint32_t earliest = RANK_INF, b = 0;
	for (uint32_t i = 0, n; i < s->nshows; i += n) {
		const struct supply_entry *e = &s->shows[i];
		for (n = 1; i + n < s->nshows && s->shows[i + n].v == e->v; n++)
			;
		while (b < s->nbrings && s->brings[b].v < e->v)
			b++;
		uint32_t m = 0;
		while (b + m < s->nbrings && s->brings[b + m].v == e->v)
			m++;
		find_stretches(s, e, n);
		uint32_t lacks = serve(s, s->brings + b, m);
		if (lacks == s->nstretches || s->stretch[lacks].hi >= earliest)
			continue;
		earliest = s->stretch[lacks].hi;
		if (best)
			result_free(best);
		best = &one;
		result_init(best, ALG_SEARCH, s->p->lim);
		bool none = s->p->init != e->v && (!m || s->brings[b].when > earliest);
		if (lacking(s, lacks, none, best) != LIN_VIOLATED)
			break;
	}
	if (!best)
		return LIN_HOLDS;
	*r = *best;
	return r->verdict;
}

bool lin_lacks_supply(const struct problem *p, struct result *r)
{
	struct value_supply s;
	if (p->k > 1 || !object_has(p->obj, OBJECT_VALUE) || object_has(p->obj, OBJECT_APPENDS))
		return false;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->ops[i].fn != FN_READ && p->ops[i].fn != FN_WRITE && p->ops[i].fn != FN_CAS)
			return false;
	result_init(r, ALG_SEARCH, p->lim);
	bool lacks = open_supply(&s, p) && witnesses(&s) && run(&s, r) == LIN_VIOLATED;
	close_supply(&s);
	if (!lacks)
		result_free(r);
	return lacks;
}
