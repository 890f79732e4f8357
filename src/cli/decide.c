#include "cli/decide.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "explore/commit.h"
#include "explore/exact.h"

#define SERIAL_SHOWN 4u

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the budget --------------------------------------------------------- */

static struct search_options remaining(const struct decide *d)
{
	struct search_options s = d->o.search;
	if (s.max_states)
		s.max_states = s.max_states > d->states ? s.max_states - d->states : 1;
	return s;
}

/* Which part of it nothing is left of, or NULL. */
static const char *spent_budget(const struct decide *d)
{
	const struct search_options *s = &d->o.search;
	return s->max_states && d->states >= s->max_states ? "states"
	       : s->deadline > 0 && now() >= s->deadline   ? "time"
	                                                   : NULL;
}

static void take_search(struct verdict *v, struct search_result *r)
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

static void add_serial(const struct ir *p, uint32_t block, struct verdict *v)
{
	exact_alternatives(p, block, v->path, v->npath, SERIAL_SHOWN, &v->serial, &v->nserial_all);
	v->nserial = v->nserial_all < SERIAL_SHOWN ? v->nserial_all : SERIAL_SHOWN;
	if (v->nserial_all)
		return;
	enum problem halt = exact_stuck(p, block, v->path, v->npath, &v->halt_thread, &v->halt);
	v->problem = halt != PROBLEM_NONE ? halt : v->problem;
}

/* ---- reduction ---------------------------------------------------------- */

static char *copy(const char *s)
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

static enum scope scope_of(const struct ir *p, bool any)
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
		v->scope = scope_of(d->p, program ? r->all_any : r->blocks[block].any);
		v->notes = copy(r->locks);
	} else {
		*why = program ? program_why(d) : copy(r->blocks[block].why);
	}
	return holds;
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
	struct search_options s = remaining(d);
	commit_run(p, block, &s, &c);
	bool done = true, marked = block != VERDICT_PROGRAM && p->blocks[block].has_commit;
	v->engine = "commit";
	v->states += c.states - c.search.states;
	v->transitions += c.transitions - c.search.transitions;
	d->states += c.states;
	take_search(v, &c.search);
	if (c.violation) {
		v->answer = ANSWER_VIOLATED;
		v->problem = PROBLEM_ATOMICITY;
		add_serial(p, block, v);
	} else if (c.no_labelling) {
		v->answer = ANSWER_UNKNOWN;
		v->limit = NULL;
		v->reason = marked ? "the marked commit point does not fit every run"
		                   : "no labelling with commit points works";
		*why = copy(v->reason);
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
	struct search_options s = remaining(d);
	exact_run(d->p, block, &s, &r);
	v->engine = "exact";
	v->reason = NULL;
	d->states += r.states;
	take_search(v, &r);
	switch (r.verdict) {
	case SEARCH_HOLDS:
		v->answer = ANSWER_HOLDS;
		break;
	case SEARCH_WRONG:
		v->answer = ANSWER_VIOLATED;
		v->problem = PROBLEM_ATOMICITY;
		add_serial(d->p, block, v);
		break;
	default:
		v->answer = ANSWER_UNKNOWN;
		break;
	}
	if (v->answer != ANSWER_VIOLATED)
		drop_path(v);
	return v->answer != ANSWER_UNKNOWN;
}

/* ---- the ladder --------------------------------------------------------- */

static const enum decide_engine rungs[] = { ENGINE_REDUCTION, ENGINE_COMMIT, ENGINE_EXACT };

