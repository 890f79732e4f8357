/* state_graph: see state_graph.h. */
#include "explore/state_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/invariant.h"

static bool same_group(const struct state_graph *q, uint32_t a, uint32_t b)
{
	return q->o->symmetry && q->x.kind_of[a] == q->x.kind_of[b];
}

/* Puts the thread that moved into its sorted group; names go along. */
static void sort_thread(const struct state_graph *q, uint32_t *ids, uint32_t i, uint32_t *who)
{
	for (; i && same_group(q, i - 1, i) && ids[i] > ids[i + 1]; i--) {
		uint32_t v = ids[i], w = who[i];
		ids[i] = ids[i + 1];
		ids[i + 1] = v;
		who[i] = who[i - 1];
		who[i - 1] = w;
	}
	for (; i + 1 < q->n && same_group(q, i, i + 1) && ids[i + 1] > ids[i + 2]; i++) {
		uint32_t v = ids[i + 1], w = who[i];
		ids[i + 1] = ids[i + 2];
		ids[i + 2] = v;
		who[i] = who[i + 1];
		who[i + 1] = w;
	}
}

/* The number of the state; new ones are remembered. */
static uint32_t add_state(struct state_graph *q, const uint32_t *ids, struct graph_origin from)
{
	uint32_t before = q->states.n, id = vector_table_add(&q->states, (const int32_t *)ids);
	if (id == VECTOR_TABLE_NONE ||
	    (id >= before && (!GROW(q->from, q->cap_from, id + 1ull) || !GROW(q->marks, q->cap_marks, id + 1ull)))) {
		q->limit = "memory";
		return VECTOR_TABLE_NONE;
	}
	if (id >= before) {
		q->from[id] = from;
		q->marks[id] = q->look(q->arg, q, id, ids);
	}
	return id;
}

static void add_arrow(struct state_graph *q, uint32_t from, uint32_t to)
{
	if (!q->keep_arrows)
		return;
	if (!GROW(q->arrows, q->cap_arrows, q->narrows + 1))
		q->limit = "memory";
	else if (from != to)
		q->arrows[q->narrows++] = (struct graph_arrow){ from, to };
}

static void expand(struct state_graph *q, uint32_t id)
{
	memcpy(q->cur, vector_table_get(&q->states, id), sizeof *q->cur * (q->n + 1));
	for (uint32_t t = 0; t < q->n && !q->limit; t++) {
		uint32_t count;
		if (t && same_group(q, t - 1, t) && q->cur[t] == q->cur[t + 1])
			continue; /* as the thread before */
		const struct prod_edge *e = product_step(&q->x, q->x.kind_of[t], q->cur[0], q->cur[t + 1], &count);
		for (uint32_t k = 0; e && k < count && !q->limit; k++) {
			q->r->transitions++;
			if (e[k].flags & PRODF_LIMIT)
				q->limit = "step";
			if (e[k].flags) {
				q->marks[id] = UINT32_MAX;
				continue;
			}
			memcpy(q->next, q->cur, sizeof *q->next * (q->n + 1));
			q->next[0] = e[k].global;
			q->next[t + 1] = e[k].local;
			sort_thread(q, q->next, t, q->who);
			uint32_t to = add_state(q, q->next, (struct graph_origin){ id, t, k });
			if (to != VECTOR_TABLE_NONE)
				add_arrow(q, id, to);
		}
		if (q->x.out_of_memory)
			q->limit = "memory";
	}
}

static void check_limits(struct state_graph *q)
{
	const struct search_options *o = q->o;
	q->r->bytes = vector_table_bytes(&q->states) + product_bytes(&q->x) + q->cap_from * sizeof *q->from +
	              q->cap_marks * sizeof *q->marks + q->cap_arrows * sizeof *q->arrows;
	if ((q->most && q->states.n > q->most) || (o->max_states && q->states.n > o->max_states))
		q->limit = "states";
	else if (o->max_bytes && q->r->bytes > o->max_bytes)
		q->limit = "memory";
	else if (o->deadline > 0 && clock_seconds() > o->deadline)
		q->limit = "time";
	else if (checkpoint_stopping(o->checkpoint))
		q->limit = "interrupt";
}

