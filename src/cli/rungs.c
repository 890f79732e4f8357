#include "cli/rungs.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "causal/causal.h"
#include "explore/commit.h"
#include "explore/exact.h"
#include "explore/tidy.h"
#include "verdict/causal_run.h"

#define SERIAL_SHOWN 4u

/* ---- the budget --------------------------------------------------------- */

struct search_options rung_remaining(const struct decide *d)
{
	struct search_options s = d->o.search;
	if (s.max_states)
		s.max_states = s.max_states > d->states ? s.max_states - d->states : 1;
	if (d->slice.states) {
		uint64_t left = d->slice.states > d->states ? d->slice.states - d->states : 1;
		s.max_states = s.max_states && s.max_states < left ? s.max_states : left;
	}
	if (d->slice.deadline > 0 && (s.deadline <= 0 || d->slice.deadline < s.deadline))
		s.deadline = d->slice.deadline;
	return s;
}

static const char *spent(const struct decide *d, uint64_t states, double deadline)
{
	return states && d->states >= states                    ? "states"
	       : deadline > 0 && clock_seconds() >= deadline ? "time"
	                                                     : NULL;
}

const char *rung_all_spent(const struct decide *d)
{
	return spent(d, d->o.search.max_states, d->o.search.deadline);
}

const char *rung_spent(const struct decide *d)
{
	const char *all = rung_all_spent(d);
	return all ? all : spent(d, d->slice.states, d->slice.deadline);
}

void rung_take(struct verdict *v, struct search_result *r)
{
	v->states += r->states;
	v->transitions += r->transitions;
	v->bytes = r->bytes > v->bytes ? r->bytes : v->bytes;
	v->path = r->path;
	v->npath = r->npath;
	r->path = NULL;
	v->limit = r->limit;
}

static void drop_path(struct verdict *v)
{
	free(v->path);
	v->path = NULL;
	v->npath = 0;
}

void rung_serial(const struct decide *d, uint32_t block, struct verdict *v)
{
	const struct ir *p = d->p;
	if (strcmp(v->engine, "exact"))
		exact_shorten(p, block, d->o.search.deadline, d->o.search.max_bytes, &v->path, &v->npath);
	v->npath = tidy_violation(p, block, v->path, v->npath);
	enum problem halt = rung_ends(p, block, d->o.search.max_bytes, v);
	v->problem = halt != PROBLEM_NONE ? halt : v->problem;
}

enum problem rung_ends(const struct ir *p, uint32_t block, uint64_t bytes, struct verdict *v)
{
	exact_alternatives(p, block, v->path, v->npath, SERIAL_SHOWN, bytes, &v->serial, &v->nserial_all);
	v->nserial = v->nserial_all < SERIAL_SHOWN ? v->nserial_all : SERIAL_SHOWN;
	if (v->nserial_all)
		return PROBLEM_NONE;
	return exact_stuck(p, block, v->path, v->npath, bytes, &v->halt_thread, &v->halt);
}

/* ---- reduction ---------------------------------------------------------- */

char *rung_copy(const char *s)
{
	return s ? strdup(s) : NULL;
}

/* The first block that does not fit, for the program's line. */
static char *program_why(const struct decide *d)
{
	struct buf b;
	buf_init(&b);
	uint32_t bad = 0, first = IR_NONE;
	for (uint32_t i = 0; i < d->p->nblocks; i++)
		if (!d->reduce.blocks[i].part) {
			bad++;
			first = first == IR_NONE ? i : first;
		}
	if (first == IR_NONE || !d->reduce.blocks[first].part_why)
		buf_str(&b, "out of memory");
	else if (d->p->nblocks == 1)
		buf_str(&b, d->reduce.blocks[first].part_why);
	else
		buf_printf(&b, "%u of %u blocks do not reduce", bad, d->p->nblocks);
	char *s = strdup(buf_cstr(&b));
	buf_free(&b);
	return s;
}

enum scope rung_scope(const struct ir *p, bool any)
{
	if (any)
		return SCOPE_ANY;
	for (uint32_t t = 0; t < p->ntemplates; t++)
		if (p->templates[t].count > 1 || p->templates[t].any_count)
			return SCOPE_ANY_OF;
	return SCOPE_DECLARED;
}

static bool by_reduction(struct decide *d, uint32_t block, struct verdict *v, char **why)
{
	const struct reduce_result *r = &d->reduce;
	bool program = block == VERDICT_PROGRAM;
	bool holds = program ? r->all : r->blocks[block].reducible;
	v->engine = "reduction";
	v->answer = holds ? ANSWER_HOLDS : ANSWER_UNKNOWN;
	if (holds) {
		v->scope = rung_scope(d->p, program ? r->all_any : r->blocks[block].any);
		v->notes = rung_copy(r->locks);
	} else {
		*why = program ? program_why(d) : rung_copy(r->blocks[block].why);
	}
	return holds;
}

