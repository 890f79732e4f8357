#include "explore/quiescence_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "explore/product.h"

struct arrow {
	uint32_t from, to;
};

struct quiet_origin {
	uint32_t parent, thread, outcome; /* thread: its position in the parent */
};

struct quiescence {
	const struct ir *ir;
	const struct search_options *o;
	struct search_result *r;
	struct product x;
	uint32_t n;                 /* threads */
	struct vector_table states; /* globals, locals */
	struct quiet_origin *from;
	uint32_t cap_from;
	struct arrow *arrows;
	uint64_t narrows, cap_arrows;
	bool *out; /* by state: quiescence can be reached */
	uint32_t cap_out;
	uint32_t *cur, *next, *who;
	const char *limit;
};

static bool same_group(const struct quiescence *q, uint32_t a, uint32_t b)
{
	return q->o->symmetry && q->x.kind_of[a] == q->x.kind_of[b];
}

/* Puts the thread that moved into its sorted group; names go along. */
static void sort_thread(const struct quiescence *q, uint32_t *ids, uint32_t i, uint32_t *who)
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

static bool all_outside(const struct quiescence *q, const uint32_t *ids)
{
	for (uint32_t i = 0; i < q->n; i++)
		if (q->x.kinds[q->x.kind_of[i]].info[ids[i + 1]].inside)
			return false;
	return true;
}

/* The number of the state; new ones are remembered. */
static uint32_t add_state(struct quiescence *q, const uint32_t *ids, struct quiet_origin from)
{
	uint32_t before = q->states.n, id = vector_table_add(&q->states, (const int32_t *)ids);
	if (id == VECTOR_TABLE_NONE ||
	    (id >= before && (!GROW(q->from, q->cap_from, id + 1ull) || !GROW(q->out, q->cap_out, id + 1ull)))) {
		q->limit = "memory";
		return VECTOR_TABLE_NONE;
	}
	if (id >= before) {
		q->from[id] = from;
		q->out[id] = all_outside(q, ids);
	}
	return id;
}

static void add_arrow(struct quiescence *q, uint32_t from, uint32_t to)
{
	if (!GROW(q->arrows, q->cap_arrows, q->narrows + 1))
		q->limit = "memory";
	else if (from != to)
		q->arrows[q->narrows++] = (struct arrow){ from, to };
}

static void expand(struct quiescence *q, uint32_t id)
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
				q->out[id] = true;
				continue;
			}
			memcpy(q->next, q->cur, sizeof *q->next * (q->n + 1));
			q->next[0] = e[k].global;
			q->next[t + 1] = e[k].local;
			sort_thread(q, q->next, t, q->who);
			uint32_t to = add_state(q, q->next, (struct quiet_origin){ id, t, k });
			if (to != VECTOR_TABLE_NONE)
				add_arrow(q, id, to);
		}
		if (q->x.out_of_memory)
			q->limit = "memory";
	}
}

static void check_limits(struct quiescence *q)
{
	const struct search_options *o = q->o;
	q->r->bytes = vector_table_bytes(&q->states) + product_bytes(&q->x) + q->cap_from * sizeof *q->from +
	              q->cap_arrows * sizeof *q->arrows;
	if (q->states.n > QUIESCENCE_STATES || (o->max_states && q->states.n > o->max_states))
		q->limit = "states";
	else if (o->max_bytes && q->r->bytes > o->max_bytes)
		q->limit = "memory";
	else if (o->deadline > 0 && clock_seconds() > o->deadline)
		q->limit = "time";
	else if (checkpoint_stopping(o->checkpoint))
		q->limit = "interrupt";
}

/*
 * Marks every state with an arrow to a marked one, until there are no more:
 * arrows by their heads (first, then the next with the same head), and a
 * stack of marked states.
 */
static bool mark_backwards(struct quiescence *q)
{
	uint32_t n = q->states.n, *stack = malloc(sizeof *stack * (n + 1)), top = 0;
	uint64_t *first = calloc(n + 1, sizeof *first), *next = calloc(q->narrows + 1, sizeof *next);
	bool ok = stack && first && next;
	for (uint64_t i = 0; ok && i < q->narrows; i++) {
		next[i] = first[q->arrows[i].to];
		first[q->arrows[i].to] = i + 1;
	}
	for (uint32_t i = 0; ok && i < n; i++)
		if (q->out[i])
			stack[top++] = i;
	while (ok && top) {
		uint32_t s = stack[--top];
		for (uint64_t a = first[s]; a; a = next[a - 1]) {
			uint32_t from = q->arrows[a - 1].from;
			if (!q->out[from]) {
				q->out[from] = true;
				stack[top++] = from;
			}
		}
	}
	free(stack);
	free(first);
	free(next);
	return ok;
}

static bool make_path(struct quiescence *q, uint32_t state)
{
	uint32_t n = 0, count;
	for (uint32_t i = state; i; i = q->from[i].parent)
		n++;
	struct quiet_origin *steps = calloc(n + 1, sizeof *steps);
	q->r->path = calloc(n + 1, sizeof *q->r->path);
	bool ok = steps && q->r->path;
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
		q->r->path[q->r->npath++] = (struct move){ q->who[t], q->x.moves[e[k].move] };
		q->cur[0] = e[k].global;
		q->cur[t + 1] = e[k].local;
		sort_thread(q, q->cur, t, q->who);
	}
	free(steps);
	return ok;
}

static bool quiescence_init(struct quiescence *q)
{
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
	return add_state(q, q->cur, (struct quiet_origin){ 0, IR_NONE, 0 }) == 0;
}

static void quiescence_free(struct quiescence *q)
{
	product_free(&q->x);
	vector_table_free(&q->states);
	free(q->from);
	free(q->arrows);
	free(q->out);
	free(q->cur);
	free(q->next);
	free(q->who);
}

static enum quiescence_answer answer_of(const struct search_result *r)
{
	return r->verdict == SEARCH_LIMIT ? QUIESCENCE_LIMIT : r->verdict == SEARCH_HOLDS ? QUIESCENCE_ALWAYS : QUIESCENCE_LOST;
}

enum quiescence_answer quiescence_search(const struct ir *ir, const struct search_options *o, struct search_result *r)
{
	struct quiescence q = { .ir = ir, .o = o, .r = r };
	uint32_t lost = IR_NONE;
	struct checkpoint_key key = { 0 };
	memset(r, 0, sizeof *r);
	if (o->checkpoint)
		key = checkpoint_key_of(CHECKPOINT_QUIESCENCE, ir, PROD_STANDARD, PROD_BLOCK_ALL, NULL, o);
	if (checkpoint_recall(o->checkpoint, key, r))
		return answer_of(r);
	if (!quiescence_init(&q))
		q.limit = "memory";
	for (uint32_t i = 0; i < q.states.n && !q.limit; i++) {
		expand(&q, i);
		if (i % 1024 == 0 && !q.limit)
			check_limits(&q);
	}
	if (!q.limit)
		check_limits(&q);
	if (!q.limit && !mark_backwards(&q))
		q.limit = "memory";
	for (uint32_t i = 0; i < q.states.n && !q.limit && lost == IR_NONE; i++)
		if (!q.out[i])
			lost = i;
	if (lost != IR_NONE && !make_path(&q, lost))
		q.limit = "memory";
	r->states = q.states.n;
	r->limit = q.limit;
	r->verdict = q.limit ? SEARCH_LIMIT : lost == IR_NONE ? SEARCH_HOLDS : SEARCH_WRONG;
	quiescence_free(&q);
	checkpoint_record(o->checkpoint, key, r);
	return answer_of(r);
}
