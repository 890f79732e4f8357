/*
 * store: the set of states seen, as packed vectors of ids.
 *
 * A state is a vector of 32-bit ids (field 0 the globals, then one a thread).
 * Packed, each field takes 1, 2 or 4 bytes, as wide as the ids seen so far
 * need; the whole is rounded up to 8 bytes. A field that grows makes the
 * store repack itself (each field does so twice at most). Packed states lie
 * inline in one open-addressing table: nothing else is stored, so a state
 * costs its packed size over the load factor (at most 0.8).
 *
 * Ids are stored plus one: a slot whose first word is 0 is free.
 */
#ifndef INTACT_EXPLORE_STORE_H
#define INTACT_EXPLORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store {
	uint32_t nfields;
	uint8_t *width;   /* bytes */
	uint16_t *offset;
	uint32_t words;   /* of 8 bytes, a packed state */
	uint64_t *table;
	uint64_t cap, n;  /* slots, states */
	uint64_t budget;  /* bytes the table may take; 0: no bound */
	uint32_t version; /* changes when the layout does */
};

enum store_result { STORE_NEW, STORE_OLD, STORE_FULL };

bool store_init(struct store *s, uint32_t nfields, uint64_t budget);
void store_free(struct store *s);
/* True when every id fits; else widens the layout (packed states the caller
 * keeps elsewhere must then be repacked; s->version tells). */
bool store_fits(const struct store *s, uint32_t field, uint32_t id);
/* Makes room for `id` in the field; false when memory ends. */
bool store_widen(struct store *s, uint32_t field, uint32_t id);
void store_pack(const struct store *s, const uint32_t *ids, uint64_t *key);
void store_unpack(const struct store *s, const uint64_t *key, uint32_t *ids);
static inline void store_put(const struct store *s, uint64_t *key, uint32_t field, uint32_t id)
{
	uint8_t *at = (uint8_t *)key + s->offset[field];
	uint32_t v = id + 1;
	at[0] = (uint8_t)v;
	if (s->width[field] > 1)
		at[1] = (uint8_t)(v >> 8);
	if (s->width[field] > 2) {
		at[2] = (uint8_t)(v >> 16);
		at[3] = (uint8_t)(v >> 24);
	}
}
enum store_result store_insert(struct store *s, const uint64_t *key);

static inline uint64_t store_hash(const uint64_t *key, uint32_t words)
{
	uint64_t h = 0;
	for (uint32_t i = 0; i < words; i++) {
		/* the high half of a full product depends on every bit below */
		unsigned __int128 m = (unsigned __int128)(h ^ key[i] ^ 0x9E3779B97F4A7C15u) *
		                      0xD6E8FEB86659FD93u;
		h = (uint64_t)m ^ (uint64_t)(m >> 64);
	}
	return h;
}
/* Brings the place where key belongs into the cache, for an insertion soon. */
static inline void store_prefetch(const struct store *s, const uint64_t *key)
{
	__builtin_prefetch(s->table + (store_hash(key, s->words) & (s->cap - 1)) * s->words, 1);
}

#endif