static bool ask_rung(struct decide *d, enum decide_engine e, uint32_t block, struct verdict *v,
                     char **points)
{
	char *why = NULL;
	uint64_t before = v->states;
	double start = now();
	const char *spent_limit = e == ENGINE_REDUCTION ? NULL : spent_budget(d);
	if (spent_limit) {
		v->limit = spent_limit;
		v->reason = NULL;
		v->attempts[v->nattempts++] = (struct attempt){
			e == ENGINE_COMMIT ? "commit" : "exact", ANSWER_UNKNOWN, spent_limit,
			strdup("not asked: nothing is left of the budget"), 0, 0 };
		return false;
	}
	bool done = e == ENGINE_REDUCTION ? by_reduction(d, block, v, &why)
	            : e == ENGINE_COMMIT  ? by_commit(d, block, v, &why, points)
	                                  : by_exact(d, block, v);
	double spent = now() - start + (e == ENGINE_REDUCTION ? d->reduce_seconds : 0);
	v->attempts[v->nattempts++] = (struct attempt){
		v->engine, v->answer, v->answer == ANSWER_UNKNOWN ? v->limit : NULL, why,
		v->states - before, spent };
	v->seconds += spent;
	return done;
}

static bool wanted(const struct decide *d, enum decide_engine e)
{
	return d->o.engine == ENGINE_AUTO || d->o.engine == ENGINE_ALL || d->o.engine == e;
}

static void ask(struct decide *d, uint32_t block, struct verdict *v, char **points)
{
	memset(v, 0, sizeof *v);
	v->block = block;
	v->answer = ANSWER_UNKNOWN;
	for (size_t i = 0; i < sizeof rungs / sizeof *rungs; i++)
		if (wanted(d, rungs[i]) && ask_rung(d, rungs[i], block, v, points))
			break;
}

void decide_begin(struct decide *d, const struct ir *p, const struct decide_options *o)
{
	double start = now();
	*d = (struct decide){ .p = p, .o = *o };
	reduce_run(p, &d->reduce);
	d->reduce_seconds = now() - start;
}

void decide_end(struct decide *d)
{
	reduce_result_free(&d->reduce);
}

void decide_block(struct decide *d, uint32_t block, struct verdict *v)
{
	ask(d, block, v, NULL);
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
		v->scope = scope_of(d->p, r->part_any);
		free(commits);
		return;
	}
	v->commits = commits;
	v->seconds = program->seconds;
	for (uint32_t i = 0; i < program->nattempts; i++) {
		struct attempt a = program->attempts[i];
		a.why = !strcmp(a.engine, "reduction") ? copy(r->part_why) : copy(a.why);
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

void decide_blocks(struct decide *d, struct verdict *v)
{
	for (uint32_t b = 0; b < d->p->nblocks && v[d->p->nblocks].answer != ANSWER_HOLDS; b++) {
		verdict_free(&v[b]);
		decide_block(d, b, &v[b]);
	}
}

void decide_safety(struct decide *d, struct verdict *v)
{
	struct search_result r;
	struct search_options so = remaining(d);
	double start = now();
	memset(v, 0, sizeof *v);
	v->block = VERDICT_PROGRAM;
	v->engine = "search";
	so.faults = true;
	search_run(d->p, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &so, &r);
	d->states += r.states;
	take_search(v, &r);
	v->answer = r.verdict == SEARCH_HOLDS   ? ANSWER_HOLDS
	            : r.verdict == SEARCH_LIMIT ? ANSWER_UNKNOWN
	                                        : ANSWER_VIOLATED;
	v->problem = r.verdict == SEARCH_FAULT      ? PROBLEM_FAULT
	             : r.verdict == SEARCH_DEADLOCK ? PROBLEM_DEADLOCK
	                                            : PROBLEM_NONE;
	if (v->answer == ANSWER_UNKNOWN)
		v->reason = "not every execution was searched for faults";
	v->seconds = now() - start;
}

/* ---- all engines side by side ------------------------------------------- */

bool decide_by_all(struct decide *d, uint32_t block, struct verdict *v)
{
	bool proved = false, refuted = false;
	memset(v, 0, sizeof *v);
	v->block = block;
	v->answer = ANSWER_UNKNOWN;
	for (size_t i = 0; i < sizeof rungs / sizeof *rungs; i++) {
		struct verdict one = { .block = block, .answer = ANSWER_UNKNOWN };
		bool done = ask_rung(d, rungs[i], block, &one, NULL);
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
	return !(proved && refuted);
}
