/*
 * greedy: an atomic register whose writes do not overlap, values repeated or
 * not. O(n log n) time, O(n) memory.
 *
 * The writes are numbered w0 (the initial one), w1, w2, ... in real time.
 * Forward (lin_greedy): events in time order; every read gets the least write
 * number it can have. A read invoked now must be at least as new as anything
 * that has ended (`newest`); when it returns it takes the first write of its
 * value from there on among those already invoked. If there is none, no
 * assignment exists: by induction every earlier choice was the least
 * possible. So the violation is found at the response that makes it certain,
 * and the chain of lower bounds is its proof.
 *
 * Backward (lin_backward): the paper's greedy linearization (Section 3.1),
 * from the last write to the first. Of each value the reads are kept in order
 * of their responses; those that can follow write i are a suffix, cut where
 * the latest invocation among reads of other values says (line l3 of Fig. 3);
 * a tournament tree over the values gives that maximum.
 */
#include <string.h>

#include "base/invariant.h"
#include "lin/lin.h"

struct writes {
	struct dense d;
	uint32_t *seq;   /* write number -> operation; 0 is the initial one */
	uint32_t *start; /* value -> its first entry in list */
	uint32_t *list;  /* write numbers, ascending for each value */
	uint32_t n;      /* write numbers are 0..n-1 */
	size_t bytes_seq, bytes_start;
};

static void writes_free(struct writes *w, struct limits *lim)
{
	dense_free(&w->d);
	lim_free(lim, w->seq, w->bytes_seq);
	lim_free(lim, w->list, w->bytes_seq);
	lim_free(lim, w->start, w->bytes_start);
}

static uint32_t value_of(const struct writes *w, const struct problem *p, uint32_t number)
{
	assert(number < w->n);
	return number ? dense_get(&w->d, p->ops[w->seq[number]].a) : 0;
}

static bool writes_build(struct writes *w, const struct problem *p)
{
	memset(w, 0, sizeof *w);
	if (!dense_build(&w->d, p))
		return false;
	w->n = 1;
	for (uint32_t i = 0; i < p->n; i++)
		w->n += p->ops[i].fn == FN_WRITE;
	w->bytes_seq = w->n * 4ull;
	w->bytes_start = (w->d.n + 1) * 4ull;
	w->seq = lim_realloc(p->lim, NULL, 0, w->bytes_seq);
	w->list = lim_realloc(p->lim, NULL, 0, w->bytes_seq);
	w->start = lim_realloc(p->lim, NULL, 0, w->bytes_start);
	if (!w->seq || !w->list || !w->start) {
		writes_free(w, p->lim);
		return false;
	}
	memset(w->start, 0, w->bytes_start);
	w->seq[0] = RANK_INF;
	uint32_t n = 1;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->ops[i].fn == FN_WRITE)
			w->seq[n++] = i;
	for (uint32_t k = 0; k < n; k++)
		w->start[value_of(w, p, k)]++;
	for (uint32_t v = 1; v <= w->d.n; v++)
		w->start[v] += w->start[v - 1];
	for (uint32_t k = n; k-- > 0;)
		w->list[--w->start[value_of(w, p, k)]] = k;
	return true;
}

/* The first entry of list[lo, hi) that is at least `least`: from the end, in
 * growing steps, because a read mostly returns one of the last writes. */
static uint32_t first_from(const uint32_t *list, uint32_t lo, uint32_t hi, uint32_t least)
{
	assert(lo <= hi);
	uint32_t step = 1, good = hi;
	while (good > lo) {
		uint32_t at = good - lo > step ? good - step : lo;
		if (list[at] < least) {
			lo = at + 1;
			break;
		}
		good = at;
		step *= 2;
	}
	while (lo < good) {
		uint32_t mid = lo + (good - lo) / 2;
		if (list[mid] < least)
			lo = mid + 1;
		else
			good = mid;
	}
	return good;
}

/* ---- the answers ----------------------------------------------------------- */

/* num[i]: the write number operation i belongs to. The write, then its reads
 * in the order of invocation. */
