#include "check/commit_points.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/invariant.h"
#include "explore/commit.h"
#include "lang/lang.h"

/* Commit points are looked for with this many threads of a template and this many states. */
#define INFER_THREADS 3u
#define INFER_STATES  2000000u
#define INFER_SECONDS 60.0

static void take_points(const struct ir *p, const struct commit_result *c, struct commit_points *out)
{
	for (uint32_t b = 0; b < p->nblocks; b++) {
		const struct commit_point *at = &c->points[b];
		out->at_entry[b] = at->kind == COMMIT_ENTRY;
		for (uint32_t i = 0; at->kind == COMMIT_STEP && i < at->n; i++) {
			const struct ir_node *n = &p->nodes[at->at[i].node];
			for (uint32_t k = 0; k < n->nsucc; k++)
				if (at->at[i].succ == IR_NONE || p->succs[n->succ + k] == at->at[i].succ)
					out->edge[n->succ + k] = 1;
		}
	}
}

bool commit_points_unmarked(const struct ir *p)
{
	for (uint32_t b = 0; b < p->nblocks; b++)
		if (!p->blocks[b].has_commit)
			return true;
	return false;
}

static void infer_points(const struct ir *p, struct commit_points *out)
{
	struct search_options o = { .symmetry = true,
		                    .merge_local = true,
		                    .drop_pure = true,
		                    .max_states = INFER_STATES,
		                    .deadline = clock_seconds() + INFER_SECONDS };
	struct commit_result c;
	commit_run(p, PROD_BLOCK_ALL, &o, &c);
	if (!c.violation && !c.no_labelling && c.search.verdict == SEARCH_HOLDS)
		take_points(p, &c, out);
	else
		out->none = c.violation ? "a block is not atomic" : c.no_labelling ? "none fit" : "the model is too large";
	commit_result_free(&c);
}

/* Nodes are numbered by template, so those of the same model with fewer threads are the same. */
bool commit_points_find(const struct ir *p, struct commit_points *out)
{
	uint32_t *counts = calloc(p->ntemplates + 1ull, sizeof *counts);
	struct lang few;
	*out = (struct commit_points){ .edge = calloc(p->nsuccs + 1ull, 1),
		                       .at_entry = calloc(p->nblocks + 1ull, sizeof *out->at_entry) };
	lang_init(&few);
	bool ok = counts && out->edge && out->at_entry;
	for (uint32_t t = 0; ok && t < p->ntemplates; t++)
		counts[t] = p->templates[t].count < INFER_THREADS ? p->templates[t].count : INFER_THREADS;
	ok = ok && lang_load_again(&few, p, IR_NONE, counts);
	if (ok && few.ir->nsuccs == p->nsuccs && few.ir->nblocks == p->nblocks)
		infer_points(few.ir, out);
	else if (ok) /* its code depends on the number of threads */
		infer_points(p, out);
	lang_free(&few);
	free(counts);
	return ok;
}

bool commit_points_hint(const struct ir *p, uint32_t block, struct commit_points *out)
{
	assert(block == VERDICT_PROGRAM || block < p->nblocks);
	if (block == VERDICT_PROGRAM)
		return commit_points_find(p, out);
	*out = (struct commit_points){ .edge = calloc(p->nsuccs + 1ull, 1),
		                       .at_entry = calloc(p->nblocks + 1ull, sizeof *out->at_entry) };
	if (!out->edge || !out->at_entry)
		return false;
	infer_points(p, out);
	return true;
}

void commit_points_free(struct commit_points *c)
{
	free(c->edge);
	free(c->at_entry);
	*c = (struct commit_points){ 0 };
}
