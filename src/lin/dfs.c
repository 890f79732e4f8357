#include "lin/dfs.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

static bool is_crashed(const struct dfs *d, uint32_t op)
{
	assert(op < d->p->n);
	return d->p->ops[op].ret == RANK_INF;
}

/* After it the object is in a state that does not depend on the one before. */
static bool overwrites(const struct dfs *d, uint32_t op)
{
	return d->overwrites && d->p->ops[op].fn == FN_WRITE;
}

/* It says nothing about the state, so it may precede an overwriting write. */
static bool may_hide(const struct dfs *d, uint32_t op)
{
	return d->overwrites && (d->p->ops[op].fn == FN_WRITE || d->p->ops[op].fn == FN_APPEND);
}

/* Need it not take effect any more? */
static bool optional(const struct dfs *d, uint32_t op, uint32_t since)
{
	assert(op < d->p->n);
	uint32_t call = d->p->ops[op].call;
	return call < d->from || (call < since && may_hide(d, op));
}

static bool apply(struct dfs *d, uint32_t state, uint32_t op, uint32_t *next)
{
	assert(op < d->p->n);
	return d->ctx.spec->apply(&d->ctx, state, &d->p->ops[op], next);
}

/* ---- preparation ------------------------------------------------------------ */

static void *get(struct dfs *d, size_t bytes)
{
	void *p = lim_realloc(d->p->lim, NULL, 0, bytes);
	if (!p)
		d->failed = true;
	else
		memset(p, 0, bytes);
	return p;
}

static uint64_t call_hash(const struct hop *o)
{
	return hash64(((uint64_t)o->fn << 40 | (uint64_t)o->res << 32 | o->a) ^ hash64(o->b));
}

static bool same_call(const struct hop *a, const struct hop *b)
{
	return a->fn == b->fn && a->a == b->a && a->b == b->b && a->res == b->res;
}

/* Numbers for equal calls; the number is that of the first such operation. */
static void classify(struct dfs *d)
{
	const struct problem *p = d->p;
	uint32_t size = 16;
	while (size < p->n * 2ull && size < 1u << 31)
		size *= 2;
	uint32_t *slots = get(d, size * 4ull);
	for (uint32_t i = 0; slots && i < p->n; i++) {
		uint32_t h = (uint32_t)call_hash(&p->ops[i]) & (size - 1);
		while (slots[h] && !same_call(&p->ops[slots[h] - 1], &p->ops[i]))
			h = (h + 1) & (size - 1);
		if (!slots[h])
			slots[h] = i + 1;
		d->cls[i] = slots[h] - 1;
	}
	lim_free(p->lim, slots, slots ? size * 4ull : 0);
}

/* Slots for what is open at the same time; crashed ones have places apart. */
static void assign_slots(struct dfs *d)
{
	const struct problem *p = d->p;
	uint32_t nfree = 0, *free_slots = d->lin, *latest = d->anchor; /* borrowed; latest: by class, + 1 */
	memset(latest, 0, p->n * 4ull);
	for (uint32_t t = 0; t < p->nevents; t++) {
		if (d->ev[t] == RANK_INF)
			continue;
		uint32_t op = d->ev[t] / 2;
		if (is_crashed(d, op)) {
			uint32_t k = d->ncrashed++;
			d->same[k] = latest[d->cls[op]] ? latest[d->cls[op]] - 1 : RANK_INF;
			latest[d->cls[op]] = k + 1;
			d->crashed[k] = op;
			d->slot[op] = k;
		} else if (d->ev[t] & 1) {
			free_slots[nfree++] = d->slot[op];
		} else {
			d->slot[op] = nfree ? free_slots[--nfree] : d->nlive++;
		}
	}
}