static enum lin_verdict order_by_number(const struct problem *p, const struct writes *w, const uint32_t *num, struct result *r)
{
	size_t bytes = (w->n + 1) * 4ull;
	uint32_t *at = lim_realloc(p->lim, NULL, 0, bytes);
	if (!at || !result_order(r, p->n)) {
		lim_free(p->lim, at, at ? bytes : 0);
		return result_unknown(r);
	}
	memset(at, 0, bytes);
	for (uint32_t i = 0; i < p->n; i++)
		at[num[i] + 1]++;
	for (uint32_t k = 0; k < w->n; k++)
		at[k + 1] += at[k];
	for (uint32_t k = 1; k < w->n; k++)
		r->order[at[k]++] = w->seq[k];
	for (uint32_t i = 0; i < p->n; i++)
		if (p->ops[i].fn == FN_READ)
			r->order[at[num[i]]++] = i;
	r->norder = p->n;
	lim_free(p->lim, at, bytes);
	return r->verdict = LIN_HOLDS;
}

/* The read `i` fits nowhere: why. */
static enum lin_verdict explain(const struct problem *p, const struct writes *w, uint32_t i, uint32_t invoked, const uint32_t *num,
                                const uint32_t *parent, struct result *r)
{
	uint32_t v = dense_get(&w->d, p->ops[i].b), n = 1;
	r->culprit = i;
	r->window = p->ops[i].call;
	if (v == RANK_INF || w->list[w->start[v]] >= invoked) {
		r->proof = v == RANK_INF ? PROOF_UNWRITTEN : PROOF_FUTURE;
		if (!result_facts(r, v == RANK_INF ? 1 : 2))
			return result_unknown(r);
		r->ops[0] = i;
		if (v != RANK_INF)
			r->ops[1] = w->seq[w->list[w->start[v]]];
		return r->verdict = LIN_VIOLATED;
	}
	/* the chain of what forced each lower bound, as far as it is needed */
	for (uint32_t q = parent[i]; q != RANK_INF; q = parent[q], n++)
		if (p->ops[q].fn == FN_WRITE || w->list[w->start[dense_get(&w->d, p->ops[q].b)]] == num[q]) {
			n++;
			break;
		}
	if (!result_facts(r, n))
		return result_unknown(r);
	for (uint32_t q = i, k = n; k-- > 0; q = parent[q]) {
		r->ops[k] = q;
		if (p->ops[q].call < r->window)
			r->window = p->ops[q].call;
	}
	r->proof = PROOF_CHAIN;
	return r->verdict = LIN_VIOLATED;
}

static enum lin_verdict refuse_unless_sequential(const struct problem *p, struct result *r)
{
	uint32_t a, b;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->ops[i].fn != FN_READ && p->ops[i].fn != FN_WRITE)
			return result_refuse(r, "it supports only reads and writes", i, RANK_INF);
	if (!writes_in_sequence(p, &a, &b))
		return result_refuse(r, "it requires one writer at a time, and two writes overlap", a, b);
	return LIN_HOLDS;
}

/* ---- forward --------------------------------------------------------------- */

struct forward {
	uint32_t *num, *parent; /* by operation */
	uint32_t *invoked_of;   /* by value: end of its invoked writes in list */
	uint32_t newest, newest_op, invoked;
};

/* The read i returns: its number, or RANK_INF when there is none. */
static uint32_t assign(const struct problem *p, const struct writes *w, struct forward *f, uint32_t i)
{
	uint32_t v = dense_get(&w->d, p->ops[i].b);
	if (v == RANK_INF)
		return RANK_INF;
	uint32_t end = f->invoked_of[v], at = first_from(w->list, w->start[v], end, f->num[i]);
	return at == end ? RANK_INF : w->list[at];
}

