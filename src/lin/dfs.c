/*
 * dfs: the general search (Wing and Gong, with Lowe's memory of what failed).
 *
 * Time passes event by event. A configuration is where we are in the history,
 * the state of the object, and which of the operations open there have
 * already taken effect: not a set of n bits but one bit an open operation.
 * Nothing is decided before it must be: only when an operation returns that
 * has not taken effect does the search choose what takes effect now, it or
 * another open one first.
 *
 * Three reductions, each sound by exchange of steps:
 *  - an open operation that only observes (a read) takes effect at once when
 *    the present state allows it;
 *  - operations that never answered are optional, so a configuration is
 *    covered by one that differs only in having used fewer of them;
 *  - of several such operations that are equal, the oldest is used first.
 *
 * Memory: what failed, once each. The history is judged wrong when nothing is
 * left to try; the furthest response reached is where it became certain.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lin/guide.h"
#include "lin/lin.h"
#include "history/spec.h"

struct frame {
	uint32_t at;      /* event: a response whose operation has not taken effect */
	uint32_t state;
	uint32_t choice;  /* next candidate */
	uint32_t nlin;    /* length of the order so far */
};

struct dfs {
	const struct problem *p;
	struct spec_ctx ctx;
	struct guide guide;
	struct result *r;
	uint32_t *ev;
	uint32_t *slot;      /* by operation: live ones 0.., crashed ones 0.. apart */
	uint32_t *occupant;  /* by live slot, at the present event; RANK_INF free */
	uint32_t *crashed;   /* crashed operations in order of invocation */
	uint32_t *same;      /* by crashed: an equal older one, or RANK_INF */
	uint32_t nlive, ncrashed, ncalled; /* crashed ones invoked by now */
	uint32_t lw, w;      /* words of a mask: live, all */
	uint32_t pos;        /* events before it have been passed */
	uint32_t ncalls;     /* invocations among them */
	struct frame *fr;    /* the stack, and the mask of each frame */
	uint64_t *masks;
	uint32_t nfr, cfr;
	uint32_t *lin, nlin; /* the order */
	uint64_t *cur;       /* the mask being worked on */
	/* what was visited: entries of 1 + w words and a link */
	uint64_t *seen;
	uint32_t nseen, cseen, *heads, nheads;
	/* the furthest response reached, and the states there */
	uint32_t best, best_states[MAX_STATES_SHOWN], nbest;
	bool many, failed;
};

static bool bit(const uint64_t *m, uint32_t i)
{
	return m[i / 64] >> (i % 64) & 1;
}

static void set_bit(uint64_t *m, uint32_t i)
{
	m[i / 64] |= 1ull << (i % 64);
}

static void clear_bit(uint64_t *m, uint32_t i)
{
	m[i / 64] &= ~(1ull << (i % 64));
}

static bool is_crashed(const struct dfs *d, uint32_t op)
{
	return d->p->ops[op].ret == RANK_INF;
}

/* ---- preparation ------------------------------------------------------------ */

static bool same_call(const struct hop *a, const struct hop *b)
{
	return a->fn == b->fn && a->a == b->a && a->b == b->b && a->res == b->res;
}

static void *get(struct dfs *d, size_t bytes)
{
	void *p = lim_realloc(d->p->lim, NULL, 0, bytes);
	if (!p)
		d->failed = true;
	return p;
}

