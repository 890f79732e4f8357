#include "check/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/invariant.h"
#include "check/causal_question.h"
#include "check/decide.h"
#include "check/properties.h"
#include "verdict/replay.h"

#define WAY_OUT_STATES 20000u
#define WAY_OUT_BYTES  (4u << 20)
#define RAISED_STATES  2000000u /* of each search with more threads than declared, when there is no limit */
#define MAX_RAISED     32u

struct checking {
	const struct check_options *o;
	struct decide_options decide;
	struct check_result *r;
	uint64_t states; /* of all searches so far */
};

static bool any_asked(const struct ir *p)
{
	for (uint32_t t = 0; t < p->ntemplates; t++)
		if (p->templates[t].any_count)
			return true;
	return false;
}

/* --threads name=any: a proof for the declared number is not a proof for any
 * number (a counterexample stays one). */
static void fixed_counts_only(const struct ir *p, struct verdict *v, uint32_t n)
{
	for (uint32_t i = 0; any_asked(p) && i < n; i++)
		if (v[i].answer == ANSWER_HOLDS && v[i].scope == SCOPE_DECLARED) {
			v[i].answer = ANSWER_UNKNOWN;
			v[i].reason = "proved only for the numbers of threads searched";
		}
}

static bool is_deadlock(const struct verdict *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i].problem == PROBLEM_DEADLOCK)
			return true;
	return false;
}

/* No search for faults is needed: they cannot happen, and neither deadlocks
 * nor the number of states are asked for. */
static bool no_faults(const struct checking *c, const struct decide *d)
{
	return d->reduce.fault_free && !c->o->deadlock && !c->o->count;
}

enum asked { ASK_AGAIN, ASKED, ALL_DONE };

/* One search for the program that also counts faults as violations: when it
 * holds there is nothing more to look for, and a run that no serial order
 * explains, or a reached limit, remains the answer. */
static enum asked all_in_one(struct checking *c, struct decide *d, struct verdict *v)
{
	assert(!v[d->p->nblocks].path);
	struct verdict *program = &v[d->p->nblocks];
	if (c->o->block || c->o->deadlock || c->o->count || !d->p->nblocks || any_asked(d->p))
		return ASK_AGAIN; /* --stats counts the program's own states too */
	if (d->reduce.all && !no_faults(c, d) && !(c->o->engine && c->o->engine->explores))
		return ASK_AGAIN; /* reduction meets no fault, it does not look */
	d->o.search.faults = !no_faults(c, d);
	decide_program(d, v);
	d->o.search.faults = false;
	if (program->answer == ANSWER_HOLDS) /* by an engine that has not visited all states: faults are still to be looked for */
		return no_faults(c, d) || engine_find(program->engine->name)->explores ? ALL_DONE : ASKED;
	if (program->answer == ANSWER_VIOLATED || program->limit || no_faults(c, d))
		return ASKED;
	for (uint32_t i = 0; i <= d->p->nblocks; i++)
		verdict_free(&v[i]);
	return ASK_AGAIN;
}

/* The question about faults: a line only when something is wrong. */
static uint32_t look_for_faults(struct checking *c, struct decide *d, struct verdict *v)
{
	if (no_faults(c, d))
		return 0;
	d->o.search.deadlock = c->o->deadlock;
	decide_safety(d, c->o->faults || c->o->deadlock || c->o->count || !d->p->nblocks, v);
	d->o.search.deadlock = false;
	c->r->fault_free = v->answer == ANSWER_HOLDS;
	c->r->states = v->states;
	c->r->transitions = v->transitions;
	if (c->r->fault_free && any_asked(d->p) && !(d->reduce.fault_free && !c->o->deadlock)) {
		v->answer = ANSWER_UNKNOWN;
		v->reason = "no fault with the numbers of threads searched; unknown for larger numbers";
		return 1;
	}
	return v->answer != ANSWER_HOLDS;
}

/* Faults first, then every question. */
static uint32_t one_by_one(struct checking *c, struct decide *d, struct verdict *v)
{
	uint32_t all = d->p->nblocks + 1, n;
	if (c->o->faults)
		return look_for_faults(c, d, v);
	enum asked asked = all_in_one(c, d, v + 1);
	if (asked == ALL_DONE) {
		memmove(v, v + 1, all * sizeof *v);
		return all;
	}
	n = look_for_faults(c, d, v);
	if (!n)
		memmove(v, v + 1, all * sizeof *v);
	for (uint32_t b = 0; b < d->p->nblocks && c->o->block; b++)
		if (answers_name_block(d->p, b, c->o->block))
			decide_block(d, b, &v[n++]);
	if (!c->o->block && d->p->nblocks) {
		if (asked == ASK_AGAIN)
			decide_program(d, &v[n]);
		decide_blocks(d, &v[n]);
		n += all;
	}
	assert(n <= d->p->nblocks + 3);
	return n;
}