static bool prepare(struct dfs *d)
{
	const struct problem *p = d->p;
	size_t bytes = p->n * 4ull + 4;
	d->last = RANK_INF;
	d->to = p->nevents;
	d->overwrites = p->k <= 1 && object_has(p->obj, OBJECT_VALUE);
	spec_open(&d->ctx, spec_of(p->obj, p->k), p->vals, p->lim, p->k);
	d->ctx.user = p->user;
	d->ev = events_of(p);
	d->slot = get(d, bytes);
	d->cls = get(d, bytes);
	d->crashed = get(d, bytes);
	d->same = get(d, bytes);
	d->lin = get(d, bytes);
	d->anchor = get(d, bytes);
	d->occupant = get(d, bytes);
	if (!d->ev || d->failed)
		return false;
	classify(d);
	assign_slots(d);
	memset(d->occupant, 0xFF, bytes);
	d->lw = (d->nlive + 63) / 64;
	d->w = d->lw + (d->ncrashed + 63) / 64;
	d->cur = get(d, d->w * 8ull + 8);
	d->observer = get(d, d->lw * 8ull + 8);
	d->soft = get(d, d->lw * 8ull + 8);
	return !d->failed;
}

void dfs_close(struct dfs *d)
{
	struct limits *l = d->p->lim;
	size_t bytes = d->p->n * 4ull + 4, live = d->lw * 8ull + 8;
	read_guide_close(&d->guide);
	lim_free(l, d->ev, d->ev ? d->p->nevents * 4ull + 4 : 0);
	uint32_t *by_op[] = { d->slot, d->cls, d->crashed, d->same, d->lin, d->anchor, d->occupant };
	for (size_t i = 0; i < sizeof by_op / sizeof *by_op; i++)
		lim_free(l, by_op[i], by_op[i] ? bytes : 0);
	lim_free(l, d->cur, d->cur ? d->w * 8ull + 8 : 0);
	lim_free(l, d->observer, d->observer ? live : 0);
	lim_free(l, d->soft, d->soft ? live : 0);
	lim_free(l, d->fr, d->cfr * sizeof *d->fr);
	lim_free(l, d->masks, d->cfr * d->w * 8ull);
	lim_free(l, d->seen, d->cseen * (d->w + 3) * 8ull);
	lim_free(l, d->heads, d->nheads * 4ull);
	lim_free(l, d->starts, d->starts ? d->bstarts : 0);
	spec_close(&d->ctx);
}

/* ---- time ---------------------------------------------------------------------- */

static void enter(struct dfs *d, uint32_t op)
{
	assert(d->slot[op] < d->nlive && d->occupant[d->slot[op]] == RANK_INF);
	uint32_t s = d->slot[op];
	d->occupant[s] = op;
	if (hop_observes(&d->p->ops[op]))
		mask_set(d->observer, s);
	else if (may_hide(d, op) || d->p->ops[op].call < d->from)
		mask_set(d->soft, s);
}

static void leave(struct dfs *d, uint32_t op)
{
	assert(d->slot[op] < d->nlive && d->occupant[d->slot[op]] == op);
	uint32_t s = d->slot[op];
	d->occupant[s] = RANK_INF;
	mask_clear(d->observer, s);
	mask_clear(d->soft, s);
}

/* Back to the time just before event `at`. */
static void rewind_to(struct dfs *d, uint32_t at)
{
	assert(at <= d->pos);
	while (d->pos > at) {
		uint32_t e = d->ev[--d->pos];
		if (e == RANK_INF)
			continue;
		d->ncalls -= !(e & 1);
		if (is_crashed(d, e / 2))
			d->ncalled--;
		else if (e & 1)
			enter(d, e / 2);
		else
			leave(d, e / 2);
	}
}

static bool taken(const struct dfs *d, uint32_t op)
{
	assert(op < d->p->n);
	return mask_bit(is_crashed(d, op) ? d->cur + d->lw : d->cur, d->slot[op]);
}

/* Into the order; before `anchor` when it is hidden there. */
static void take_effect(struct dfs *d, uint32_t op, uint32_t anchor)
{
	assert(!taken(d, op) && d->nlin < d->p->n);
	mask_set(is_crashed(d, op) ? d->cur + d->lw : d->cur, d->slot[op]);
	d->anchor[d->nlin] = anchor;
	d->lin[d->nlin++] = op;
}

/* An observation that can happen now happens now. */
static void absorb(struct dfs *d, uint32_t op, uint32_t state, uint32_t anchor)
{
	assert(op < d->p->n);
	uint32_t next;
	if (hop_observes(&d->p->ops[op]) && apply(d, state, op, &next))
		take_effect(d, op, anchor);
}

