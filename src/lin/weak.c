/*
 * weak: regular and safe registers (Lamport), any number of writers. O(n log n).
 *
 * Regular: a read returns the value of a write that was invoked before the
 * read returned and was not overwritten before the read began, that is, no
 * other write lies wholly between the two. With one writer this is Lamport's
 * definition; with several it is the weakest of the usual ones, in which
 * every read by itself is in order with all the writes. Safe: a read that
 * overlaps a write may return anything.
 *
 * Events in time order. `newest` is the latest invocation among the writes
 * that have ended: a read invoked now can return no write that ended before
 * that. Of its value, the write invoked in time with the latest response is
 * the best candidate. What a read may return depends on nothing after its
 * response, so the first that fails is where it became certain.
 */
#include <string.h>

#include "lin/lin.h"

struct weak_search {
	struct dense d;
	uint32_t *start, *list; /* by value: its writes, in order of invocation */
	uint32_t *best;         /* by place in list: the latest response up to it */
	uint32_t *invoked;      /* by value: how far list has been invoked */
	uint32_t *newest;       /* by read: newest at its invocation (op + 1) */
	uint32_t *ended;        /* by read: writes ended at its invocation */
	size_t bn, bv;
};

static bool weak_open(struct weak_search *w, const struct problem *p)
{
	memset(w, 0, sizeof *w);
	if (!dense_build(&w->d, p))
		return false;
	w->bn = p->n * 4ull + 4;
	w->bv = (w->d.n + 1) * 4ull;
	w->start = lim_realloc(p->lim, NULL, 0, w->bv);
	w->invoked = lim_realloc(p->lim, NULL, 0, w->bv);
	w->list = lim_realloc(p->lim, NULL, 0, w->bn);
	w->best = lim_realloc(p->lim, NULL, 0, w->bn);
	w->newest = lim_realloc(p->lim, NULL, 0, w->bn);
	w->ended = lim_realloc(p->lim, NULL, 0, w->bn);
	if (!w->start || !w->invoked || !w->list || !w->best || !w->newest || !w->ended)
		return false;
	memset(w->start, 0, w->bv);
	for (uint32_t i = 0; i < p->n; i++)
		if (p->ops[i].fn == FN_WRITE)
			w->start[dense_get(&w->d, p->ops[i].a)]++;
	for (uint32_t v = 1; v <= w->d.n; v++)
		w->start[v] += w->start[v - 1];
	for (uint32_t i = p->n; i-- > 0;)
		if (p->ops[i].fn == FN_WRITE)
			w->list[--w->start[dense_get(&w->d, p->ops[i].a)]] = i;
	for (uint32_t v = 0; v < w->d.n; v++)
		for (uint32_t k = w->start[v]; k < w->start[v + 1]; k++) {
			uint32_t b = k == w->start[v] ? w->list[k] : w->best[k - 1];
			w->best[k] = p->ops[w->list[k]].ret > p->ops[b].ret ? w->list[k] : b;
		}
	memcpy(w->invoked, w->start, w->bv);
	return true;
}

static void weak_close(struct weak_search *w, struct limits *lim)
{
	dense_free(&w->d);
	lim_free(lim, w->start, w->start ? w->bv : 0);
	lim_free(lim, w->invoked, w->invoked ? w->bv : 0);
	lim_free(lim, w->list, w->list ? w->bn : 0);
	lim_free(lim, w->best, w->best ? w->bn : 0);
	lim_free(lim, w->newest, w->newest ? w->bn : 0);
	lim_free(lim, w->ended, w->ended ? w->bn : 0);
}

static enum lin_verdict stale(const struct problem *p, uint32_t read, uint32_t best, uint32_t newest, bool written,
                              struct result *r)
{
	r->culprit = read;
	r->proof = written ? PROOF_STALE : PROOF_UNWRITTEN;
	r->window = p->ops[read].call;
	if (!result_facts(r, 3))
		return result_unknown(r);
	r->ops[0] = read;
	r->ops[1] = best;
	r->ops[2] = newest ? newest - 1 : RANK_INF;
	for (uint32_t i = 1; i < 3; i++)
		if (written && r->ops[i] != RANK_INF && p->ops[r->ops[i]].call < r->window)
			r->window = p->ops[r->ops[i]].call;
	r->nops = written ? 3 : 1;
	return r->verdict = LIN_VIOLATED;
}

/* The read i returns: which write it can have seen. */
static enum lin_verdict on_return(const struct problem *p, struct weak_search *w, uint32_t i, bool overlapped, struct result *r)
{
	uint32_t v = dense_get(&w->d, p->ops[i].b), newest = w->newest[i], best = RANK_INF;
	uint32_t after = newest ? p->ops[newest - 1].call : 0;
	if (v != RANK_INF && w->invoked[v] > w->start[v])
		best = w->best[w->invoked[v] - 1];
	/* best[] looks at responses of writes invoked by now only: list is a prefix */
	bool fits = best != RANK_INF && (!newest || p->ops[best].ret > after);
	if (fits)
		r->order[i] = best;
	else if (v == 0 && !newest)
		r->order[i] = RANK_INF;
	else if (overlapped)
		r->order[i] = i;
	else
		return stale(p, i, best, newest, best != RANK_INF || v == 0, r);
	return LIN_HOLDS;
}

enum lin_verdict lin_weak(const struct problem *p, struct result *r, bool safe)
{
	result_init(r, ALG_DIRECT, p->lim);
	for (uint32_t i = 0; i < p->n; i++)
		if (p->ops[i].fn != FN_READ && p->ops[i].fn != FN_WRITE)
			return result_refuse(r, "regular and safe are defined only for registers with reads and writes", i,
			                     RANK_INF);
	struct weak_search w;
	uint32_t *ev = events_of(p), newest = 0, begun = 0, ended = 0;
	enum lin_verdict v = weak_open(&w, p) && ev && result_order(r, p->n + 1) ? LIN_HOLDS : LIN_UNKNOWN;
	for (uint32_t t = 0; t < p->nevents && v == LIN_HOLDS; t++) {
		if (ev[t] == RANK_INF)
			continue;
		uint32_t i = ev[t] / 2;
		bool write = p->ops[i].fn == FN_WRITE, ret = ev[t] & 1;
		if (write && !ret) {
			begun++;
			w.invoked[dense_get(&w.d, p->ops[i].a)]++;
			r->order[i] = i;
		} else if (write) {
			ended++;
			if (!newest || p->ops[i].call > p->ops[newest - 1].call)
				newest = i + 1;
		} else if (!ret) {
			w.newest[i] = newest;
			w.ended[i] = ended;
		} else {
			v = on_return(p, &w, i, safe && begun > w.ended[i], r);
		}
	}
	r->norder = p->n;
	weak_close(&w, p->lim);
	lim_free(p->lim, ev, ev ? p->nevents * 4ull + 4 : 0);
	return r->verdict = v;
}
