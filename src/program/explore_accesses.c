#include "program/explore_accesses.h"

#include <stdlib.h>

#include "base/invariant.h"

/* The bytes of an access in a word of eight; a program uses few bytes in several ways, so words are looked at one by one. */
struct touched {
	uint64_t word;
	uint32_t at; /* in the order of the run */
	uint16_t thread;
	uint8_t bytes, write;
};

static int by_word(const void *x, const void *y)
{
	const struct touched *a = x, *b = y;
	return a->word < b->word ? -1 : a->word > b->word ? 1 : a->at < b->at ? -1 : a->at > b->at;
}

/* Does another thread access bytes of t[i], and one of the two write? */
static bool conflicts(const struct touched *t, uint32_t from, uint32_t to, uint32_t i)
{
	assert(from <= i && i < to);
	for (uint32_t k = from; k < to; k++)
		if (t[k].thread != t[i].thread && t[k].bytes & t[i].bytes && (t[k].write || t[i].write))
			return true;
	return false;
}

const struct control_access **explore_accesses(const struct control *c, struct arena *a, uint32_t *n)
{
	uint32_t kept = c->naccesses < CONTROL_ACCESSES ? (uint32_t)c->naccesses : CONTROL_ACCESSES, out = 0;
	uint64_t first = c->naccesses - kept;
	assert(a && kept <= CONTROL_ACCESSES);
	*n = 0;
	if (!kept)
		return NULL;
	struct touched *t = arena_alloc(a, kept * sizeof *t);
	bool *shown = arena_alloc(a, kept * sizeof *shown);
	for (uint32_t i = 0; i < kept; i++) {
		const struct control_access *x = &c->access[(first + i) % CONTROL_ACCESSES];
		unsigned off = x->addr & 7, size = x->size <= 8 ? x->size : 8;
		t[i] = (struct touched){ x->addr >> 3, i, x->thread, (uint8_t)(((1u << size) - 1) << off), x->write };
		shown[i] = false;
	}
	qsort(t, kept, sizeof *t, by_word);
	for (uint32_t from = 0, to; from < kept; from = to) {
		for (to = from + 1; to < kept && t[to].word == t[from].word; to++)
			;
		for (uint32_t i = from; i < to; i++)
			shown[t[i].at] = conflicts(t, from, to, i);
	}
	uint32_t all = 0;
	for (uint32_t i = 0; i < kept; i++)
		all += shown[i];
	const struct control_access **list = arena_alloc(a, (all ? all : 1) * sizeof *list);
	for (uint32_t i = 0, skip = all > EXPLORE_ACCESSES ? all - EXPLORE_ACCESSES : 0; i < kept; i++)
		if (shown[i] && !(skip && skip--))
			list[out++] = &c->access[(first + i) % CONTROL_ACCESSES];
	assert(out <= EXPLORE_ACCESSES);
	*n = out;
	return list;
}
