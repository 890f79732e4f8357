#include "check/decide.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/invariant.h"
#include "check/engine.h"
#include "check/rungs.h"
#include "check/suspicion.h"
#include "explore/exact.h"
#include "lang/lang.h"
#include "verdict/single_block.h"
#include "verdict/replay.h"

#define FIRST_SLICE 200000u /* states of a block's first round, and */
#define FIRST_TIME  64.0    /* which part of the time that is left */
#define MORE        4u      /* how much larger the next slices are */

/* ---- the ladder --------------------------------------------------------- */

/* A way to ask about a block; false: engines contradict each other. */
typedef bool ask_fn(struct decide *d, uint32_t block, struct verdict *v);

/* What the other engines made of the suspicion of an abstract one. */
static void settle(const struct decide *d, struct verdict *v)
{
	assert(v->nattempts <= VERDICT_ATTEMPTS);
	for (uint32_t i = 0; i < v->nattempts; i++) {
		struct attempt *a = &v->attempts[i];
		if (!a->engine->abstract || a->answer != ANSWER_VIOLATED || !a->why)
			continue;
		struct buf b;
		buf_init(&b);
		buf_str(&b, a->why);
		if (v->answer == ANSWER_UNKNOWN)
			buf_str(&b, "; neither confirmed nor refuted");
		else
			buf_printf(&b, "; %s %s%s", v->engine->name,
			           v->answer == ANSWER_HOLDS ? "refutes the suspicion: every outcome is one of a serial run"
			                                     : "confirms the suspicion with a run",
			           d->any && v->answer == ANSWER_HOLDS ? " (with the declared number of threads)" : "");
		free(a->why);
		a->why = strdup(buf_cstr(&b));
		buf_free(&b);
	}
}

static bool wanted(const struct decide *d, const struct check_engine *e)
{
	return e->ladder && (!d->o.engine || d->o.engine == e);
}

/* The run that causality found can be judged by itself: when the searches have
 * run out, and at once when any number of threads is asked about, for which a
 * search would have to visit all runs. */
static bool follow_suspicion(struct decide *d, uint32_t block, struct verdict *v)
{
	struct move *run;
	uint32_t n;
	if (!d->suspect || !suspicion_holds(d->p, block, d->suspect, d->nsuspect, d->o.search.max_bytes, &run, &n))
		return false;
	v->answer = ANSWER_VIOLATED;
	v->problem = PROBLEM_ATOMICITY;
	v->engine = &engine_exact.about;
	v->limit = v->reason = NULL;
	v->path = run;
	v->npath = n;
	exact_shorten(d->p, block, d->o.search.deadline, d->o.search.max_bytes, &v->path, &v->npath);
	rung_serial(d, block, engine_exact.shortest, v);
	return true;
}

static const struct attempt *last_attempt(const struct verdict *v)
{
	assert(v->nattempts);
	return &v->attempts[v->nattempts - 1];
}

/* From the cheapest engine to the most expensive, until one answers. */
static void ask(struct decide *d, uint32_t block, struct verdict *v, char **points)
{
	assert(block == VERDICT_PROGRAM || block < d->p->nblocks);
	const struct check_engine *cut = NULL; /* it had a small piece of the budget, and that was not enough */
	bool done = false, suspected = false;
	free(d->suspect);
	d->suspect = NULL;
	memset(v, 0, sizeof *v);
	v->block = block;
	v->answer = ANSWER_UNKNOWN;
	for (const struct check_engine *const *e = engines; *e && !done; e++) {
		struct engine_ask q = { .block = block, .max_states = d->any ? 0 : (*e)->first_states, .points = points };
		if (!wanted(d, *e))
			continue;
		done = rung_ask(d, *e, &q, v);
		const struct attempt *a = last_attempt(v);
		bool suspects = (*e)->about.abstract && a->answer == ANSWER_VIOLATED;
		suspected |= suspects;
		if ((*e)->first_states && a->limit && !d->any)
			cut = *e;
		if (!done && suspects && d->any)
			done = follow_suspicion(d, block, v);
	}
	if (!done && suspected)
		done = follow_suspicion(d, block, v);
	if (!done && !suspected && cut && !rung_spent(d))
		rung_ask(d, cut, &(struct engine_ask){ .block = block }, v); /* all that is left is for it */
	settle(d, v);
}

