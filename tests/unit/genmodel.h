/*
 * genmodel: random small models that end, for comparing engines. The same
 * seed gives the same text.
 */
#ifndef INTACT_TESTS_GENMODEL_H
#define INTACT_TESTS_GENMODEL_H

#include <string.h>

#include "base/buf.h"
#include "base/rng.h"

struct gen {
	struct rng r;
	struct buf *b;
	unsigned locks, vars, budget;
	bool choices, marks;
	bool spin;       /* locks are busy-waiting ones: m0.. */
	bool in_step;    /* where nobody may wait busily */
	unsigned locals; /* t0.. of the thread that are declared */
};

static inline unsigned gen_below(struct gen *g, unsigned n)
{
	return rng_below(&g->r, n);
}

static inline void gen_value(struct gen *g)
{
	switch (gen_below(g, 4)) {
	case 0:
		buf_printf(g->b, "%u", gen_below(g, 3));
		break;
	case 1:
		if (g->locals) {
			buf_printf(g->b, "t%u", gen_below(g, g->locals));
			break;
		}
		/* fall through */
	default:
		buf_printf(g->b, "x%u", gen_below(g, g->vars));
	}
}

static inline void gen_expr(struct gen *g)
{
	switch (gen_below(g, 4)) {
	case 0:
		gen_value(g);
		break;
	case 1:
		buf_str(g->b, "(2 * ");
		gen_value(g);
		buf_printf(g->b, " + %u) %% 3", 1 + gen_below(g, 2));
		break;
	case 2:
		buf_char(g->b, '(');
		gen_value(g);
		buf_str(g->b, " + ");
		gen_value(g);
		buf_str(g->b, ") % 3");
		break;
	default:
		if (g->choices && gen_below(g, 2)) {
			buf_str(g->b, "any(0..1)");
			break;
		}
		buf_char(g->b, '(');
		gen_value(g);
		buf_str(g->b, " == 1 ? ");
		gen_value(g);
		buf_str(g->b, " : ");
		gen_value(g);
		buf_char(g->b, ')');
	}
}

static inline void gen_take(struct gen *g, unsigned l)
{
	if (g->spin)
		buf_printf(g->b, "while (!cas(m%u, false, true)) { } ", l);
	else
		buf_printf(g->b, "acquire(l%u); ", l);
}

static inline void gen_free(struct gen *g, unsigned l)
{
	if (g->spin)
		buf_printf(g->b, "m%u = false; ", l);
	else
		buf_printf(g->b, "release(l%u); ", l);
}

static inline void gen_stmt(struct gen *g, unsigned depth)
{
	unsigned kind = gen_below(g, 10);
	if (g->budget)
		g->budget--;
	if (kind < 5 || depth > 1) {
		if (g->locals && gen_below(g, 3) == 0)
			buf_printf(g->b, "t%u = ", gen_below(g, g->locals));
		else
			buf_printf(g->b, "x%u = ", gen_below(g, g->vars));
		gen_expr(g);
		buf_str(g->b, "; ");
	} else if (kind == 5) {
		buf_str(g->b, "if (");
		gen_value(g);
		buf_str(g->b, " == 1) { ");
		gen_stmt(g, depth + 1);
		buf_str(g->b, "} else { ");
		if (gen_below(g, 2))
			gen_stmt(g, depth + 1);
		buf_str(g->b, "} ");
	} else if (kind == 6) {
		buf_printf(g->b, "if (cas(x%u, %u, %u)) { ", gen_below(g, g->vars), gen_below(g, 2), gen_below(g, 3));
		gen_stmt(g, depth + 1);
		buf_str(g->b, "} ");
	} else if (kind == 7) {
		bool was = g->in_step;
		buf_str(g->b, "step { ");
		g->in_step = true;
		gen_stmt(g, depth + 1);
		gen_stmt(g, depth + 1);
		g->in_step = was;
		buf_str(g->b, "} ");
	} else if (kind == 8 && g->locks && !(g->spin && g->in_step)) {
		unsigned l = gen_below(g, g->locks);
		gen_take(g, l);
		for (unsigned i = 0, n = 1 + gen_below(g, 2); i < n; i++) {
			buf_printf(g->b, "x%u = ", gen_below(g, g->vars));
			gen_expr(g);
			buf_str(g->b, "; ");
		}
		gen_free(g, l);
	} else {
		buf_printf(g->b, "fetch_add(x%u, 1); x%u = 0; ", g->vars, g->vars);
	}
}

