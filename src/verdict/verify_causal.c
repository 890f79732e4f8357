/*
 * verify_causal: every pair of steps is compared, the order is closed over the
 * way, items are numbered, and a closure of the items' order shows a cycle.
 * Cubic in the length of the run, which is bounded.
 */
#include "verdict/verify_causal.h"

#include <stdlib.h>
#include <string.h>

#include "verdict/verdict.h"

#define CAUSAL_MAX_STEPS 600u

static bool writes(uint32_t mode)
{
	return mode != IRA_READ && mode != IRA_READ_INV && mode != IRA_READ_RESP;
}

static bool conflict(const struct run *r, const struct run_step *a, const struct run_step *b)
{
	if (a->thread == b->thread)
		return true;
	for (uint32_t i = 0; i < a->nevent; i++)
		for (uint32_t k = 0; k < b->nevent; k++) {
			const struct ir_event *e = &r->events[a->event + i], *f = &r->events[b->event + k];
			if (e->var == f->var && e->elem == f->elem && (writes(e->mode) || writes(f->mode)))
				return true;
		}
	return false;
}

/* before[i * n + k]: step k is causally before step i, or it is step i. */
static void find_order(const struct run *r, bool *before)
{
	uint32_t n = r->nsteps;
	for (uint32_t i = 0; i < n; i++) {
		before[(size_t)i * n + i] = true;
		for (uint32_t k = 0; k < i; k++) {
			if (!conflict(r, &r->steps[k], &r->steps[i]))
				continue;
			for (uint32_t j = 0; j <= k; j++)
				before[(size_t)i * n + j] |= before[(size_t)k * n + j];
		}
	}
}

/* The item of each step: an occurrence of a block that counts, or itself. */
static void find_items(const struct run *r, uint32_t block, uint32_t *item)
{
	const struct ir *p = r->ir;
	for (uint32_t i = 0; i < r->nsteps; i++) {
		uint32_t in = p->nodes[r->steps[i].node].block;
		item[i] = i;
		if (in == IR_NONE || (block != VERDICT_PROGRAM && in != block))
			continue;
		for (uint32_t k = i; k-- > 0;)
			if (r->steps[k].thread == r->steps[i].thread) {
				item[i] = item[k];
				break;
			}
	}
}

static bool has_cycle(const struct run *r, const bool *before, const uint32_t *item, bool *after)
{
	uint32_t n = r->nsteps;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < i; k++)
			if (before[(size_t)i * n + k] && item[i] != item[k])
				after[(size_t)item[k] * n + item[i]] = true;
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; after[(size_t)i * n + k] && j < n; j++)
				after[(size_t)i * n + j] |= after[(size_t)k * n + j];
	for (uint32_t i = 0; i < n; i++)
		if (after[(size_t)i * n + i])
			return true;
	return false;
}

const char *verify_causal(const struct run *r, uint32_t block, bool *unknown)
{
	uint32_t n = r->nsteps;
	const char *why = "the run is too long to judge";
	*unknown = n > CAUSAL_MAX_STEPS;
	for (uint32_t i = 0; i < n; i++)
		*unknown |= r->steps[i].cut;
	if (*unknown)
		return why;
	bool *before = calloc((size_t)n * n + 1, sizeof *before);
	bool *after = calloc((size_t)n * n + 1, sizeof *after);
	uint32_t *item = calloc(n + 1ull, sizeof *item);
	if (!before || !after || !item) {
		*unknown = true;
		why = "no memory";
	} else {
		find_order(r, before);
		find_items(r, block, item);
		why = has_cycle(r, before, item, after) ? NULL
		      : block == VERDICT_PROGRAM        ? "the blocks of the run form no causal cycle"
		                                        : "no causal chain leaves the block and returns to it";
	}
	free(before);
	free(after);
	free(item);
	return why;
}
