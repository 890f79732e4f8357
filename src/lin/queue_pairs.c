/*
 * queue_pairs: FIFO queues whose values repeat, by search over pairs.
 *
 * The content of the queue is no part of the search. In a legal order the i-th
 * value to leave is the i-th that came, so an order is a row of pairs (an
 * enqueue and the dequeue of its value), the enqueues that nothing took, and
 * the answers "empty" between. A row of pairs (e1,d1), (e2,d2), ... represents
 * a legal order if and only if
 *   - no enqueue precedes (ends before it begins) one that precedes it, in the
 *   row or after it, and the same for dequeues;
 *   - no d_i precedes an e_j with j <= i.
 * (Longer cycles reduce to these, because precedence is that of intervals.) An
 * answer "empty" follows some pair i if there is a moment, during it, after
 * the invocations of everything before and before the responses of everything
 * after. So it is enough to know T, the latest invocation of what was placed,
 * and `empty_to`: the latest moment so far with nothing inside. An "empty"
 * that ended after T is placed if and only if it was invoked before empty_to;
 * one that ended before T must have been by then.
 *
 * A configuration is the set of enqueues placed and the set of dequeues
 * placed. A set is the first response of what is left, and a bit for each
 * operation open there. An enqueue that never answered is optional; a dequeue
 * that never answered is optional and took anything, the oldest first. Of
 * equal operations one that was invoked and ended no later goes first. A
 * configuration is covered by one with the same sets that used fewer of the
 * optional ones, with an earlier T and a later empty_to.
 */
#include <string.h>

#include "base/invariant.h"
#include "lin/dfs.h"

/* Enqueues, or dequeues: those that answered, by invocation. */
struct queue_side {
	uint32_t *op, n;   /* operations */
	uint32_t *by_ret;  /* their places here by response */
	uint32_t *slot;    /* by place */
	uint32_t *max_ret; /* by place: the last response of those up to it */
	uint32_t nslots, words;
	uint32_t *lost, nlost; /* operations that never answered, by invocation */
};

struct pair_frame {
	uint32_t ret[2];    /* by side: how many in by_ret were passed */
	uint32_t nlost;     /* dequeues without answer used */
	uint32_t latest;    /* invocation of what was placed, + 1 */
	uint32_t latest_in; /* of an enqueue */
	uint32_t empty_to;
	uint32_t choice;
	uint32_t nrow;
};

struct queue_pairs {
	const struct problem *p;
	struct queue_side side[2];
	uint32_t *empties, nempties; /* by response */
	uint32_t words;              /* of a mask: enqueues, dequeues, lost enqueues */
	struct pair_frame *fr, now;
	uint64_t *masks, *cur;
	uint32_t nfr, cfr;
	uint32_t *row, nrow; /* an enqueue and a dequeue each */
	uint32_t best;       /* the most dequeues placed */
	uint64_t *seen;
	uint32_t nseen, cseen, *heads, nheads;
	uint64_t steps;
	bool failed;
};

enum { IN, OUT };

static const struct hop *hop_of(const struct queue_pairs *q, uint32_t op)
{
	assert(op < q->p->n);
	return &q->p->ops[op];
}

static uint64_t *mask(const struct queue_pairs *q, uint64_t *m, int side)
{
	return side == IN ? m : m + q->side[IN].words;
}

static uint64_t *lost_mask(const struct queue_pairs *q, uint64_t *m)
{
	return m + q->side[IN].words + q->side[OUT].words;
}

/* ---- preparation ------------------------------------------------------------- */

static void *get(struct queue_pairs *q, size_t n)
{
	void *p = lim_realloc(q->p->lim, NULL, 0, n * 4 + 8);
	q->failed |= !p;
	if (p)
		memset(p, 0, n * 4 + 8);
	return p;
}

static void drop(struct queue_pairs *q, void *p, size_t n)
{
	lim_free(q->p->lim, p, p ? n * 4 + 8 : 0);
}

