/*
 * zones: an atomic register with any number of writers when no value is
 * written twice (Gibbons and Korach, Testing shared memories, Section 4).
 * O(n) after ranking, O(n) memory.
 *
 * A value's cluster is its write and its reads; s is the earliest response in
 * it, f the latest invocation. s < f is a forward zone: the value lives at
 * least from s to f. Otherwise [f, s] is a backward zone: all its operations
 * overlap there. The register is atomic iff no read returns before its write
 * is invoked, no two forward zones overlap, and no backward zone lies inside
 * a forward one. The initial value's write ended before everything.
 *
 * A pending write that was not read is omitted: it need not have happened. One
 * that was read has happened, with no response.
 *
 * When it fails, the same test on shorter prefixes finds the response at which
 * the violation became certain: an event t is cut off by treating operations
 * still open at t as pending.
 */
#include <string.h>

#include "lin/lin.h"

struct cluster {
	uint32_t write;    /* operation; RANK_INF for the initial value */
	uint32_t s, f;     /* ranks + 1; the initial write has 0 */
	uint32_t sop, fop; /* who gives them */
	uint32_t nreads;
};

struct zones {
	const struct problem *p;
	struct dense d;
	struct cluster *c;
	uint32_t *mark;  /* by rank + 1: cluster + 1 that starts there */
	uint32_t *after; /* by cluster: first backward zone placed after it, + 1 */
	size_t bytes_c, bytes_mark, bytes_after;
};

static bool zones_open(struct zones *z, const struct problem *p)
{
	memset(z, 0, sizeof *z);
	z->p = p;
	if (!dense_build(&z->d, p))
		return false;
	z->bytes_c = z->d.n * sizeof *z->c;
	z->bytes_mark = (p->nevents + 2) * 4ull;
	z->bytes_after = z->d.n * 8ull;
	z->c = lim_realloc(p->lim, NULL, 0, z->bytes_c);
	z->mark = lim_realloc(p->lim, NULL, 0, z->bytes_mark);
	z->after = lim_realloc(p->lim, NULL, 0, z->bytes_after);
	return z->c && z->mark && z->after;
}

static void zones_close(struct zones *z)
{
	lim_free(z->p->lim, z->c, z->c ? z->bytes_c : 0);
	lim_free(z->p->lim, z->mark, z->mark ? z->bytes_mark : 0);
	lim_free(z->p->lim, z->after, z->after ? z->bytes_after : 0);
	dense_free(&z->d);
}

static enum lin_verdict bad(struct result *r, enum proof proof, uint32_t n, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	uint32_t ops[4] = { a, b, c, d };
	r->proof = proof;
	if (!result_facts(r, n))
		return result_unknown(r);
	memcpy(r->ops, ops, n * sizeof *ops);
	return r->verdict = LIN_VIOLATED;
}

static void widen(struct cluster *c, uint32_t call, uint32_t ret, uint32_t i)
{
	if (ret < c->s) {
		c->s = ret;
		c->sop = i;
	}
	if (call > c->f) {
		c->f = call;
		c->fop = i;
	}
}

