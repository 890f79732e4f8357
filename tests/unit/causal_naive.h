/*
 * causal_naive: the plainest judges of causal atomicity.
 *
 * naive_red explores the coloured marking graph of Section 4 as the paper has
 * it: every thread by itself, a place for every cell and thread, one colour a
 * place, the chosen occurrence picked at its begin. Nothing is counted, sorted
 * or merged.
 *
 * naive_cycle runs through all runs of a small program that ends, computes
 * the causal order of each as a matrix, and looks for a cycle of items.
 */
#ifndef INTACT_TESTS_CAUSAL_NAIVE_H
#define INTACT_TESTS_CAUSAL_NAIVE_H

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "causal/program.h"

struct cnaive {
	const struct program *g;
	uint32_t nthreads, *tmpl;
	uint32_t width;   /* bytes of a state */
	uint8_t *states;
	uint32_t n, cap, *next_same;
	struct map by_hash;
	uint32_t block;
	bool red, too_many;
	uint64_t markings; /* states without regard to colours: only with block IR_NONE - 1 */
};

/* state: cell values | place colours [cell][thread] | spots (4 bytes) | thread colours | chosen thread + 1 */
static inline uint8_t *cn_place(const struct cnaive *x, uint8_t *s, uint32_t cell, uint32_t thread)
{
	return s + x->g->ncells + cell * x->nthreads + thread;
}
static inline uint8_t *cn_spot(const struct cnaive *x, uint8_t *s, uint32_t thread)
{
	return s + x->g->ncells * (1 + x->nthreads) + thread * 4;
}
static inline uint8_t *cn_colour(const struct cnaive *x, uint8_t *s, uint32_t thread)
{
	return s + x->g->ncells * (1 + x->nthreads) + x->nthreads * 4 + thread;
}
static inline uint8_t *cn_chosen(const struct cnaive *x, uint8_t *s)
{
	return s + x->g->ncells * (1 + x->nthreads) + x->nthreads * 5;
}

static inline void cn_add(struct cnaive *x, const uint8_t *s)
{
	uint64_t h = 14695981039346656037u;
	for (uint32_t i = 0; i < x->width; i++)
		h = (h ^ s[i]) * 1099511628211u;
	uint32_t first = map_get(&x->by_hash, h);
	for (uint32_t i = first; i != MAP_NONE; i = x->next_same[i])
		if (!memcmp(x->states + (size_t)i * x->width, s, x->width))
			return;
	if (x->n == x->cap) {
		x->cap = x->cap ? x->cap * 2 : 256;
		x->states = realloc(x->states, (size_t)x->cap * x->width);
		x->next_same = realloc(x->next_same, x->cap * sizeof *x->next_same);
	}
	memcpy(x->states + (size_t)x->n * x->width, s, x->width);
	x->next_same[x->n] = first;
	map_put(&x->by_hash, h, x->n++);
}

/* One transition of the paper's net; `choose`: this begin is the chosen one. */
static inline void cn_fire(struct cnaive *x, const uint8_t *from, uint32_t thread,
                           const struct action *a, bool choose)
{
	uint8_t *s = malloc(x->width);
	memcpy(s, from, x->width);
	uint8_t in = *cn_colour(x, s, thread), out;
	bool owner = *cn_chosen(x, s) == thread + 1;
	for (uint32_t k = 0; k < a->ntouch; k++) {
		const struct touch *t = &x->g->touches[a->touch + k];
		for (uint32_t i = 0; i < x->nthreads; i++)
			if ((t->write || i == thread) && *cn_place(x, s, t->cell, i) > in)
				in = *cn_place(x, s, t->cell, i);
	}
	if (owner && in == COLOUR_Y) {
		x->red = true;
		free(s);
		return;
	}
	out = choose || owner ? COLOUR_B : in ? COLOUR_Y : COLOUR_A;
	for (uint32_t k = 0; k < a->ntouch; k++) {
		const struct touch *t = &x->g->touches[a->touch + k];
		if (t->write && t->put != PROGRAM_ANY)
			s[t->cell] = (uint8_t)t->put;
		for (uint32_t i = 0; i < x->nthreads; i++)
			if (t->write || i == thread)
				*cn_place(x, s, t->cell, i) = out;
	}
	*cn_colour(x, s, thread) = out;
	memcpy(cn_spot(x, s, thread), &a->to, 4);
	if (choose)
		*cn_chosen(x, s) = (uint8_t)(thread + 1);
	cn_add(x, s);
	free(s);
}