static bool open_side(struct queue_pairs *q, struct queue_side *s, const uint32_t *ev, enum fn fn)
{
	const struct problem *p = q->p;
	s->op = get(q, p->n);
	s->by_ret = get(q, p->n);
	s->slot = get(q, p->n);
	s->max_ret = get(q, p->n);
	s->lost = get(q, p->n);
	uint32_t *place = get(q, p->n), *free_slots = get(q, p->n), nfree = 0, nret = 0;
	for (uint32_t t = 0; t < p->nevents && !q->failed; t++) {
		uint32_t o = ev[t] / 2;
		if (ev[t] == RANK_INF || p->ops[o].fn != fn || (fn == FN_DEQ && p->ops[o].b == VAL_NIL))
			continue;
		if (p->ops[o].ret == RANK_INF) {
			s->lost[s->nlost++] = o;
		} else if (ev[t] & 1) {
			s->by_ret[nret++] = place[o];
			free_slots[nfree++] = s->slot[place[o]];
		} else {
			place[o] = s->n;
			s->slot[s->n] = nfree ? free_slots[--nfree] : s->nslots++;
			s->max_ret[s->n] = s->n && s->max_ret[s->n - 1] > p->ops[o].ret ? s->max_ret[s->n - 1] : p->ops[o].ret;
			s->op[s->n++] = o;
		}
	}
	s->words = (s->nslots + 63) / 64;
	drop(q, place, p->n);
	drop(q, free_slots, p->n);
	return !q->failed;
}

static bool open_pairs(struct queue_pairs *q, const struct problem *p)
{
	memset(q, 0, sizeof *q);
	q->p = p;
	uint32_t *ev = events_of(p);
	q->failed = !ev;
	q->empties = get(q, p->n);
	q->row = get(q, p->n * 2ull);
	bool ok = !q->failed && open_side(q, &q->side[IN], ev, FN_ENQ) && open_side(q, &q->side[OUT], ev, FN_DEQ);
	for (uint32_t t = 0; t < p->nevents && ok; t++)
		if (ev[t] != RANK_INF && ev[t] & 1 && p->ops[ev[t] / 2].fn == FN_DEQ && p->ops[ev[t] / 2].b == VAL_NIL)
			q->empties[q->nempties++] = ev[t] / 2;
	q->words = q->side[IN].words + q->side[OUT].words + (q->side[IN].nlost + 63) / 64;
	q->cur = ok ? get(q, q->words * 2ull) : NULL;
	lim_free(p->lim, ev, ev ? p->nevents * 4ull + 4 : 0);
	return !q->failed;
}

static void close_pairs(struct queue_pairs *q)
{
	size_t n = q->p->n;
	for (int i = 0; i < 2; i++) {
		drop(q, q->side[i].op, n);
		drop(q, q->side[i].by_ret, n);
		drop(q, q->side[i].slot, n);
		drop(q, q->side[i].max_ret, n);
		drop(q, q->side[i].lost, n);
	}
	drop(q, q->empties, n);
	drop(q, q->row, n * 2);
	drop(q, q->cur, q->words * 2ull);
	lim_free(q->p->lim, q->fr, q->cfr * sizeof *q->fr);
	lim_free(q->p->lim, q->masks, q->cfr * q->words * 8ull);
	lim_free(q->p->lim, q->seen, q->cseen * (q->words + 6) * 8ull);
	lim_free(q->p->lim, q->heads, q->nheads * 4ull);
}

/* ---- what was visited ---------------------------------------------------------- */

enum { E_KEY, E_LINK, E_LATEST, E_IN, E_EMPTY, E_LOST, E_MASK };