/* ---- causal ------------------------------------------------------------- */

static void say_place(const struct ir *p, const struct causal_run *r, uint32_t event, struct buf *b)
{
	const struct ir_node *n = &p->nodes[r->events[event].node];
	struct source_pos at = source_pos(p->src, n->span.start);
	buf_printf(b, "%u:%u (", at.line, at.column);
	ir_print_node(p, r->events[event].node, b);
	buf_char(b, ')');
}

/* "a chain of causes leaves the block at 23:9 (read data in ...) and comes back ..." */
static char *describe_chain(const struct ir *p, uint32_t block, const struct causal_run *r)
{
	struct buf b;
	buf_init(&b);
	if (block != VERDICT_PROGRAM && r->nlinks) {
		buf_str(&b, "a chain of causes leaves the block at ");
		say_place(p, r, r->links[0].from, &b);
		buf_str(&b, " and comes back at ");
		say_place(p, r, r->links[r->nlinks - 1].to, &b);
	} else {
		buf_str(&b, "blocks must come before each other in a circle of causes");
	}
	buf_str(&b, r->concrete == CAUSAL_POSSIBLE     ? ", in a run that the data allow"
	            : r->concrete == CAUSAL_IMPOSSIBLE ? ", in a run that the data do not allow"
	                                               : ", if the data allow it");
	char *s = strdup(buf_cstr(&b));
	buf_free(&b);
	return s;
}

/* What it finds is no answer: `said` has it. */
static bool by_causal(struct decide *d, uint32_t block, uint64_t max_states, struct verdict *v, char **why,
                      enum answer *said)
{
	struct search_options s = rung_remaining(d);
	struct causal_options o = { .engine = CAUSAL_PICK, .track = d->o.track, .abstract = d->o.abstract,
		                    .ntrack = d->o.ntrack, .nabstract = d->o.nabstract, .many = d->any,
		                    .max_states = s.max_states && (!max_states || s.max_states < max_states)
		                                          ? s.max_states : max_states,
		                    .max_bytes = s.max_bytes, .deadline = s.deadline };
	struct arena a;
	struct diags e;
	struct verdict c;
	arena_init(&a, 0);
	diags_init(&e, &a);
	if (!causal_check(d->p, block, &o, &e, &c))
		c.answer = ANSWER_UNKNOWN;
	d->states += c.states;
	*said = c.answer;
	v->engine = "causal";
	v->states += c.states;
	v->transitions += c.transitions;
	v->bytes = c.bytes > v->bytes ? c.bytes : v->bytes;
	v->answer = c.answer == ANSWER_HOLDS ? ANSWER_HOLDS : ANSWER_UNKNOWN;
	v->scope = c.scope;
	v->limit = c.answer == ANSWER_UNKNOWN ? c.limit : NULL;
	v->reason = NULL;
	if (c.causal)
		*why = describe_chain(d->p, block, c.causal);
	for (uint32_t t = 0; c.causal && d->need && t < d->p->ntemplates; t++)
		if (c.causal->count[t] > d->p->templates[t].count && c.causal->count[t] > d->need[t])
			d->need[t] = c.causal->count[t];
	if (c.causal && c.causal->concrete == CAUSAL_POSSIBLE) { /* the ladder may come back to it */
		free(d->suspect);
		d->suspect = c.causal->path;
		d->nsuspect = c.causal->npath;
		c.causal->path = NULL;
	}
	else if (c.answer == ANSWER_UNKNOWN && c.reason)
		*why = rung_copy(c.reason);
	verdict_free(&c);
	arena_free(&a);
	return v->answer == ANSWER_HOLDS;
}

bool decide_options_fit(const struct ir *p, const struct decide_options *o, struct diags *e)
{
	struct causal_options c = { .engine = CAUSAL_PICK, .track = o->track, .abstract = o->abstract,
		                    .ntrack = o->ntrack, .nabstract = o->nabstract, .max_states = 1,
		                    .max_bytes = o->search.max_bytes, .deadline = o->search.deadline };
	struct verdict v;
	if (!o->ntrack && !o->nabstract)
		return true;
	bool ok = causal_check(p, VERDICT_PROGRAM, &c, e, &v);
	verdict_free(&v);
	return ok;
}

/* ---- commit ------------------------------------------------------------- */

