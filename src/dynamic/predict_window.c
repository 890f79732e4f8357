#include "dynamic/predict_window.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"

/* ---- memory ------------------------------------------------------------- */

/* Room for element `want`. */
#define WINDOW_ROOM(r, p, n, want) (GROW(p, n, (want) + 1ull) || ((r)->nomem = true, false))
/* a second array of the same length as one that is about to grow */
#define ROOM2(r, p, n, want)                  \
	({                                    \
		uint32_t n2_ = (n);           \
		WINDOW_ROOM(r, p, n2_, want); \
	})

static bool need_lock(struct reorder *r, uint32_t l)
{
	return l < r->nlocks || (ROOM2(r, r->lock_max, r->nlocks, l) && ROOM2(r, r->lock_stamp, r->nlocks, l) &&
	                         ROOM2(r, r->lock_prerel, r->nlocks, l) && ROOM2(r, r->lock_acq, r->nlocks, l) &&
	                         WINDOW_ROOM(r, r->held, r->nlocks, l));
}

static bool need(struct reorder *r, const struct event *e)
{
	if (!WINDOW_ROOM(r, r->threads, r->nthreads, e->thread))
		return false;
	if (e->kind == EVENT_ACQ || e->kind == EVENT_REL)
		return need_lock(r, e->target);
	if (e->kind == EVENT_FORK || e->kind == EVENT_JOIN)
		return WINDOW_ROOM(r, r->threads, r->nthreads, e->target);
	return true;
}

/* ---- the window's tables ------------------------------------------------ */

static bool local_threads(struct reorder *r)
{
	uint32_t at = 0;
	r->nlocal = 0;
	for (size_t i = 0; i < r->n; i++) {
		struct window_thread *t = &r->threads[r->ev[i].thread];
		if (!t->local1) {
			uint32_t k = r->nlocal;
			if (k >= r->local_cap &&
			    !(ROOM2(r, r->tlen, r->local_cap, k) && ROOM2(r, r->tglobal, r->local_cap, k) &&
			      ROOM2(r, r->forked_by, r->local_cap, k) && ROOM2(r, r->target, r->local_cap, k) &&
			      ROOM2(r, r->done, r->local_cap, k) && WINDOW_ROOM(r, r->tstart, r->local_cap, k)))
				return false;
			r->tlen[k] = 0;
			r->tglobal[k] = r->ev[i].thread;
			r->forked_by[k] = NO;
			t->local1 = ++r->nlocal;
		}
		r->tid[i] = t->local1 - 1;
		r->tpos[i] = r->tlen[r->tid[i]]++;
	}
	for (uint32_t k = 0; k < r->nlocal; k++) {
		r->tstart[k] = at;
		at += r->tlen[k];
	}
	for (size_t i = 0; i < r->n; i++)
		r->tev[r->tstart[r->tid[i]] + r->tpos[i]] = (uint32_t)i;
	assert(r->nlocal <= r->nthreads);
	return true;
}

/* The number of a variable in this window. */
static uint32_t var_of(struct reorder *r, uint32_t target)
{
	uint32_t at = (uint32_t)hash64(target) & r->var_mask, v;
	while ((v = r->var_slot[at]) && r->var_target[v - 1] != target)
		at = (at + 1) & r->var_mask;
	if (!v) {
		v = r->var_slot[at] = ++r->nvars;
		r->var_target[v - 1] = target;
		r->var_last[v - 1] = r->var_write[v - 1] = NO;
	}
	assert(v && v <= r->nvars);
	return v - 1;
}

/* Reads-from, blocks, neighbours on the same variable. */
static void link_accesses(struct reorder *r)
{
	memset(r->var_slot, 0, (r->var_mask + (size_t)1) * sizeof *r->var_slot);
	r->nvars = 0;
	for (uint32_t i = 0; i < r->n; i++) {
		struct event *e = &r->renamed[i];
		*e = r->ev[i];
		if (e->flags & EVENT_INNER)
			e->kind = e->flags >> INNER_KIND;
		r->rf[i] = r->prev_same[i] = r->next_same[i] = NO;
		if (e->kind > EVENT_WRITE)
			continue;
		e->target = var_of(r, e->target);
		if (e->kind == EVENT_READ)
			r->rf[i] = r->var_write[e->target];
		else
			r->var_write[e->target] = i;
		uint32_t before = r->var_last[e->target];
		r->prev_same[i] = before;
		if (before != NO)
			r->next_same[before] = i;
		r->var_last[e->target] = i;
	}
}

