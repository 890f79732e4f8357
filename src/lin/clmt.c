/*
 * clmt: Definition 1 of the paper, the partial-order property, by search.
 *
 * Is there an irreflexive partial order < on the operations with
 *   1. x before y in real time  =>  not y < x
 *   2. writes are ordered; as Section 4.2 does, w0 < w1 < w2 ... is given
 *      and w0 is below everything
 *   3. write w before read r in real time  =>  w < r
 *   4. read r before read s in real time  =>  every last write below r is < s
 *   5. r returns the value of a last write below it
 *
 * Representation: a relation is a bit matrix (at most CLMT_MAX operations). Since
 * the writes are a chain, what a read's row says about them is a pair a < b: w0..wa
 * are below it and wb.. are above it. The search runs through all pairs of all
 * reads; a leaf closes the relation transitively and evaluates the five lines
 * literally. Relations between two reads matter to no line but 1, where more of
 * them only hurts, so the closure is the one to test. Exponential in the number of
 * reads, as in the paper; lines 1, 3 and 5 cut single pairs early (the last write
 * below a read is wa: what comes below it by way of other reads is below wa too).
 */
#include <string.h>

#include "base/invariant.h"
#include "lin/lin.h"

#define CLMT_MAX 62 /* operations with the initial write */
_Static_assert(CLMT_MAX < 64, "sets of operations are words");

struct clmt {
	const struct problem *p;
	uint32_t n, nw;                                 /* 0..nw-1 writes (0 the initial one), then reads */
	uint32_t call[CLMT_MAX + 2], ret[CLMT_MAX + 2]; /* ranks + 1; w0 is 0, 0 */
	val value[CLMT_MAX + 2];
	uint32_t a[CLMT_MAX + 2], b[CLMT_MAX + 2]; /* of each read */
	uint64_t below[CLMT_MAX + 2];              /* bit y of below[x]: y < x */
	uint64_t steps;
	bool spent;
};

static bool precedes(const struct clmt *c, uint32_t x, uint32_t y)
{
	return c->ret[x] < c->call[y];
}

static bool less(const struct clmt *c, uint32_t x, uint32_t y)
{
	assert(x < c->n && y < c->n);
	return c->below[y] >> x & 1;
}

static void close_transitively(struct clmt *c)
{
	for (uint32_t k = 0; k < c->n; k++)
		for (uint32_t x = 0; x < c->n; x++)
			if (c->below[x] >> k & 1)
				c->below[x] |= c->below[k];
}

static bool is_last_prec_write(const struct clmt *c, uint32_t w, uint32_t r)
{
	if (!less(c, w, r))
		return false;
	for (uint32_t v = 0; v < c->nw; v++)
		if (less(c, w, v) && less(c, v, r))
			return false;
	return true;
}

/* The five properties, evaluated on the relation as it is. */
static bool holds(const struct clmt *c)
{
	for (uint32_t x = 0; x < c->n; x++) {
		if (less(c, x, x))
			return false;
		for (uint32_t y = 0; y < c->n; y++)
			if (precedes(c, x, y) && less(c, y, x)) /* 1 */
				return false;
	}
	for (uint32_t x = 0; x < c->nw; x++)
		for (uint32_t y = 0; y < c->nw; y++)
			if (x != y && !less(c, x, y) && !less(c, y, x)) /* 2 */
				return false;
	for (uint32_t w = 0; w < c->nw; w++)
		for (uint32_t r = c->nw; r < c->n; r++)
			if (precedes(c, w, r) && !less(c, w, r)) /* 3 */
				return false;
	for (uint32_t r = c->nw; r < c->n; r++) {
		bool seen = false;
		for (uint32_t w = 0; w < c->nw; w++) {
			if (!is_last_prec_write(c, w, r))
				continue;
			seen |= c->value[w] == c->value[r]; /* 5 */
			for (uint32_t s = c->nw; s < c->n; s++)
				if (precedes(c, r, s) && !less(c, w, s)) /* 4 */
					return false;
		}
		if (!seen)
			return false;
	}
	return true;
}

static bool leaf(struct clmt *c)
{
	memset(c->below, 0, sizeof c->below);
	for (uint32_t w = 1; w < c->nw; w++)
		c->below[w] = 1ull << (w - 1);
	for (uint32_t r = c->nw; r < c->n; r++) {
		c->below[r] |= 1ull << c->a[r];
		if (c->b[r] < c->nw)
			c->below[c->b[r]] |= 1ull << r;
	}
	close_transitively(c);
	return holds(c);
}

static bool search(struct clmt *c, uint32_t r)
{
	assert(r <= c->n && c->nw <= c->n && c->n <= CLMT_MAX);
	if (r == c->n)
		return leaf(c);
	if ((++c->steps & 0xFFF) == 0 && lim_spent(c->p->lim))
		c->spent = true;
	for (uint32_t a = 0; a < c->nw && !c->spent; a++) {
		if (precedes(c, r, a)) /* 1 */
			break;
		if (a + 1 < c->nw && precedes(c, a + 1, r)) /* 3 */
			continue;
		if (c->value[a] != c->value[r]) /* 5 */
			continue;
		for (uint32_t b = a + 1; b <= c->nw; b++) {
			c->a[r] = a;
			c->b[r] = b;
			if (search(c, r + 1))
				return true;
		}
	}
	return false;
}

enum lin_verdict lin_clmt(const struct problem *p, struct result *r)
{
	uint32_t x, y;
	result_init(r, ALG_CLMT, p->lim);
	if (!writes_in_sequence(p, &x, &y))
		return result_refuse(r, "it requires a single writer, and two writes overlap", x, y);
	if (p->n > CLMT_MAX)
		return result_refuse(r, "it is exponential: at most 61 operations", RANK_INF, RANK_INF);
	struct clmt c = { .p = p, .nw = 1 };
	c.value[0] = p->init;
	for (int reads = 0; reads < 2; reads++) {
		c.n = reads ? c.nw : 1;
		for (uint32_t i = 0; i < p->n; i++) {
			const struct hop *op = &p->ops[i];
			if ((op->fn == FN_READ) != reads)
				continue;
			c.call[c.n] = op->call + 1;
			c.ret[c.n] = op->ret == RANK_INF ? RANK_INF : op->ret + 1;
			c.value[c.n++] = reads ? op->b : op->a;
		}
		if (!reads)
			c.nw = c.n;
	}
	bool ok = search(&c, c.nw);
	r->steps = c.steps;
	return r->verdict = ok ? LIN_HOLDS : c.spent ? LIN_UNKNOWN : LIN_VIOLATED;
}