static enum lin_verdict forward(const struct problem *p, const struct writes *w, struct forward *f, const uint32_t *ev,
                                struct result *r)
{
	f->newest_op = RANK_INF;
	f->invoked = 1;
	memcpy(f->invoked_of, w->start, w->d.n * 4ull);
	f->invoked_of[0]++;
	for (uint32_t t = 0; t < p->nevents; t++) {
		if (ev[t] == RANK_INF)
			continue;
		uint32_t i = ev[t] / 2;
		bool write = p->ops[i].fn == FN_WRITE;
		if (!(ev[t] & 1)) {
			if (write) {
				f->num[i] = f->invoked++;
				f->parent[i] = RANK_INF;
				f->invoked_of[dense_get(&w->d, p->ops[i].a)]++;
			} else {
				f->num[i] = f->newest;
				f->parent[i] = f->newest_op;
			}
			continue;
		}
		if (!write) {
			uint32_t k = assign(p, w, f, i);
			if (k == RANK_INF)
				return explain(p, w, i, f->invoked, f->num, f->parent, r);
			f->num[i] = k;
		}
		if (f->num[i] > f->newest) {
			f->newest = f->num[i];
			f->newest_op = i;
		}
	}
	return LIN_HOLDS;
}

enum lin_verdict lin_greedy(const struct problem *p, struct result *r)
{
	result_init(r, ALG_GREEDY, p->lim);
	if (refuse_unless_sequential(p, r) == LIN_REFUSED)
		return LIN_REFUSED;
	struct writes w;
	if (!writes_build(&w, p))
		return result_unknown(r);
	size_t bytes = p->n * 4ull;
	struct forward f = { .num = lim_realloc(p->lim, NULL, 0, bytes),
		             .parent = lim_realloc(p->lim, NULL, 0, bytes),
		             .invoked_of = lim_realloc(p->lim, NULL, 0, w.bytes_start) };
	uint32_t *ev = events_of(p);
	enum lin_verdict out = LIN_UNKNOWN;
	if (f.num && f.parent && f.invoked_of && ev)
		out = forward(p, &w, &f, ev, r);
	lim_free(p->lim, ev, ev ? p->nevents * 4ull + 4 : 0);
	lim_free(p->lim, f.parent, f.parent ? bytes : 0);
	lim_free(p->lim, f.invoked_of, f.invoked_of ? w.bytes_start : 0);
	if (out == LIN_HOLDS)
		out = order_by_number(p, &w, f.num, r);
	lim_free(p->lim, f.num, f.num ? bytes : 0);
	writes_free(&w, p->lim);
	return r->verdict = out;
}

/* ---- backward -------------------------------------------------------------- */

struct backward {
	uint32_t *read;         /* reads by value, each value's by response */
	uint32_t *latest;       /* the latest invocation + 1 among read[start..here] */
	uint32_t *start, *left; /* by value: its part of read, what is left of it */
	uint32_t *tree;         /* tournament over values: the latest invocation left */
	uint32_t leaves;
};

static uint32_t left_latest(const struct backward *b, uint32_t v)
{
	return b->left[v] > b->start[v] ? b->latest[b->left[v] - 1] : 0;
}

static void tree_set(struct backward *b, uint32_t v)
{
	assert(v < b->leaves);
	uint32_t i = b->leaves + v;
	b->tree[i] = left_latest(b, v);
	for (i /= 2; i; i /= 2) {
		uint32_t x = b->tree[2 * i], y = b->tree[2 * i + 1];
		b->tree[i] = x > y ? x : y;
	}
}

/* The maximum over all values but v. */
static uint32_t tree_others(const struct backward *b, uint32_t v)
{
	uint32_t m = 0;
	for (uint32_t i = b->leaves + v; i > 1; i /= 2)
		if (b->tree[i ^ 1] > m)
			m = b->tree[i ^ 1];
	return m;
}

