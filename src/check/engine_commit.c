/* engine_commit: the shadow store, with the commit points that are marked or found (explore/commit.h). */
#include <stdlib.h>
#include <string.h>

#include "check/rungs.h"
#include "explore/commit.h"

/* "commits at line 12 (data = v)" */
static char *describe_point(const struct ir *p, const struct commit_point *c)
{
	struct buf b;
	buf_init(&b);
	switch (c->kind) {
	case COMMIT_MARKED:
		buf_str(&b, "commits at its marks");
		break;
	case COMMIT_ENTRY:
		buf_str(&b, "commits at its entry");
		break;
	case COMMIT_EXIT:
		buf_str(&b, "commits at its exit");
		break;
	case COMMIT_STEP:
		for (uint32_t i = 0; i < c->n; i++) {
			const struct ir_node *n = &p->nodes[c->at[i].node];
			buf_printf(&b, "%s line %u (", i ? " or" : "commits at", source_pos(p->src, n->span.start).line);
			ir_print_node(p, c->at[i].node, &b);
			buf_char(&b, ')');
			if (c->at[i].succ != IR_NONE)
				buf_printf(&b, " when it continues at line %u",
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

static bool ask(struct decide *d, const struct engine_ask *q, struct verdict *v, struct attempt *a)
{
	uint32_t block = q->block;
	const struct ir *p = d->p;
	struct commit_result c;
	struct search_options s = rung_remaining(d);
	commit_run(p, block, &s, &c);
	bool done = true, marked = p->nblocks > 0;
	for (uint32_t b = 0; b < p->nblocks; b++)
		marked &= p->blocks[b].has_commit || (block != VERDICT_PROGRAM && b != block);
	v->engine = &engine_commit.about;
	v->states += c.states - c.search.states;
	v->transitions += c.transitions - c.search.transitions;
	d->states += c.states;
	rung_take(v, &c.search);
	if (c.violation) {
		v->answer = ANSWER_VIOLATED;
		v->problem = PROBLEM_ATOMICITY;
		rung_serial(d, block, engine_commit.shortest, v);
	} else if (c.no_labelling) {
		v->answer = ANSWER_UNKNOWN;
		v->limit = NULL;
		v->reason = marked ? "the marked commit points do not fit every run" : "no labelling with commit points works";
		a->why = rung_copy(v->reason);
		done = false;
	} else if (c.search.verdict == SEARCH_HOLDS) {
		v->answer = ANSWER_HOLDS;
		v->commits = describe_points(p, block, &c);
		for (uint32_t b = 0; q->points && b < p->nblocks; b++)
			q->points[b] = describe_point(p, &c.points[b]);
	} else {
		v->answer = ANSWER_UNKNOWN;
		done = false;
	}
	if (v->answer != ANSWER_VIOLATED)
		rung_drop_path(v);
	commit_result_free(&c);
	a->answer = v->answer;
	return done;
}

const struct check_engine engine_commit = {
	.about = { .name = "commit",
	           .summary = "a shadow store that runs each block at its commit point, marked or found by search",
	           .question = ENGINE_BLOCKS,
	           .topic = "commit" },
	.ladder = true,
	.explores = true,
	.ask = ask,
};