static inline void cn_expand(struct cnaive *x, const uint8_t *s)
{
	for (uint32_t t = 0; t < x->nthreads; t++) {
		uint32_t spot;
		memcpy(&spot, cn_spot(x, (uint8_t *)(uintptr_t)s, t), 4);
		bool owner = *cn_chosen(x, (uint8_t *)(uintptr_t)s) == t + 1;
		bool none = *cn_chosen(x, (uint8_t *)(uintptr_t)s) == 0;
		for (uint32_t i = 0; i < x->g->spots[spot].naction; i++) {
			const struct action *a = &x->g->actions[x->g->spots[spot].action + i];
			bool enabled = true;
			for (uint32_t k = 0; k < a->ntouch; k++) {
				const struct touch *u = &x->g->touches[a->touch + k];
				enabled &= u->need == PROGRAM_ANY || s[u->cell] == u->need;
			}
			if (!enabled || (owner && a->exited != IR_NONE))
				continue;
			cn_fire(x, s, t, a, false);
			if (none && a->entered != IR_NONE && (x->block == IR_NONE || x->block == a->entered))
				cn_fire(x, s, t, a, true);
		}
	}
}

/* Is red reachable? block IR_NONE: any block's. count: threads a template.
 * 1 yes, 0 no, -1 too many states. *markings, when given: the states reached
 * while no occurrence is chosen. */
static inline int naive_red(const struct program *g, const uint32_t *count, uint32_t block,
                            uint32_t limit, uint64_t *markings)
{
	struct cnaive x = { .g = g, .block = block };
	uint32_t nt = g->ir->ntemplates;
	for (uint32_t t = 0; t < nt; t++)
		x.nthreads += count[t];
	x.width = g->ncells * (1 + x.nthreads) + x.nthreads * 5 + 1;
	map_init(&x.by_hash);
	uint8_t *s = calloc(1, x.width);
	for (uint32_t c = 0; c < g->ncells; c++)
		s[c] = (uint8_t)g->cells[c].init;
	for (uint32_t t = 0, i = 0; t < nt; t++)
		for (uint32_t k = 0; k < count[t]; k++)
			memcpy(cn_spot(&x, s, i++), &g->start[t], 4);
	cn_add(&x, s);
	for (uint32_t i = 0; i < x.n && !x.red && !x.too_many; i++) {
		memcpy(s, x.states + (size_t)i * x.width, x.width);
		cn_expand(&x, s);
		x.too_many = x.n > limit;
	}
	for (uint32_t i = 0; markings && i < x.n; i++)
		*markings += *cn_chosen(&x, x.states + (size_t)i * x.width) == 0;
	free(s);
	free(x.states);
	free(x.next_same);
	map_free(&x.by_hash);
	return x.red ? 1 : x.too_many ? -1 : 0;
}

/* ---- all runs ----------------------------------------------------------- */

#define CRUN_EVENTS 24

struct crun {
	const struct program *g;
	uint32_t nthreads;
	uint32_t spot[8], value[64];
	uint32_t ev_thread[CRUN_EVENTS], ev_item[CRUN_EVENTS];
	const struct action *ev_action[CRUN_EVENTS];
	uint32_t before[CRUN_EVENTS]; /* bit set of events before it, itself included */
	uint32_t n, items, item[8];   /* item[thread]: of the block it is in, or IR_NONE */
	uint64_t runs, limit;
	bool cycle, too_many;
};