/* "commits at line 12 (data = v)" */
static char *describe_point(const struct ir *p, const struct commit_point *c)
{
	struct buf b;
	buf_init(&b);
	switch (c->kind) {
	case COMMIT_MARKED:
		buf_str(&b, "commits where it says so");
		break;
	case COMMIT_ENTRY:
		buf_str(&b, "commits as it enters");
		break;
	case COMMIT_EXIT:
		buf_str(&b, "commits as it leaves");
		break;
	case COMMIT_STEP:
		for (uint32_t i = 0; i < c->n; i++) {
			const struct ir_node *n = &p->nodes[c->at[i].node];
			buf_printf(&b, "%s line %u (", i ? " or" : "commits at",
			           source_pos(p->src, n->span.start).line);
			ir_print_node(p, c->at[i].node, &b);
			buf_char(&b, ')');
			if (c->at[i].succ != IR_NONE)
				buf_printf(&b, " when it goes on to line %u",
				           source_pos(p->src, p->nodes[c->at[i].succ].span.start).line);
		}
		break;
	}
	char *text = strdup(buf_cstr(&b));
	buf_free(&b);
	return text;
}

/* The program's line names the points only when there is one block. */
static char *describe_points(const struct ir *p, uint32_t block, const struct commit_result *c)
{
	if (block != VERDICT_PROGRAM)
		return describe_point(p, &c->points[block]);
	if (p->nblocks == 1)
		return describe_point(p, &c->points[0]);
	return NULL; /* the blocks' own lines say it */
}

/* Commit-atomicity; true when that answers the question. The points found for
 * all blocks go to `points` (nblocks texts) when it is given. */
static bool by_commit(struct decide *d, uint32_t block, struct verdict *v, char **why, char **points)
{
	const struct ir *p = d->p;
	struct commit_result c;
	struct search_options s = rung_remaining(d);
	commit_run(p, block, &s, &c);
	bool done = true, marked = p->nblocks > 0;
	for (uint32_t b = 0; b < p->nblocks; b++)
		marked &= p->blocks[b].has_commit || (block != VERDICT_PROGRAM && b != block);
	v->engine = "commit";
	v->states += c.states - c.search.states;
	v->transitions += c.transitions - c.search.transitions;
	d->states += c.states;
	rung_take(v, &c.search);
	if (c.violation) {
		v->answer = ANSWER_VIOLATED;
		v->problem = PROBLEM_ATOMICITY;
		rung_serial(d, block, v);
	} else if (c.no_labelling) {
		v->answer = ANSWER_UNKNOWN;
		v->limit = NULL;
		v->reason = marked ? "the marked commit points do not fit every run"
		                   : "no labelling with commit points works";
		*why = rung_copy(v->reason);
		done = false;
	} else if (c.search.verdict == SEARCH_HOLDS) {
		v->answer = ANSWER_HOLDS;
		v->commits = describe_points(p, block, &c);
		for (uint32_t b = 0; points && b < p->nblocks; b++)
			points[b] = describe_point(p, &c.points[b]);
	} else {
		v->answer = ANSWER_UNKNOWN;
		done = false;
	}
	if (v->answer != ANSWER_VIOLATED)
		drop_path(v);
	commit_result_free(&c);
	return done;
}

/* ---- exact -------------------------------------------------------------- */

static bool by_exact(struct decide *d, uint32_t block, struct verdict *v)
{
	struct search_result r;
	struct search_options s = rung_remaining(d);
	exact_run(d->p, block, &s, &r);
	v->engine = "exact";
	v->reason = NULL;
	d->states += r.states;
	rung_take(v, &r);
	switch (r.verdict) {
	case SEARCH_HOLDS:
		v->answer = ANSWER_HOLDS;
		break;
	case SEARCH_WRONG:
		v->answer = ANSWER_VIOLATED;
		v->problem = PROBLEM_ATOMICITY;
		rung_serial(d, block, v);
		break;
	default:
		v->answer = ANSWER_UNKNOWN;
		break;
	}
	if (v->answer != ANSWER_VIOLATED)
		drop_path(v);
	return v->answer != ANSWER_UNKNOWN;
}

/* ---- all of them ------------------------------------------------------- */

bool rung_ask(struct decide *d, enum decide_engine e, uint32_t block, uint64_t max_states,
                  struct verdict *v, struct attempt *a, char **points)
{
	bool done;
	switch (e) {
	case ENGINE_REDUCTION:
		a->seconds = d->reduce_seconds;
		done = by_reduction(d, block, v, &a->why);
		break;
	case ENGINE_CAUSAL:
		return by_causal(d, block, max_states, v, &a->why, &a->answer);
	case ENGINE_COMMIT:
		done = by_commit(d, block, v, &a->why, points);
		break;
	default:
		done = by_exact(d, block, v);
		break;
	}
	a->answer = v->answer;
	return done;
}

