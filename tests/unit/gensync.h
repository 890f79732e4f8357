/*
 * gensync: random small models that synchronise: built-in locks, locks coded
 * by hand in several ways (some of them wrong), waiting, arrays, safe
 * variables. Many of their blocks reduce, many do not quite. The same seed
 * gives the same text.
 */
#ifndef INTACT_TESTS_GENSYNC_H
#define INTACT_TESTS_GENSYNC_H

#include "base/buf.h"
#include "base/rng.h"

struct gensync {
	struct rng r;
	struct buf *b;
	unsigned style;  /* how hand-made locks are taken in this model */
	unsigned sloppy; /* one in so many accesses forgets its lock */
	bool register_; /* a safe or regular variable is there */
};

static inline unsigned gs_below(struct gensync *g, unsigned n)
{
	return rng_below(&g->r, n);
}

/* A variable that lock `l` is meant to protect, or any. */
static inline void gs_var(struct gensync *g, unsigned l)
{
	static const char *const names[] = { "x0", "x1", "y[0]", "y[1]", "y[i]" };
	unsigned k = gs_below(g, g->sloppy) ? l % 2 : gs_below(g, 5);
	if (gs_below(g, 4) == 0)
		k = gs_below(g, g->sloppy) ? 2 + l % 2 : 2 + gs_below(g, 3);
	buf_str(g->b, names[k]);
}

static inline void gs_access(struct gensync *g, unsigned l)
{
	unsigned kind = gs_below(g, 12);
	if (kind < 5) {
		gs_var(g, l);
		buf_str(g->b, " = (");
		gs_var(g, l);
		buf_printf(g->b, " + %u) %% 3; ", 1 + gs_below(g, 2));
	} else if (kind == 5) {
		buf_str(g->b, "t = ");
		gs_var(g, l);
		buf_str(g->b, "; ");
	} else if (kind == 6) {
		gs_var(g, l);
		buf_printf(g->b, " = %u; ", gs_below(g, 3));
	} else if (kind == 7) {
		buf_str(g->b, "if (");
		gs_var(g, l);
		buf_str(g->b, " == 1) { ");
		gs_var(g, l);
		buf_str(g->b, " = t; } ");
	} else if (kind == 8) {
		buf_str(g->b, "step { t = ");
		gs_var(g, l);
		buf_str(g->b, "; ");
		gs_var(g, l);
		buf_str(g->b, " = (t + 1) % 3; } ");
	} else if (kind == 9) {
		buf_printf(g->b, "t = ro; ");
	} else if (kind == 10 && g->register_) {
		buf_str(g->b, gs_below(g, 2) ? "s = t % 2; " : "t = s; ");
	} else {
		buf_str(g->b, "if (cas(");
		gs_var(g, l);
		buf_str(g->b, ", 0, 1)) { t = 1; } ");
	}
}

static inline void gs_take(struct gensync *g, unsigned l)
{
	if (l < 2) {
		buf_printf(g->b, "acquire(l%u); ", l);
		return;
	}
	switch (gs_below(g, 8) ? g->style : gs_below(g, 13)) {
	case 0:
	case 1: buf_printf(g->b, "while (!cas(m%u, false, true)) { } ", l - 2); break;
	case 2: buf_printf(g->b, "while (exchange(m%u, true)) { } ", l - 2); break;
	case 3: buf_printf(g->b, "step { assume(!m%u); m%u = true; } ", l - 2, l - 2); break;
	case 4: buf_printf(g->b, "got = false; while (!got) { got = cas(m%u, false, true); } ", l - 2); break;
	case 5: buf_printf(g->b, "while (!cas(m%u, false, true)) { t = 2; } ", l - 2); break;
	case 6: buf_printf(g->b, "while (true) { if (!m%u) { if (cas(m%u, false, true)) { break; } } } ", l - 2, l - 2); break;
	case 7: buf_printf(g->b, "while (exchange(m%u, true)) { while (m%u) { } } ", l - 2, l - 2); break;
	case 8: buf_printf(g->b, "while (true) { while (m%u) { } if (cas(m%u, false, true)) { break; } } ", l - 2, l - 2); break;
	case 9: buf_printf(g->b, "while (exchange(m%u, true)) { while (m%u) { t = 2; } } ", l - 2, l - 2); break;
	case 10: buf_printf(g->b, "if (m%u) { while (!cas(m%u, false, true)) { } t = 2; } else { while (!cas(m%u, false, true)) { } } ", l - 2, l - 2, l - 2); break;
	case 11: buf_printf(g->b, "while (true) { while (m%u) { } if (cas(m%u, false, true)) { break; } i = 1 - i; } ", l - 2, l - 2); break;
	default: buf_printf(g->b, "assume(!m%u); m%u = true; ", l - 2, l - 2); break;
	}
}