static inline void gen_block(struct gen *g, unsigned n)
{
	bool locked = g->locks && gen_below(g, 3) == 0;
	buf_printf(g->b, "  atomic b%u { ", n);
	if (locked)
		gen_take(g, 0);
	unsigned len = 1 + gen_below(g, 2), mark = g->marks && gen_below(g, 2) ? gen_below(g, len) : len;
	for (unsigned i = 0; i < len; i++) {
		gen_stmt(g, 0);
		if (i == mark)
			buf_str(g->b, "commit; ");
	}
	if (locked)
		gen_free(g, 0);
	buf_str(g->b, "}\n");
}

/*
 * A model of 2 or 3 threads, with 1 or 2 blocks each. `spin`: with
 * busy-waiting locks, one at least; executions are then endless, so they
 * cannot be tried out one by one.
 */
static inline void gen_model_of(struct buf *b, uint64_t seed, bool choices, bool marks, bool spin)
{
	struct gen g = { .b = b, .choices = choices, .marks = marks, .spin = spin };
	rng_seed(&g.r, seed);
	g.locks = spin ? 1 + gen_below(&g, 2) : gen_below(&g, 2);
	g.vars = 2;
	for (unsigned i = 0; i < g.vars; i++)
		buf_printf(b, "int[0..2] x%u = %u;\n", i, gen_below(&g, 2));
	buf_printf(b, "int[0..9] x%u;\n", g.vars);
	for (unsigned i = 0; i < g.locks; i++)
		buf_printf(b, spin ? "bool m%u;\n" : "lock l%u;\n", i);
	unsigned templates = 1 + gen_below(&g, 2), block = 0;
	for (unsigned t = 0; t < templates; t++) {
		unsigned count = templates == 1 || gen_below(&g, 4) == 0 ? 2 : 1;
		buf_printf(b, "thread p%u * %u {\n", t, count);
		g.locals = 0;
		g.budget = 8;
		for (unsigned i = 0, n = gen_below(&g, 2); i < n; i++) {
			buf_printf(b, "  int[0..9] t%u = 0;\n", i);
			g.locals++;
		}
		for (unsigned i = 0, n = count == 1 && gen_below(&g, 3) == 0 ? 2 : 1; i < n; i++) {
			if (gen_below(&g, 4) == 0) {
				buf_str(b, "  ");
				gen_stmt(&g, 2);
				buf_char(b, '\n');
			}
			gen_block(&g, block++);
		}
		if (g.locals && gen_below(&g, 2)) {
			buf_str(b, "  x0 = t0 % 3;\n");
		}
		buf_str(b, "}\n");
	}
}

/* The same model with x0 and x1 inside a struct and an array of two dimensions. */
static inline void gen_in_struct(struct buf *b)
{
	struct buf out;
	unsigned v0, v1;
	int at = 0;
	buf_init(&out);
	const char *s = buf_cstr(b);
	if (sscanf(s, "int[0..2] x0 = %u;\nint[0..2] x1 = %u;\n%n", &v0, &v1, &at) != 2 || !at)
		return;
	buf_printf(&out, "struct pair { int[0..2] v[2][2], w; };\npair s[2] = { { }, { .v = { { 0, %u }, { %u } } } };\n", v0, v1);
	for (s += at; *s; s++) {
		if (*s == 'x' && (s[1] == '0' || s[1] == '1'))
			buf_str(&out, *++s == '0' ? "s[1].v[0][1]" : "s[1].v[1][0]");
		else
			buf_char(&out, *s);
	}
	buf_clear(b);
	buf_str(b, buf_cstr(&out));
	buf_free(&out);
}

