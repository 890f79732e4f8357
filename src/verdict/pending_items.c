#include "verdict/pending_items.h"

#include <string.h>

#include "base/invariant.h"

void pending_items_copy(struct pending_items *to, const struct pending_items *from)
{
	assert(from->n <= PENDING_ITEMS);
	to->serial = from->serial;
	to->done = from->done;
	to->n = from->n;
	memcpy(to->item, from->item, from->n * sizeof *to->item);
}

uint32_t pending_items_pack(const struct pending_items *l, int32_t *words)
{
	uint32_t n = 0;
	words[n++] = (int32_t)l->serial;
	words[n++] = (int32_t)(uint32_t)l->done;
	words[n++] = (int32_t)(uint32_t)(l->done >> 32);
	for (uint32_t i = 0; i < l->n; i++) {
		const struct pending_item *it = &l->item[i];
		words[n++] = (int32_t)it->thread;
		words[n++] = (int32_t)it->block;
		words[n++] = (int32_t)(it->nplaces * 2 + it->open);
		words[n++] = (int32_t)it->before;
		words[n++] = (int32_t)(uint32_t)it->knows;
		words[n++] = (int32_t)(uint32_t)(it->knows >> 32);
		memcpy(words + n, it->places, it->nplaces * sizeof *words);
		n += it->nplaces;
	}
	return n;
}

static uint64_t two(const int32_t *words)
{
	return (uint32_t)words[0] | (uint64_t)(uint32_t)words[1] << 32;
}

void pending_items_unpack(struct pending_items *l, const int32_t *words, uint32_t len)
{
	uint32_t at = 3;
	l->serial = (uint32_t)words[0];
	l->done = two(words + 1);
	for (l->n = 0; at < len; l->n++) {
		struct pending_item *it = &l->item[l->n];
		it->thread = (uint32_t)words[at];
		it->block = (uint32_t)words[at + 1];
		it->nplaces = (uint32_t)words[at + 2] / 2;
		it->open = words[at + 2] & 1;
		it->before = (uint32_t)words[at + 3];
		it->knows = two(words + at + 4);
		memcpy(it->places, words + at + 6, it->nplaces * sizeof *words);
		at += 6 + it->nplaces;
	}
}

/* The mask with room for a bit at `at`, or without that bit. */
static uint32_t with_bit(uint32_t mask, uint32_t at)
{
	assert(at < 32);
	uint32_t low = (1u << at) - 1;
	return (mask & low) | (mask & ~low) << 1;
}

static uint32_t without_bit(uint32_t mask, uint32_t at)
{
	assert(at < 32);
	uint32_t low = (1u << at) - 1;
	return (mask & low) | (mask >> 1 & ~low);
}

bool pending_items_insert(struct pending_items *l, const struct pending_item *it)
{
	uint32_t at = 0;
	if (l->n == PENDING_ITEMS)
		return false;
	assert(l->n < PENDING_ITEMS);
	while (at < l->n && l->item[at].thread <= it->thread)
		at++;
	memmove(l->item + at + 1, l->item + at, (l->n - at) * sizeof *l->item);
	l->n++;
	l->item[at] = *it;
	for (uint32_t i = 0; i < l->n; i++)
		l->item[i].before = with_bit(l->item[i].before, at);
	return true;
}

static void remove_one(struct pending_items *l, uint32_t at)
{
	assert(at < l->n);
	l->n--;
	memmove(l->item + at, l->item + at + 1, (l->n - at) * sizeof *l->item);
	for (uint32_t i = 0; i < l->n; i++)
		l->item[i].before = without_bit(l->item[i].before, at);
}

void pending_items_remove(struct pending_items *l, uint32_t at)
{
	remove_one(l, at);
	for (uint32_t i = l->n; i-- > 0;)
		if (l->item[i].open && !l->item[i].before)
			remove_one(l, i);
}

uint32_t pending_items_open(const struct pending_items *l, uint32_t thread)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->item[i].thread == thread && l->item[i].open)
			return i;
	return PENDING_ITEMS;
}

uint32_t pending_items_ended(const struct pending_items *l)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < l->n; i++)
		n += !l->item[i].open;
	return n;
}

static bool touches(const struct pending_item *it, const uint32_t *places, uint32_t n)
{
	for (uint32_t i = 0; i < it->nplaces; i++)
		for (uint32_t k = 0; k < n; k++)
			if (it->places[i] / 2 == places[k] / 2 && ((it->places[i] | places[k]) & 1))
				return true;
	return false;
}

static bool learn(struct pending_item *it, uint32_t place)
{
	uint32_t at = 0;
	while (at < it->nplaces && it->places[at] / 2 < place / 2)
		at++;
	if (at < it->nplaces && it->places[at] / 2 == place / 2) {
		it->places[at] |= place;
		return true;
	}
	if (it->nplaces == PENDING_PLACES)
		return false;
	memmove(it->places + at + 1, it->places + at, (it->nplaces - at) * sizeof *it->places);
	it->places[at] = place;
	it->nplaces++;
	return true;
}

bool pending_items_step(struct pending_items *l, uint32_t thread, const uint32_t *places, uint32_t n, uint32_t *before)
{
	bool room = true;
	*before = 0;
	for (uint32_t i = 0; i < l->n; i++) {
		struct pending_item *it = &l->item[i];
		if (it->open || !((it->knows >> thread & 1) || touches(it, places, n)))
			continue;
		*before |= 1u << i;
		it->knows |= (uint64_t)1 << thread;
		for (uint32_t k = 0; k < n; k++)
			room &= learn(it, places[k]);
	}
	return room;
}

void pending_items_prune(struct pending_items *l, uint64_t gone, uint64_t all)
{
	for (uint32_t i = 0; i < l->n; i++) {
		struct pending_item *it = &l->item[i];
		if (it->open)
			continue;
		it->knows |= gone;
		if (it->knows == all)
			it->nplaces = 0;
	}
}

bool pending_items_forced(const struct pending_items *l, uint64_t all, bool idle)
{
	for (uint32_t a = 0; idle && a < l->n; a++) {
		bool first = !l->item[a].open && !l->item[a].before && l->item[a].knows == all;
		for (uint32_t b = 0; b < l->n && first; b++)
			first = b == a || (l->item[b].before >> a & 1);
		if (first)
			return true;
	}
	return false;
}