static inline void gs_free(struct gensync *g, unsigned l)
{
	if (l < 2)
		buf_printf(g->b, "release(l%u); ", l);
	else
		buf_printf(g->b, "m%u = false; ", l - 2);
}

static inline void gs_wait(struct gensync *g)
{
	switch (gs_below(g, 3)) {
	case 0: buf_str(g->b, "assume(x1 == 0); "); break;
	case 1: buf_str(g->b, "while (x0 == 2) { } "); break;
	default: buf_str(g->b, "fetch_add(n, 1); "); break;
	}
}

/* A thread's body: a few sections, the block somewhere around them. */
static inline void gs_body(struct gensync *g, unsigned *block)
{
	unsigned l = gs_below(g, 4), n = 1 + gs_below(g, 2);
	unsigned from = gs_below(g, 3), to = from + gs_below(g, 4 - from) + 1, at = 0;
	/* places 0: before taking, 1: behind taking, 2: before freeing, 3: end */
	bool open = false, done = false;
	for (at = 0; at < 4; at++) {
		if (!open && !done && at >= from) {
			buf_printf(g->b, "atomic b%u { ", (*block)++);
			open = true;
		}
		if (at == 0 && gs_below(g, 6) == 0)
			gs_wait(g);
		if (at == 0)
			gs_take(g, l);
		if (at == 1)
			for (unsigned i = 0; i < n; i++)
				gs_access(g, l);
		if (at == 2 && gs_below(g, 10) == 0) {
			unsigned k = gs_below(g, 4);
			if (k != l && (k > l || gs_below(g, 4) == 0)) {
				gs_take(g, k);
				gs_access(g, k);
				gs_free(g, k);
			}
		}
		if (at == 2 && gs_below(g, 25))
			gs_free(g, l);
		if (at == 3 && gs_below(g, 3) == 0)
			gs_access(g, gs_below(g, 2));
		if (open && at + 1 >= to) {
			buf_str(g->b, "} ");
			open = false;
			done = true;
		}
	}
	if (open)
		buf_str(g->b, "} ");
	if (gs_below(g, 25) == 0)
		gs_free(g, l); /* once too often */
}

static inline void gen_sync(struct buf *b, uint64_t seed)
{
	struct gensync g = { .b = b };
	unsigned block = 0;
	rng_seed(&g.r, seed);
	g.style = gs_below(&g, 9);
	g.sloppy = 2 + gs_below(&g, 12);
	g.register_ = gs_below(&g, 4) == 0;
	buf_str(b, "lock l0; lock l1; bool m0; bool m1; int[0..2] x0; int[0..2] x1 = 1; int[0..2] y[2];\n"
	           "int[0..2] ro = 1; int[0..4] n;\n");
	if (g.register_)
		buf_printf(b, "%s bool s;\n", gs_below(&g, 2) ? "safe" : "regular");
	unsigned templates = 1 + gs_below(&g, 2);
	for (unsigned t = 0; t < templates; t++) {
		buf_printf(b, "thread p%u * %u { int[0..2] t = 0; int[0..1] i = %u; bool got; ", t,
		           templates == 1 ? 2 : 1 + (gs_below(&g, 5) == 0), gs_below(&g, 2));
		gs_body(&g, &block);
		if (gs_below(&g, 4) == 0)
			gs_body(&g, &block);
		if (gs_below(&g, 3) == 0)
			buf_str(b, "n = t; ");
		buf_str(b, "}\n");
	}
}

#endif