/* All open observations; with an anchor, those that were open then. */
static void absorb_open(struct dfs *d, uint32_t state, uint32_t anchor)
{
	for (uint32_t s = 0; s < d->nlive; s++) {
		uint32_t op = d->occupant[s];
		if (op != RANK_INF && !mask_bit(d->cur, s) && (anchor == RANK_INF || d->p->ops[op].call < d->since))
			absorb(d, op, state, anchor);
	}
}

/* Passes events until a response needs a decision; false at the end. */
static bool advance(struct dfs *d, uint32_t state)
{
	assert(d->pos <= d->to && d->to <= d->p->nevents);
	for (; d->pos < d->to; d->pos++) {
		uint32_t e = d->ev[d->pos];
		if (e == RANK_INF)
			continue;
		uint32_t op = e / 2;
		d->ncalls += !(e & 1);
		if (is_crashed(d, op)) {
			d->ncalled++;
		} else if (!(e & 1)) {
			enter(d, op);
			absorb(d, op, state, RANK_INF);
		} else if (mask_bit(d->cur, d->slot[op])) {
			mask_clear(d->cur, d->slot[op]);
			leave(d, op);
		} else {
			return true;
		}
		d->fresh = false;
	}
	return false;
}

/* ---- frames --------------------------------------------------------------------- */

#define LOOK_AHEAD 64 /* events */

/* Is the present state asked for again before what the write brings is? */
static bool better_hidden(struct dfs *d, uint32_t op, uint32_t state)
{
	uint32_t brought, next;
	if (!apply(d, state, op, &brought))
		return true;
	for (uint32_t t = d->pos + 1; t < d->to && t < d->pos + LOOK_AHEAD; t++) {
		uint32_t e = d->ev[t], o = e / 2;
		if (e == RANK_INF || !(e & 1) || may_hide(d, o) || (d->p->ops[o].call < d->pos && taken(d, o)))
			continue;
		bool here = apply(d, state, o, &next), there = apply(d, brought, o, &next);
		if (here != there)
			return here;
	}
	return true;
}

/* A new frame for the present configuration unless there is no point in it. */
static void push(struct dfs *d, uint32_t state)
{
	assert(d->nfr <= d->cfr);
	if (d->pos > d->best)
		d->best = d->pos;
	if (!dfs_remember(d, state))
		return;
	if (d->nfr == d->cfr) {
		uint32_t cap = d->cfr ? d->cfr * 2 : 256;
		struct dfs_frame *f = lim_realloc(d->p->lim, d->fr, d->cfr * sizeof *f, cap * sizeof *f);
		if (f)
			d->fr = f;
		uint64_t *m = f ? lim_realloc(d->p->lim, d->masks, d->cfr * d->w * 8ull, cap * d->w * 8ull) : NULL;
		if (!m) {
			d->failed = true;
			if (f) /* keep the book straight for dfs_close */
				lim_realloc(d->p->lim, d->fr, cap * sizeof *f, d->cfr * sizeof *f);
			return;
		}
		d->masks = m;
		d->cfr = cap;
	}
	if (d->w)
		memcpy(d->masks + (size_t)d->nfr * d->w, d->cur, d->w * 8ull);
	uint32_t x = d->pos < d->to ? d->ev[d->pos] / 2 : RANK_INF;
	bool hide = x != RANK_INF && optional(d, x, d->since) && better_hidden(d, x, state);
	d->fr[d->nfr++] = (struct dfs_frame){ .at = d->pos,
		                              .state = state,
		                              .nlin = d->nlin,
		                              .since = d->since,
		                              .last = d->last,
		                              .fresh = d->fresh,
		                              .hide_first = hide };
}

/* ---- candidates ------------------------------------------------------------------ */

/* Is there an equal operation that must be used before this one? With `before`,
 * among those invoked before it. One that may be left out does not go before
 * one that may not, unless they overwrite: then both may be afterwards. */
