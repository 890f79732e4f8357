#include "explore/quiescence_search.h"

#include <string.h>

#include "explore/state_graph.h"

enum { QUIET = 1 };

/* Are all threads outside their blocks? */
static uint32_t all_outside(void *arg, struct state_graph *q, uint32_t id, const uint32_t *ids)
{
	(void)arg;
	(void)id;
	for (uint32_t i = 0; i < q->n; i++)
		if (q->x.kinds[q->x.kind_of[i]].info[ids[i + 1]].inside)
			return 0;
	return QUIET;
}

static enum quiescence_answer answer_of(const struct search_result *r)
{
	return r->verdict == SEARCH_LIMIT ? QUIESCENCE_LIMIT : r->verdict == SEARCH_HOLDS ? QUIESCENCE_ALWAYS : QUIESCENCE_LOST;
}

enum quiescence_answer quiescence_search(const struct ir *ir, const struct search_options *o, struct search_result *r)
{
	struct state_graph q = { .ir = ir, .o = o, .r = r, .most = QUIESCENCE_STATES, .keep_arrows = true, .look = all_outside };
	uint32_t lost = IR_NONE;
	struct checkpoint_key key = { 0 };
	memset(r, 0, sizeof *r);
	if (o->checkpoint)
		key = checkpoint_key_of(CHECKPOINT_QUIESCENCE, ir, PROD_STANDARD, PROD_BLOCK_ALL, NULL, o);
	if (checkpoint_recall(o->checkpoint, key, r))
		return answer_of(r);
	state_graph_explore(&q);
	if (!q.limit && !state_graph_back(&q, QUIET))
		q.limit = "memory";
	for (uint32_t i = 0; i < q.states.n && !q.limit && lost == IR_NONE; i++)
		if (!(q.marks[i] & QUIET))
			lost = i;
	if (lost != IR_NONE && !state_graph_path(&q, lost, &r->path, &r->npath))
		q.limit = "memory";
	r->limit = q.limit;
	r->verdict = q.limit ? SEARCH_LIMIT : lost == IR_NONE ? SEARCH_HOLDS : SEARCH_WRONG;
	state_graph_free(&q);
	checkpoint_record(o->checkpoint, key, r);
	return answer_of(r);
}
