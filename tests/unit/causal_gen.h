/*
 * causal_gen: random programs for the causal engines, as .atm and as SML, with
 * loops, locks, guards on kept and on forgotten data. The same seed gives the
 * same text.
 */
#ifndef INTACT_TESTS_CAUSAL_GEN_H
#define INTACT_TESTS_CAUSAL_GEN_H

#include "base/buf.h"
#include "base/rng.h"

struct cgen {
	struct rng r;
	struct buf *b;
	unsigned bools, ints, locks, budget;
	bool loops;
};

static inline unsigned cg(struct cgen *g, unsigned n)
{
	return rng_below(&g->r, n);
}

/* ---- .atm: p0.. are bool, x0.. are int, l0.. locks ------------------------ */

static inline void cgen_var(struct cgen *g)
{
	unsigned k = cg(g, g->bools + g->ints);
	buf_printf(g->b, k < g->bools ? "p%u" : "x%u", k < g->bools ? k : k - g->bools);
}

static inline void cgen_write(struct cgen *g)
{
	unsigned k = cg(g, g->bools + g->ints);
	if (k < g->bools && cg(g, 3))
		buf_printf(g->b, "p%u = %s; ", k, cg(g, 2) ? "true" : "false");
	else if (k < g->bools)
		buf_printf(g->b, "p%u = !p%u; ", k, k);
	else if (cg(g, 2))
		buf_printf(g->b, "x%u = %u; ", k - g->bools, cg(g, 5));
	else
		buf_printf(g->b, "x%u = (x%u + 1) %% 5; ", k - g->bools, cg(g, g->ints));
}

static inline void cgen_cond(struct cgen *g)
{
	if (g->bools && cg(g, 3))
		buf_printf(g->b, "p%u", cg(g, g->bools));
	else if (g->ints)
		buf_printf(g->b, "x%u == %u", cg(g, g->ints), cg(g, 2));
	else
		buf_str(g->b, "true");
}

static inline void cgen_stmt(struct cgen *g, unsigned depth)
{
	unsigned k = cg(g, 12);
	if (!g->budget)
		return;
	g->budget--;
	if (k < 4 || depth > 1) {
		cgen_write(g);
	} else if (k < 6) {
		buf_str(g->b, "t = ");
		cgen_var(g);
		buf_str(g->b, " ? 1 : 0; ");
	} else if (k == 6) {
		buf_str(g->b, "if (");
		cgen_cond(g);
		buf_str(g->b, ") { ");
		cgen_stmt(g, depth + 1);
		buf_str(g->b, "} else { ");
		cgen_stmt(g, depth + 1);
		buf_str(g->b, "} ");
	} else if (k == 7 && g->locks) {
		unsigned l = cg(g, g->locks);
		buf_printf(g->b, "acquire(l%u); ", l);
		cgen_stmt(g, 2);
		buf_printf(g->b, "release(l%u); ", l);
	} else if (k == 8 && g->bools) {
		buf_printf(g->b, "if (cas(p%u, false, true)) { ", cg(g, g->bools));
		cgen_stmt(g, depth + 1);
		buf_str(g->b, "} ");
	} else if (k == 9 && g->loops && g->bools) {
		unsigned p = cg(g, g->bools);
		buf_printf(g->b, "while (!cas(p%u, false, true)) { } ", p);
		cgen_stmt(g, 2);
		buf_printf(g->b, "p%u = false; ", p);
	} else if (k == 10) {
		buf_str(g->b, "step { ");
		cgen_write(g);
		cgen_write(g);
		buf_str(g->b, "} ");
	} else {
		buf_str(g->b, "if (t == 1) { ");
		cgen_stmt(g, depth + 1);
		buf_str(g->b, "} ");
	}
}

/* Two or three templates; `size` bounds the statements of a thread. */
static inline void cgen_atm(struct buf *b, uint64_t seed, unsigned threads, unsigned size, bool loops)
{
	struct cgen g = { .b = b, .loops = loops };
	unsigned left = threads, tmpl = 0, block = 0;
	rng_seed(&g.r, seed);
	g.bools = cg(&g, 3);
	g.ints = 1 + cg(&g, 2);
	g.locks = cg(&g, 3);
	for (unsigned i = 0; i < g.bools; i++)
		buf_printf(b, "bool p%u;\n", i);
	for (unsigned i = 0; i < g.ints; i++)
		buf_printf(b, "int x%u;\n", i);
	for (unsigned i = 0; i < g.locks; i++)
		buf_printf(b, "lock l%u;\n", i);
	while (left) {
		unsigned n = 1 + cg(&g, left), forever = loops && cg(&g, 2);
		left -= n;
		buf_printf(b, "thread w%u * %u {\n  int[0..1] t = 0;\n", tmpl++, n);
		g.budget = size;
		buf_str(b, forever ? "  while (true) {\n" : "");
		for (unsigned i = 0, parts = 1 + cg(&g, 2); i < parts; i++) {
			bool atomic = cg(&g, 3) != 0;
			if (atomic)
				buf_printf(b, "  atomic b%u { ", block++);
			else
				buf_str(b, "  ");
			cgen_stmt(&g, 0);
			cgen_stmt(&g, 0);
			buf_str(b, atomic ? "skip; }\n" : "skip;\n");
		}
		buf_str(b, forever ? "  }\n}\n" : "}\n");
	}
}