static bool prepare(struct dfs *d)
{
	const struct problem *p = d->p;
	size_t bytes = p->n * 4ull + 4;
	d->ev = events_of(p);
	d->slot = get(d, bytes);
	d->crashed = get(d, bytes);
	d->same = get(d, bytes);
	d->lin = get(d, bytes);
	d->occupant = get(d, bytes);
	if (!d->ev || d->failed)
		return false;
	uint32_t nfree = 0, *free_slots = d->lin; /* borrowed */
	for (uint32_t t = 0; t < p->nevents; t++) {
		if (d->ev[t] == RANK_INF)
			continue;
		uint32_t op = d->ev[t] / 2;
		if (is_crashed(d, op)) {
			uint32_t k = d->ncrashed, older = RANK_INF;
			for (uint32_t j = k; j-- > 0 && k - j < 1000;)
				if (same_call(&p->ops[d->crashed[j]], &p->ops[op])) {
					older = j;
					break;
				}
			d->same[k] = older;
			d->crashed[k] = op;
			d->slot[op] = d->ncrashed++;
		} else if (d->ev[t] & 1) {
			free_slots[nfree++] = d->slot[op];
		} else {
			d->slot[op] = nfree ? free_slots[--nfree] : d->nlive++;
		}
	}
	memset(d->occupant, 0xFF, bytes);
	d->lw = (d->nlive + 63) / 64;
	d->w = d->lw + (d->ncrashed + 63) / 64;
	d->cur = get(d, d->w * 8ull + 8);
	if (d->cur)
		memset(d->cur, 0, d->w * 8ull + 8);
	return !d->failed;
}

static void finish(struct dfs *d)
{
	struct limits *l = d->p->lim;
	size_t bytes = d->p->n * 4ull + 4;
	guide_close(&d->guide);
	lim_free(l, d->ev, d->ev ? d->p->nevents * 4ull + 4 : 0);
	lim_free(l, d->slot, d->slot ? bytes : 0);
	lim_free(l, d->crashed, d->crashed ? bytes : 0);
	lim_free(l, d->same, d->same ? bytes : 0);
	lim_free(l, d->lin, d->lin ? bytes : 0);
	lim_free(l, d->occupant, d->occupant ? bytes : 0);
	lim_free(l, d->cur, d->cur ? d->w * 8ull + 8 : 0);
	lim_free(l, d->fr, d->cfr * sizeof *d->fr);
	lim_free(l, d->masks, d->cfr * d->w * 8ull);
	lim_free(l, d->seen, d->cseen * (d->w + 2) * 8ull);
	lim_free(l, d->heads, d->nheads * 4ull);
	spec_close(&d->ctx);
}

/* ---- what was visited --------------------------------------------------------- */

static uint64_t config_hash(const struct dfs *d, uint32_t at, uint32_t state, const uint64_t *m)
{
	uint64_t h = hash64((uint64_t)at << 32 | state);
	for (uint32_t i = 0; i < d->lw; i++)
		h = hash64(h ^ m[i]) + i;
	return h;
}

static bool seen_grow(struct dfs *d)
{
	size_t stride = (d->w + 2) * 8ull;
	if (d->nseen == d->cseen) {
		if (d->cseen > UINT32_MAX / 4)
			return false;
		uint32_t cap = d->cseen ? d->cseen * 2 : 1024;
		uint64_t *s = lim_realloc(d->p->lim, d->seen, d->cseen * stride, cap * stride);
		if (!s)
			return false;
		d->seen = s;
		d->cseen = cap;
	}
	if (d->nseen < d->nheads)
		return true;
	uint32_t n = d->nheads ? d->nheads * 2 : 1024;
	uint32_t *h = lim_realloc(d->p->lim, NULL, 0, n * 4ull);
	if (!h)
		return false;
	memset(h, 0, n * 4ull);
	for (uint32_t i = 0; i < d->nseen; i++) {
		uint64_t *e = d->seen + (size_t)i * (d->w + 2);
		uint32_t b = (uint32_t)config_hash(d, (uint32_t)(e[0] >> 32), (uint32_t)e[0], e + 2) & (n - 1);
		e[1] = h[b];
		h[b] = i + 1;
	}
	lim_free(d->p->lim, d->heads, d->nheads * 4ull);
	d->heads = h;
	d->nheads = n;
	return true;
}

