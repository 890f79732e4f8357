/*
 * queue: FIFO queues in which every value goes in once. O(n log n).
 *
 * In any legal order values leave in the order they came. So value a must
 * precede b when a's enqueue ends before b's begins, or a's dequeue before
 * b's dequeue or b's enqueue begins. Conversely, from any total order of the
 * values that respects this, taking everything as early as possible gives a
 * linearization. The order is found by elimination: a value that nothing
 * left must precede is taken off; the earliest ends among those left only
 * grow, so each list is run through once. When nothing can be taken off and
 * values are left, there is no order. An answer "empty" becomes a value that
 * comes and goes in one gap where nothing is surely inside.
 */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "lin/cover.h"

struct queue_node { /* a value or an empty answer; gaps as in struct item */
	uint32_t in_lo, in_hi, out_lo, out_hi;
	uint32_t in, out;
};

struct fifo {
	struct queue_node *x;
	uint32_t *by[4]; /* by in_lo, in_hi, out_lo, out_hi */
	uint32_t *order, n;
	uint8_t *state; /* bits 1, 2: may go in, may go out; 4: taken off */
};

static uint32_t field(const struct queue_node *x, int f)
{
	assert(f >= 0 && f < 4);
	return f == 0 ? x->in_lo : f == 1 ? x->in_hi : f == 2 ? x->out_lo : x->out_hi;
}

/* Counting sort of the nodes by one of the four gaps. */
static bool sort_by(struct fifo *q, int f, uint32_t ngaps, struct limits *lim)
{
	uint32_t *count = lim_realloc(lim, NULL, 0, (ngaps + 2) * 4ull);
	if (!count)
		return false;
	memset(count, 0, (ngaps + 2) * 4ull);
	for (uint32_t i = 0; i < q->n; i++)
		count[field(&q->x[i], f) + 1]++;
	for (uint32_t g = 0; g <= ngaps; g++)
		count[g + 1] += count[g];
	for (uint32_t i = 0; i < q->n; i++)
		q->by[f][count[field(&q->x[i], f)]++] = i;
	lim_free(lim, count, (ngaps + 2) * 4ull);
	return true;
}

/* Takes values off as long as it goes; true when all are. */
static bool eliminate(struct fifo *q)
{
	uint32_t at[4] = { 0 }, done = 0, ready = 0;
	uint32_t *stack = q->order; /* filled from both ends: order, and ready on top */
	uint32_t top = q->n;
	while (done < q->n) {
		while (at[1] < q->n && q->state[q->by[1][at[1]]] & 4)
			at[1]++;
		while (at[3] < q->n && q->state[q->by[3][at[3]]] & 4)
			at[3]++;
		uint32_t in_end = q->x[q->by[1][at[1]]].in_hi, out_end = q->x[q->by[3][at[3]]].out_hi;
		uint32_t first = in_end < out_end ? in_end : out_end;
		for (; at[0] < q->n && q->x[q->by[0][at[0]]].in_lo <= first; at[0]++)
			if ((q->state[q->by[0][at[0]]] |= 1) == 3) {
				stack[--top] = q->by[0][at[0]];
				ready++;
			}
		for (; at[2] < q->n && q->x[q->by[2][at[2]]].out_lo <= out_end; at[2]++)
			if ((q->state[q->by[2][at[2]]] |= 2) == 3) {
				stack[--top] = q->by[2][at[2]];
				ready++;
			}
		if (!ready)
			return false;
		uint32_t v = stack[top++];
		ready--;
		q->state[v] |= 4;
		q->order[done++] = v;
	}
	return true;
}

/* From the order of the values to the order of the operations. */
static void emit(const struct fifo *q, struct result *r)
{
	assert(r->order);
	uint32_t i = 0, j = 0, in_t = 0, out_t = 0;
	while (j < q->n) {
		const struct queue_node *a = i < q->n ? &q->x[q->order[i]] : NULL, *b = &q->x[q->order[j]];
		uint32_t ta = a ? a->in_lo > in_t ? a->in_lo : in_t : RANK_INF;
		uint32_t tb = b->out_lo > out_t ? b->out_lo : out_t;
		bool a_empty = a && a->in == RANK_INF;
		if (a && !a_empty && (i <= j || ta <= tb)) {
			r->order[r->norder++] = a->in;
			in_t = ta;
			i++;
			continue;
		}
		if (a_empty && i == j) {
			r->order[r->norder++] = b->out;
			in_t = ta;
			i++;
		} else if (b->out != RANK_INF) {
			r->order[r->norder++] = b->out;
		}
		out_t = tb;
		j++;
	}
}

