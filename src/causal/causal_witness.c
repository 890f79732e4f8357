/*
 * causal_witness: see causal_witness.h.
 *
 * Immediate causes: an event is after the one before it in its thread; a read
 * is after the last write of the cell; a write is after the last write and
 * all reads since. They generate the causal order. Items are numbered; on
 * the graph of items, with an edge for each immediate cause that leads from
 * one to another, a breadth-first search from every occurrence of a block
 * finds the shortest way back to it.
 *
 * Cost: quadratic in the length of the run at worst; runs are short.
 */
#include "causal/causal_witness.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "causal/cover_state.h"

/* ---- who took which step ------------------------------------------------- */

struct actor {
	uint32_t spot;
	bool yellow, owner;
};

struct casting {
	const struct program *g;
	const struct cover_result *r;
	struct cstate s; /* cells and promises; threads are in actors */
	struct actor *actors;
	uint32_t nactors, owner[COVER_MAX_OWNERS];
};

/* A thread that can be the one who makes this move. */
static uint32_t cast(const struct casting *c, const struct cover_move *m)
{
	assert(m->action < c->g->nactions);
	uint32_t from = c->g->actions[m->action].from;
	if (m->owner != IR_NONE)
		return c->owner[m->owner];
	for (uint32_t i = 0; i < c->nactors; i++)
		if (c->actors[i].spot == from && !c->actors[i].owner && c->actors[i].yellow == m->yellow)
			return i;
	return IR_NONE;
}

static void sort_owners(struct casting *c)
{
	uint32_t perm[COVER_MAX_OWNERS], old[COVER_MAX_OWNERS];
	memcpy(old, c->owner, sizeof old);
	cstate_sort(c->g, &c->s, perm);
	for (uint32_t i = 0; i < c->s.nowner; i++)
		c->owner[i] = old[perm[i]];
}

/* The same as cover.c's steps, for one thread in particular. */
static void act(struct casting *c, const struct cover_move *m, uint32_t who)
{
	assert(who < c->nactors && m->action < c->g->nactions);
	const struct action *a = &c->g->actions[m->action];
	struct actor *x = &c->actors[who];
	unsigned in = m->owner != IR_NONE ? m->owner + 1 : x->yellow ? TAINT_OTHER : TAINT_NONE;
	unsigned out = cstate_inherit(c->g, c->s.cell, a, in);
	if (m->owner == IR_NONE && out)
		out = TAINT_OTHER;
	if (m->promise)
		out = c->s.nowner + 1;
	cstate_touch(c->g, c->s.cell, a, out);
	x->spot = a->to;
	if (m->promise) {
		c->owner[c->s.nowner] = who;
		cstate_promise(&c->s, a->to);
		x->owner = true;
	} else if (m->owner != IR_NONE && out == TAINT_OTHER) {
		cstate_keep(c->g, &c->s, m->owner);
		memmove(c->owner + m->owner, c->owner + m->owner + 1, (c->s.nowner - m->owner) * sizeof *c->owner);
		x->owner = false;
		x->yellow = true;
	} else if (m->owner != IR_NONE) {
		c->s.owner[m->owner] = a->to;
	} else {
		x->yellow = out != TAINT_NONE;
	}
	sort_owners(c);
}

struct witness_event *causal_witness_of_cover(const struct program *g, const struct cover_result *r)
{
	struct casting c = { .g = g, .r = r };
	for (uint32_t t = 0; t < g->ir->ntemplates; t++)
		c.nactors += r->count[t];
	c.actors = calloc(c.nactors + 1ull, sizeof *c.actors);
	c.s.cell = calloc(g->ncells + 1ull, sizeof *c.s.cell);
	struct witness_event *events = calloc(r->npath + 1ull, sizeof *events);
	bool ok = c.actors && c.s.cell && events;
	for (uint32_t t = 0, i = 0; ok && t < g->ir->ntemplates; t++)
		for (uint32_t k = 0; k < r->count[t]; k++)
			c.actors[i++].spot = g->start[t];
	for (uint32_t i = 0; ok && i < g->ncells; i++)
		c.s.cell[i] = cword(g->cells[i].init, TAINT_NONE, TAINT_NONE);
	for (uint32_t i = 0; ok && i < r->npath; i++) {
		uint32_t who = cast(&c, &r->path[i]);
		ok = who != IR_NONE;
		if (!ok)
			break;
		events[i] = (struct witness_event){ who, r->path[i].action };
		act(&c, &r->path[i], who);
	}
	free(c.actors);
	free(c.s.cell);
	if (!ok) {
		free(events);
		return NULL;
	}
	return events;
}