/* False when the configuration, or one that covers it, was here before. */
static bool remember(struct dfs *d, uint32_t at, uint32_t state)
{
	if (!seen_grow(d)) {
		d->failed = true;
		return false;
	}
	uint64_t key = (uint64_t)at << 32 | state;
	uint32_t b = (uint32_t)config_hash(d, at, state, d->cur) & (d->nheads - 1);
	for (uint32_t i = d->heads[b]; i;) {
		const uint64_t *e = d->seen + (size_t)(i - 1) * (d->w + 2);
		i = (uint32_t)e[1];
		bool covers = e[0] == key;
		for (uint32_t j = 0; covers && j < d->lw; j++)
			covers = e[2 + j] == d->cur[j];
		for (uint32_t j = d->lw; covers && j < d->w; j++)
			covers = !(e[2 + j] & ~d->cur[j]);
		if (covers)
			return false;
	}
	uint64_t *e = d->seen + (size_t)d->nseen * (d->w + 2);
	e[0] = key;
	e[1] = d->heads[b];
	if (d->w)
		memcpy(e + 2, d->cur, d->w * 8ull);
	d->heads[b] = ++d->nseen;
	return true;
}

/* ---- time ---------------------------------------------------------------------- */

/* Back to the time just before event `at`. */
static void rewind_to(struct dfs *d, uint32_t at)
{
	while (d->pos > at) {
		uint32_t e = d->ev[--d->pos];
		if (e == RANK_INF)
			continue;
		d->ncalls -= !(e & 1);
		if (is_crashed(d, e / 2))
			d->ncalled--;
		else
			d->occupant[d->slot[e / 2]] = e & 1 ? e / 2 : RANK_INF;
	}
}

static void take_effect(struct dfs *d, uint32_t op)
{
	if (is_crashed(d, op))
		set_bit(d->cur + d->lw, d->slot[op]);
	else
		set_bit(d->cur, d->slot[op]);
	d->lin[d->nlin++] = op;
}

/* An observation that can happen now happens now. */
static void absorb(struct dfs *d, uint32_t op, uint32_t state)
{
	uint32_t next;
	if (hop_observes(&d->p->ops[op]) &&
	    d->ctx.spec->apply(&d->ctx, state, &d->p->ops[op], &next))
		take_effect(d, op);
}

/* Passes events until a response needs a decision; false at the end. */
static bool advance(struct dfs *d, uint32_t state)
{
	for (; d->pos < d->p->nevents; d->pos++) {
		uint32_t e = d->ev[d->pos];
		if (e == RANK_INF)
			continue;
		uint32_t op = e / 2;
		d->ncalls += !(e & 1);
		if (is_crashed(d, op)) {
			d->ncalled++;
		} else if (!(e & 1)) {
			d->occupant[d->slot[op]] = op;
			absorb(d, op, state);
		} else if (bit(d->cur, d->slot[op])) {
			clear_bit(d->cur, d->slot[op]);
			d->occupant[d->slot[op]] = RANK_INF;
		} else {
			return true;
		}
	}
	return false;
}

/* ---- the search ------------------------------------------------------------------ */

static void note_progress(struct dfs *d, uint32_t at, uint32_t state)
{
	if (at < d->best)
		return;
	if (at > d->best) {
		d->best = at;
		d->nbest = 0;
		d->many = false;
	}
	for (uint32_t i = 0; i < d->nbest; i++)
		if (d->best_states[i] == state)
			return;
	if (d->nbest < MAX_STATES_SHOWN)
		d->best_states[d->nbest++] = state;
	else
		d->many = true;
}

/* A new frame for the present configuration; false when there is no point. */
static bool push(struct dfs *d, uint32_t state)
{
	note_progress(d, d->pos, state);
	if (!remember(d, d->pos, state))
		return false;
	if (d->nfr == d->cfr) {
		uint32_t cap = d->cfr ? d->cfr * 2 : 256;
		struct frame *f = lim_realloc(d->p->lim, d->fr, d->cfr * sizeof *f, cap * sizeof *f);
		if (f)
			d->fr = f;
		uint64_t *m = f ? lim_realloc(d->p->lim, d->masks, d->cfr * d->w * 8ull, cap * d->w * 8ull)
		                : NULL;
		if (!m) {
			d->failed = true;
			if (f) /* keep the book straight for finish() */
				lim_realloc(d->p->lim, d->fr, cap * sizeof *f, d->cfr * sizeof *f);
			return false;
		}
		d->masks = m;
		d->cfr = cap;
	}
	if (d->w)
		memcpy(d->masks + (size_t)d->nfr * d->w, d->cur, d->w * 8ull);
	d->fr[d->nfr++] = (struct frame){ d->pos, state, 0, d->nlin };
	return true;
}