/* The clusters of the prefix before rank `cut`. */
static enum lin_verdict build(struct zones *z, uint32_t cut, struct result *r)
{
	const struct problem *p = z->p;
	for (uint32_t v = 0; v < z->d.n; v++)
		z->c[v] = (struct cluster){ RANK_INF, v ? RANK_INF : 0, 0, RANK_INF, RANK_INF, 0 };
	for (uint32_t i = 0; i < p->n && p->ops[i].call < cut; i++)
		if (p->ops[i].fn == FN_WRITE) {
			struct cluster *c = &z->c[dense_get(&z->d, p->ops[i].a)];
			c->write = i;
			widen(c, p->ops[i].call + 1, p->ops[i].ret < cut ? p->ops[i].ret + 1 : RANK_INF, i);
			if (c->fop == RANK_INF)
				c->fop = i;
		}
	for (uint32_t i = 0; i < p->n && p->ops[i].call < cut; i++) {
		const struct hop *op = &p->ops[i];
		if (op->fn != FN_READ || op->ret >= cut)
			continue;
		uint32_t v = dense_get(&z->d, op->b);
		if (v == RANK_INF)
			return bad(r, PROOF_UNWRITTEN, 1, i, 0, 0, 0);
		struct cluster *c = &z->c[v];
		if (v && (c->write == RANK_INF || op->ret < p->ops[c->write].call)) {
			uint32_t w = c->write;
			for (uint32_t j = 0; w == RANK_INF && j < p->n; j++)
				if (p->ops[j].fn == FN_WRITE && p->ops[j].a == op->b)
					w = j;
			return bad(r, PROOF_FUTURE, 2, i, w, 0, 0);
		}
		widen(c, op->call + 1, op->ret + 1, i);
		c->nreads++;
	}
	return LIN_HOLDS;
}

static bool lives(const struct zones *z, uint32_t v)
{
	const struct cluster *c = &z->c[v];
	return c->nreads || (v && c->write != RANK_INF && c->s != RANK_INF);
}

/* Runs through the zones from left to right. */
static enum lin_verdict sweep(struct zones *z, struct result *r)
{
	memset(z->mark, 0, z->bytes_mark);
	memset(z->after, 0, z->bytes_after);
	uint32_t *next = z->after + z->d.n;
	for (uint32_t v = 0; v < z->d.n; v++)
		if (lives(z, v)) {
			const struct cluster *c = &z->c[v];
			z->mark[c->s < c->f ? c->s : c->f] = v + 1;
		}
	uint32_t cur = RANK_INF, end = 0;
	for (uint32_t t = 0; t <= z->p->nevents; t++) {
		if (!z->mark[t])
			continue;
		uint32_t v = z->mark[t] - 1;
		const struct cluster *c = &z->c[v], *o = cur == RANK_INF ? NULL : &z->c[cur];
		bool inside = o && t < end;
		if (c->s < c->f) {
			if (inside)
				return bad(r, PROOF_ZONES, 4, o->sop, o->fop, c->sop, c->fop);
			cur = v;
			end = c->f;
		} else if (inside) {
			if (c->s < end)
				return bad(r, PROOF_INSIDE, 4, o->sop, o->fop, c->fop, c->sop);
			z->mark[t] = 0; /* just after the zone there is room */
			next[v] = z->after[cur];
			z->after[cur] = v + 1;
		}
	}
	return LIN_HOLDS;
}

static enum lin_verdict judge(struct zones *z, uint32_t cut, struct result *r)
{
	enum lin_verdict v = build(z, cut, r);
	return v == LIN_HOLDS ? sweep(z, r) : v;
}

/* ---- the order -------------------------------------------------------------- */

/* Clusters from left to right get their places, then every operation goes to
 * its cluster's: the write first, reads by invocation. The marks are not
 * needed any more by then, and the order lies where they lay. */
static enum lin_verdict order(struct zones *z, struct result *r)
{
	const struct problem *p = z->p;
	const uint32_t *next = z->after + z->d.n;
	uint32_t n = 0;
	for (uint32_t v = 0; v < z->d.n; v++)
		z->c[v].s = RANK_INF; /* from here on: the place of its next operation */
	for (uint32_t t = 0; t <= p->nevents; t++)
		for (uint32_t v1 = z->mark[t], b = v1 ? z->after[v1 - 1] : 0; v1; v1 = b, b = b ? next[b - 1] : 0) {
			struct cluster *c = &z->c[v1 - 1];
			c->s = n;
			n += c->nreads + (c->write != RANK_INF);
		}
	r->order = z->mark;
	r->order_bytes = z->bytes_mark;
	r->norder = n;
	z->mark = NULL;
	for (uint32_t v = 0; v < z->d.n; v++)
		if (z->c[v].s != RANK_INF && z->c[v].write != RANK_INF)
			r->order[z->c[v].s++] = z->c[v].write;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->ops[i].fn == FN_READ)
			r->order[z->c[dense_get(&z->d, p->ops[i].b)].s++] = i;
	size_t fit = p->n * sizeof *r->order;
	uint32_t *less = fit && fit < r->order_bytes ? lim_realloc(p->lim, r->order, r->order_bytes, fit) : NULL;
	if (less) {
		r->order = less;
		r->order_bytes = fit;
	}
	return r->verdict = LIN_HOLDS;
}

