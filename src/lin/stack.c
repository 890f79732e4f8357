/*
 * stack: LIFO stacks in which every value goes in once. O(n log n).
 *
 * A value is surely inside from the response of its push to the invocation of
 * its pop. In a gap where nothing is surely inside, the stack may be empty;
 * an operation that can take effect in such a gap can do so at the bottom.
 * When both operations of a value can, the value is a bottom one: it is taken
 * off, and the gaps it covered are looked at again, one level up. The history
 * is linearizable iff every value can be taken off (decrease and conquer, as
 * in Lee and Mathur, Efficient decrease-and-conquer linearizability
 * monitoring). Rounds: all uncovered gaps first, then all values they free.
 *
 * The order: a value taken off goes in at the last uncovered gap before it is
 * surely inside and comes out at the first one after, or both in one gap. In
 * a gap pops come first (later pushed first), then pairs and empty answers,
 * then pushes (later popped first).
 */
#include <stdlib.h>
#include <string.h>

#include "lin/cover.h"

/* Intervals of gaps, to be taken out as gaps are opened: a tournament over
 * the intervals by their low end, on the high end. */
struct stab {
	uint32_t *hi; /* leaves: sorted by lo; inner: the maximum */
	uint32_t *lo, *who;
	uint32_t n, size;
};

struct lifo {
	struct items s;
	struct cover c;
	struct stab st;
	uint64_t *open;   /* bitmap of the gaps that were uncovered */
	uint8_t *touched; /* by value: 1 push, 2 pop reached, 4 off */
	uint32_t *freed, nfreed;
	struct placed *out;
	uint32_t nout, left;
	size_t bytes_gaps;
};

/* ---- intervals ---------------------------------------------------------------- */

static bool stab_build(struct stab *t, const struct items *s, struct limits *lim)
{
	uint32_t n = 0, *count = lim_realloc(lim, NULL, 0, (s->ngaps + 2) * 4ull);
	t->size = 1;
	while (t->size < s->p->n + 2u)
		t->size *= 2;
	t->hi = lim_realloc(lim, NULL, 0, t->size * 8ull);
	t->lo = lim_realloc(lim, NULL, 0, t->size * 4ull);
	t->who = lim_realloc(lim, NULL, 0, t->size * 4ull);
	if (!count || !t->hi || !t->lo || !t->who) {
		lim_free(lim, count, count ? (s->ngaps + 2) * 4ull : 0);
		return false;
	}
	memset(t->hi, 0, t->size * 8ull);
	memset(count, 0, (s->ngaps + 2) * 4ull);
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t v = 0; v < s->n; v++) {
			const struct item *it = &s->it[v];
			if (it->in == RANK_INF)
				continue;
			for (uint32_t side = 0; side < 2; side++) {
				uint32_t lo = side ? it->out_lo : it->in_lo;
				if (!pass) {
					count[lo + 1]++;
					n++;
					continue;
				}
				uint32_t at = count[lo]++;
				t->lo[at] = lo;
				t->who[at] = v * 2 + side;
				t->hi[t->size + at] = side ? it->out_hi : it->in_hi;
			}
		}
		for (uint32_t g = 0; !pass && g <= s->ngaps; g++)
			count[g + 1] += count[g];
		if (!pass && n > t->size) { /* every value has two sides, also unpopped ones */
			lim_free(lim, t->hi, t->size * 8ull);
			lim_free(lim, t->lo, t->size * 4ull);
			lim_free(lim, t->who, t->size * 4ull);
			while (t->size < n)
				t->size *= 2;
			t->hi = lim_realloc(lim, NULL, 0, t->size * 8ull);
			t->lo = lim_realloc(lim, NULL, 0, t->size * 4ull);
			t->who = lim_realloc(lim, NULL, 0, t->size * 4ull);
			if (!t->hi || !t->lo || !t->who) {
				lim_free(lim, count, (s->ngaps + 2) * 4ull);
				return false;
			}
			memset(t->hi, 0, t->size * 8ull);
		}
	}
	t->n = n;
	for (uint32_t i = t->size; i-- > 1;)
		t->hi[i] = t->hi[2 * i] > t->hi[2 * i + 1] ? t->hi[2 * i] : t->hi[2 * i + 1];
	lim_free(lim, count, (s->ngaps + 2) * 4ull);
	return true;
}