void decide_begin(struct decide *d, const struct ir *p, const struct decide_options *o)
{
	double start = clock_seconds();
	assert(!o->engine || o->engine->ladder || o->engine->ask_itself);
	*d = (struct decide){ .p = p, .o = *o };
	d->need = calloc(p->ntemplates + 1ull, sizeof *d->need);
	for (uint32_t t = 0; t < p->ntemplates; t++)
		d->any |= p->templates[t].any_count;
	reduce_run(p, &d->reduce);
	d->reduce_seconds = clock_seconds() - start;
}

void decide_end(struct decide *d)
{
	reduce_result_free(&d->reduce);
	free(d->suspect);
	free(d->need);
}

/* ---- a block alone -------------------------------------------------------- */

static void drop_run(struct verdict *v)
{
	free(v->path);
	free(v->serial);
	free(v->halt);
	v->path = NULL;
	v->serial = v->halt = NULL;
	v->npath = v->nserial = v->nserial_all = 0;
}

/* The run of v, which is one of the program with this block's marks alone, as a run of the model. */
static void as_run_of_model(struct decide *d, const struct ir *alone, struct verdict *v)
{
	struct move *path;
	uint32_t n;
	enum verdict_problem problem = v->problem;
	if (!v->path)
		return;
	bool ok = single_block_to_whole(alone, d->p, v->block, v->path, v->npath, &path, &n);
	drop_run(v);
	if (!ok) {
		v->answer = ANSWER_UNKNOWN;
		v->problem = PROBLEM_NONE;
		v->limit = "memory";
		return;
	}
	v->path = path;
	v->npath = n;
	rung_ends(d->p, v->block, d->o.search.max_bytes, v);
	v->problem = problem;
}

/* Asks about a block in a program of which the other blocks' marks are absent. */
static bool ask_alone(struct decide *d, uint32_t block, ask_fn *question, struct verdict *v)
{
	struct lang l;
	struct decide one;
	lang_init(&l);
	bool ok = true, again = d->p->nblocks > 1 && lang_load_again(&l, d->p, block, NULL);
	if (again) {
		decide_begin(&one, l.ir, &d->o);
		one.states = d->states;
		one.slice = d->slice;
		ok = question(&one, block, v);
		as_run_of_model(d, l.ir, v);
		d->states = one.states;
		for (uint32_t t = 0; d->need && one.need && t < d->p->ntemplates; t++)
			d->need[t] = one.need[t] > d->need[t] ? one.need[t] : d->need[t];
		decide_end(&one);
	} else {
		ok = question(d, block, v);
	}
	lang_free(&l);
	return ok;
}

static bool ask_ladder(struct decide *d, uint32_t block, struct verdict *v)
{
	ask(d, block, v, NULL);
	return true;
}

void decide_block(struct decide *d, uint32_t block, struct verdict *v)
{
	assert(block < d->p->nblocks);
	ask_alone(d, block, ask_ladder, v);
}

/* A block of a serializable program, with the cheapest argument for it. */
static void as_part(struct decide *d, uint32_t block, const struct verdict *program, char *commits, struct verdict *v)
{
	assert(program->answer == ANSWER_HOLDS && block < d->p->nblocks);
	*v = (struct verdict){ .block = block, .answer = ANSWER_HOLDS, .as_part = true, .engine = program->engine };
	for (const struct check_engine *const *e = engines; *e; e++)
		if (wanted(d, *e) && (*e)->ask_part && (*e)->ask_part(d, block, program, v)) {
			v->as_part = true;
			free(commits);
			return;
		}
	v->commits = commits;
	v->seconds = program->seconds;
	for (uint32_t i = 0; i < program->nattempts; i++) {
		struct attempt a = program->attempts[i];
		const struct check_engine *e = engine_find(a.engine->name);
		a.why = rung_copy(e->part_why ? e->part_why(d, block) : a.why);
		v->attempts[v->nattempts++] = a;
	}
}