static uint32_t new_block(struct reorder *r, struct predict_event begin, uint32_t parent, uint32_t at)
{
	assert(parent == NO || parent < r->nblocks);
	if (!WINDOW_ROOM(r, r->blocks, r->blocks_cap, r->nblocks))
		return parent;
	r->blocks[r->nblocks] = (struct block){ .begin = begin, .parent = parent, .at = at };
	return r->nblocks++;
}

/* Per thread: the blocks of each event. */
static void link_blocks(struct reorder *r, uint32_t k)
{
	assert(k < r->nlocal);
	const uint32_t *list = r->tev + r->tstart[k];
	const struct window_thread *t = &r->threads[r->tglobal[k]];
	uint32_t block = NO, root = NO;
	for (uint32_t i = 0; i < t->nopen; i++) {
		block = new_block(r, t->open[i], block, NO);
		root = root == NO ? block : root;
	}
	for (uint32_t a = 0; a < r->tlen[k] && !r->nomem; a++) {
		uint32_t i = list[a];
		unsigned kind = r->renamed[i].kind;
		if (kind == EVENT_BEGIN) {
			block = new_block(r, event_of(&r->renamed[i]), block, i);
			root = root == NO ? block : root;
		}
		r->block[i] = block;
		r->root[i] = root;
		if (root != NO)
			r->blocks[root].last = i;
		if (kind == EVENT_END && block != NO) {
			block = r->blocks[block].parent;
			root = block == NO ? NO : root;
		}
	}
}

/* Per thread: matching releases, outermost acquire still held. */
static void link_thread(struct reorder *r, uint32_t k)
{
	assert(k < r->nlocal);
	const uint32_t *list = r->tev + r->tstart[k];
	for (uint32_t a = 0; a < r->tlen[k]; a++) {
		uint32_t i = list[a];
		const struct event *e = &r->ev[i];
		r->match[i] = NO;
		if (e->kind == EVENT_ACQ) {
			r->lock_acq[e->target] = i;
			r->lock_stamp[e->target] = r->stamp;
		} else if (e->kind == EVENT_REL) {
			if (r->lock_stamp[e->target] == r->stamp) {
				r->match[r->lock_acq[e->target]] = i;
				r->match[i] = r->lock_acq[e->target];
				r->lock_stamp[e->target] = 0;
			} else if (r->lock_prerel[e->target] == NO) {
				r->lock_prerel[e->target] = i;
			}
		}
	}
	/* the outermost acquire still held, from the first on: a section that
	 * is open keeps its start until it is released */
	uint32_t outer = NO;
	for (uint32_t a = 0; a < r->tlen[k]; a++) {
		uint32_t i = list[a];
		if (outer != NO && r->match[outer] != NO && r->match[outer] < i) {
			/* released: the next oldest that is held at i */
			uint32_t b = r->tpos[outer];
			for (outer = NO; b < a; b++) {
				uint32_t q = list[b];
				if (r->ev[q].kind == EVENT_ACQ && (r->match[q] == NO || r->match[q] > i)) {
					outer = q;
					break;
				}
			}
		}
		if (outer == NO && r->ev[i].kind == EVENT_ACQ)
			outer = i;
		r->outer[i] = outer;
	}
}

bool window_build(struct reorder *r)
{
	if (!local_threads(r))
		return false;
	link_accesses(r);
	if (r->nlocks)
		memset(r->lock_prerel, 0xFF, r->nlocks * sizeof *r->lock_prerel);
	r->nblocks = 0;
	for (uint32_t k = 0; k < r->nlocal; k++) {
		r->stamp++;
		link_thread(r, k);
		link_blocks(r, k);
	}
	for (uint32_t i = 0; i < r->n; i++)
		if (r->ev[i].kind == EVENT_FORK) {
			uint32_t c = r->threads[r->ev[i].target].local1;
			if (c)
				r->forked_by[c - 1] = i;
		}
	return !r->nomem;
}

uint32_t window_block(const struct reorder *r, uint32_t a1, uint32_t a2)
{
	assert(a1 < a2 && a2 < r->n);
	uint32_t b = r->block[a2];
	while (r->blocks[b].parent != NO && r->blocks[b].at != NO && r->blocks[b].at > a1)
		b = r->blocks[b].parent;
	assert(b < r->nblocks);
	return b;
}