/* Two values that came in one order and left in the other. */
static enum lin_verdict explain(const struct problem *p, const struct fifo *q, struct result *r)
{
	uint32_t late = RANK_INF, k = 0;
	r->proof = PROOF_COUNTS;
	r->culprit = RANK_INF;
	r->moment_open = true;
	for (uint32_t i = 0; i < q->n; i++) {
		const struct queue_node *b = &q->x[q->by[0][i]];
		for (; k < q->n && q->x[q->by[1][k]].in_hi < b->in_lo; k++) {
			const struct queue_node *a = &q->x[q->by[1][k]];
			if (a->in != RANK_INF && (late == RANK_INF || a->out_lo > q->x[late].out_lo))
				late = q->by[1][k];
		}
		if (b->in == RANK_INF || late == RANK_INF || b->out == RANK_INF || q->x[late].out_lo <= b->out_hi)
			continue;
		r->proof = PROOF_FIFO;
		/* when nothing else can have taken it, or when it was taken itself */
		r->culprit = lin_certain_by(p, p->ops[b->out].ret);
		if (q->x[late].out != RANK_INF && p->ops[q->x[late].out].ret < p->ops[r->culprit].ret)
			r->culprit = q->x[late].out;
		if (!result_facts(r, 4))
			return result_unknown(r);
		r->ops[0] = q->x[late].in;
		r->ops[1] = b->in;
		r->ops[2] = q->x[late].out;
		r->ops[3] = b->out;
		break;
	}
	return r->verdict = LIN_VIOLATED;
}

static enum lin_verdict judge(struct items *s, struct fifo *q, struct result *r)
{
	const struct problem *p = s->p;
	int32_t *counts = items_counts(s);
	uint32_t *gaps = lim_realloc(p->lim, NULL, 0, s->nempties * 4ull + 4);
	enum lin_verdict v = counts && gaps ? items_place_empties(s, counts, gaps, r) : LIN_UNKNOWN;
	for (uint32_t k = 0; v == LIN_HOLDS && k < s->n; k++)
		if (s->it[k].in != RANK_INF) {
			const struct item *it = &s->it[k];
			q->x[q->n++] = (struct queue_node){ it->in_lo, it->in_hi, it->out_lo, it->out_hi, it->in, it->out };
		}
	for (uint32_t k = 0; v == LIN_HOLDS && k < s->nempties; k++)
		q->x[q->n++] = (struct queue_node){ gaps[k], gaps[k], gaps[k], gaps[k], RANK_INF, s->empties[k] };
	lim_free(p->lim, counts, counts ? (s->ngaps + 1) * 4ull : 0);
	lim_free(p->lim, gaps, gaps ? s->nempties * 4ull + 4 : 0);
	for (int f = 0; f < 4 && v == LIN_HOLDS; f++)
		if (!sort_by(q, f, s->ngaps, p->lim))
			v = LIN_UNKNOWN;
	if (v != LIN_HOLDS)
		return r->verdict = v;
	if (!eliminate(q))
		return explain(p, q, r);
	if (!result_order(r, p->n))
		return result_unknown(r);
	emit(q, r);
	return r->verdict = LIN_HOLDS;
}

enum lin_verdict lin_queue(const struct problem *p, struct result *r)
{
	result_init(r, ALG_DIRECT, p->lim);
	struct items s;
	enum lin_verdict v = items_open(&s, p, FN_ENQ, FN_DEQ, r);
	if (v == LIN_HOLDS) {
		size_t bx = p->n * sizeof(struct queue_node) + 8, bi = p->n * 4ull + 4;
		struct fifo q = { .x = lim_realloc(p->lim, NULL, 0, bx),
			          .order = lim_realloc(p->lim, NULL, 0, bi),
			          .state = lim_realloc(p->lim, NULL, 0, p->n + 1ull) };
		bool ok = q.x && q.order && q.state;
		for (int f = 0; f < 4; f++)
			ok &= (q.by[f] = lim_realloc(p->lim, NULL, 0, bi)) != NULL;
		if (ok)
			memset(q.state, 0, p->n);
		v = ok ? judge(&s, &q, r) : result_unknown(r);
		lim_free(p->lim, q.x, q.x ? bx : 0);
		lim_free(p->lim, q.order, q.order ? bi : 0);
		lim_free(p->lim, q.state, q.state ? p->n + 1ull : 0);
		for (int f = 0; f < 4; f++)
			lim_free(p->lim, q.by[f], q.by[f] ? bi : 0);
	}
	items_close(&s);
	return r->verdict = v;
}