/* --engine=all: every engine on every question. */
static uint32_t side_by_side(struct checking *c, struct decide *d, struct verdict *v)
{
	uint32_t n = look_for_faults(c, d, v);
	for (uint32_t b = 0; b < d->p->nblocks; b++)
		if (!c->o->block || answers_name_block(d->p, b, c->o->block))
			c->r->contradiction |= !decide_by_all(d, b, &v[n++]);
	if (!c->o->block && d->p->nblocks)
		c->r->contradiction |= !decide_by_all(d, VERDICT_PROGRAM, &v[n++]);
	assert(n <= d->p->nblocks + 2);
	return n;
}

/* Can threads always leave their blocks? Beside the questions about atomicity
 * it may cost little only; a check for deadlocks includes it. */
static uint32_t look_for_a_way_out(struct checking *c, const struct ir *p, struct verdict *v, uint32_t n)
{
	struct search_options s = c->decide.search;
	if (!p->nblocks || c->o->block || c->o->faults || is_deadlock(v, n) || any_asked(p) || c->o->engine)
		return 0;
	if (!c->o->deadlock) {
		s.max_states = s.max_states && s.max_states < WAY_OUT_STATES ? s.max_states : WAY_OUT_STATES;
		s.max_bytes = s.max_bytes < WAY_OUT_BYTES ? s.max_bytes : WAY_OUT_BYTES;
		s.checkpoint = NULL; /* quickly done again, and its limits are not the user's */
	}
	return quiescence_ask(p, &s, &v[n], &c->r->way_out);
}

/* Every question that is asked of this program; how many answers there are. `need`: see struct decide. */
static uint32_t ask_everything(struct checking *c, const struct ir *p, struct verdict *v, uint32_t *need)
{
	assert(c->decide.search.max_bytes);
	struct decide d;
	uint64_t limit = c->decide.search.max_states;
	c->r->way_out = WAY_OUT_NOT_ASKED;
	decide_begin(&d, p, &c->decide);
	d.states = c->states;
	if (c->r->raised && !limit && c->decide.search.deadline <= 0)
		d.o.search.max_states = c->states + RAISED_STATES;
	uint32_t n = c->o->all ? side_by_side(c, &d, v) : one_by_one(c, &d, v);
	c->states = d.states;
	memset(need, 0, p->ntemplates * sizeof *need);
	if (d.need)
		memcpy(need, d.need, p->ntemplates * sizeof *need);
	decide_end(&d);
	n += look_for_a_way_out(c, p, v, n);
	if (!c->o->block && !c->o->faults) {
		objects_check(p, &c->o->objects, &c->decide.search, &v[n]);
		n += p->nobjects;
		n += properties_ask(p, &c->decide.search, &v[n]);
	}
	fixed_counts_only(p, v, n);
	return n;
}

/* Is a question about blocks unanswered? */
static bool open_block(const struct verdict *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i].answer == ANSWER_UNKNOWN && !v[i].object1 && !v[i].property1 && v[i].nattempts)
			return true;
	return false;
}

/* --threads name=any, and what is suspected needs more threads than there are: the model with one more of them. */
static bool raise_counts(struct checking *c, const struct ir *p, const struct verdict *v, uint32_t n, const uint32_t *need,
                         struct lang *l)
{
	assert(!n || v);
	const struct search_options *s = &c->decide.search;
	uint32_t *counts = calloc(p->ntemplates + 1ull, sizeof *counts);
	bool more = false;
	for (uint32_t t = 0; counts && t < p->ntemplates; t++) {
		bool few = p->templates[t].any_count && need[t] > p->templates[t].count;
		counts[t] = p->templates[t].count + few;
		more |= few;
	}
	more = more && open_block(v, n) && c->r->raised < MAX_RAISED && !(s->max_states && c->states >= s->max_states) &&
	       !(s->deadline > 0 && clock_seconds() >= s->deadline) && lang_load_again(l, p, IR_NONE, counts);
	free(counts);
	c->r->raised += more;
	return more;
}

static void free_answers(struct verdict *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		verdict_free(&v[i]);
	if (n)
		memset(v, 0, n * sizeof *v);
}

/* ---- all of it -------------------------------------------------------------- */

static uint64_t half_the_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : (uint64_t)4 << 30;
}

/* Every question, with more threads again as long as that may answer more. */
static enum check_status by_the_ladder(const struct ir *p, const struct check_options *o, struct check_result *r)
{
	struct checking c = { .o = o, .r = r };
	uint32_t *need = calloc(p->ntemplates + 1ull, sizeof *need), turn = 0;
	if (!need)
		return CHECK_NO_MEMORY;
	c.decide = (struct decide_options){ .engine = o->engine,
		                            .search = o->search,
		                            .track = o->track,
		                            .ntrack = o->ntrack,
		                            .abstract = o->abstract,
		                            .nabstract = o->nabstract };
	r->n = ask_everything(&c, p, r->v, need);
	while (raise_counts(&c, p, r->v, r->n, need, &r->models[turn])) {
		free_answers(r->v, r->n);
		r->p = p = r->models[turn].ir;
		turn ^= 1;
		lang_free(&r->models[turn]);
		lang_init(&r->models[turn]);
		r->n = ask_everything(&c, p, r->v, need);
	}
	free(need);
	return CHECK_OK;
}