static inline void gen_model(struct buf *b, uint64_t seed, bool choices, bool marks)
{
	gen_model_of(b, seed, choices, marks, false);
}

/* One small statement over the variables and the locals t0, t1. */
static inline void gen_plain(struct gen *g)
{
	unsigned k = gen_below(g, 9);
	if (k < 3)
		buf_printf(g->b, "x%u = %u; ", gen_below(g, g->vars), 1 + gen_below(g, 2));
	else if (k < 6)
		buf_printf(g->b, "t%u = x%u; ", gen_below(g, 2), gen_below(g, g->vars));
	else if (k == 6)
		buf_printf(g->b, "x%u = t%u; ", gen_below(g, g->vars), gen_below(g, 2));
	else if (k == 7)
		buf_printf(g->b, "step { x%u = (x%u + %u) %% 3; } ", gen_below(g, g->vars), gen_below(g, g->vars),
		           1 + gen_below(g, 2));
	else if (g->choices)
		buf_printf(g->b, "t%u = any(0..1); ", gen_below(g, 2));
	else
		buf_printf(g->b, "fetch_add(x%u, %u); ", 4, 1 + gen_below(g, 2));
}

/*
 * A model of 3 or 4 threads with few steps each, many of them outside every
 * block, on several variables: here the order of independent steps decides
 * whether an execution looks serial.
 */
static inline void gen_scattered(struct buf *b, uint64_t seed, bool choices)
{
	struct gen g = { .b = b, .choices = choices };
	rng_seed(&g.r, seed);
	g.vars = 2 + gen_below(&g, 3);
	buf_str(b, "int[0..2] x0, x1, x2, x3;\nint[0..9] x4, seen0, seen1, seen2, seen3;\n");
	unsigned threads = 3 + (gen_below(&g, 3) == 0), blocks = 0;
	for (unsigned t = 0; t < threads; t++) {
		bool reader = t < 1 + gen_below(&g, 2);
		buf_printf(b, "thread p%u {\n  int[0..2] t0 = 0; int[0..2] t1 = 0;\n", t);
		if (!reader && gen_below(&g, 2)) {
			buf_printf(b, "  x%u = 1; ", t % g.vars);
			if (gen_below(&g, 2))
				gen_plain(&g);
		} else if (!reader) {
			for (unsigned i = 0, n = 1 + gen_below(&g, 2); i < n; i++)
				gen_plain(&g);
		} else {
			if (gen_below(&g, 4) == 0)
				gen_plain(&g);
			buf_printf(b, "  atomic b%u { ", blocks++);
			if (gen_below(&g, 2))
				buf_printf(b, "t0 = x%u; t1 = x%u; ", t % g.vars, (t + 1) % g.vars);
			else
				for (unsigned i = 0, n = 1 + gen_below(&g, 3); i < n; i++)
					gen_plain(&g);
			buf_str(b, "}\n  ");
			if (gen_below(&g, 4) == 0)
				gen_plain(&g);
			else
				buf_printf(b, "seen%u = t0 + 3 * t1; ", t);
		}
		buf_str(b, "\n}\n");
	}
}

/*
 * A model whose blocks wait for each other: by assume, by spinning, by locks
 * taken in any order and not always given back. Finite states.
 */
