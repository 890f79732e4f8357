/* engine_causal: no chain of causes leaves the block and comes back (causal/causal.h), by cover or unfold. In the
 * ladder it proves, or suspects; by itself it has its own verdicts (causal_question.h). */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "check/causal_question.h"
#include "check/rungs.h"
#include "verdict/causal_run.h"

#define FIRST_STATES 20000u

static void say_place(const struct ir *p, const struct causal_run *r, uint32_t event, struct buf *b)
{
	const struct ir_node *n = &p->nodes[r->events[event].node];
	struct source_pos at = source_pos(p->src, n->span.start);
	buf_printf(b, "%u:%u (", at.line, at.column);
	ir_print_node(p, r->events[event].node, b);
	buf_char(b, ')');
}

/* "a causal chain leaves the block at 23:9 (read data in ...) and comes back ..." */
static char *describe_chain(const struct ir *p, uint32_t block, const struct causal_run *r)
{
	struct buf b;
	buf_init(&b);
	if (block != VERDICT_PROGRAM && r->nlinks) {
		buf_str(&b, "a causal chain leaves the block at ");
		say_place(p, r, r->links[0].from, &b);
		buf_str(&b, " and returns at ");
		say_place(p, r, r->links[r->nlinks - 1].to, &b);
	} else {
		buf_str(&b, "the blocks form a causal cycle");
	}
	buf_str(&b, r->concrete == CAUSAL_POSSIBLE     ? ", in a run that the data allow"
	            : r->concrete == CAUSAL_IMPOSSIBLE ? ", in a run that the data do not allow"
	                                               : ", if the data allow it");
	char *s = strdup(buf_cstr(&b));
	buf_free(&b);
	return s;
}

/* What it finds is no answer of the ladder: *at has it. */
static bool ask(struct decide *d, const struct engine_ask *q, struct verdict *v, struct attempt *at)
{
	uint32_t block = q->block;
	uint64_t max_states = q->max_states;
	struct search_options s = rung_remaining(d);
	struct causal_options o = { .engine = CAUSAL_PICK,
		                    .track = d->o.track,
		                    .abstract = d->o.abstract,
		                    .ntrack = d->o.ntrack,
		                    .nabstract = d->o.nabstract,
		                    .many = d->any,
		                    .max_states = s.max_states && (!max_states || s.max_states < max_states) ? s.max_states
		                                                                                             : max_states,
		                    .max_bytes = s.max_bytes,
		                    .deadline = s.deadline };
	struct arena a;
	struct diags e;
	struct verdict c;
	arena_init(&a, 0);
	diags_init(&e, &a);
	if (!causal_check(d->p, block, &o, &e, &c, NULL))
		c.answer = ANSWER_UNKNOWN;
	d->states += c.states;
	at->answer = c.answer;
	v->engine = &engine_causal.about;
	v->states += c.states;
	v->transitions += c.transitions;
	v->bytes = c.bytes > v->bytes ? c.bytes : v->bytes;
	v->answer = c.answer == ANSWER_HOLDS ? ANSWER_HOLDS : ANSWER_UNKNOWN;
	v->scope = c.scope;
	v->limit = c.answer == ANSWER_UNKNOWN ? c.limit : NULL;
	v->reason = NULL;
	if (c.causal)
		at->why = describe_chain(d->p, block, c.causal);
	for (uint32_t t = 0; c.causal && d->need && t < d->p->ntemplates; t++)
		if (c.causal->count[t] > d->p->templates[t].count && c.causal->count[t] > d->need[t])
			d->need[t] = c.causal->count[t];
	if (c.causal && c.causal->concrete == CAUSAL_POSSIBLE) { /* the ladder may come back to it */
		free(d->suspect);
		d->suspect = c.causal->path;
		d->nsuspect = c.causal->npath;
		c.causal->path = NULL;
	} else if (c.answer == ANSWER_UNKNOWN && c.reason)
		at->why = rung_copy(c.reason);
	verdict_free(&c);
	arena_free(&a);
	return v->answer == ANSWER_HOLDS;
}

/* The program needed a search, but this block may be causally atomic by
 * itself. All blocks together get as much as one question. */
static bool ask_part(struct decide *d, uint32_t block, const struct verdict *program, struct verdict *v)
{
	struct verdict alone = { .block = block, .answer = ANSWER_UNKNOWN };
	assert(program->answer == ANSWER_HOLDS);
	if (program->engine == &engine_causal.about || d->causal_states >= FIRST_STATES)
		return false;
	rung_ask(d, &engine_reduction, &(struct engine_ask){ .block = block }, &alone);
	bool holds = rung_ask(d, &engine_causal,
	                      &(struct engine_ask){ .block = block, .max_states = FIRST_STATES - d->causal_states }, &alone);
	d->causal_states += alone.states + 100; /* making the net counts too */
	if (holds)
		*v = alone;
	else
		verdict_free(&alone);
	return holds;
}

static bool ask_itself(const struct ir *p, uint32_t block, const struct check_options *o, struct diags *d, struct verdict *v)
{
	return causal_question(p, block, CAUSAL_PICK, o, d, v);
}

const struct check_engine engine_causal = {
	.about = { .name = "causal",
	           .summary = "no causal chain leaves the block and returns to it, with most data abstracted away",
	           .question = ENGINE_CAUSALITY,
	           .abstract = true,
	           .any_threads = true,
	           .topic = "causal" },
	.ladder = true,
	.first_states = FIRST_STATES,
	.ask = ask,
	.ask_part = ask_part,
	.ask_itself = ask_itself,
};