void decide_program(struct decide *d, struct verdict *v)
{
	const struct ir *p = d->p;
	struct verdict *program = &v[p->nblocks];
	char **points = calloc(p->nblocks + 1, sizeof *points);
	if (p->nblocks > 1 || p->nobjects || !d->reduce.fault_free)
		d->slice.deadline = rung_part_of_time(d, 0.75);
	ask(d, VERDICT_PROGRAM, program, points);
	d->slice = (struct slice){ 0 };
	for (uint32_t b = 0; b < p->nblocks; b++) {
		char *commits = points ? points[b] : NULL;
		if (program->answer == ANSWER_HOLDS) {
			as_part(d, b, program, commits, &v[b]);
		} else {
			v[b] = (struct verdict){ .block = b, .engine = program->engine, .answer = ANSWER_UNKNOWN };
			free(commits);
		}
	}
	free(points);
}

static void *copy_bytes(const void *data, size_t n)
{
	void *to = data ? malloc(n + 1) : NULL;
	if (to)
		memcpy(to, data, n);
	return to;
}

/* The only block there is: the question about the program is its own. */
static void same_answer(const struct ir *p, const struct verdict *program, struct verdict *v)
{
	*v = *program;
	v->block = 0;
	v->commits = rung_copy(program->commits);
	v->notes = rung_copy(program->notes);
	v->path = copy_bytes(program->path, sizeof *v->path * v->npath);
	v->npath = v->path ? v->npath : 0;
	v->serial = copy_bytes(program->serial, sizeof *v->serial * p->nstate * v->nserial);
	v->nserial = v->serial ? v->nserial : 0;
	v->causal = NULL;
	v->halt = copy_bytes(program->halt, sizeof *v->halt * p->nstate);
	for (uint32_t i = 0; i < v->nattempts; i++)
		v->attempts[i].why = rung_copy(program->attempts[i].why);
}

/*
 * The program is not decided, and this block alone is not atomic. When the
 * other blocks are atomic it may still be atomic, as it is in a serializable
 * program, where it would have been called atomic: a reached limit must not
 * turn that into a violation. It is one when the same run has no serial
 * explanation with every block whole, and then it is the program's too.
 */
static void violated_alone(struct decide *d, struct verdict *v, struct verdict *program)
{
	assert(v->answer == ANSWER_VIOLATED);
	const struct ir *p = d->p;
	struct move *run = copy_bytes(v->path, sizeof *run * v->npath);
	if (run && exact_explains(p, VERDICT_PROGRAM, run, v->npath, d->o.search.max_bytes) == 0) {
		program->answer = ANSWER_VIOLATED;
		program->problem = PROBLEM_ATOMICITY;
		program->engine = &engine_exact.about;
		program->limit = program->reason = NULL;
		program->path = run;
		program->npath = v->npath;
		rung_serial(d, VERDICT_PROGRAM, engine_exact.shortest, program);
		return;
	}
	free(run);
	drop_run(v);
	v->answer = ANSWER_UNKNOWN;
	v->problem = PROBLEM_NONE;
	v->limit = NULL;
	struct attempt *last = v->nattempts ? &v->attempts[v->nattempts - 1] : NULL;
	if (last && !last->why)
		last->why = strdup("alone, it has a run that no serial order explains");
	v->reason = "not atomic alone (--block shows a run); undecided when the other blocks are atomic";
}

/* ---- rounds ----------------------------------------------------------------- */

struct open { /* a block that is not decided yet */
	uint32_t block;
	uint64_t states; /* of its last round */
};

/* All blocks, those that the run enters first. */
static uint32_t list_open(const struct ir *p, const struct verdict *program, struct open *open)
{
	bool *entered = calloc(p->nblocks + 1ull, sizeof *entered);
	uint32_t n = 0;
	struct run r;
	if (entered && program->path) {
		bool ok = run_init(&r, p) && replay(&r, program->path, program->npath);
		for (uint32_t i = 0; ok && i < r.nsteps; i++)
			if (r.steps[i].entered != IR_NONE)
				entered[r.steps[i].entered] = true;
		run_free(&r);
	}
	for (int later = 0; later < 2; later++)
		for (uint32_t b = 0; b < p->nblocks; b++)
			if (!entered ? !later : entered[b] != later)
				open[n++] = (struct open){ .block = b };
	free(entered);
	return n;
}