/* Candidate number c at the present event: the returning operation, then the
 * other open ones, then those that never answered. RANK_INF: skip it. */
static uint32_t candidate(const struct dfs *d, uint32_t c)
{
	uint32_t returning = d->ev[d->pos] / 2;
	if (c == 0)
		return returning;
	if (c <= d->nlive) {
		uint32_t op = d->occupant[c - 1];
		return op == returning || (op != RANK_INF && bit(d->cur, c - 1)) ? RANK_INF : op;
	}
	uint32_t k = c - 1 - d->nlive;
	if (bit(d->cur + d->lw, k) || (d->same[k] != RANK_INF && !bit(d->cur + d->lw, d->same[k])))
		return RANK_INF;
	return d->crashed[k];
}

static void absorb_open(struct dfs *d, uint32_t state)
{
	for (uint32_t s = 0; s < d->nlive; s++)
		if (d->occupant[s] != RANK_INF && !bit(d->cur, s))
			absorb(d, d->occupant[s], state);
}

/* Can what is still to be read be read from here? */
static bool hopeful(struct dfs *d, uint32_t state)
{
	if (!d->guide.on)
		return true;
	for (int reads = 0; reads < 2; reads++)
		for (uint32_t s = 0; s < d->nlive; s++) {
			uint32_t op = d->occupant[s];
			if (op == RANK_INF || bit(d->cur, s) || d->p->ops[op].fn != (reads ? FN_READ : FN_WRITE))
				continue;
			if (!reads)
				return true; /* an open write may start the content afresh */
			if (!guide_allows_read(&d->guide, &d->ctx, state, op, d->ncalls))
				return false;
		}
	return guide_allows(&d->guide, &d->ctx, state, d->ncalls);
}

/* Tries one candidate of the top frame. 1 the end of the history was reached. */
static int step(struct dfs *d)
{
	struct frame *f = &d->fr[d->nfr - 1];
	rewind_to(d, f->at);
	d->nlin = f->nlin;
	if (d->w)
		memcpy(d->cur, d->masks + (size_t)(d->nfr - 1) * d->w, d->w * 8ull);
	uint32_t total = 1 + d->nlive + d->ncalled, op = RANK_INF, next = 0;
	for (; f->choice < total; f->choice++) {
		op = candidate(d, f->choice);
		if (op == RANK_INF || !d->ctx.spec->apply(&d->ctx, f->state, &d->p->ops[op], &next))
			continue;
		if (is_crashed(d, op) && next == f->state)
			continue;
		break;
	}
	if (f->choice >= total) {
		d->nfr--;
		return 0;
	}
	f->choice++;
	take_effect(d, op);
	if (next != f->state)
		absorb_open(d, next);
	if (!advance(d, next))
		return 1;
	if (hopeful(d, next))
		push(d, next);
	return 0;
}

static void violated(struct dfs *d)
{
	struct result *r = d->r;
	const struct problem *p = d->p;
	r->verdict = LIN_VIOLATED;
	r->proof = PROOF_EXHAUSTED;
	r->culprit = d->ev[d->best] / 2;
	struct buf b;
	buf_init(&b);
	for (uint32_t i = 0; i < d->nbest; i++) {
		buf_str(&b, i ? (i + 1 == d->nbest && !d->many ? " or " : ", ") : "");
		d->ctx.spec->print(&d->ctx, d->best_states[i], &b);
	}
	if (d->many)
		buf_str(&b, " or others");
	r->states = strdup(buf_cstr(&b));
	buf_free(&b);
	/* the window: from the last moment at which nothing was open */
	uint32_t open = 0, n = 0;
	r->window = 0;
	for (uint32_t t = 0; t <= d->best; t++) {
		if (d->ev[t] == RANK_INF || is_crashed(d, d->ev[t] / 2))
			continue;
		if (!open)
			r->window = t;
		open += d->ev[t] & 1 ? UINT32_MAX : 1;
	}
	for (int pass = 0; pass < 2; pass++) { /* what overlaps the culprit */
		if (pass && !result_facts(r, n))
			return;
		n = 0;
		for (uint32_t i = 0; i < p->n && p->ops[i].call < d->best; i++)
			if (p->ops[i].ret > p->ops[r->culprit].call && !is_crashed(d, i)) {
				if (pass)
					r->ops[n] = i;
				n++;
			}
	}
}

