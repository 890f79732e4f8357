#include "explore/delayed_shadow.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

#define HEAD 7u /* values of an item before its places */

bool delayed_init(struct delayed_shadow *s, uint32_t width)
{
	s->base = calloc(width + 1, sizeof *s->base);
	s->width = width;
	s->n = 0;
	return s->base != NULL;
}

void delayed_free(struct delayed_shadow *s)
{
	free(s->base);
	s->base = NULL;
}

void delayed_copy(struct delayed_shadow *to, const struct delayed_shadow *from)
{
	assert(to->width == from->width && from->n <= DELAYED_ITEMS);
	memcpy(to->base, from->base, sizeof *to->base * from->width);
	memcpy(to->item, from->item, sizeof *to->item * from->n);
	to->n = from->n;
}

void delayed_load(struct delayed_shadow *s, const struct seqtab *t, uint32_t id)
{
	uint32_t len;
	const int32_t *v = seqtab_get(t, id, &len);
	assert(len >= s->width);
	memcpy(s->base, v, sizeof *v * s->width);
	s->n = 0;
	for (uint32_t at = s->width; at < len;) {
		assert(s->n < DELAYED_ITEMS && len - at >= HEAD);
		struct delayed_item *it = &s->item[s->n++];
		it->thread = (uint32_t)v[at];
		it->block = (uint32_t)v[at + 1] - 1;
		it->open = v[at + 2];
		it->before = (uint32_t)v[at + 3];
		it->knows = (uint32_t)v[at + 4] | (uint64_t)(uint32_t)v[at + 5] << 32;
		it->nplaces = (uint32_t)v[at + 6];
		memcpy(it->places, v + at + HEAD, sizeof *v * it->nplaces);
		assert(it->nplaces <= DELAYED_PLACES && at + HEAD + it->nplaces <= len && it->thread < DELAYED_THREADS);
		at += HEAD + it->nplaces;
	}
}

/* For PARANOID: items in the order of their threads, at most one open and that the last; places sorted; no item before
 * itself. */
static bool delayed_valid(const struct delayed_shadow *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct delayed_item *it = &s->item[i];
		if ((i && s->item[i - 1].thread > it->thread) || it->before >> i & 1)
			return false;
		if (i && s->item[i - 1].thread == it->thread && s->item[i - 1].open)
			return false;
		for (uint32_t k = 1; k < it->nplaces; k++)
			if (it->places[k - 1] >> 1 >= it->places[k] >> 1)
				return false;
	}
	return s->n <= DELAYED_ITEMS;
}

uint32_t delayed_save(const struct delayed_shadow *s, struct seqtab *t)
{
	PARANOID(delayed_valid(s));
	if (!s->n)
		return seqtab_add(t, s->base, s->width);
	int32_t *v = malloc(sizeof *v * (s->width + s->n * (size_t)(HEAD + DELAYED_PLACES)));
	uint32_t at = s->width;
	if (!v)
		return SEQTAB_NONE;
	memcpy(v, s->base, sizeof *v * s->width);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct delayed_item *it = &s->item[i];
		v[at] = (int32_t)it->thread;
		v[at + 1] = (int32_t)(it->block + 1);
		v[at + 2] = it->open;
		v[at + 3] = (int32_t)it->before;
		v[at + 4] = (int32_t)(uint32_t)it->knows;
		v[at + 5] = (int32_t)(uint32_t)(it->knows >> 32);
		v[at + 6] = (int32_t)it->nplaces;
		memcpy(v + at + HEAD, it->places, sizeof *v * it->nplaces);
		at += HEAD + it->nplaces;
	}
	uint32_t id = seqtab_add(t, v, at);
	free(v);
	return id;
}

/* ---- items -------------------------------------------------------------- */

bool delayed_insert(struct delayed_shadow *s, const struct delayed_item *it)
{
	assert(it->thread < DELAYED_THREADS && it->nplaces <= DELAYED_PLACES);
	uint32_t at = 0;
	if (s->n == DELAYED_ITEMS)
		return false;
	while (at < s->n && s->item[at].thread <= it->thread)
		at++;
	memmove(&s->item[at + 1], &s->item[at], sizeof *s->item * (s->n - at));
	assert(at <= s->n && s->n < DELAYED_ITEMS);
	s->item[at] = *it;
	s->n++;
	uint32_t low = (1u << at) - 1;
	for (uint32_t i = 0; i < s->n; i++)
		s->item[i].before = (s->item[i].before & low) | (s->item[i].before & ~low) << 1;
	return true;
}