static inline void gen_waiting(struct buf *b, uint64_t seed)
{
	struct gen g = { .b = b, .vars = 2 };
	rng_seed(&g.r, seed);
	buf_str(b, "int[0..1] x0, x1;\nlock l0, l1;\n");
	unsigned threads = 2 + (gen_below(&g, 4) == 0), blocks = 0;
	for (unsigned t = 0; t < threads; t++) {
		unsigned count = threads == 2 && gen_below(&g, 5) == 0 ? 2 : 1;
		buf_printf(b, "thread p%u * %u {\n", t, count);
		if (gen_below(&g, 4) == 0)
			buf_printf(b, "  x%u = %u;\n", gen_below(&g, 2), gen_below(&g, 2));
		buf_printf(b, "  atomic b%u { ", blocks++);
		for (unsigned i = 0, n = 2 + gen_below(&g, 2), held = 0; i < n; i++) {
			unsigned v = gen_below(&g, 2), k = gen_below(&g, 8);
			if (k < 3)
				buf_printf(b, "x%u = %u; ", v, gen_below(&g, 4) != 0);
			else if (k == 3)
				buf_printf(b, "assume(x%u == 1); ", v);
			else if (k == 4)
				buf_printf(b, "while (x%u == 0) { } ", v);
			else if (k == 5)
				buf_printf(b, "x%u = 1 - x%u; ", v, 1 - v);
			else if (!(held & 1u << v)) {
				buf_printf(b, "acquire(l%u); ", v);
				held |= 1u << v;
			}
			if (i + 1 == n)
				for (v = 0; v < 2; v++)
					if ((held & 1u << v) && gen_below(&g, 6))
						buf_printf(b, "release(l%u); ", v);
		}
		buf_str(b, "}\n}\n");
	}
}

/* One statement on the cells of a pool, through the local n and the shared head. */
static inline void gen_cell(struct gen *g)
{
	static const char *const guarded[] = { "n.v = 1;",    "n.v = 2;",  "t0 = n.v;",        "n.next = head;",
		                               "n = n.next;", "x0 = n.v;", "n.in[t0 % 2] = 1;" };
	static const char *const plain[] = { "n = try_alloc(cell);",
		                             "n = try_alloc(cell);",
		                             "n = head;",
		                             "head = n;",
		                             "cas(head, null, n);",
		                             "cas(head, n, null);",
		                             "free(n);",
		                             "n = null;",
		                             "x1 = 1;",
		                             "t0 = x0;",
		                             "x0 = t0;",
		                             "n = exchange(head, null);",
		                             "mine = (mine + 1) % 3;",
		                             "x1 = mine;" };
	unsigned k = gen_below(g, 20);
	if (k < 7)
		buf_printf(g->b, "if (n != null) %s ", guarded[gen_below(g, sizeof guarded / sizeof *guarded)]);
	else if (k == 7)
		buf_printf(g->b, "if (head != null) head.v = %u; ", gen_below(g, 3));
	else if (k == 8)
		buf_str(g->b, "{ x0 = 1; seen = seen == 3 ? 0 : seen + 1; } ");
	else if (k == 9)
		buf_str(g->b, "step { if (n != null) { n.v = 2; seen = n.v; } } ");
	else
		buf_printf(g->b, "%s ", plain[gen_below(g, sizeof plain / sizeof *plain)]);
}

/* Two threads, or two and one, on a pool of two cells, with a ghost and a variable of each thread. */
static inline void gen_heap(struct buf *b, uint64_t seed)
{
	struct gen g = { .b = b };
	unsigned blocks = 0;
	rng_seed(&g.r, seed);
	buf_str(b, "pool cell[2] { int[0..2] v, in[2]; cell next; };\ncell head;\nint[0..2] x0, x1;\nghost int[0..3] seen;\n"
	           "thread_local int[0..2] mine = 1;\n");
	for (unsigned t = 0, n = 1 + gen_below(&g, 2); t < n; t++) {
		buf_printf(b, "thread p%u * %u {\n  cell n = %s; int[0..2] t0 = 0;\n  ", t, n == 1 || gen_below(&g, 4) == 0 ? 2 : 1,
		           gen_below(&g, 2) ? "try_alloc(cell)" : "alloc(cell)");
		if (gen_below(&g, 3) == 0)
			gen_cell(&g);
		buf_printf(b, "\n  atomic b%u { ", blocks++);
		for (unsigned i = 0, m = 1 + gen_below(&g, 3); i < m; i++)
			gen_cell(&g);
		buf_str(b, "}\n  ");
		if (gen_below(&g, 2))
			gen_cell(&g);
		buf_str(b, "\n}\n");
	}
}

