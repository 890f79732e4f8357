/*
 * map: 64-bit keys to 32-bit values, open addressing with linear probing.
 *
 * Representation: a power-of-two array of (key, value + 1); 0 in the value
 * means free, so any key may be stored and nothing needs a tombstone: there
 * is no removal. Load factor at most 3/4. Memory: 16 bytes per slot.
 */
#ifndef INTACT_BASE_MAP_H
#define INTACT_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX

struct map_slot {
	uint64_t key;
	uint32_t val1; /* value + 1; 0 = free */
};

struct map {
	struct map_slot *slots;
	size_t cap, len;
};

void map_init(struct map *m);
void map_free(struct map *m);
/* The value stored for key, or MAP_NONE. */
uint32_t map_get(const struct map *m, uint64_t key);
/* Stores val (below MAP_NONE) for key, replacing; false when out of memory. */
bool map_put(struct map *m, uint64_t key, uint32_t val);
/* Like map_put, but keeps an existing value; *val gets what is stored. */
bool map_intern(struct map *m, uint64_t key, uint32_t *val);

static inline uint64_t hash64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xD6E8FEB86659FD93u;
	x ^= x >> 32;
	x *= 0xD6E8FEB86659FD93u;
	x ^= x >> 32;
	return x;
}

#endif