/* The piece of the budget for one of `left` questions of this round. */
static struct slice slice_of(const struct decide *d, uint64_t states, double seconds, uint32_t left)
{
	assert(left);
	const struct search_options *o = &d->o.search;
	struct slice s = { .states = d->states + states };
	if (o->max_states) {
		uint64_t fair = (o->max_states > d->states ? o->max_states - d->states : 0) / left;
		s.states = d->states + (states < fair ? states : fair > 0 ? fair : 1);
	}
	if (o->deadline > 0) {
		double now = clock_seconds(), fair = (o->deadline - now) / left;
		s.deadline = now + (seconds < fair ? seconds : fair);
	}
	return s;
}

/* Would more of the budget help? */
static bool wants_more(const struct decide *d, const struct verdict *v)
{
	bool cut = rung_spent(d) != NULL;
	for (uint32_t i = 0; i < v->nattempts; i++) {
		const struct attempt *a = &v->attempts[i];
		cut |= a->limit && (!strcmp(a->limit, "states") || !strcmp(a->limit, "time"));
	}
	return v->answer == ANSWER_UNKNOWN && cut;
}

/* One block in one round; true when it stays open. */
static bool ask_in_round(struct decide *d, struct open *o, struct verdict *v)
{
	struct verdict *program = &v[d->p->nblocks], now;
	uint64_t before = d->states;
	decide_block(d, o->block, &now);
	verdict_free(&v[o->block]);
	v[o->block] = now;
	bool more = wants_more(d, &v[o->block]) && d->states - before > o->states;
	o->states = d->states - before;
	if (program->answer == ANSWER_UNKNOWN && now.answer == ANSWER_VIOLATED)
		violated_alone(d, &v[o->block], program);
	return more;
}

void decide_blocks(struct decide *d, struct verdict *v)
{
	uint32_t nblocks = d->p->nblocks, nopen = 0;
	uint64_t states = FIRST_SLICE;
	double seconds = d->o.search.deadline > 0 ? (d->o.search.deadline - clock_seconds()) / FIRST_TIME : 0;
	struct open *open;
	if (v[nblocks].answer == ANSWER_HOLDS)
		return;
	if (nblocks == 1) {
		verdict_free(&v[0]);
		same_answer(d->p, &v[1], &v[0]);
		return;
	}
	if ((open = calloc(nblocks + 1ull, sizeof *open)) != NULL)
		nopen = list_open(d->p, &v[nblocks], open);
	for (bool first = true; nopen && (first || !rung_all_spent(d)); first = false, states *= MORE, seconds *= MORE) {
		uint32_t still = 0;
		for (uint32_t i = 0; i < nopen; i++) {
			d->slice = slice_of(d, states, seconds, nopen - i);
			if ((!first && rung_all_spent(d)) || ask_in_round(d, &open[i], v))
				open[still++] = open[i];
		}
		nopen = still;
	}
	d->slice = (struct slice){ 0 };
	free(open);
}

/* ---- all engines side by side ------------------------------------------- */

static bool ask_all(struct decide *d, uint32_t block, struct verdict *v)
{
	bool proved = false, refuted = false;
	memset(v, 0, sizeof *v);
	v->block = block;
	v->answer = ANSWER_UNKNOWN;
	for (const struct check_engine *const *e = engines; *e; e++) {
		if (!(*e)->ladder)
			continue;
		struct verdict one = { .block = block, .answer = ANSWER_UNKNOWN };
		bool done = rung_ask(d, *e, &(struct engine_ask){ .block = block }, &one);
		struct attempt a = one.attempts[0];
		one.nattempts = 0;
		proved |= done && one.answer == ANSWER_HOLDS;
		refuted |= done && one.answer == ANSWER_VIOLATED;
		if (v->answer == ANSWER_UNKNOWN) { /* the first that answers speaks for all */
			struct verdict before = *v;
			*v = one;
			memcpy(v->attempts, before.attempts, sizeof v->attempts);
			v->nattempts = before.nattempts;
			one = before;
			one.nattempts = 0;
		}
		verdict_free(&one);
		v->attempts[v->nattempts++] = a;
	}
	settle(d, v);
	return !(proved && refuted);
}

bool decide_by_all(struct decide *d, uint32_t block, struct verdict *v)
{
	assert(!d->o.engine);
	return block == VERDICT_PROGRAM ? ask_all(d, block, v) : ask_alone(d, block, ask_all, v);
}