/* ---- causes -------------------------------------------------------------- */

struct event_causes {             /* immediate ones, by event */
	struct causal_link *list; /* var: a cell here, IR_NONE for the thread's order */
	uint32_t n, cap, *at;     /* at[e] .. at[e + 1] lead to e */
};

struct weave {
	const struct program *g;
	const struct witness_event *events;
	uint32_t n;
	uint32_t *item, nitems; /* event -> item */
	bool *block_item;       /* item -> an occurrence of a block */
	struct event_causes c;
};

static bool add_cause(struct event_causes *c, uint32_t from, uint32_t to, uint32_t cell)
{
	assert(from < to);
	if (!GROW(c->list, c->cap, c->n + 1ull))
		return false;
	c->list[c->n++] = (struct causal_link){ from, to, cell, 0 };
	return true;
}

static const struct touch *touch_of(const struct weave *w, uint32_t event, uint32_t cell)
{
	assert(event < w->n && cell < w->g->ncells);
	const struct action *a = &w->g->actions[w->events[event].action];
	for (uint32_t i = 0; i < a->ntouch; i++)
		if (w->g->touches[a->touch + i].cell == cell)
			return &w->g->touches[a->touch + i];
	return NULL;
}

/* What event e is after because of one cell. */
static bool cell_causes(struct weave *w, uint32_t e, const struct touch *t)
{
	assert(e < w->n);
	bool ok = true;
	for (uint32_t f = e; f-- > 0 && ok;) {
		const struct touch *u = touch_of(w, f, t->cell);
		if (!u || (!u->write && !t->write))
			continue;
		if (w->events[f].thread != w->events[e].thread)
			ok = add_cause(&w->c, f, e, t->cell);
		if (u->write)
			break;
	}
	return ok;
}

static bool find_causes(struct weave *w)
{
	bool ok = true;
	for (uint32_t e = 0; e < w->n && ok; e++) {
		const struct action *a = &w->g->actions[w->events[e].action];
		w->c.at[e] = w->c.n;
		for (uint32_t f = e; f-- > 0;)
			if (w->events[f].thread == w->events[e].thread) {
				ok = add_cause(&w->c, f, e, IR_NONE);
				break;
			}
		for (uint32_t i = 0; i < a->ntouch && ok; i++)
			ok = cell_causes(w, e, &w->g->touches[a->touch + i]);
	}
	w->c.at[w->n] = w->c.n;
	assert(!ok || w->c.at[w->n] == w->c.n);
	return ok;
}

/* ---- items --------------------------------------------------------------- */

/* Every event is its own item, except in occurrences of blocks: all of them,
 * or the last event's only. */
static void find_items(struct weave *w, bool program)
{
	for (uint32_t e = 0; e < w->n; e++) {
		const struct action *a = &w->g->actions[w->events[e].action];
		w->item[e] = w->nitems++;
		if (program_block(w->g, a->from) == IR_NONE)
			continue;
		for (uint32_t f = e; f-- > 0;)
			if (w->events[f].thread == w->events[e].thread) {
				w->item[e] = w->item[f];
				w->nitems--;
				break;
			}
		w->block_item[w->item[e]] = true;
	}
	if (program || !w->n)
		return;
	uint32_t chosen = w->item[w->n - 1];
	memset(w->block_item, 0, w->nitems * sizeof *w->block_item);
	for (uint32_t e = 0; e < w->n; e++)
		w->item[e] = w->item[e] == chosen ? w->n : e;
	w->nitems = w->n + 1;
	w->block_item[w->n] = true;
}

