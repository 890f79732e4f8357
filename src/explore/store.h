/*
 * store: the set of states seen, as packed vectors of ids.
 *
 * A state is a vector of 32-bit ids (field 0 the globals, then one a thread).
 * Packed, each field takes 1, 2 or 4 bytes, as wide as the ids seen so far
 * need; the whole is rounded up to 4 bytes. A field that grows makes the
 * store repack itself (each field does so twice at most). Packed states lie
 * inline in one open-addressing table: nothing else is stored, so a state
 * costs its packed size over the load factor: at most 0.8, and from 0.64 on
 * once the table is large, because it then grows by a quarter.
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
	uint16_t *offset; /* in bytes */
	uint32_t *limit;  /* first id that does not fit */
	uint32_t words;   /* of 4 bytes, a packed state */
	uint32_t *table;
	uint64_t cap, n;  /* slots, states */
	uint64_t full;    /* states at which it grows */
	uint64_t budget;  /* bytes the table may take; 0: no bound */
	uint32_t version; /* changes when the layout does */
	bool bytes_only;  /* every field is one byte wide */
};

enum store_result { STORE_NEW, STORE_OLD, STORE_FULL };

bool store_init(struct store *s, uint32_t nfields, uint64_t budget);
void store_free(struct store *s);
/* Is the field wide enough? */
static inline bool store_fits(const struct store *s, uint32_t field, uint32_t id)
{
	return id < s->limit[field];
}
/* Makes room for `id` in the field (packed states kept elsewhere must then be
 * repacked; s->version tells); false when memory ends. */
bool store_widen(struct store *s, uint32_t field, uint32_t id);
void store_pack(const struct store *s, const uint32_t *ids, uint32_t *key);
void store_unpack(const struct store *s, const uint32_t *key, uint32_t *ids);
static inline void store_put(const struct store *s, uint32_t *key, uint32_t field, uint32_t id)
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
/* Replaces a field of a packed state: fields are bytes of little-endian words,
 * so adding the difference to the word changes them and nothing else. A field
 * never straddles two words. */
static inline void store_change(const struct store *s, uint32_t *key, uint32_t field,
                                uint32_t from, uint32_t to)
{
	uint32_t off = s->offset[field];
	key[off / 4] += (to - from) << 8 * (off % 4);
}
static inline uint32_t store_field(const struct store *s, const uint32_t *key, uint32_t field)
{
	const uint8_t *at = (const uint8_t *)key + s->offset[field];
	uint32_t v = at[0];
	if (s->width[field] > 1)
		v |= (uint32_t)at[1] << 8;
	if (s->width[field] > 2)
		v |= (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
	return v - 1;
}
/* `hash` is store_hash of the key. */
enum store_result store_insert(struct store *s, const uint32_t *key, uint64_t hash);

static inline uint64_t store_hash(const uint32_t *key, uint32_t words)
{
	uint64_t h = 0x9E3779B97F4A7C15u;
	for (uint32_t i = 0; i < words; i += 2) {
		uint64_t k = key[i] | (uint64_t)(i + 1 < words ? key[i + 1] : 0) << 32;
		/* the high half of a full product depends on every bit below */
		unsigned __int128 m = (unsigned __int128)(h ^ k) * 0xD6E8FEB86659FD93u;
		h = (uint64_t)m ^ (uint64_t)(m >> 64);
	}
	return h;
}
/* Where probing begins: the hash scaled to the table, whatever its size. */
static inline uint64_t store_place(uint64_t hash, uint64_t cap)
{
	return (uint64_t)((unsigned __int128)hash * cap >> 64);
}
/* Brings the place where key belongs into the cache, for an insertion soon. */
static inline void store_prefetch(const struct store *s, uint64_t hash)
{
	__builtin_prefetch(s->table + store_place(hash, s->cap) * s->words, 1);
}

#endif
