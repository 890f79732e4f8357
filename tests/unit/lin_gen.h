/*
 * lin_gen: histories for the tests of src/lin: random ones of any object, and
 * prefixes of a history as they were known at a moment.
 */
#ifndef INTACT_TESTS_LIN_GEN_H
#define INTACT_TESTS_LIN_GEN_H

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "lin/lin.h"
#include "history/spec.h"
#include "verdict/verify_history.h"

#define GEN_MAX 64

struct gen {
	struct arena arena;
	struct limits lim;
	struct values vals;
	struct hop ops[GEN_MAX];
	struct problem p;
};

static inline void gen_open(struct gen *g)
{
	memset(g, 0, sizeof *g);
	arena_init(&g->arena, 0);
	values_init(&g->vals, &g->arena);
	g->p.ops = g->ops;
	g->p.vals = &g->vals;
	g->p.lim = &g->lim;
}

static inline void gen_close(struct gen *g)
{
	values_free(&g->vals);
	arena_free(&g->arena);
}

static inline val num(struct gen *g, int n)
{
	return val_int(&g->vals, n);
}

/* n operations by `procs` processes at random times; returns the events. Sets
 * call, ret, proc; `pending` in 256 of the last operations never return. */
static inline void gen_times(struct gen *g, struct rng *r, uint32_t n, uint32_t procs, uint32_t pending)
{
	uint32_t open[16], started = 0, rank = 0, nopen = 0;
	bool dead[16] = { false };
	for (uint32_t q = 0; q < procs; q++)
		open[q] = RANK_INF;
	while (started < n || nopen) {
		uint32_t q = rng_below(r, procs);
		uint32_t alive = 0;
		for (uint32_t j = 0; j < procs; j++)
			alive += !dead[j];
		if (!alive)
			break;
		if (dead[q])
			continue;
		if (open[q] == RANK_INF) {
			if (started == n)
				continue;
			g->ops[started] = (struct hop){ .call = rank++, .ret = RANK_INF, .proc = q,
				                        .a = VAL_NONE, .b = VAL_NONE };
			open[q] = started++;
			nopen++;
		} else if (rng_below(r, 256) < pending) {
			dead[q] = true;
			nopen--;
		} else {
			g->ops[open[q]].ret = rank++;
			open[q] = RANK_INF;
			nopen--;
		}
	}
	g->p.n = started;
	g->p.nevents = rank;
}

/* What was known just before event `cut`: later invocations are not there,
 * later answers are not known. The copy drops reads without answer. */
static inline void gen_prefix(const struct gen *g, uint32_t cut, struct gen *out)
{
	out->p = g->p;
	out->p.ops = out->ops;
	out->p.n = 0;
	for (uint32_t i = 0; i < g->p.n; i++) {
		struct hop op = g->ops[i];
		if (op.call >= cut)
			continue;
		if (op.ret >= cut) {
			op.ret = RANK_INF;
			op.res = RES_NONE;
			if (op.fn == FN_READ || op.fn == FN_PEEK || op.fn == FN_CONTAINS)
				continue;
			if (op.fn == FN_DEQ || op.fn == FN_POP || op.fn == FN_POLL || op.fn >= FN_COUNT)
				op.b = VAL_NONE;
		}
		out->ops[out->p.n++] = op;
	}
}

static inline void gen_dump(const struct gen *g)
{
	struct history h = { .vals = g->vals };
	printf("# history (init ");
	struct buf b;
	buf_init(&b);
	val_print(&g->vals, g->p.init, &b);
	printf("%s):\n", buf_cstr(&b));
	for (uint32_t i = 0; i < g->p.n; i++) {
		buf_clear(&b);
		hop_print_short(&h, &g->ops[i], g->p.obj, &b);
		printf("#   %2u: [%u, %d] p%u %s\n", i, g->ops[i].call, (int)g->ops[i].ret,
		       g->ops[i].proc, buf_cstr(&b));
	}
	buf_free(&b);
}

/* The order of a verdict "holds" is accepted, the proof of "violated" too. */
static inline bool gen_verify(const struct problem *p, const struct result *r)
{
	struct why why = { "" };
	enum verify_answer a = VERIFY_ACCEPTED;
	if (r->verdict == LIN_HOLDS && r->order)
		a = verify_order(p, r->order, r->norder, &why);
	else if (r->verdict == LIN_VIOLATED && r->proof != PROOF_NONE)
		a = verify_violation(p, r->proof, r->ops, r->nops, r->culprit, 4000000, &why);
	if (a == VERIFY_ACCEPTED && r->verdict == LIN_VIOLATED && r->nstates && !r->moment_open)
		a = verify_states(p, r->culprit, r->states, r->nstates, r->more_states, 4000000, &why);
	if (a != VERIFY_ACCEPTED)
		printf("# %s: verdict %d, proof %d not accepted: %s\n", algorithm_names[r->algorithm],
		       r->verdict, r->proof, why.text);
	return a == VERIFY_ACCEPTED;
}

#endif