/* Takes out an interval that contains gap g: its number, or RANK_INF. */
static uint32_t stab_take(struct stab *t, uint32_t g)
{
	if (t->hi[1] < g)
		return RANK_INF;
	/* the leaves with lo <= g are a prefix: find its end, then any hi >= g */
	uint32_t lo = 0, end = t->n;
	while (lo < end) {
		uint32_t mid = lo + (end - lo) / 2;
		if (t->lo[mid] <= g)
			lo = mid + 1;
		else
			end = mid;
	}
	uint32_t l = t->size, r = t->size + end, found = 0;
	for (; l < r && !found; l /= 2, r /= 2) {
		if (l & 1 && t->hi[l++] >= g)
			found = l - 1;
		if (!found && r & 1 && t->hi[--r] >= g)
			found = r;
	}
	if (!found)
		return RANK_INF;
	while (found < t->size)
		found = t->hi[2 * found] >= g ? 2 * found : 2 * found + 1;
	uint32_t who = t->who[found - t->size];
	t->hi[found] = 0;
	for (found /= 2; found; found /= 2)
		t->hi[found] = t->hi[2 * found] > t->hi[2 * found + 1] ? t->hi[2 * found] : t->hi[2 * found + 1];
	return who;
}

/* ---- uncovered gaps ------------------------------------------------------------- */

/* The last open gap at or before g, the first at or after; RANK_INF: none. */
static uint32_t open_before(const struct lifo *q, uint32_t g)
{
	uint64_t w = q->open[g / 64] & (~0ull >> (63 - g % 64));
	for (uint32_t i = g / 64;; w = q->open[--i]) {
		if (w)
			return i * 64 + 63 - (uint32_t)__builtin_clzll(w);
		if (!i)
			return RANK_INF;
	}
}

static uint32_t open_after(const struct lifo *q, uint32_t g)
{
	uint32_t words = (q->s.ngaps + 63) / 64;
	uint64_t w = q->open[g / 64] & (~0ull << g % 64);
	for (uint32_t i = g / 64;; w = q->open[i]) {
		if (w)
			return i * 64 + (uint32_t)__builtin_ctzll(w);
		if (++i >= words)
			return RANK_INF;
	}
}

static void open_gaps(struct lifo *q)
{
	uint32_t g, who;
	while (cover_least(&q->c, &g) == 0) {
		cover_add(&q->c, g, g, COVER_GONE);
		q->open[g / 64] |= 1ull << g % 64;
		while ((who = stab_take(&q->st, g)) != RANK_INF) {
			uint8_t *t = &q->touched[who / 2];
			*t |= who & 1 ? 2 : 1;
			if ((*t & 3) == 3)
				q->freed[q->nfreed++] = who / 2;
		}
	}
}

/* Where value v goes in and comes out, and what it no longer covers. */
static void take_off(struct lifo *q, uint32_t v)
{
	const struct item *it = &q->s.it[v];
	uint32_t lo, hi, both_lo = it->out_lo, both_hi = it->in_hi, in, out;
	q->touched[v] |= 4;
	q->left--;
	if (!item_inside(it, &lo, &hi)) { /* both can happen in gaps both_lo..both_hi */
		uint32_t g = both_lo <= both_hi ? open_after(q, both_lo) : RANK_INF;
		if (g != RANK_INF && g <= both_hi) {
			q->out[q->nout++] = (struct placed){ g, 1, v, it->in, it->out };
			return;
		}
		in = open_before(q, both_lo <= both_hi ? both_lo : it->in_hi);
		out = open_after(q, both_lo <= both_hi ? both_hi : it->out_lo);
	} else {
		in = open_before(q, it->in_hi);
		out = open_after(q, it->out_lo);
		cover_add(&q->c, lo, hi, -1);
	}
	q->out[q->nout++] = (struct placed){ in, 2, (uint64_t)(UINT32_MAX - out) << 32 | v, it->in, RANK_INF };
	if (it->out != RANK_INF)
		q->out[q->nout++] = (struct placed){ out, 0, (uint64_t)(UINT32_MAX - in) << 32 | (UINT32_MAX - v), it->out,
			                             RANK_INF };
}