/* The shortest cycle through `start`: links into out, how many; 0: none. */
static uint32_t cycle_through(const struct weave *w, uint32_t start, uint32_t *queue, uint32_t *by, uint32_t *out)
{
	assert(start < w->nitems);
	uint32_t head = 0, tail = 0, n = 0;
	for (uint32_t i = 0; i < w->nitems; i++)
		by[i] = IR_NONE;
	queue[tail++] = start;
	while (head < tail && by[start] == IR_NONE) {
		uint32_t x = queue[head++];
		for (uint32_t i = 0; i < w->c.n; i++) {
			uint32_t to = w->item[w->c.list[i].to];
			if (w->item[w->c.list[i].from] != x || to == x || by[to] != IR_NONE)
				continue;
			by[to] = i;
			if (to != start)
				queue[tail++] = to;
		}
	}
	if (by[start] == IR_NONE)
		return 0;
	uint32_t x = start;
	do {
		out[n++] = by[x];
		x = w->item[w->c.list[by[x]].from];
	} while (x != start);
	for (uint32_t i = 0; i < n / 2; i++) {
		uint32_t t = out[i];
		out[i] = out[n - 1 - i];
		out[n - 1 - i] = t;
	}
	return n;
}

static uint32_t shortest_cycle(const struct weave *w, uint32_t *best)
{
	size_t room = w->nitems + 1ull;
	uint32_t *queue = malloc(room * sizeof *queue), *by = malloc(room * sizeof *by);
	uint32_t *now = malloc(room * sizeof *now), n = 0;
	for (uint32_t i = 0; queue && by && now && i < w->nitems; i++) {
		if (!w->block_item[i])
			continue;
		uint32_t len = cycle_through(w, i, queue, by, now);
		if (len && (!n || len < n)) {
			n = len;
			memcpy(best, now, len * sizeof *now);
		}
	}
	free(queue);
	free(by);
	free(now);
	return n;
}

/* ---- the result ----------------------------------------------------------- */

static void mark_past(const struct weave *w, uint32_t event, bool *keep)
{
	assert(event < w->n);
	keep[event] = true;
	for (uint32_t e = event + 1; e-- > 0;)
		for (uint32_t i = w->c.at[e]; keep[e] && i < w->c.at[e + 1]; i++)
			keep[w->c.list[i].from] = true;
}

static void put_event(const struct weave *w, uint32_t e, uint32_t thread, struct causal_run *r)
{
	assert(e < w->n);
	const struct program *g = w->g;
	const struct action *a = &g->actions[w->events[e].action];
	struct causal_event *v = &r->events[r->nevents++];
	*v = (struct causal_event){ .thread = thread,
		                    .node = g->spots[a->from].node,
		                    .next = g->spots[a->to].node,
		                    .entered = a->entered,
		                    .exited = a->exited,
		                    .block = program_block(g, a->from),
		                    .touch = r->ntouches,
		                    .ntouch = a->ntouch };
	for (uint32_t i = 0; i < a->ntouch; i++) {
		const struct touch *t = &g->touches[a->touch + i];
		const struct program_cell *c = &g->cells[t->cell];
		struct causal_touch u = { .var = c->var,
			                  .elem = c->elem,
			                  .write = t->write,
			                  .valued = c->nvalues != 0,
			                  .looked = t->need != PROGRAM_ANY };
		if (u.valued && u.looked)
			u.found = c->lo + (int32_t)t->need;
		if (u.valued)
			u.left = t->write ? c->lo + (int32_t)t->put : u.found;
		r->touches[r->ntouches++] = u;
	}
}