bool window_try(struct reorder *r, uint64_t key, uint32_t max)
{
	uint32_t tries = map_get(&r->tried, key);
	tries = tries == MAP_NONE ? 0 : tries;
	if (tries >= max)
		return false;
	if ((tries || r->tried.len < 1000000) && !map_put(&r->tried, key, tries + 1))
		r->nomem = true;
	return true;
}

/* ---- sliding ------------------------------------------------------------ */

/* The event leaves the window: a block begins or ends before the window. */
static void pass(struct reorder *r, const struct event *e, unsigned kind)
{
	assert(e->thread < r->nthreads);
	struct window_thread *t = &r->threads[e->thread];
	if (kind == EVENT_BEGIN && WINDOW_ROOM(r, t->open, t->open_cap, t->nopen)) {
		r->open += !t->nopen;
		t->open[t->nopen] = event_of(e);
		t->open[t->nopen++].kind = EVENT_BEGIN;
	} else if (kind == EVENT_END && t->nopen) {
		r->open -= !--t->nopen;
	}
}

static void slide(struct reorder *r, size_t by)
{
	assert(by <= r->n);
	for (size_t i = 0; i < by; i++) {
		const struct event *e = &r->ev[i];
		pass(r, e, e->flags & EVENT_INNER ? e->flags >> INNER_KIND : e->kind);
		if (e->kind == EVENT_ACQ)
			r->held[e->target] = e->thread + 1;
		else if (e->kind == EVENT_REL)
			r->held[e->target] = 0;
		else if (e->kind == EVENT_BEGIN)
			r->begins--;
	}
	memmove(r->ev, r->ev + by, (r->n - by) * sizeof *r->ev);
	r->n -= by;
}

bool reorder_feed(struct reorder *r, const struct event *ev, size_t n)
{
	for (size_t i = 0; i < n && !r->nomem; i++) {
		if (r->n == r->window) {
			if (!reorder_analyse(r))
				return false;
			slide(r, r->window / 2);
		}
		struct event e = ev[i];
		if (e.flags & EVENT_INNER) {
			e.flags = (uint8_t)(EVENT_INNER | e.kind << INNER_KIND);
			e.kind = NOTHING;
		}
		if (!need(r, &e))
			return false;
		r->ev[r->n++] = e;
		r->begins += e.kind == EVENT_BEGIN;
		r->fresh = true;
	}
	assert(r->n <= r->window);
	return !r->nomem;
}

bool reorder_finish(struct reorder *r)
{
	return reorder_analyse(r);
}

struct reorder *reorder_new(struct predict *p, size_t window)
{
	struct reorder *r = calloc(1, sizeof *r);
	if (!r)
		return NULL;
	r->p = p;
	r->window = window < 16 ? 16 : window;
	map_init(&r->tried);
	uint32_t **arrays[] = { &r->tid,  &r->tpos,      &r->tev,       &r->rf,    &r->match,      &r->outer,    &r->block,
		                &r->root, &r->prev_same, &r->next_same, &r->order, &r->var_target, &r->var_last, &r->var_write };
	r->ev = calloc(r->window, sizeof *r->ev);
	r->renamed = calloc(r->window, sizeof *r->renamed);
	for (r->var_mask = 63; r->var_mask / 2 < r->window; r->var_mask = r->var_mask * 2 + 1)
		;
	r->var_slot = calloc(r->var_mask + (size_t)1, sizeof *r->var_slot);
	bool ok = r->ev && r->renamed && r->var_slot;
	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
		*arrays[i] = calloc(r->window, sizeof **arrays[i]);
		ok &= *arrays[i] != NULL;
	}
	if (!ok) {
		reorder_free(r);
		return NULL;
	}
	return r;
}

void reorder_free(struct reorder *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->nthreads; i++)
		free(r->threads[i].open);
	void *all[] = { r->ev,         r->renamed,     r->var_slot,  r->var_target, r->threads,  r->held,      r->tid,
		        r->tpos,       r->tev,         r->rf,        r->match,      r->outer,    r->block,     r->root,
		        r->blocks,     r->search,      r->prev_same, r->next_same,  r->order,    r->tstart,    r->tlen,
		        r->tglobal,    r->forked_by,   r->target,    r->done,       r->var_last, r->var_write, r->lock_max,
		        r->lock_stamp, r->lock_prerel, r->lock_acq };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free(all[i]);
	map_free(&r->tried);
	free(r);
}