static bool not_its_turn(const struct dfs *d, uint32_t op, uint32_t before)
{
	const struct hop *ops = d->p->ops;
	bool needed = !overwrites(d, op) && !is_crashed(d, op) && !optional(d, op, d->since);
	for (uint32_t s = 0; s < d->nlive; s++) {
		uint32_t o = d->occupant[s];
		if (o != RANK_INF && o != op && !mask_bit(d->cur, s) && d->cls[o] == d->cls[op] && ops[o].ret < ops[op].ret &&
		    ops[o].call < before && !(needed && optional(d, o, d->since)))
			return true;
	}
	if (!is_crashed(d, op))
		return false;
	uint32_t older = d->same[d->slot[op]];
	return older != RANK_INF && !mask_bit(d->cur + d->lw, older);
}

/* Candidate number k at the present event: open ones, then those that never
 * answered; RANK_INF: taken, or the one that returns. */
static uint32_t open_operation(const struct dfs *d, uint32_t k)
{
	assert(k < d->nlive + d->ncalled);
	uint32_t op = k < d->nlive ? d->occupant[k] : d->crashed[k - d->nlive];
	return op == RANK_INF || op == d->ev[d->pos] / 2 || taken(d, op) ? RANK_INF : op;
}

/* A write that is not the one that returns must lead to something at once:
 * the other operation, or one that needs the state it makes. */
static bool leads_on(struct dfs *d, uint32_t write, uint32_t state)
{
	assert(d->pos < d->to);
	uint32_t x = d->ev[d->pos] / 2, next;
	if (!may_hide(d, x) && apply(d, state, x, &next))
		return true;
	for (uint32_t k = 0; k < d->nlive + d->ncalled; k++) {
		uint32_t op = k < d->nlive ? d->occupant[k] : d->crashed[k - d->nlive];
		if (op == RANK_INF || op == write || overwrites(d, op) || hop_observes(&d->p->ops[op]) || taken(d, op))
			continue;
		if (apply(d, state, op, &next) && next != state)
			return true;
	}
	return false;
}

enum dfs_move { MOVE_NONE, MOVE_EFFECT, MOVE_HIDE, MOVE_HIDDEN_WRITE };

/* What choice number c of the frame is; the operation and the state after it. */
static enum dfs_move choose(struct dfs *d, const struct dfs_frame *f, uint32_t c, uint32_t *op, uint32_t *next)
{
	uint32_t x = d->ev[d->pos] / 2;
	if (c < 2) {
		*op = x;
		if ((c == 0) == f->hide_first)
			return optional(d, x, f->since) ? MOVE_HIDE : MOVE_NONE;
		return !(f->fresh && overwrites(d, x)) && apply(d, f->state, x, next) ? MOVE_EFFECT : MOVE_NONE;
	}
	*op = open_operation(d, (c - 2) / 2);
	if (*op == RANK_INF)
		return MOVE_NONE;
	if (c & 1) { /* x may have seen a write that was hidden when both were open */
		uint32_t seen;
		return overwrites(d, *op) && d->p->ops[*op].call < f->since && d->p->ops[x].call < f->since &&
		                       hop_observes(&d->p->ops[x]) && !not_its_turn(d, *op, f->since) &&
		                       apply(d, f->state, *op, next) && apply(d, *next, x, &seen)
		               ? MOVE_HIDDEN_WRITE
		               : MOVE_NONE;
	}
	if (not_its_turn(d, *op, RANK_INF) || (f->fresh && overwrites(d, *op)) || !apply(d, f->state, *op, next))
		return MOVE_NONE;
	if (is_crashed(d, *op) && *next == f->state && !overwrites(d, *op))
		return MOVE_NONE; /* a write of what is there already may hide another */
	return overwrites(d, *op) && !leads_on(d, *op, *next) ? MOVE_NONE : MOVE_EFFECT;
}

/* At the end what never answered may still happen, when states are collected. */
static enum dfs_move choose_last(struct dfs *d, const struct dfs_frame *f, uint32_t c, uint32_t *op, uint32_t *next)
{
	assert(c < d->ncalled);
	*op = d->crashed[c];
	return !taken(d, *op) && !not_its_turn(d, *op, RANK_INF) && apply(d, f->state, *op, next) && *next != f->state ? MOVE_EFFECT
	                                                                                                               : MOVE_NONE;
}

