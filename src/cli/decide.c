#include "cli/decide.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/rungs.h"
#include "cli/suspicion.h"
#include "explore/tidy.h"
#include "explore/exact.h"
#include "lang/lang.h"
#include "verdict/alone.h"

#define CAUSAL_TRY 20000u /* states of the causal rung at first */

/* ---- the ladder --------------------------------------------------------- */

static const struct rung {
	enum decide_engine engine;
	const char *name;
} rungs[] = {
	{ ENGINE_REDUCTION, "reduction" },
	{ ENGINE_CAUSAL, "causal" },
	{ ENGINE_COMMIT, "commit" },
	{ ENGINE_EXACT, "exact" },
};
enum { RUNGS = sizeof rungs / sizeof *rungs };

/* A way to ask about a block; false: engines contradict each other. */
typedef bool ask_fn(struct decide *d, uint32_t block, struct verdict *v);

/* One rung, for one question: true when it answers. */
static bool ask_rung(struct decide *d, const struct rung *r, uint32_t block, uint64_t max_states,
                     struct verdict *v, char **points)
{
	struct attempt a = { .engine = r->name, .answer = ANSWER_UNKNOWN };
	uint64_t before = v->states;
	double start = clock_seconds();
	bool done = false;
	a.limit = r->engine == ENGINE_REDUCTION ? NULL : rung_spent(d);
	if (a.limit) {
		v->limit = a.limit;
		v->reason = NULL;
		a.why = strdup("not asked: nothing is left of the budget");
	} else {
		done = rung_ask(d, r->engine, block, max_states, v, &a, points);
		a.limit = a.answer == ANSWER_UNKNOWN ? v->limit : NULL;
		a.states = v->states - before;
		a.seconds += clock_seconds() - start;
	}
	v->attempts[v->nattempts++] = a;
	v->seconds += a.seconds;
	return done;
}

/* What the engines above made of a suspicion of the causal one. */
static void settle(const struct decide *d, struct verdict *v)
{
	for (uint32_t i = 0; i < v->nattempts; i++) {
		struct attempt *a = &v->attempts[i];
		if (strcmp(a->engine, "causal") != 0 || a->answer != ANSWER_VIOLATED || !a->why)
			continue;
		struct buf b;
		buf_init(&b);
		buf_str(&b, a->why);
		if (v->answer == ANSWER_UNKNOWN)
			buf_str(&b, "; neither confirmed nor refuted");
		else
			buf_printf(&b, "; %s %s%s", v->engine,
			           v->answer == ANSWER_HOLDS ? "refutes the suspicion: every outcome is one of a serial run"
			                                     : "confirms the suspicion with a run",
			           d->any && v->answer == ANSWER_HOLDS ? " (with the declared number of threads)" : "");
		free(a->why);
		a->why = strdup(buf_cstr(&b));
		buf_free(&b);
	}
}

static bool wanted(const struct decide *d, enum decide_engine e)
{
	return d->o.engine == ENGINE_AUTO || d->o.engine == ENGINE_ALL || d->o.engine == e;
}

/* The searches have run out, but the run that causality found can be judged
 * by itself. */
static void follow_suspicion(struct decide *d, uint32_t block, struct verdict *v)
{
	struct move *run;
	uint32_t n;
	if (!suspicion_holds(d->p, block, d->suspect, d->nsuspect, &run, &n))
		return;
	v->answer = ANSWER_VIOLATED;
	v->problem = PROBLEM_ATOMICITY;
	v->engine = "exact";
	v->limit = v->reason = NULL;
	v->path = run;
	v->npath = n;
	exact_shorten(d->p, block, d->o.search.deadline, &v->path, &v->npath);
	rung_serial(d, block, v);
}