static uint32_t template_of(const struct program *g, const uint32_t *count, uint32_t thread, uint32_t *index)
{
	uint32_t t = 0;
	while (thread >= count[t])
		thread -= count[t++];
	(void)g;
	*index = thread + 1;
	assert(t < g->ir->ntemplates);
	return t;
}

/* Copies the kept part. number[]: event -> its new number; `who`: thread -> its. */
static bool fill(const struct weave *w, const uint32_t *count, const bool *keep, const uint32_t *cycle, uint32_t ncycle,
                 struct causal_run *r)
{
	uint32_t nt = w->g->ir->ntemplates, threads = 0, touches = 0;
	for (uint32_t t = 0; t < nt; t++)
		threads += count[t];
	for (uint32_t e = 0; e < w->n; e++)
		touches += w->g->actions[w->events[e].action].ntouch;
	uint32_t *who = malloc((threads + 1ull) * sizeof *who);
	uint32_t *number = malloc((w->n + 1ull) * sizeof *number);
	r->threads = calloc(threads + 1ull, sizeof *r->threads);
	r->events = calloc(w->n + 1ull, sizeof *r->events);
	r->touches = calloc(touches + 1ull, sizeof *r->touches);
	r->links = calloc(ncycle + 1ull, sizeof *r->links);
	r->count = calloc(nt + 1ull, sizeof *r->count);
	bool ok = who && number && r->threads && r->events && r->touches && r->links && r->count;
	if (ok) {
		memcpy(r->count, count, nt * sizeof *count);
		r->ntemplates = nt;
		for (uint32_t i = 0; i < threads; i++)
			who[i] = IR_NONE;
		for (uint32_t e = 0; e < w->n; e++)
			if (keep[e])
				who[w->events[e].thread] = 0;
		for (uint32_t i = 0; i < threads; i++) {
			if (who[i] == IR_NONE)
				continue;
			who[i] = r->nthreads;
			struct causal_thread *t = &r->threads[r->nthreads++];
			t->tmpl = template_of(w->g, count, i, &t->index);
		}
		for (uint32_t e = 0; e < w->n; e++) {
			number[e] = r->nevents;
			if (keep[e])
				put_event(w, e, who[w->events[e].thread], r);
		}
		for (uint32_t i = 0; i < ncycle; i++) {
			const struct causal_link *l = &w->c.list[cycle[i]];
			struct causal_link *k = &r->links[r->nlinks++];
			*k = (struct causal_link){ number[l->from], number[l->to], IR_NONE, IR_NONE };
			if (l->var != IR_NONE) {
				k->var = w->g->cells[l->var].var;
				k->elem = w->g->cells[l->var].elem;
			}
		}
	}
	free(who);
	free(number);
	return ok;
}

struct causal_run *causal_witness_make(const struct program *g, const struct witness_event *events, uint32_t n,
                                       const uint32_t *count, bool program)
{
	assert(events && count);
	struct weave w = { .g = g, .events = events, .n = n };
	struct causal_run *r = calloc(1, sizeof *r);
	bool *keep = calloc(n + 1ull, sizeof *keep), ok = false;
	uint32_t *cycle = malloc((2ull * n + 2) * sizeof *cycle);
	w.item = calloc(n + 1ull, sizeof *w.item);
	w.block_item = calloc(n + 2ull, sizeof *w.block_item);
	w.c.at = calloc(n + 2ull, sizeof *w.c.at);
	if (r && keep && cycle && w.item && w.block_item && w.c.at && find_causes(&w)) {
		find_items(&w, program);
		uint32_t len = shortest_cycle(&w, cycle);
		for (uint32_t i = 0; i < len; i++) {
			mark_past(&w, w.c.list[cycle[i]].from, keep);
			mark_past(&w, w.c.list[cycle[i]].to, keep);
		}
		ok = len && fill(&w, count, keep, cycle, len, r);
	}
	free(w.c.list);
	free(w.c.at);
	free(w.item);
	free(w.block_item);
	free(keep);
	free(cycle);
	if (!ok) {
		causal_run_free(r);
		return NULL;
	}
	return r;
}