/* Conditions on the states of a model with x0 and x1, and, with `heap`, of gen_heap's. */
static inline void gen_conditions(struct buf *b, uint64_t seed, bool heap)
{
	static const char *const kinds[] = { "always", "finally", "can always reach" };
	static const char *const ops[] = { "==", "!=", "<=", ">" };
	struct gen g = { .b = b };
	rng_seed(&g.r, seed ^ 0x9E3779B97F4A7C15u);
	bool block = strstr(buf_cstr(b), "atomic b0 ") != NULL;
	for (unsigned i = 0, n = 1 + gen_below(&g, 4); i < n; i++) {
		buf_printf(b, "%s ", kinds[gen_below(&g, 3)]);
		for (unsigned k = 0, m = 1 + gen_below(&g, 2); k < m; k++) {
			unsigned what = gen_below(&g, heap ? 8 : block ? 5 : 4);
			if (k)
				buf_str(b, gen_below(&g, 2) ? " && " : " || ");
			if (what < 3)
				buf_printf(b, "x%u %s %u", gen_below(&g, 2), ops[gen_below(&g, 4)], gen_below(&g, 3));
			else if (what == 3)
				buf_printf(b, "x0 * 2 - x1 %s %u", ops[gen_below(&g, 4)], gen_below(&g, 4));
			else if (what == 4)
				buf_printf(b, "inside(b0) %s %u", ops[gen_below(&g, 4)], gen_below(&g, 3));
			else if (what == 5)
				buf_printf(b, "(head == null || head.v %s %u)", ops[gen_below(&g, 4)], gen_below(&g, 3));
			else if (what == 6)
				buf_printf(b, "leaked(cell) <= %u", gen_below(&g, 2));
			else
				buf_printf(b, "head.in[x0 / 2] == seen / (x1 + %u)",
				           gen_below(&g, 2)); /* null, a division by zero */
		}
		buf_str(b, ";\n");
	}
}

/*
 * Threads without end, blocks and steps outside by turns, on a few bits: for
 * what is said of all executions to be tried on some long ones.
 */
static inline void gen_looping(struct buf *b, uint64_t seed)
{
	struct gen g = { .b = b, .vars = 2 };
	rng_seed(&g.r, seed);
	bool locked = gen_below(&g, 2);
	buf_str(b, "bool x0, x1, x2;\nlock l;\n");
	unsigned threads = 2 + gen_below(&g, 2);
	for (unsigned t = 0; t < threads; t++) {
		buf_printf(b, "thread p%u%s {\n  bool t0 = false;\n  while (true) {\n    ", t,
		           threads == 2 && t == 0 && gen_below(&g, 3) == 0 ? " * 2" : "");
		if (gen_below(&g, 2))
			buf_printf(b, "x%u = %s; ", gen_below(&g, 3), gen_below(&g, 2) ? "true" : "t0");
		buf_str(b, "atomic { ");
		if (locked)
			buf_str(b, "acquire(l); ");
		for (unsigned i = 0, n = 1 + gen_below(&g, 2); i < n; i++)
			switch (gen_below(&g, 4)) {
			case 0:
				buf_printf(b, "t0 = x%u; ", gen_below(&g, 3));
				break;
			case 1:
				buf_printf(b, "x%u = !t0; ", gen_below(&g, 3));
				break;
			case 2:
				buf_printf(b, "t0 = x%u; x%u = !t0; ", gen_below(&g, 3), gen_below(&g, 3));
				break;
			default:
				buf_printf(b, "x%u = false; ", gen_below(&g, 3));
			}
		if (locked)
			buf_str(b, "release(l); ");
		buf_str(b, "}\n    ");
		if (gen_below(&g, 3) == 0)
			buf_printf(b, "x%u = t0; ", gen_below(&g, 3));
		buf_str(b, "\n  }\n}\n");
	}
}

#endif