static void ask(struct decide *d, uint32_t block, struct verdict *v, char **points)
{
	bool done = false, suspected = false, cut = false;
	free(d->suspect);
	d->suspect = NULL;
	memset(v, 0, sizeof *v);
	v->block = block;
	v->answer = ANSWER_UNKNOWN;
	for (uint32_t i = 0; i < RUNGS && !done; i++) {
		if (!wanted(d, rungs[i].engine))
			continue;
		done = ask_rung(d, &rungs[i], block, d->any ? 0 : CAUSAL_TRY, v, points);
		const struct attempt *a = &v->attempts[v->nattempts - 1];
		suspected |= rungs[i].engine == ENGINE_CAUSAL && a->answer == ANSWER_VIOLATED;
		cut |= rungs[i].engine == ENGINE_CAUSAL && a->limit && !d->any;
	}
	if (!done && suspected && d->suspect)
		follow_suspicion(d, block, v);
	if (!done && !suspected && cut && !rung_spent(d))
		ask_rung(d, &rungs[1], block, 0, v, NULL); /* all that is left is for it */
	settle(d, v);
}

void decide_begin(struct decide *d, const struct ir *p, const struct decide_options *o)
{
	double start = clock_seconds();
	*d = (struct decide){ .p = p, .o = *o };
	for (uint32_t t = 0; t < p->ntemplates; t++)
		d->any |= p->templates[t].any_count;
	reduce_run(p, &d->reduce);
	d->reduce_seconds = clock_seconds() - start;
}

void decide_end(struct decide *d)
{
	reduce_result_free(&d->reduce);
	free(d->suspect);
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
	enum problem problem = v->problem;
	if (!v->path)
		return;
	bool ok = alone_to_whole(alone, d->p, v->block, v->path, v->npath, &path, &n);
	drop_run(v);
	if (!ok) {
		v->answer = ANSWER_UNKNOWN;
		v->problem = PROBLEM_NONE;
		v->limit = "memory";
		return;
	}
	v->path = path;
	v->npath = n;
	rung_ends(d->p, v->block, v);
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
		ok = question(&one, block, v);
		as_run_of_model(d, l.ir, v);
		d->states = one.states;
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
	ask_alone(d, block, ask_ladder, v);
}

/* The program needed a search, but this block may be causally atomic by
 * itself. All blocks together get as much as one question. */
static bool causal_alone(struct decide *d, uint32_t block, const struct verdict *program, struct verdict *v)
{
	struct verdict alone = { .block = block, .answer = ANSWER_UNKNOWN };
	if (!wanted(d, ENGINE_CAUSAL) || !strcmp(program->engine, "causal") || d->causal_states >= CAUSAL_TRY)
		return false;
	ask_rung(d, &rungs[0], block, 0, &alone, NULL);
	bool holds = ask_rung(d, &rungs[1], block, CAUSAL_TRY - d->causal_states, &alone, NULL);
	d->causal_states += alone.states + 100; /* making the net counts too */
	if (holds)
		*v = alone;
	else
		verdict_free(&alone);
	return holds;
}

/* A block of a serializable program, with the cheapest argument for it. */
static void as_part(struct decide *d, uint32_t block, const struct verdict *program, char *commits,
                    struct verdict *v)
{
	const struct reduce_block *r = &d->reduce.blocks[block];
	bool reduces = wanted(d, ENGINE_REDUCTION) && r->part;
	*v = (struct verdict){ .block = block, .answer = ANSWER_HOLDS, .as_part = true,
		               .engine = reduces ? "reduction" : program->engine };
	if (reduces) {
		v->scope = rung_scope(d->p, r->part_any);
		free(commits);
		return;
	}
	if (causal_alone(d, block, program, v)) {
		v->as_part = true;
		free(commits);
		return;
	}
	v->commits = commits;
	v->seconds = program->seconds;
	for (uint32_t i = 0; i < program->nattempts; i++) {
		struct attempt a = program->attempts[i];
		a.why = !strcmp(a.engine, "reduction") ? rung_copy(r->part_why) : rung_copy(a.why);
		v->attempts[v->nattempts++] = a;
	}
}