static inline bool crun_depends(const struct crun *x, uint32_t e, uint32_t f)
{
	if (x->ev_thread[e] == x->ev_thread[f])
		return true;
	const struct action *a = x->ev_action[e], *b = x->ev_action[f];
	for (uint32_t i = 0; i < a->ntouch; i++)
		for (uint32_t k = 0; k < b->ntouch; k++) {
			const struct touch *t = &x->g->touches[a->touch + i], *u = &x->g->touches[b->touch + k];
			if (t->cell == u->cell && (t->write || u->write))
				return true;
		}
	return false;
}

static inline bool crun_cyclic(const struct crun *x)
{
	uint32_t after[CRUN_EVENTS] = { 0 }; /* item -> items after it */
	for (uint32_t e = 0; e < x->n; e++)
		for (uint32_t f = 0; f < e; f++)
			if (x->before[e] >> f & 1 && x->ev_item[e] != x->ev_item[f])
				after[x->ev_item[f]] |= 1u << x->ev_item[e];
	for (uint32_t k = 0; k < x->items; k++)
		for (uint32_t i = 0; i < x->items; i++)
			if (after[i] >> k & 1)
				after[i] |= after[k];
	for (uint32_t i = 0; i < x->items; i++)
		if (after[i] >> i & 1)
			return true;
	return false;
}

static inline void crun_go(struct crun *x)
{
	bool moved = false;
	for (uint32_t t = 0; t < x->nthreads && !x->cycle && !x->too_many; t++)
		for (uint32_t i = 0; i < x->g->spots[x->spot[t]].naction; i++) {
			const struct action *a = &x->g->actions[x->g->spots[x->spot[t]].action + i];
			bool enabled = true;
			for (uint32_t k = 0; k < a->ntouch; k++) {
				const struct touch *u = &x->g->touches[a->touch + k];
				enabled &= u->need == PROGRAM_ANY || x->value[u->cell] == u->need;
			}
			if (!enabled)
				continue;
			moved = true;
			if (x->n == CRUN_EVENTS) {
				x->too_many = true;
				return;
			}
			struct crun save = *x;
			uint32_t e = x->n++;
			x->ev_thread[e] = t;
			x->ev_action[e] = a;
			if (a->entered != IR_NONE)
				x->item[t] = x->items++;
			x->ev_item[e] = x->item[t] != IR_NONE ? x->item[t] : x->items++;
			if (a->exited != IR_NONE)
				x->item[t] = IR_NONE;
			x->before[e] = 1u << e;
			for (uint32_t f = 0; f < e; f++)
				if (crun_depends(x, e, f))
					x->before[e] |= x->before[f];
			for (uint32_t k = 0; k < a->ntouch; k++) {
				const struct touch *u = &x->g->touches[a->touch + k];
				if (u->write && u->put != PROGRAM_ANY)
					x->value[u->cell] = u->put;
			}
			x->spot[t] = a->to;
			crun_go(x);
			save.runs = x->runs;
			save.cycle = x->cycle;
			save.too_many = x->too_many;
			*x = save;
			if (x->cycle || x->too_many)
				return;
		}
	if (!moved) {
		x->cycle = crun_cyclic(x);
		x->too_many = ++x->runs > x->limit;
	}
}

/* Does some run have a cycle of items? Only runs that end are looked at, so
 * the program must end. 1 yes, 0 no, -1 too many runs or events. */
static inline int naive_cycle(const struct program *g, const uint32_t *count, uint64_t limit)
{
	struct crun *x = calloc(1, sizeof *x);
	x->g = g;
	x->limit = limit;
	for (uint32_t c = 0; c < g->ncells; c++)
		x->value[c] = g->cells[c].init;
	for (uint32_t t = 0; t < g->ir->ntemplates; t++)
		for (uint32_t k = 0; k < count[t]; k++) {
			x->item[x->nthreads] = IR_NONE;
			x->spot[x->nthreads++] = g->start[t];
		}
	crun_go(x);
	int r = x->cycle ? 1 : x->too_many ? -1 : 0;
	free(x);
	return r;
}

#endif