enum lin_verdict lin_dfs(const struct problem *p, struct result *r, uint64_t max_steps)
{
	result_init(r, ALG_DFS, p->lim);
	struct dfs d = { .p = p, .r = r };
	spec_open(&d.ctx, spec_of(p->obj, p->k), p->vals, p->lim, p->k);
	d.ctx.user = p->user;
	guide_open(&d.guide, p);
	if (prepare(&d)) {
		uint32_t init = d.ctx.spec->init(&d.ctx, p->init);
		int end = !advance(&d, init);
		if (!end)
			push(&d, init);
		while (!end && d.nfr && !d.failed && !d.ctx.failed) {
			r->steps++;
			if ((r->steps & 0x3FF) == 0 && (lim_spent(p->lim) || (max_steps && r->steps > max_steps)))
				d.failed = true;
			else
				end = step(&d);
		}
		if (d.failed || d.ctx.failed) {
			r->verdict = LIN_UNKNOWN;
		} else if (!end) {
			violated(&d);
		} else if (result_order(r, d.nlin)) {
			memcpy(r->order, d.lin, d.nlin * sizeof *d.lin);
			r->norder = d.nlin;
			r->verdict = LIN_HOLDS;
		}
	}
	finish(&d);
	return r->verdict;
}

/* ---- the moment ------------------------------------------------------------------
 *
 * The search knows every answer from the start, also those given after the
 * response it gets stuck at. For operations that change the object and answer
 * (cas, dequeue, ...) that is more than was known at the time: then the first
 * moment of certainty may be later, and is looked for among the prefixes. A
 * prefix says less than the whole and can be harder: there is a bound.
 */
#define MOMENT_STEPS 20000

static bool answers(const struct problem *p)
{
	if (p->obj == OBJ_KV || p->obj == OBJ_LIST) /* there the search looks ahead */
		return true;
	for (uint32_t i = 0; i < p->n; i++) {
		uint8_t f = p->ops[i].fn;
		if (p->ops[i].res != RES_NONE ? f != FN_CONTAINS : f == FN_DEQ || f == FN_POP || f == FN_POLL || f >= FN_COUNT)
			return true;
	}
	return false;
}

static void first_moment(const struct problem *p, struct result *r)
{
	size_t bo = p->n * sizeof(struct hop), bm = p->n * 4ull;
	struct hop *ops = lim_realloc(p->lim, NULL, 0, bo);
	uint32_t *map = lim_realloc(p->lim, NULL, 0, bm);
	uint32_t stuck = p->ops[r->culprit].ret, good = stuck, bad = p->nevents;
	for (uint32_t cut = stuck + 1; ops && map && good + 1 < bad;) {
		struct problem q;
		struct result s;
		lin_prefix(p, cut, ops, map, &q);
		enum lin_verdict v = lin_dfs(&q, &s, MOMENT_STEPS);
		result_free(&s);
		if (v == LIN_UNKNOWN)
			break;
		*(v == LIN_HOLDS ? &good : &bad) = cut;
		cut = good + (bad - good + 1) / 2;
	}
	if (ops && map && good + 1 >= bad && bad != stuck + 1)
		for (uint32_t i = 0; i < p->n; i++)
			if (p->ops[i].ret == bad - 1)
				r->culprit = i;
	r->moment_open = good + 1 < bad;
	lim_free(p->lim, ops, ops ? bo : 0);
	lim_free(p->lim, map, map ? bm : 0);
}

enum lin_verdict lin_search(const struct problem *p, struct result *r)
{
	lin_dfs(p, r, p->max_steps);
	if (r->verdict == LIN_VIOLATED && answers(p))
		first_moment(p, r);
	r->algorithm = ALG_SEARCH;
	return r->verdict;
}