static enum lin_verdict judge(struct lifo *q, struct result *r)
{
	const struct problem *p = q->s.p;
	int32_t *counts = items_counts(&q->s);
	uint32_t *gaps = q->freed; /* borrowed: used up before values are freed */
	enum lin_verdict v = counts ? items_place_empties(&q->s, counts, gaps, r) : LIN_UNKNOWN;
	for (uint32_t k = 0; v == LIN_HOLDS && k < q->s.nempties; k++)
		q->out[q->nout++] = (struct placed){ gaps[k], 1, k, q->s.empties[k], RANK_INF };
	if (v == LIN_HOLDS)
		cover_set(&q->c, counts);
	lim_free(p->lim, counts, counts ? (q->s.ngaps + 1) * 4ull : 0);
	if (v != LIN_HOLDS)
		return r->verdict = v;
	for (uint32_t k = 0; k < q->s.n; k++)
		q->left += q->s.it[k].in != RANK_INF;
	do {
		q->nfreed = 0;
		open_gaps(q);
		for (uint32_t k = 0; k < q->nfreed; k++)
			take_off(q, q->freed[k]);
		if (lim_spent(p->lim))
			return result_unknown(r);
	} while (q->nfreed);
	if (q->left) {
		r->proof = PROOF_COUNTS;
		r->moment_open = true;
		for (uint32_t k = 0; k < q->s.n; k++) { /* the last pop among those left */
			uint32_t o = q->s.it[k].out;
			if (q->s.it[k].in != RANK_INF && !(q->touched[k] & 4) && o != RANK_INF &&
			    (r->culprit == RANK_INF || p->ops[o].ret > p->ops[r->culprit].ret))
				r->culprit = o;
		}
		if (r->culprit != RANK_INF) /* others were open, perhaps, and might have taken another */
			r->culprit = lin_certain_by(p, p->ops[r->culprit].ret);
		return r->verdict = LIN_VIOLATED;
	}
	if (!result_order(r, p->n))
		return result_unknown(r);
	placed_emit(q->out, q->nout, r);
	return r->verdict = LIN_HOLDS;
}

enum lin_verdict lin_stack(const struct problem *p, struct result *r)
{
	result_init(r, ALG_DIRECT, p->lim);
	struct lifo q = { 0 };
	enum lin_verdict v = items_open(&q.s, p, FN_PUSH, FN_POP, r);
	if (v == LIN_HOLDS) {
		size_t bo = p->n * 2 * sizeof *q.out + 8, bf = p->n * 4ull + 4;
		q.bytes_gaps = (q.s.ngaps + 64) / 64 * 8ull + 8;
		q.open = lim_realloc(p->lim, NULL, 0, q.bytes_gaps);
		q.touched = lim_realloc(p->lim, NULL, 0, q.s.n + 1ull);
		q.freed = lim_realloc(p->lim, NULL, 0, bf);
		q.out = lim_realloc(p->lim, NULL, 0, bo);
		bool ok = q.open && q.touched && q.freed && q.out && cover_open(&q.c, q.s.ngaps, p->lim) &&
		          stab_build(&q.st, &q.s, p->lim);
		if (ok) {
			memset(q.open, 0, q.bytes_gaps);
			memset(q.touched, 0, q.s.n);
		}
		v = ok ? judge(&q, r) : result_unknown(r);
		lim_free(p->lim, q.open, q.open ? q.bytes_gaps : 0);
		lim_free(p->lim, q.touched, q.touched ? q.s.n + 1ull : 0);
		lim_free(p->lim, q.freed, q.freed ? bf : 0);
		lim_free(p->lim, q.out, q.out ? bo : 0);
		lim_free(p->lim, q.st.hi, q.st.hi ? q.st.size * 8ull : 0);
		lim_free(p->lim, q.st.lo, q.st.lo ? q.st.size * 4ull : 0);
		lim_free(p->lim, q.st.who, q.st.who ? q.st.size * 4ull : 0);
		if (q.c.lim)
			cover_close(&q.c);
	}
	items_close(&q.s);
	return r->verdict = v;
}
