#include "causal/causal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "causal/cover.h"
#include "causal/unfold.h"
#include "causal/causal_witness.h"

#define COVER_TRY 1000000u /* states after which unfolding is tried instead */

struct ask {
	enum causal_engine by; /* which engine answers */
	const struct ir *p;
	const struct causal_options *o;
	uint32_t block;
	struct program g;
	struct arena arena;
	struct diags *d;
	struct verdict *v;
	uint32_t *count; /* a template; COVER_ANY */
	bool any;
};

static void not_known(struct verdict *v, const char *limit, const char *reason)
{
	v->answer = ANSWER_UNKNOWN;
	v->limit = limit;
	v->reason = reason;
}

/* A run of the abstract program that breaks it. */
static void violated(struct ask *q, const struct witness_event *events, uint32_t n, const uint32_t *count, bool smallest,
                     bool cycle)
{
	struct causal_run *r = events ? causal_witness_make(&q->g, events, n, count, cycle) : NULL;
	if (!r) {
		not_known(q->v, "memory", NULL);
		return;
	}
	r->smallest = smallest;
	q->v->answer = ANSWER_VIOLATED;
	q->v->problem = PROBLEM_ATOMICITY;
	q->v->limit = q->v->reason = NULL;
	q->v->causal = r;
	causal_replay(q->p, r);
}

/* For how many threads the proof is. */
static enum scope scope_of(const struct ask *q)
{
	bool each = !q->p->fixed_counts, several = q->any && each;
	for (uint32_t t = 0; t < q->p->ntemplates; t++) {
		each &= q->count[t] == COVER_ANY;
		several &= q->count[t] == COVER_ANY || q->count[t] == 1;
	}
	return each ? SCOPE_ANY : several ? SCOPE_ANY_OF : SCOPE_DECLARED;
}

/* ---- cover --------------------------------------------------------------- */

static void by_cover(struct ask *q, uint64_t max_states)
{
	bool program = q->block == VERDICT_PROGRAM;
	struct cover_options o = { .block = program ? COVER_ANY : q->block,
		                   .owners = program ? COVER_MAX_OWNERS : 1,
		                   .count = q->count,
		                   .max_states = max_states,
		                   .max_bytes = q->o->max_bytes,
		                   .deadline = q->o->deadline };
	struct cover_result r;
	cover_run(&q->g, &o, &r);
	q->by = CAUSAL_COVER;
	q->v->states += r.states;
	q->v->transitions += r.transitions;
	q->v->bytes = r.bytes > q->v->bytes ? r.bytes : q->v->bytes;
	if (r.status == COVER_SAFE) {
		q->v->answer = ANSWER_HOLDS;
		q->v->scope = scope_of(q);
		q->v->limit = q->v->reason = NULL;
	} else if (r.status == COVER_RED) {
		struct witness_event *events = causal_witness_of_cover(&q->g, &r);
		violated(q, events, r.npath, r.count, r.smallest, program);
		free(events);
	} else if (!strcmp(r.limit, "promises")) {
		not_known(q->v, NULL, "cycles through more than 8 blocks are not searched for");
	} else {
		not_known(q->v, r.limit, NULL);
	}
	cover_result_free(&r);
}

/* ---- unfold -------------------------------------------------------------- */

/* One thread of every template that has a block asked about: the others of
 * a template are like it. */
static uint32_t choose_threads(const struct ask *q, uint32_t *chosen)
{
	uint32_t n = 0;
	for (uint32_t t = 0; t < q->p->ntemplates; t++) {
		bool has = false;
		for (uint32_t b = 0; b < q->p->nblocks; b++)
			has |= q->p->blocks[b].tmpl == t && (q->block == VERDICT_PROGRAM || q->block == b);
		if (has)
			chosen[n++] = q->p->templates[t].first_thread;
	}
	return n;
}

struct at_depth {
	uint32_t event, depth;
};

static int by_depth(const void *pa, const void *pb)
{
	const struct at_depth *a = pa, *b = pb;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
}

/* The causes of the red event, in an order that respects them. */
static void red_run(struct ask *q, const struct colour_net *net, struct prefix *p)
{
	uint32_t n = config_local(&p->cfg, p->red);
	struct at_depth *order = malloc((n + 1ull) * sizeof *order);
	struct witness_event *events = malloc((n + 1ull) * sizeof *events);
	for (uint32_t i = 0; order && i < n; i++) {
		uint32_t e = p->cfg.scratch[i];
		order[i] = (struct at_depth){ e, p->cfg.events[e].depth };
	}
	if (order && events) {
		qsort(order, n, sizeof *order, by_depth);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t t = p->cfg.events[order[i].event].trans;
			events[i] = (struct witness_event){ net->thread[t], net->action[t] };
		}
	}
	violated(q, order && events ? events : NULL, n, q->count, false, false);
	free(order);
	free(events);
}