void decide_program(struct decide *d, struct verdict *v)
{
	const struct ir *p = d->p;
	struct verdict *program = &v[p->nblocks];
	char **points = calloc(p->nblocks + 1, sizeof *points);
	ask(d, VERDICT_PROGRAM, program, points);
	for (uint32_t b = 0; b < p->nblocks; b++) {
		char *commits = points ? points[b] : NULL;
		if (program->answer == ANSWER_HOLDS) {
			as_part(d, b, program, commits, &v[b]);
		} else {
			v[b] = (struct verdict){ .block = b, .engine = program->engine,
				                 .answer = ANSWER_UNKNOWN };
			free(commits);
		}
	}
	free(points);
}

static void *copy_bytes(const void *data, size_t n)
{
	void *to = data && n ? malloc(n) : NULL;
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
 * The program is not decided, and this block alone is not atomic. Beside whole
 * blocks of the others it may be all the same, as it is in a serializable
 * program, where it would have been called atomic: a spent limit must not turn
 * that into a violation. It is one when the same run has no serial explanation
 * with every block whole, and then it is the program's too.
 */
static void violated_alone(struct decide *d, struct verdict *v, struct verdict *program)
{
	const struct ir *p = d->p;
	struct move *run = copy_bytes(v->path, sizeof *run * v->npath);
	if (run && exact_explains(p, VERDICT_PROGRAM, run, v->npath) == 0) {
		program->answer = ANSWER_VIOLATED;
		program->problem = PROBLEM_ATOMICITY;
		program->engine = "exact";
		program->limit = program->reason = NULL;
		program->path = run;
		program->npath = v->npath;
		rung_serial(d, VERDICT_PROGRAM, program);
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
	v->reason = "not atomic alone (--block shows a run); beside the other blocks, each whole, not decided";
}

void decide_blocks(struct decide *d, struct verdict *v)
{
	struct verdict *program = &v[d->p->nblocks];
	if (d->p->nblocks == 1 && v[1].answer != ANSWER_HOLDS) {
		verdict_free(&v[0]);
		same_answer(d->p, &v[1], &v[0]);
		return;
	}
	for (uint32_t b = 0; b < d->p->nblocks && program->answer != ANSWER_HOLDS; b++) {
		verdict_free(&v[b]);
		decide_block(d, b, &v[b]);
		if (program->answer == ANSWER_UNKNOWN && v[b].answer == ANSWER_VIOLATED)
			violated_alone(d, &v[b], program);
	}
}

void decide_safety(struct decide *d, struct verdict *v)
{
	struct search_result r;
	struct search_options so = rung_remaining(d);
	double start = clock_seconds();
	memset(v, 0, sizeof *v);
	v->block = VERDICT_PROGRAM;
	v->engine = "search";
	if ((v->limit = rung_spent(d)) != NULL) {
		v->answer = ANSWER_UNKNOWN;
		v->reason = "not looked for: nothing was left of the budget";
		return;
	}
	so.faults = true;
	search_run(d->p, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &so, &r);
	d->states += r.states;
	rung_take(v, &r);
	if (v->path)
		tidy_order(d->p, v->path, v->npath);
	v->answer = r.verdict == SEARCH_HOLDS   ? ANSWER_HOLDS
	            : r.verdict == SEARCH_LIMIT ? ANSWER_UNKNOWN
	                                        : ANSWER_VIOLATED;
	v->problem = r.verdict == SEARCH_FAULT      ? PROBLEM_FAULT
	             : r.verdict == SEARCH_DEADLOCK ? PROBLEM_DEADLOCK
	                                            : PROBLEM_NONE;
	if (v->answer == ANSWER_UNKNOWN)
		v->reason = "not every execution was searched for faults";
	v->seconds = clock_seconds() - start;
}

/* ---- all engines side by side ------------------------------------------- */

static bool ask_all(struct decide *d, uint32_t block, struct verdict *v)
{
	bool proved = false, refuted = false;
	memset(v, 0, sizeof *v);
	v->block = block;
	v->answer = ANSWER_UNKNOWN;
	for (uint32_t i = 0; i < RUNGS; i++) {
		struct verdict one = { .block = block, .answer = ANSWER_UNKNOWN };
		bool done = ask_rung(d, &rungs[i], block, 0, &one, NULL);
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
	return block == VERDICT_PROGRAM ? ask_all(d, block, v) : ask_alone(d, block, ask_all, v);
}