bool state_graph_back(struct state_graph *q, uint32_t mark)
{
	uint32_t n = q->states.n, *stack = malloc(sizeof *stack * (n + 1ull)), top = 0;
	uint64_t *first = calloc(n + 1ull, sizeof *first), *next = calloc(q->narrows + 1, sizeof *next);
	bool ok = stack && first && next;
	assert(q->keep_arrows && mark);
	for (uint64_t i = 0; ok && i < q->narrows; i++) {
		next[i] = first[q->arrows[i].to];
		first[q->arrows[i].to] = i + 1;
	}
	for (uint32_t i = 0; ok && i < n; i++)
		if (q->marks[i] & mark)
			stack[top++] = i;
	while (ok && top) {
		uint32_t s = stack[--top];
		for (uint64_t a = first[s]; a; a = next[a - 1]) {
			uint32_t from = q->arrows[a - 1].from;
			if (!(q->marks[from] & mark)) {
				q->marks[from] |= mark;
				stack[top++] = from;
			}
		}
	}
	free(stack);
	free(first);
	free(next);
	return ok;
}

bool state_graph_path(struct state_graph *q, uint32_t state, struct move **path, uint32_t *npath)
{
	uint32_t n = 0, count;
	for (uint32_t i = state; i; i = q->from[i].parent)
		n++;
	struct graph_origin *steps = calloc(n + 1, sizeof *steps);
	*path = calloc(n + 1, sizeof **path);
	*npath = 0;
	bool ok = steps && *path;
	for (uint32_t i = state, k = n; ok && i; i = q->from[i].parent)
		steps[--k] = q->from[i];
	for (uint32_t i = 0; i < q->n; i++)
		q->who[i] = i;
	memcpy(q->cur, vector_table_get(&q->states, 0), sizeof *q->cur * (q->n + 1));
	for (uint32_t i = 0; ok && i < n; i++) {
		uint32_t t = steps[i].thread, k = steps[i].outcome;
		const struct prod_edge *e = product_step(&q->x, q->x.kind_of[t], q->cur[0], q->cur[t + 1], &count);
		ok = e && k < count;
		if (!ok)
			break;
		(*path)[(*npath)++] = (struct move){ q->who[t], q->x.moves[e[k].move] };
		q->cur[0] = e[k].global;
		q->cur[t + 1] = e[k].local;
		sort_thread(q, q->cur, t, q->who);
	}
	free(steps);
	return ok;
}

static bool graph_init(struct state_graph *q)
{
	assert(q->ir && q->o && q->r && q->look);
	bool ok = product_init(&q->x, q->ir, PROD_STANDARD, PROD_BLOCK_ALL, NULL);
	q->n = q->ir->nthreads;
	vector_table_init(&q->states, q->n + 1);
	q->cur = calloc(q->n + 2, sizeof *q->cur);
	q->next = calloc(q->n + 2, sizeof *q->next);
	q->who = calloc(q->n + 2, sizeof *q->who);
	if (!ok || !q->cur || !q->next || !q->who)
		return false;
	q->cur[0] = product_initial_global(&q->x);
	for (uint32_t i = 0; i < q->n; i++)
		q->cur[i + 1] = product_initial_local(&q->x, i);
	return add_state(q, q->cur, (struct graph_origin){ 0, IR_NONE, 0 }) == 0;
}

void state_graph_free(struct state_graph *q)
{
	product_free(&q->x);
	vector_table_free(&q->states);
	free(q->from);
	free(q->arrows);
	free(q->marks);
	free(q->cur);
	free(q->next);
	free(q->who);
}

void state_graph_explore(struct state_graph *q)
{
	if (!graph_init(q))
		q->limit = "memory";
	for (uint32_t i = 0; i < q->states.n && !q->limit && !q->enough; i++) {
		expand(q, i);
		if (i % 1024 == 0 && !q->limit)
			check_limits(q);
	}
	if (!q->limit)
		check_limits(q);
	q->r->states = q->states.n;
	q->r->limit = q->limit;
}

void state_graph_state(const struct state_graph *q, const uint32_t *ids, int32_t *state)
{
	const struct ir *p = q->ir;
	const struct product *x = &q->x;
	const int32_t *g = vector_table_get(&x->globals, ids[0]);
	memcpy(state, vector_table_get(&x->plain_globals, (uint32_t)g[0]), sizeof *state * p->nglobals);
	for (uint32_t i = 0; i < q->n; i++) {
		const struct prod_kind *k = &x->kinds[x->kind_of[i]];
		memcpy(state + p->threads[i].frame, vector_table_get(&k->frames, k->info[ids[i + 1]].frame),
		       sizeof *state * p->templates[p->threads[i].tmpl].nslots);
	}
}
