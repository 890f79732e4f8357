/*
 * cover_state: a state of the cover search and its successors; for cover.c
 * and for what replays its runs. See cover.h for the meaning.
 *
 * As words: a cell each (value, w, r), the number of pending promises, the
 * spots of their threads (ascending), then pairs (spot * 2 + yellow, how many)
 * ascending by the first. The first part, before the pairs, is the *head*.
 */
#ifndef INTACT_CAUSAL_COVER_STATE_H
#define INTACT_CAUSAL_COVER_STATE_H

#include "base/invariant.h"
#include "causal/cover.h"

#define COVER_OMEGA UINT32_MAX

enum { TAINT_NONE = 0, TAINT_OTHER = 15 }; /* 1 + i: of pending promise i */

static inline unsigned taint_join(unsigned a, unsigned b)
{
	return a == b || !b ? a : !a ? b : TAINT_OTHER;
}

/* A cell of a state. */
static inline uint32_t cword(uint32_t value, unsigned w, unsigned r)
{
	assert(value <= 0xffff && w <= 15 && r <= 15);
	return value | w << 16 | r << 20;
}
static inline uint32_t cword_value(uint32_t c)
{
	return c & 0xffff;
}
static inline unsigned cword_w(uint32_t c)
{
	return c >> 16 & 15;
}
static inline unsigned cword_r(uint32_t c)
{
	return c >> 20 & 15;
}

struct cover_group {
	uint32_t code, count;
};

struct cstate { /* taken apart */
	uint32_t *cell;
	uint32_t nowner, owner[COVER_MAX_OWNERS];
	struct cover_group *group;
	uint32_t ngroup;
};

/* Do the cells have what the action needs? */
bool cstate_enabled(const struct program *g, const uint32_t *cell, const struct action *a);
/* Join of `in` and of what the action's touches inherit. */
unsigned cstate_inherit(const struct program *g, const uint32_t *cell, const struct action *a, unsigned in);
/* The action's effect on the cells, its event having taint `out`. */
void cstate_touch(const struct program *g, uint32_t *cell, const struct action *a, unsigned out);

/* One thread more, or one less (it is there); room for one more group. */
void cstate_join(struct cstate *s, uint32_t spot, bool yellow);
void cstate_leave(struct cstate *s, uint32_t spot, bool yellow);
/* A new promise by a thread in `spot`: its number before sorting. */
void cstate_promise(struct cstate *s, uint32_t spot);
/* Promise i is kept: its taint is anyone's now. Its thread is no longer listed. */
void cstate_keep(const struct program *g, struct cstate *s, uint32_t i);
/* Promises in the order of their spots; perm[new] = old. */
void cstate_sort(const struct program *g, struct cstate *s, uint32_t perm[COVER_MAX_OWNERS]);

/* Spots in a block that may promise, where no cell was touched since the block
 * began: one flag per spot. */
void cover_first_spots(const struct program *g, uint32_t block, uint8_t *first);

#endif