/* The engine's own question about each block and the program. */
static enum check_status by_itself(const struct ir *p, const struct check_options *o, struct diags *d, struct check_result *r)
{
	assert(!r->n || r->v);
	r->causality = true;
	for (uint32_t b = 0; b <= p->nblocks; b++) {
		uint32_t block = b < p->nblocks ? b : VERDICT_PROGRAM;
		if (o->block ? block == VERDICT_PROGRAM || !answers_name_block(p, b, o->block) : !p->nblocks)
			continue;
		if (!o->engine->ask_itself(p, block, o, d, &r->v[r->n++]))
			return CHECK_WRONG_OPTIONS;
	}
	return CHECK_OK;
}

static bool has_block(const struct ir *p, const char *name)
{
	for (uint32_t b = 0; b < p->nblocks; b++)
		if (answers_name_block(p, b, name))
			return true;
	return false;
}

/* What check.h promises about the verdicts. */
/* For PARANOID: a counterexample is a run of the model. */
static bool witness_replays(const struct ir *p, const struct verdict *v)
{
	assert(!v->npath || v->path);
	struct run run;
	bool ok = !run_init(&run, p) || !v->path || replay(&run, v->path, v->npath);
	run_free(&run);
	return ok;
}

static void assert_result(const struct check_result *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		const struct verdict *v = &r->v[i];
		(void)v;
		assert(v->engine && v->nattempts <= VERDICT_ATTEMPTS);
		assert(v->block < r->p->nblocks || v->block == VERDICT_PROGRAM);
		assert(v->object1 <= r->p->nobjects && v->property1 <= r->p->nproperties && !(v->object1 && v->property1));
		assert(!v->path == !v->npath || v->answer == ANSWER_VIOLATED);
		PARANOID(witness_replays(r->p, v));
		assert(v->answer != ANSWER_HOLDS || (!v->path && !v->causal && v->problem == PROBLEM_NONE));
		assert(v->answer != ANSWER_VIOLATED || v->causal || v->problem != PROBLEM_NONE);
		assert(!v->causal || r->causality);
	}
}

enum check_status check_run(const struct ir *p, const struct check_options *options, struct diags *d, struct check_result *r)
{
	struct check_options o = *options;
	enum check_status status;
	assert(!(o.all && o.engine) && !(o.faults && (o.block || o.engine || o.all)));
	assert(!o.engine || engine_is_choice(o.engine));
	memset(r, 0, sizeof *r);
	lang_init(&r->models[0]);
	lang_init(&r->models[1]);
	r->p = p;
	if (!o.search.max_bytes)
		o.search.max_bytes = half_the_memory();
	if (o.block && !has_block(p, o.block))
		return CHECK_NO_BLOCK;
	r->v = calloc((size_t)p->nblocks + p->nobjects + p->nproperties + 4, sizeof *r->v);
	if (!r->v)
		return CHECK_NO_MEMORY;
	if (o.engine && o.engine->ask_itself)
		status = by_itself(p, &o, d, r);
	else if (objects_allowed(p, &o.objects, d) && causal_names_fit(p, &o, d))
		status = by_the_ladder(p, &o, r);
	else
		status = CHECK_WRONG_OPTIONS;
	if (status == CHECK_OK)
		assert_result(r);
	return status;
}

void check_result_free(struct check_result *r)
{
	free_answers(r->v, r->n);
	free(r->v);
	lang_free(&r->models[0]);
	lang_free(&r->models[1]);
	memset(r, 0, sizeof *r);
}

bool answers_name_block(const struct ir *p, uint32_t b, const char *name)
{
	assert(b < p->nblocks);
	const char *block = p->blocks[b].name, *tmpl = p->templates[p->blocks[b].tmpl].name;
	size_t n = strlen(tmpl);
	return !strcmp(block, name) || (!strncmp(tmpl, name, n) && name[n] == '.' && !strcmp(block, name + n + 1));
}

enum answer answers_together(const struct verdict *v, uint32_t n)
{
	assert(!n || v);
	enum answer all = ANSWER_HOLDS;
	for (uint32_t i = 0; i < n; i++) {
		if (v[i].answer == ANSWER_VIOLATED)
			return ANSWER_VIOLATED;
		if (v[i].answer == ANSWER_UNKNOWN)
			all = ANSWER_UNKNOWN;
	}
	return all;
}