static void note_state(struct dfs *d, uint32_t state)
{
	for (uint32_t i = 0; i < d->nstates; i++)
		if (d->states[i] == state)
			return;
	if (d->nstates < MAX_STATES_SHOWN)
		d->states[d->nstates++] = state;
	else
		d->more_states = true;
	assert(d->nstates <= MAX_STATES_SHOWN);
}

/* Can what is still to be read be read from here? */
static bool hopeful(struct dfs *d, uint32_t state)
{
	if (!d->guide.on)
		return true;
	for (int reads = 0; reads < 2; reads++)
		for (uint32_t s = 0; s < d->nlive; s++) {
			uint32_t op = d->occupant[s];
			if (op == RANK_INF || mask_bit(d->cur, s) || d->p->ops[op].fn != (reads ? FN_READ : FN_WRITE))
				continue;
			if (!reads)
				return true; /* an open write may start the content afresh */
			if (!read_guide_allows_read(&d->guide, &d->ctx, state, op, d->ncalls))
				return false;
		}
	return read_guide_allows(&d->guide, &d->ctx, state, d->ncalls);
}

/* ---- the search ------------------------------------------------------------------ */

static void restore(struct dfs *d, const struct dfs_frame *f)
{
	assert(f->nlin <= d->p->n && f->at <= d->to);
	rewind_to(d, f->at);
	d->nlin = f->nlin;
	d->since = f->since;
	d->last = f->last;
	d->fresh = f->fresh;
	if (d->w)
		memcpy(d->cur, d->masks + (size_t)(d->nfr - 1) * d->w, d->w * 8ull);
}

static uint32_t make(struct dfs *d, const struct dfs_frame *f, enum dfs_move m, uint32_t op, uint32_t next)
{
	assert(m != MOVE_NONE && op < d->p->n);
	uint32_t brought;
	if (m == MOVE_EFFECT) {
		take_effect(d, op, RANK_INF);
		d->fresh = overwrites(d, op);
		if (d->fresh) {
			d->since = d->pos;
			d->last = op;
		}
		if (next != f->state)
			absorb_open(d, next, RANK_INF);
		return next;
	}
	take_effect(d, op, d->last);
	if (overwrites(d, op) && d->last != RANK_INF && apply(d, f->state, op, &brought))
		absorb_open(d, brought, d->last);
	return f->state;
}

/* From the present configuration to the next decision. 1 the end was reached. */
static int pass_on(struct dfs *d, uint32_t state)
{
	bool end = !advance(d, state);
	if (end && !d->collect)
		return 1;
	if (end)
		note_state(d, state);
	if (end || hopeful(d, state))
		push(d, state);
	return 0;
}

/* Tries one candidate of the top frame. 1 the end of the history was reached. */
static int step(struct dfs *d)
{
	assert(d->nfr);
	struct dfs_frame *f = &d->fr[d->nfr - 1];
	restore(d, f);
	bool last = f->at == d->to;
	uint32_t total = last ? d->ncalled : 2 + 2 * (d->nlive + d->ncalled), op = RANK_INF, next = 0;
	enum dfs_move m = MOVE_NONE;
	while (f->choice < total && m == MOVE_NONE)
		m = (last ? choose_last : choose)(d, f, f->choice++, &op, &next);
	if (m == MOVE_NONE) {
		d->nfr--;
		return 0;
	}
	next = make(d, f, m, op, next);
	return pass_on(d, next);
}

/* A first frame for the next of the states to start from. 1 the end. */
static int start(struct dfs *d)
{
	assert(d->next_start < d->nstarts && !d->nfr);
	uint32_t state = d->starts[d->next_start++];
	rewind_to(d, 0);
	d->nlin = 0;
	d->since = 0;
	d->last = RANK_INF;
	d->fresh = false;
	if (d->w)
		memset(d->cur, 0, d->w * 8ull);
	for (; d->pos < d->from; d->pos++) { /* the beginning of a loose search is not looked at */
		uint32_t e = d->ev[d->pos];
		if (e == RANK_INF)
			continue;
		d->ncalls += !(e & 1);
		if (is_crashed(d, e / 2))
			d->ncalled++;
		else if (e & 1)
			leave(d, e / 2);
		else
			enter(d, e / 2);
	}
	for (uint32_t i = 0; i < d->lw && d->from; i++)
		d->cur[i] = d->observer[i];
	return pass_on(d, state);
}