/* ---- the moment --------------------------------------------------------------- */

/* By which event the facts of a proof were known. */
static uint32_t known_at(const struct problem *p, const struct result *r)
{
	uint32_t t = 0;
	for (uint32_t i = 0; i < r->nops; i++) {
		uint32_t o = r->ops[i];
		if (o == RANK_INF || (r->proof == PROOF_FUTURE && i))
			continue;
		uint32_t k = p->ops[o].ret;
		if (p->ops[o].fn == FN_WRITE && (k == RANK_INF || i % 2))
			k = p->ops[o].call;
		t = k > t ? k : t;
	}
	return t;
}

static uint32_t op_at(const struct problem *p, uint32_t rank)
{
	for (uint32_t i = 0; i < p->n && p->ops[i].call <= rank; i++)
		if (p->ops[i].ret == rank || p->ops[i].call == rank)
			return i;
	return RANK_INF;
}

/* Narrows to the shortest prefix that is already wrong. */
static enum lin_verdict first_moment(struct zones *z, struct result *r)
{
	const struct problem *p = z->p;
	uint32_t bad_cut = known_at(p, r) + 1, good_cut = 0;
	for (int round = 0; good_cut + 1 < bad_cut; round++) {
		uint32_t cut = round < 6 ? bad_cut - 1 : good_cut + (bad_cut - good_cut) / 2;
		struct result shorter;
		result_init(&shorter, ALG_ZONES, p->lim);
		enum lin_verdict v = judge(z, cut, &shorter);
		if (v == LIN_UNKNOWN || lim_spent(p->lim)) {
			result_free(&shorter);
			return result_unknown(r);
		}
		if (v == LIN_HOLDS) {
			good_cut = cut;
			result_free(&shorter);
			continue;
		}
		result_free(r);
		*r = shorter;
		uint32_t k = known_at(p, r) + 1;
		bad_cut = k < cut ? k : cut;
	}
	r->culprit = op_at(p, bad_cut - 1);
	r->window = RANK_INF;
	for (uint32_t i = 0; i < r->nops; i++) {
		uint32_t c = r->ops[i] == RANK_INF ? 0 : p->ops[r->ops[i]].call;
		r->window = c < r->window ? c : r->window;
	}
	return r->verdict = LIN_VIOLATED;
}

enum lin_verdict lin_zones(const struct problem *p, struct result *r)
{
	uint32_t a, b;
	result_init(r, ALG_ZONES, p->lim);
	for (uint32_t i = 0; i < p->n; i++)
		if (p->ops[i].fn != FN_READ && p->ops[i].fn != FN_WRITE)
			return result_refuse(r, "it supports only reads and writes", i, RANK_INF);
	struct zones z;
	if (!zones_open(&z, p)) {
		zones_close(&z);
		return result_unknown(r);
	}
	enum lin_verdict v;
	if (!values_distinct(p, &z.d, &a, &b))
		v = b == RANK_INF
		            ? result_unknown(r)
		            : result_refuse(r,
		                            a == RANK_INF ? "it requires distinct values, and a write writes the initial value"
		                                          : "it requires distinct values, and two writes write the same value",
		                            a, b);
	else if ((v = judge(&z, RANK_INF, r)) == LIN_HOLDS)
		v = order(&z, r);
	else if (v == LIN_VIOLATED)
		v = first_moment(&z, r);
	zones_close(&z);
	return r->verdict = v;
}