/* ---- SML ---------------------------------------------------------------- */

static inline void cgen_sml_expr(struct cgen *g)
{
	static const char *const terms[] = { "0", "1", "a", "b", "X", "Y", "Z" };
	buf_str(g->b, terms[cg(g, 7)]);
	if (cg(g, 3) == 0)
		buf_printf(g->b, " + %s", terms[cg(g, 7)]);
}

static inline void cgen_sml(struct cgen *g, unsigned depth)
{
	unsigned k = cg(g, 9);
	if (g->budget)
		g->budget--;
	if (k < 5 || depth > 1 || !g->budget) {
		static const char *const to[] = { "a", "b", "X", "Y", "Z" };
		buf_printf(g->b, "%s := ", to[cg(g, 5)]);
		cgen_sml_expr(g);
	} else if (k == 5) {
		buf_str(g->b, "if (");
		cgen_sml_expr(g);
		buf_str(g->b, " < 2) { ");
		cgen_sml(g, depth + 1);
		buf_str(g->b, " } else { ");
		cgen_sml(g, depth + 1);
		buf_str(g->b, " }");
	} else if (k == 6 && g->loops) {
		buf_str(g->b, "while (");
		cgen_sml_expr(g);
		buf_str(g->b, " = 1) { ");
		cgen_sml(g, depth + 1);
		buf_str(g->b, " }");
	} else if (k == 7) {
		buf_str(g->b, "skip");
	} else {
		unsigned l = cg(g, g->locks);
		buf_printf(g->b, "acquire(l%u); ", l);
		cgen_sml(g, 2);
		buf_printf(g->b, "; release(l%u)", l);
	}
}

static inline void cgen_sml_program(struct buf *b, uint64_t seed, unsigned threads, unsigned size,
                                    bool loops)
{
	struct cgen g = { .b = b, .loops = loops, .locks = 2 };
	rng_seed(&g.r, seed);
	buf_str(b, "int X;\nint Y;\nint Z;\nlock l0;\nlock l1;\n");
	for (unsigned t = 0; t < threads; t++) {
		buf_str(b, t ? "\n||\n" : "");
		g.budget = size;
		for (unsigned i = 0, parts = 1 + cg(&g, 2); i < parts; i++) {
			bool atomic = t == 0 || cg(&g, 2);
			buf_str(b, i ? ";\n" : "");
			buf_str(b, atomic ? "begin " : "");
			cgen_sml(&g, 0);
			buf_str(b, "; ");
			cgen_sml(&g, 0);
			buf_str(b, atomic ? " end" : "");
		}
	}
	buf_char(b, '\n');
}

/* ---- blocks that read, threads that write: cycles of several blocks -------- */

static inline void cgen_crossed(struct buf *b, uint64_t seed)
{
	struct cgen g = { .b = b };
	rng_seed(&g.r, seed);
	buf_str(b, "int X;\nint Y;\nint Z;\nint T;\nlock l0;\n");
	unsigned readers = 2, writers = 2;
	for (unsigned t = 0; t < readers + writers; t++) {
		bool reads = t < readers, locked = reads && cg(&g, 8) == 0;
		unsigned vars = cg(&g, 4) ? 2 : 4, first = cg(&g, vars), n = reads || cg(&g, 3) == 0 ? 2 : 1;
		buf_str(b, t ? "\n||\n" : "");
		bool atomic = reads || cg(&g, 4) == 0;
		buf_str(b, atomic ? "begin " : "");
		buf_str(b, locked ? "acquire(l0); " : "");
		for (unsigned i = 0; i < n; i++) {
			char var = "XYZT"[(first + i) % vars];
			buf_str(b, i ? "; " : "");
			if (reads && cg(&g, 12))
				buf_printf(b, "a := %c", var);
			else
				buf_printf(b, "%c := 1", var);
		}
		buf_str(b, locked ? "; release(l0)" : "");
		buf_str(b, atomic ? " end" : "");
	}
	buf_char(b, '\n');
}

#endif