enum dfs_answer dfs_run(struct dfs *d, uint64_t steps)
{
	int end = 0;
	uint64_t until = d->steps + steps;
	while (!end && !d->failed && !d->ctx.failed) {
		if (!d->nfr && d->next_start == d->nstarts)
			return DFS_NONE;
		if ((++d->steps & 0x3FF) == 0 && lim_spent(d->p->lim))
			return DFS_FAILED;
		if (steps && d->steps > until)
			return DFS_MORE;
		end = d->nfr ? step(d) : start(d);
	}
	return end ? DFS_FOUND : DFS_FAILED;
}

bool dfs_open(struct dfs *d, const struct problem *p)
{
	memset(d, 0, sizeof *d);
	d->p = p;
	read_guide_open(&d->guide, p);
	if (!prepare(d) || !(d->starts = get(d, 4)))
		return false;
	d->bstarts = 4;
	d->nstarts = 1;
	d->starts[0] = d->ctx.spec->init(&d->ctx, p->init);
	return !d->ctx.failed;
}

bool dfs_open_collect(struct dfs *d, const struct problem *p)
{
	bool ok = dfs_open(d, p);
	d->collect = true;
	return ok;
}

bool dfs_can_start_anywhere(const struct problem *p)
{
	return p->k <= 1 && object_has(p->obj, OBJECT_VALUE) && !object_has(p->obj, OBJECT_APPENDS);
}

/* The states that an operation open between the two events asks for; another
 * one represents all the rest. */
static bool loose_starts(struct dfs *d)
{
	const struct problem *p = d->p;
	struct map known;
	d->bstarts = (p->n + 1) * 4;
	d->starts = get(d, d->bstarts);
	if (!d->starts)
		return false;
	map_init(&known);
	d->starts[d->nstarts++] = VAL_NONE;
	bool ok = true;
	for (uint32_t i = 0; i < p->n && p->ops[i].call < d->to && ok; i++) {
		const struct hop *o = &p->ops[i];
		uint32_t id = d->nstarts;
		if (o->fn == FN_WRITE || o->ret < d->from)
			continue;
		ok = map_intern(&known, o->fn == FN_READ ? o->b : o->a, &id);
		if (id == d->nstarts)
			d->starts[d->nstarts++] = o->fn == FN_READ ? o->b : o->a;
	}
	map_free(&known);
	assert(!ok || d->nstarts);
	return ok;
}

bool dfs_open_loose(struct dfs *d, const struct problem *p, uint32_t from, uint32_t to)
{
	assert(dfs_can_start_anywhere(p) && from <= to && to <= p->nevents);
	memset(d, 0, sizeof *d);
	d->p = p;
	d->guide.p = p; /* off */
	if (!prepare(d))
		return false;
	d->from = from;
	d->to = to;
	return loose_starts(d);
}

/* ---- the order --------------------------------------------------------------------- */

bool dfs_order(const struct dfs *d, struct result *r)
{
	assert(d->nlin <= d->p->n);
	size_t bytes = d->p->n * 4ull + 4;
	uint32_t *first = lim_realloc(d->p->lim, NULL, 0, bytes), *next = lim_realloc(d->p->lim, NULL, 0, bytes);
	bool ok = first && next && result_order(r, d->nlin);
	if (ok) {
		memset(first, 0xFF, bytes);
		for (uint32_t i = d->nlin; i-- > 0;) /* hidden ones by anchor, as they were hidden */
			if (d->anchor[i] != RANK_INF) {
				next[d->lin[i]] = first[d->anchor[i]];
				first[d->anchor[i]] = d->lin[i];
			}
		r->norder = 0;
		for (uint32_t i = 0; i < d->nlin; i++) {
			if (d->anchor[i] != RANK_INF)
				continue;
			for (uint32_t o = first[d->lin[i]]; o != RANK_INF; o = next[o])
				r->order[r->norder++] = o;
			r->order[r->norder++] = d->lin[i];
		}
	}
	lim_free(d->p->lim, first, first ? bytes : 0);
	lim_free(d->p->lim, next, next ? bytes : 0);
	return ok;
}