static bool backward_build(struct backward *b, const struct problem *p, const struct writes *w, const uint32_t *ev,
                           uint32_t *unwritten)
{
	*unwritten = RANK_INF;
	memset(b->start, 0, (w->d.n + 1) * 4ull);
	for (uint32_t i = 0; i < p->n; i++)
		if (p->ops[i].fn == FN_READ) {
			uint32_t v = dense_get(&w->d, p->ops[i].b);
			if (v == RANK_INF) {
				*unwritten = i;
				return false;
			}
			b->start[v]++;
		}
	for (uint32_t v = 1; v <= w->d.n; v++)
		b->start[v] += b->start[v - 1];
	for (uint32_t t = p->nevents; t-- > 0;) {
		if (ev[t] == RANK_INF || !(ev[t] & 1) || p->ops[ev[t] / 2].fn != FN_READ)
			continue;
		b->read[--b->start[dense_get(&w->d, p->ops[ev[t] / 2].b)]] = ev[t] / 2;
	}
	for (uint32_t v = 0; v < w->d.n; v++) {
		uint32_t m = 0;
		b->left[v] = b->start[v + 1];
		for (uint32_t k = b->start[v]; k < b->left[v]; k++) {
			uint32_t c = p->ops[b->read[k]].call + 1;
			m = c > m ? c : m;
			b->latest[k] = m;
		}
		b->tree[b->leaves + v] = left_latest(b, v);
	}
	for (uint32_t i = b->leaves; i-- > 1;) {
		uint32_t x = b->tree[2 * i], y = b->tree[2 * i + 1];
		b->tree[i] = x > y ? x : y;
	}
	return true;
}

/* SOAR with the sets of Fig. 3 as suffixes: true iff atomic. */
static bool backward_run(struct backward *b, const struct problem *p, const struct writes *w, uint32_t *num)
{
	for (uint32_t k = w->n; k-- > 1;) {
		const struct hop *wr = &p->ops[w->seq[k]];
		uint32_t v = dense_get(&w->d, wr->a), others = tree_others(b, v);
		uint32_t had = b->left[v];
		while (b->left[v] > b->start[v]) { /* l1, l2, l3 */
			const struct hop *rd = &p->ops[b->read[b->left[v] - 1]];
			if (rd->ret < wr->call || rd->ret + 1 < others)
				break;
			num[b->read[--b->left[v]]] = k;
		}
		if (b->left[v] != had)
			tree_set(b, v);
		if (wr->ret != RANK_INF && b->tree[1] > wr->ret + 1) /* a2 */
			return false;
		num[w->seq[k]] = k;
	}
	for (uint32_t v = 1; v < w->d.n; v++) /* a1 */
		if (b->left[v] > b->start[v])
			return false;
	for (uint32_t j = b->start[0]; j < b->left[0]; j++)
		num[b->read[j]] = 0;
	return true;
}

enum lin_verdict lin_backward(const struct problem *p, struct result *r)
{
	result_init(r, ALG_BACKWARD, p->lim);
	if (refuse_unless_sequential(p, r) == LIN_REFUSED)
		return LIN_REFUSED;
	struct writes w;
	if (!writes_build(&w, p))
		return result_unknown(r);
	uint32_t leaves = 1;
	while (leaves < w.d.n)
		leaves *= 2;
	size_t bn = p->n * 4ull + 4, bv = (w.d.n + 1) * 4ull, bt = leaves * 8ull;
	struct backward b = { lim_realloc(p->lim, NULL, 0, bn), lim_realloc(p->lim, NULL, 0, bn), lim_realloc(p->lim, NULL, 0, bv),
		              lim_realloc(p->lim, NULL, 0, bv), lim_realloc(p->lim, NULL, 0, bt), leaves };
	uint32_t *num = lim_realloc(p->lim, NULL, 0, bn), *ev = events_of(p), bad;
	enum lin_verdict out = LIN_UNKNOWN;
	if (b.read && b.latest && b.start && b.left && b.tree && num && ev) {
		memset(b.tree, 0, bt);
		out = backward_build(&b, p, &w, ev, &bad) && backward_run(&b, p, &w, num) ? LIN_HOLDS : LIN_VIOLATED;
	}
	lim_free(p->lim, ev, ev ? p->nevents * 4ull + 4 : 0);
	lim_free(p->lim, b.read, b.read ? bn : 0);
	lim_free(p->lim, b.latest, b.latest ? bn : 0);
	lim_free(p->lim, b.start, b.start ? bv : 0);
	lim_free(p->lim, b.left, b.left ? bv : 0);
	lim_free(p->lim, b.tree, b.tree ? bt : 0);
	if (out == LIN_HOLDS)
		out = order_by_number(p, &w, num, r);
	lim_free(p->lim, num, num ? bn : 0);
	writes_free(&w, p->lim);
	return r->verdict = out;
}