void delayed_remove(struct delayed_shadow *s, uint32_t i)
{
	assert(i < s->n);
	uint32_t low = (1u << i) - 1;
	memmove(&s->item[i], &s->item[i + 1], sizeof *s->item * (s->n - i - 1));
	s->n--;
	for (uint32_t k = 0; k < s->n; k++)
		s->item[k].before = (s->item[k].before & low) | (s->item[k].before >> 1 & ~low);
}

uint32_t delayed_first(const struct delayed_shadow *s, uint32_t thread)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->item[i].thread == thread)
			return s->item[i].open ? DELAYED_ITEMS : i;
	return DELAYED_ITEMS;
}

uint32_t delayed_open(const struct delayed_shadow *s, uint32_t thread)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->item[i].thread == thread && s->item[i].open)
			return i;
	return DELAYED_ITEMS;
}

uint32_t delayed_ended(const struct delayed_shadow *s)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->n; i++)
		n += !s->item[i].open;
	return n;
}

uint32_t delayed_known(const struct delayed_shadow *s, uint32_t thread)
{
	assert(thread < DELAYED_THREADS || !s->n);
	uint32_t mask = 0;
	for (uint32_t i = 0; i < s->n; i++)
		if (!s->item[i].open && s->item[i].thread != thread && s->item[i].knows >> thread & 1)
			mask |= 1u << i;
	assert(s->n == 32 || !(mask >> s->n));
	return mask;
}

/* ---- knowledge ---------------------------------------------------------- */

static bool tells(const struct delayed_item *it, int32_t touch)
{
	bool write = touch & 1;
	for (uint32_t i = 0; i < it->nplaces; i++)
		if (it->places[i] >> 1 == touch >> 1)
			return write || (it->places[i] & 1);
	return false;
}

static bool learn_place(struct delayed_item *it, int32_t touch)
{
	uint32_t i = 0;
	while (i < it->nplaces && it->places[i] >> 1 < touch >> 1)
		i++;
	if (i < it->nplaces && it->places[i] >> 1 == touch >> 1) {
		it->places[i] |= touch & 1;
		return true;
	}
	if (it->nplaces == DELAYED_PLACES)
		return false;
	assert(it->nplaces < DELAYED_PLACES && i <= it->nplaces);
	memmove(&it->places[i + 1], &it->places[i], sizeof *it->places * (it->nplaces - i));
	it->places[i] = touch;
	it->nplaces++;
	return true;
}

void delayed_learn(struct delayed_shadow *s, uint32_t thread, const int32_t *touch, uint32_t n)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct delayed_item *it = &s->item[i];
		for (uint32_t k = 0; k < n && !it->open; k++)
			if (tells(it, touch[k]))
				it->knows |= (uint64_t)1 << thread;
	}
}

bool delayed_teach(struct delayed_shadow *s, uint32_t thread, const int32_t *touch, uint32_t n)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct delayed_item *it = &s->item[i];
		if (it->open || !(it->knows >> thread & 1))
			continue;
		for (uint32_t k = 0; k < n; k++)
			if (!learn_place(it, touch[k]))
				return false;
	}
	return true;
}

/* ---- symmetry ----------------------------------------------------------- */

void delayed_permute(struct delayed_shadow *s, const uint32_t *to)
{
	struct delayed_item old[DELAYED_ITEMS];
	uint32_t n = s->n, order[DELAYED_ITEMS], where[DELAYED_ITEMS];
	memcpy(old, s->item, sizeof *old * n);
	for (uint32_t i = 0; i < n; i++) { /* stable: a thread's items stay in order */
		uint32_t k = i;
		for (; k && to[old[order[k - 1]].thread] > to[old[i].thread]; k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	for (uint32_t i = 0; i < n; i++) {
		assert(order[i] < n);
		where[order[i]] = i;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct delayed_item *it = &s->item[i];
		*it = old[order[i]];
		it->thread = to[it->thread];
		uint32_t before = it->before;
		uint64_t knows = it->knows;
		it->before = 0;
		it->knows = 0;
		for (uint32_t k = 0; k < n; k++)
			if (before >> k & 1)
				it->before |= 1u << where[k];
		for (uint32_t t = 0; t < DELAYED_THREADS; t++)
			if (knows >> t & 1)
				it->knows |= (uint64_t)1 << to[t];
	}
}