static bool grow_seen(struct queue_pairs *q)
{
	size_t bytes = (q->words + (size_t)E_MASK) * 8;
	if (q->nseen == q->cseen) {
		uint32_t cap = q->cseen ? q->cseen * 2 : 256;
		uint64_t *s = cap > UINT32_MAX / 4 ? NULL : lim_realloc(q->p->lim, q->seen, q->cseen * bytes, cap * bytes);
		if (!s)
			return false;
		q->seen = s;
		q->cseen = cap;
	}
	if (q->nseen < q->nheads)
		return true;
	uint32_t n = q->nheads ? q->nheads * 2 : 256, *h = lim_realloc(q->p->lim, NULL, 0, n * 4ull);
	if (!h)
		return false;
	memset(h, 0, n * 4ull);
	for (uint32_t i = 0; i < q->nseen; i++) {
		uint64_t *e = q->seen + (size_t)i * (q->words + E_MASK);
		uint32_t b = (uint32_t)(e[E_LINK] >> 32) & (n - 1);
		e[E_LINK] = e[E_LINK] >> 32 << 32 | h[b];
		h[b] = i + 1;
	}
	lim_free(q->p->lim, q->heads, q->nheads * 4ull);
	q->heads = h;
	q->nheads = n;
	return true;
}

/* False when this configuration, or one that covers it, was there before. */
static bool remember(struct queue_pairs *q)
{
	const struct pair_frame *f = &q->now;
	uint32_t exact = q->side[IN].words + q->side[OUT].words;
	if (!grow_seen(q)) {
		q->failed = true;
		return false;
	}
	uint64_t key = (uint64_t)f->ret[IN] << 32 | f->ret[OUT], h = hash64(key);
	for (uint32_t i = 0; i < exact; i++)
		h = hash64(h ^ q->cur[i]) + i;
	uint32_t b = (uint32_t)h & (q->nheads - 1);
	for (uint32_t i = q->heads[b]; i;) {
		const uint64_t *e = q->seen + (size_t)(i - 1) * (q->words + E_MASK);
		bool covers = e[E_KEY] == key && e[E_LATEST] <= f->latest && e[E_IN] <= f->latest_in && e[E_EMPTY] >= f->empty_to &&
		              e[E_LOST] <= f->nlost && !memcmp(e + E_MASK, q->cur, exact * 8ull);
		for (uint32_t k = exact; k < q->words && covers; k++)
			covers = !(e[E_MASK + k] & ~q->cur[k]);
		if (covers)
			return false;
		i = (uint32_t)e[E_LINK];
	}
	uint64_t *e = q->seen + (size_t)q->nseen * (q->words + E_MASK);
	e[E_KEY] = key;
	e[E_LINK] = h << 32 | q->heads[b];
	e[E_LATEST] = f->latest;
	e[E_IN] = f->latest_in;
	e[E_EMPTY] = f->empty_to;
	e[E_LOST] = f->nlost;
	memcpy(e + E_MASK, q->cur, q->words * 8ull);
	q->heads[b] = ++q->nseen;
	return true;
}

/* ---- placing --------------------------------------------------------------------- */

/* When the first of what is left on a side returns; RANK_INF: nothing is. */
static uint32_t first_return(const struct queue_pairs *q, int side)
{
	const struct queue_side *s = &q->side[side];
	uint32_t i = q->now.ret[side];
	return i < s->n ? hop_of(q, s->op[s->by_ret[i]])->ret : RANK_INF;
}

static bool placed(const struct queue_pairs *q, int side, uint32_t place)
{
	const struct queue_side *s = &q->side[side];
	return hop_of(q, s->op[place])->ret < first_return(q, side) || mask_bit(mask(q, q->cur, side), s->slot[place]);
}

/* Marks it; then the responses of what is placed are passed. */
static void mark(struct queue_pairs *q, int side, uint32_t place)
{
	assert(place < q->side[side].n);
	struct queue_side *s = &q->side[side];
	uint64_t *m = mask(q, q->cur, side);
	mask_set(m, s->slot[place]);
	uint32_t *i = &q->now.ret[side];
	for (; *i < s->n && mask_bit(m, s->slot[s->by_ret[*i]]); ++*i)
		mask_clear(m, s->slot[s->by_ret[*i]]);
}