static void unfold_it(struct ask *q, const struct colour_net *net)
{
	struct unfold_options o = {
		.max_events = q->o->max_states, .max_bytes = q->o->max_bytes, .deadline = q->o->deadline, .reduced = q->o->reduced
	};
	struct prefix p;
	enum unfold_status s = unfold_coloured(net, &o, &p);
	struct verdict *v = q->v;
	v->events = p.kept + p.cutoffs;
	v->cutoffs = p.cutoffs;
	v->conditions = prefix_conditions(&p);
	v->bytes = p.memory.used > v->bytes ? p.memory.used : v->bytes;
	if (s == UNFOLD_RED)
		red_run(q, net, &p);
	else if (s == UNFOLD_LIMIT)
		not_known(v, p.limit, NULL);
	else if (s == UNFOLD_UNSAFE)
		not_known(v, NULL, "the net of the program is not 1-safe: this is a bug in intact");
	else if (q->block == VERDICT_PROGRAM)
		by_cover(q, q->o->max_states); /* no block is broken: cycles through several */
	else
		v->answer = ANSWER_HOLDS;
	prefix_free(&p);
}

static void by_unfolding(struct ask *q)
{
	struct colour_net net;
	const char *limit = NULL;
	struct verdict *v = q->v;
	uint32_t *chosen = calloc(q->p->ntemplates + 1ull, sizeof *chosen);
	q->by = CAUSAL_UNFOLD;
	v->limit = v->reason = NULL;
	if (q->any)
		not_known(v, NULL, "unfold requires fixed numbers of threads; cover does not");
	else if (!chosen || !program_net(&q->g, chosen, choose_threads(q, chosen), q->block == VERDICT_PROGRAM ? IR_NONE : q->block,
	                                 &q->arena, q->d, &net, &limit))
		not_known(v, limit ? limit : "memory", NULL);
	else
		unfold_it(q, &net);
	free(chosen);
}

/* ---- the entry ------------------------------------------------------------ */

static bool count_threads(struct ask *q)
{
	q->count = calloc(q->p->ntemplates + 1ull, sizeof *q->count);
	for (uint32_t t = 0; q->count && t < q->p->ntemplates; t++) {
		const struct ir_template *m = &q->p->templates[t];
		bool any = m->any_count || (q->o->many && m->count > 1);
		q->count[t] = any && q->o->engine != CAUSAL_UNFOLD ? COVER_ANY : m->count;
		q->any |= any;
	}
	return q->count != NULL;
}

static void answer(struct ask *q)
{
	const struct causal_options *o = q->o;
	struct verdict *v = q->v;
	bool own = o->engine == CAUSAL_PICK && q->block != VERDICT_PROGRAM && !q->any &&
	           (!o->max_states || o->max_states > COVER_TRY);
	if (o->engine == CAUSAL_UNFOLD) {
		by_unfolding(q);
		return;
	}
	by_cover(q, own ? COVER_TRY : o->max_states);
	if (own && v->answer == ANSWER_UNKNOWN && v->limit && !strcmp(v->limit, "states"))
		by_unfolding(q);
}

bool causal_check(const struct ir *p, uint32_t block, const struct causal_options *o, struct diags *d, struct verdict *v,
                  enum causal_engine *by)
{
	struct program_options po = { .track = o->track,
		                      .abstract = o->abstract,
		                      .ntrack = o->ntrack,
		                      .nabstract = o->nabstract,
		                      .max_bytes = o->max_bytes,
		                      .deadline = o->deadline };
	struct ask q = { .p = p, .o = o, .block = block, .d = d, .v = v };
	const char *limit = NULL;
	double start = clock_seconds();
	memset(v, 0, sizeof *v);
	v->block = block;
	q.by = o->engine == CAUSAL_UNFOLD ? CAUSAL_UNFOLD : CAUSAL_COVER;
	arena_init(&q.arena, (size_t)o->max_bytes);
	enum program_status s = program_make(p, &po, &q.arena, d, &q.g, &limit);
	if (s != PROGRAM_OK || !count_threads(&q))
		not_known(v, s == PROGRAM_OK ? "memory" : limit, NULL);
	else
		answer(&q);
	v->seconds = clock_seconds() - start;
	if (by)
		*by = q.by;
	free(q.count);
	arena_free(&q.arena);
	return s != PROGRAM_INPUT;
}
