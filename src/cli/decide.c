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

static void add_serial(const struct ir *p, uint32_t block, struct verdict *v)
{
	exact_alternatives(p, block, v->path, v->npath, SERIAL_SHOWN, &v->serial, &v->nserial_all);
	v->nserial = v->nserial_all < SERIAL_SHOWN ? v->nserial_all : SERIAL_SHOWN;
	if (v->nserial_all)
		return;
	enum problem halt = exact_stuck(p, block, v->path, v->npath, &v->halt_thread, &v->halt);
	v->problem = halt != PROBLEM_NONE ? halt : v->problem;
}

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
static bool by_commit(const struct ir *p, uint32_t block, const struct decide_options *o,
                      struct verdict *v, char **points)
{
	struct commit_result c;
	commit_run(p, block, &o->search, &c);
	bool done = true, marked = block != VERDICT_PROGRAM && p->blocks[block].has_commit;
	v->engine = "commit";
	v->states += c.states - c.search.states;
	v->transitions += c.transitions - c.search.transitions;
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
	if (v->answer != ANSWER_VIOLATED) {
		free(v->path);
		v->path = NULL;
		v->npath = 0;
	}
	commit_result_free(&c);
	return done;
}

static void by_exact(const struct ir *p, uint32_t block, const struct decide_options *o,
                     struct verdict *v)
{
	struct search_result r;
	exact_run(p, block, &o->search, &r);
	v->engine = "exact";
	v->reason = NULL;
	take_search(v, &r);
	switch (r.verdict) {
	case SEARCH_HOLDS:
		v->answer = ANSWER_HOLDS;
		break;
	case SEARCH_WRONG:
		v->answer = ANSWER_VIOLATED;
		v->problem = PROBLEM_ATOMICITY;
		add_serial(p, block, v);
		break;
	default:
		v->answer = ANSWER_UNKNOWN;
		break;
	}
}

static void ask(const struct ir *p, uint32_t block, const struct decide_options *o,
                struct verdict *v, char **points)
{
	double start = now();
	memset(v, 0, sizeof *v);
	v->block = block;
	bool done = o->engine != ENGINE_EXACT && by_commit(p, block, o, v, points);
	if (!done && o->engine != ENGINE_COMMIT)
		by_exact(p, block, o, v);
	v->seconds = now() - start;
}

void decide(const struct ir *p, uint32_t block, const struct decide_options *o, struct verdict *v)
{
	ask(p, block, o, v, NULL);
}

void decide_program(const struct ir *p, const struct decide_options *o, struct verdict *v)
{
	struct verdict *program = &v[p->nblocks];
	char **points = calloc(p->nblocks + 1, sizeof *points);
	ask(p, VERDICT_PROGRAM, o, program, points);
	for (uint32_t b = 0; b < p->nblocks; b++)
		v[b] = (struct verdict){ .block = b, .engine = program->engine,
			                 .answer = program->answer == ANSWER_HOLDS ? ANSWER_HOLDS
			                                                           : ANSWER_UNKNOWN,
			                 .commits = points ? points[b] : NULL };
	free(points);
}

void decide_all(const struct ir *p, const struct decide_options *o, struct verdict *v)
{
	decide_program(p, o, v);
	for (uint32_t b = 0; b < p->nblocks && v[p->nblocks].answer != ANSWER_HOLDS; b++) {
		verdict_free(&v[b]);
		decide(p, b, o, &v[b]);
	}
}

void decide_safety(const struct ir *p, const struct decide_options *o, struct verdict *v)
{
	struct search_result r;
	struct search_options so = o->search;
	double start = now();
	memset(v, 0, sizeof *v);
	v->block = VERDICT_PROGRAM;
	v->engine = "search";
	so.faults = true;
	search_run(p, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &so, &r);
	take_search(v, &r);
	v->answer = r.verdict == SEARCH_HOLDS   ? ANSWER_HOLDS
	            : r.verdict == SEARCH_LIMIT ? ANSWER_UNKNOWN
	                                        : ANSWER_VIOLATED;
	v->problem = r.verdict == SEARCH_FAULT      ? PROBLEM_FAULT
	             : r.verdict == SEARCH_DEADLOCK ? PROBLEM_DEADLOCK
	                                            : PROBLEM_NONE;
	v->seconds = now() - start;
}