/* First of the answers "empty" that did not end before a time. */
static uint32_t empties_from(const struct queue_pairs *q, uint32_t ret)
{
	uint32_t lo = 0, hi = q->nempties;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (hop_of(q, q->empties[mid])->ret < ret)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Nothing is inside now: until which moment? */
static void note_empty(struct queue_pairs *q)
{
	uint32_t in = first_return(q, IN), out = first_return(q, OUT), until = in < out ? in : out;
	if (q->now.latest <= until && until > q->now.empty_to)
		q->now.empty_to = until;
}

/* Something invoked then is placed: every "empty" that ended before must have
 * its place by now. */
static bool pass_time(struct queue_pairs *q, uint32_t call)
{
	if (call < q->now.latest)
		return true;
	for (uint32_t i = empties_from(q, q->now.latest); i < q->nempties; i++) {
		const struct hop *z = hop_of(q, q->empties[i]);
		if (z->ret > call)
			break;
		if (z->call >= q->now.empty_to)
			return false;
	}
	q->now.latest = call + 1;
	return true;
}

/* All that must be placed is. */
static bool finished(const struct queue_pairs *q)
{
	if (q->now.ret[OUT] < q->side[OUT].n)
		return false;
	for (uint32_t i = empties_from(q, q->now.latest); i < q->nempties; i++)
		if (hop_of(q, q->empties[i])->call >= q->now.empty_to)
			return false;
	return true;
}

static bool push(struct queue_pairs *q)
{
	assert(q->now.ret[IN] <= q->side[IN].n && q->now.ret[OUT] <= q->side[OUT].n);
	note_empty(q);
	if (q->now.ret[OUT] > q->best)
		q->best = q->now.ret[OUT];
	if (!remember(q))
		return false;
	if (q->nfr == q->cfr) {
		uint32_t cap = q->cfr ? q->cfr * 2 : 256;
		struct pair_frame *f = lim_realloc(q->p->lim, q->fr, q->cfr * sizeof *f, cap * sizeof *f);
		if (f)
			q->fr = f;
		uint64_t *m = f ? lim_realloc(q->p->lim, q->masks, q->cfr * q->words * 8ull, cap * q->words * 8ull) : NULL;
		if (!m) {
			q->failed = true;
			if (f)
				lim_realloc(q->p->lim, q->fr, cap * sizeof *f, q->cfr * sizeof *f);
			return false;
		}
		q->masks = m;
		q->cfr = cap;
	}
	memcpy(q->masks + (size_t)q->nfr * q->words, q->cur, q->words * 8ull);
	q->now.choice = 0;
	q->now.nrow = q->nrow;
	q->fr[q->nfr++] = q->now;
	return true;
}

/* ---- candidates -------------------------------------------------------------------- */

/* Candidate k of a side: in the slots of the operations that are open when the
 * first of what is left returns, then those that never answered. */
static uint32_t candidate_op(const struct queue_pairs *q, int side, uint32_t k, uint32_t *place)
{
	const struct queue_side *s = &q->side[side];
	*place = RANK_INF;
	if (k >= s->n)
		return k - s->n < s->nlost ? s->lost[k - s->n] : RANK_INF;
	*place = k;
	return s->op[k];
}

/* Places from..to of a side may be open when the first of what is left returns. */
static void open_range(const struct queue_pairs *q, int side, uint32_t *from, uint32_t *to)
{
	const struct queue_side *s = &q->side[side];
	uint32_t first = first_return(q, side), lo = 0, hi = s->n, i = q->now.ret[side];
	*from = *to = s->n;
	if (i == s->n)
		return;
	while (lo < hi) { /* those invoked before it returns */
		uint32_t mid = lo + (hi - lo) / 2;
		if (hop_of(q, s->op[mid])->call < first)
			lo = mid + 1;
		else
			hi = mid;
	}
	*to = lo;
	uint32_t at = lo;
	while (at > 0 && s->max_ret[at - 1] >= first)
		at--;
	*from = at;
}

/* Is there an equal one that was invoked and ended no later, and is left? */
static bool not_its_turn(const struct queue_pairs *q, int side, uint32_t from, uint32_t to, uint32_t place)
{
	const struct queue_side *s = &q->side[side];
	const struct hop *a = hop_of(q, s->op[place]);
	for (uint32_t k = from; k < to; k++) {
		const struct hop *b = hop_of(q, s->op[k]);
		if (k != place && (side == IN ? b->a == a->a : b->b == a->b) && b->call <= a->call && b->ret <= a->ret &&
		    !placed(q, side, k))
			return true;
	}
	return false;
}

/* The oldest enqueue of a value that never answered and was not used. */
static bool lost_turn(const struct queue_pairs *q, uint32_t k)
{
	const struct queue_side *s = &q->side[IN];
	const uint64_t *m = lost_mask(q, q->cur);
	if (mask_bit(m, k))
		return false;
	for (uint32_t j = 0; j < k; j++)
		if (!mask_bit(m, j) && hop_of(q, s->lost[j])->a == hop_of(q, s->lost[k])->a)
			return false;
	return true;
}

struct choice {
	uint32_t op[2], place[2]; /* place RANK_INF: one that never answered */
	uint32_t lost;            /* which, of the enqueues */
};

/* Pair number c of the present configuration; false: none such. *total is the
 * number of pairs to try. */
static bool choose(struct queue_pairs *q, uint32_t c, struct choice *x, uint32_t *total)
{
	uint32_t from[2], to[2];
	open_range(q, IN, &from[IN], &to[IN]);
	open_range(q, OUT, &from[OUT], &to[OUT]);
	uint32_t nin = to[IN] - from[IN] + q->side[IN].nlost, nout = to[OUT] - from[OUT] + 1;
	assert(from[IN] <= to[IN] && from[OUT] <= to[OUT]);
	*total = nin * nout;
	if (c >= *total)
		return false;
	uint32_t i = c % nin, o = c / nin;
	bool lost_in = i >= to[IN] - from[IN], lost_out = o >= to[OUT] - from[OUT];
	x->lost = i - (to[IN] - from[IN]);
	x->op[IN] = candidate_op(q, IN, lost_in ? q->side[IN].n + x->lost : from[IN] + i, &x->place[IN]);
	x->op[OUT] = candidate_op(q, OUT, lost_out ? q->side[OUT].n + q->now.nlost : from[OUT] + o, &x->place[OUT]);
	if (x->op[IN] == RANK_INF || x->op[OUT] == RANK_INF)
		return false;
	const struct hop *e = hop_of(q, x->op[IN]), *d = hop_of(q, x->op[OUT]);
	if (!lost_out && e->a != d->b)
		return false;
	/* nothing that is left precedes either; the dequeue precedes no enqueue */
	if (e->call > first_return(q, IN) || d->call > first_return(q, OUT) || d->ret < e->call || d->ret < q->now.latest_in)
		return false;
	if (lost_in ? !lost_turn(q, x->lost) : placed(q, IN, x->place[IN]) || not_its_turn(q, IN, from[IN], to[IN], x->place[IN]))
		return false;
	return lost_out || (!placed(q, OUT, x->place[OUT]) && !not_its_turn(q, OUT, from[OUT], to[OUT], x->place[OUT]));
}

/* ---- the search ---------------------------------------------------------------------- */

static bool place(struct queue_pairs *q, const struct choice *x)
{
	uint32_t in = hop_of(q, x->op[IN])->call, out = hop_of(q, x->op[OUT])->call;
	if (!pass_time(q, in < out ? in : out) || !pass_time(q, in < out ? out : in))
		return false;
	if (in >= q->now.latest_in)
		q->now.latest_in = in + 1;
	if (x->place[IN] == RANK_INF)
		mask_set(lost_mask(q, q->cur), x->lost);
	else
		mark(q, IN, x->place[IN]);
	if (x->place[OUT] == RANK_INF)
		q->now.nlost++;
	else
		mark(q, OUT, x->place[OUT]);
	q->row[2 * q->nrow] = x->op[IN];
	q->row[2 * q->nrow + 1] = x->op[OUT];
	q->nrow++;
	return true;
}

/* 1 a whole row was found, 0 there is none, -1 a limit or the steps are used up. */
static int run(struct queue_pairs *q, uint64_t max_steps)
{
	push(q);
	while (q->nfr && !q->failed) {
		struct pair_frame *f = &q->fr[q->nfr - 1];
		struct choice x;
		uint32_t total, c = f->choice++;
		q->now = *f;
		q->nrow = f->nrow;
		memcpy(q->cur, q->masks + (size_t)(q->nfr - 1) * q->words, q->words * 8ull);
		if (!c && finished(q))
			return 1;
		if ((++q->steps & 0x3FF) == 0 && (lim_spent(q->p->lim) || (max_steps && q->steps > max_steps)))
			return -1;
		bool some = choose(q, c, &x, &total);
		if (c >= total)
			q->nfr--;
		else if (some && place(q, &x))
			push(q);
	}
	return q->failed ? -1 : 0;
}

/* ---- the order ------------------------------------------------------------------------ */

/* Three rows that are to be merged: the enqueues, the dequeues, the answers
 * "empty" (each knows how many pairs it follows). */
struct merge {
	uint32_t *row[3], n[3], at[3];
	uint32_t *least[3]; /* by place: the first response from there on */
	uint32_t *behind;   /* of each empty */
};

static bool may_come(const struct queue_pairs *q, const struct merge *m, int k)
{
	if (m->at[k] == m->n[k])
		return false;
	if (k == 1 && m->at[1] >= m->at[0])
		return false;
	bool wait = m->at[2] < m->n[2];
	if (k < 2 && wait && m->at[k] >= m->behind[m->at[2]])
		return false;
	if (k == 2 && (m->at[0] < m->behind[m->at[2]] || m->at[1] < m->behind[m->at[2]]))
		return false;
	uint32_t call = hop_of(q, m->row[k][m->at[k]])->call;
	for (int j = 0; j < 3; j++)
		if (m->at[j] < m->n[j] && m->least[j][m->at[j]] < call)
			return false;
	return true;
}

static bool merge_order(const struct queue_pairs *q, struct merge *m, struct result *r)
{
	uint32_t total = m->n[0] + m->n[1] + m->n[2];
	if (!result_order(r, total))
		return false;
	for (int k = 0; k < 3; k++)
		for (uint32_t i = m->n[k], least = RANK_INF; i-- > 0;)
			m->least[k][i] = least = hop_of(q, m->row[k][i])->ret < least ? hop_of(q, m->row[k][i])->ret : least;
	while (r->norder < total) {
		int k = 0;
		while (k < 3 && !may_come(q, m, k))
			k++;
		if (k == 3)
			return false;
		r->order[r->norder++] = m->row[k][m->at[k]++];
	}
	return true;
}

/* Its place among those that returned, which are sorted by invocation; RANK_INF. */
static uint32_t place_of(const struct queue_pairs *q, int side, uint32_t op)
{
	const struct queue_side *s = &q->side[side];
	uint32_t lo = 0, hi = s->n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (hop_of(q, s->op[mid])->call < hop_of(q, op)->call)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->n && s->op[lo] == op ? lo : RANK_INF;
}

/* Follows the row once more to find the places of the answers "empty". */
static void place_empties(struct queue_pairs *q, struct merge *m)
{
	uint32_t n = q->nrow;
	memset(&q->now, 0, sizeof q->now);
	memset(q->cur, 0, q->words * 8ull);
	uint32_t done = 0, *todo = m->row[2]; /* by response; compacted as they are placed */
	memcpy(todo, q->empties, q->nempties * 4ull);
	uint32_t left = q->nempties;
	for (uint32_t i = 0;; i++) {
		uint32_t had = q->now.empty_to;
		note_empty(q);
		uint32_t keep = q->now.empty_to > had ? 0 : left;
		for (uint32_t k = keep; k < left; k++) {
			const struct hop *z = hop_of(q, todo[k]);
			bool here = z->call < q->now.empty_to && z->ret + 1 > q->now.latest;
			if (here) {
				m->behind[done] = i;
				m->least[2][done++] = todo[k]; /* borrowed */
			} else {
				todo[keep++] = todo[k];
			}
		}
		left = keep;
		if (i == n)
			break;
		struct choice x = { .op = { q->row[2 * i], q->row[2 * i + 1] }, .place = { RANK_INF, RANK_INF } };
		for (int s = 0; s < 2; s++)
			x.place[s] = place_of(q, s, x.op[s]);
		q->nrow = i;
		place(q, &x);
	}
	q->nrow = n;
	m->n[2] = done;
	memcpy(todo, m->least[2], done * 4ull);
}

static bool find_order(struct queue_pairs *q, struct result *r)
{
	assert(q->p->obj == OBJ_QUEUE);
	struct merge m = { 0 };
	uint32_t n = q->p->n;
	for (int k = 0; k < 3; k++) {
		m.row[k] = get(q, n);
		m.least[k] = get(q, n);
	}
	m.behind = get(q, n);
	bool ok = !q->failed;
	if (ok) {
		unsigned char *in_row = (unsigned char *)m.behind; /* borrowed */
		for (uint32_t i = 0; i < q->nrow; i++) {
			m.row[0][m.n[0]++] = q->row[2 * i];
			m.row[1][m.n[1]++] = q->row[2 * i + 1];
			in_row[q->row[2 * i]] = 1;
		}
		for (uint32_t i = 0; i < q->side[IN].n; i++) /* what nothing took */
			if (!in_row[q->side[IN].op[i]])
				m.row[0][m.n[0]++] = q->side[IN].op[i];
		memset(m.behind, 0, n * 4ull);
		place_empties(q, &m);
		ok = merge_order(q, &m, r);
	}
	for (int k = 0; k < 3; k++) {
		drop(q, m.row[k], n);
		drop(q, m.least[k], n);
	}
	drop(q, m.behind, n);
	return ok;
}

/* ---- the verdict ------------------------------------------------------------------------ */

static enum lin_verdict judge(const struct problem *p, struct result *r, uint64_t max_steps)
{
	struct queue_pairs q;
	uint32_t len;
	result_init(r, ALG_PAIRS, p->lim);
	val_elems(p->vals, p->init, &len);
	if (p->obj != OBJ_QUEUE || len)
		return result_refuse(r, "it supports only queues that start empty", RANK_INF, RANK_INF);
	for (uint32_t i = 0; i < p->n; i++)
		if (p->ops[i].fn != FN_ENQ && p->ops[i].fn != FN_DEQ)
			return result_refuse(r, "an operation only observes (peek), which requires the search", i, RANK_INF);
	int found = open_pairs(&q, p) ? run(&q, max_steps) : -1;
	r->steps = q.steps;
	if (found > 0) {
		r->verdict = find_order(&q, r) ? LIN_HOLDS : LIN_UNKNOWN;
	} else if (!found) {
		/* nothing is known about the moment; see lin_first_moment */
		r->verdict = LIN_VIOLATED;
		r->proof = PROOF_EXHAUSTED;
		r->culprit = RANK_INF;
		for (uint32_t i = 0; i < p->n; i++)
			if (p->ops[i].ret != RANK_INF && (r->culprit == RANK_INF || p->ops[i].ret < p->ops[r->culprit].ret))
				r->culprit = i;
	}
	close_pairs(&q);
	return r->verdict;
}

enum lin_verdict lin_queue_pairs(const struct problem *p, struct result *r)
{
	judge(p, r, p->max_steps);
	if (r->verdict == LIN_VIOLATED && r->culprit != RANK_INF)
		lin_first_moment(p, r, lin_certain_by(p, RANK_INF), judge);
	if (r->verdict == LIN_VIOLATED && r->culprit != RANK_INF)
		lin_explain(p, r);
	return r->verdict;
}
