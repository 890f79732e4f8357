/*
 * store: the set of states seen, as packed vectors of ids; any number of
 * threads may insert at once.
 *
 * A state is a vector of ids: field 0 the globals, then one per thread.
 * Packed, a field takes as many bits as the ids seen so far need and never
 * straddles two 64-bit words; field 0 holds its id plus one, so word 0 is
 * never 0. What a table slot holds is the state's *key*:
 *
 *   inline, up to STORE_INLINE words: the packed words themselves;
 *   tree, beyond: one word, the root of a binary tree over the packed words,
 *   whose inner nodes are interned once (tree.h). States differ from their
 *   neighbours in few words, so nearly all of a state is shared.
 *
 * The table is open addressing with linear probing, filled to at most 3/4. A
 * slot is taken by one compare-and-swap of its first word; keys of several
 * words have a bit in it (STORE_BUSY) that says that the rest is being
 * written. A place is the hash scaled to the size of the table, so that the
 * order of the slots is the order of the hashes, whatever the size: growing
 * (by half) reads and writes both tables front to back, in parts that threads
 * move without getting in each other's way, and gives the old one back page by
 * page as it goes. Probing begins where a line of the cache does: nearly every
 * look-up is of one line, compared all at once. Bytes per state: 10.7 to 16
 * for one word.
 *
 * A flat store has a layout and nothing else: its keys are the packed words, however many, and states are kept elsewhere
 * (search_disk.h).
 *
 * Growing and changing the layout are for one thread while no other uses the
 * store. store_crowded() says when it is time; every user may then still
 * insert STORE_SLACK states.
 */
#ifndef INTACT_EXPLORE_STORE_H
#define INTACT_EXPLORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/invariant.h"
#include "explore/tree.h"

#define STORE_INLINE 2u
#define STORE_BUSY   ((uint64_t)1 << 63)
#define STORE_SLACK  256u
#define STORE_USERS  32u /* threads at most */
#define STORE_LINE   8u  /* slots of one word in a line of the cache */

struct store_field {
	uint32_t word;
	uint8_t shift, bits;
};

struct store_layout {
	uint32_t nfields, words;
	struct store_field *field;
};

struct store {
	struct store_layout at;
	bool tree;    /* keys are roots */
	bool flat;    /* there is no table */
	uint32_t key; /* words of a key */
	uint64_t *table;
	uint64_t cap, n; /* slots, states */
	uint64_t full;   /* states at which it should grow */
	uint32_t users;  /* threads */
	uint64_t budget; /* bytes the table may take; 0: no bound */
	bool broken;     /* out of memory while it grew: states are missing */
	struct tree nodes;
};

enum store_result { STORE_NEW, STORE_OLD };

/* bits[i]: for field i. False when out of memory. */
bool store_init(struct store *s, uint32_t nfields, const uint8_t *bits, uint64_t budget);
void store_free(struct store *s);
/* A flat store with this layout, whose fields stay the caller's. */
void store_init_flat(struct store *s, const struct store_layout *at);
/* Fields get these widths, enough for all ids there are. Keys kept elsewhere are
 * converted by `also`, which is called with the old store while both are there.
 * False when out of memory. */
bool store_widen(struct store *s, const uint8_t *bits, bool (*also)(void *arg, const struct store *from, struct store *to),
                 void *arg);
bool store_grow(struct store *s);
/* Room for so many states at once, for a store that is filled from a file. */
bool store_reserve(struct store *s, uint64_t states);
/* Fields in order, each in the first word that has room. False when out of memory. */
bool store_lay_out(struct store_layout *l, uint32_t nfields, const uint8_t *bits);
/* So many threads will use it (at most STORE_USERS); false when out of memory. */
bool store_admit(struct store *s, uint32_t users);
/* One key of `from` as one of `to`; `ids` and `words` are room for a state. */
bool store_convert(const struct store *from, const uint64_t *key, struct store *to, uint64_t *out, uint32_t *ids, uint64_t *words);
uint64_t store_bytes(const struct store *s);

static inline bool store_crowded(const struct store *s)
{
	return __atomic_load_n(&s->n, __ATOMIC_RELAXED) >= s->full || tree_crowded(&s->nodes);
}
/* Ids from here on do not fit. */
static inline uint32_t store_limit(const struct store *s, uint32_t field)
{
	uint32_t bits = s->at.field[field].bits;
	return bits >= 32 ? UINT32_MAX - 1 : (1u << bits) - (field == 0);
}

/* Packed words of some layout. */
void store_pack_by(const struct store_layout *at, const uint32_t *ids, uint64_t *words);
void store_pack(const struct store *s, const uint32_t *ids, uint64_t *words);
/* The ids of packed words of some layout, field 0 back to what it was. */
static inline void store_unpack_by(const struct store_layout *at, const uint64_t *words, uint32_t *ids)
{
	for (uint32_t i = 0; i < at->nfields; i++) {
		struct store_field f = at->field[i];
		ids[i] = (uint32_t)(words[f.word] >> f.shift & (((uint64_t)1 << f.bits) - 1));
	}
	ids[0]--;
}
void store_unpack(const struct store *s, const uint64_t *words, uint32_t *ids);
/* The packed words of a key. */
void store_words(const struct store *s, const uint64_t *key, uint64_t *words);

static inline uint32_t store_field(const struct store *s, const uint64_t *words, uint32_t field)
{
	assert(field < s->at.nfields);
	struct store_field f = s->at.field[field];
	return (uint32_t)(words[f.word] >> f.shift & (((uint64_t)1 << f.bits) - 1)) - (field == 0);
}
/* Replaces a field: adding the difference to its word changes nothing else. */
static inline void store_change(const struct store *s, uint64_t *words, uint32_t field, uint32_t from, uint32_t to)
{
	assert(field < s->at.nfields && from < store_limit(s, field) && to < store_limit(s, field));
	struct store_field f = s->at.field[field];
	words[f.word] += ((uint64_t)to - from) << f.shift;
}

static inline uint64_t store_hash(const uint64_t *key, uint32_t words)
{
	uint64_t h = 0x9E3779B97F4A7C15u;
	for (uint32_t i = 0; i < words; i++) {
		/* the middle of a full product depends on every bit of the factor */
		unsigned __int128 m = (unsigned __int128)(h ^ key[i]) * 0xD6E8FEB86659FD93u;
		h = (uint64_t)m ^ (uint64_t)(m >> 64);
	}
	return h;
}
/* Where probing begins: the hash scaled to the table, whatever its size, and
 * from there the beginning of the line (STORE_LINE slots). */
static inline uint64_t store_place(uint64_t hash, uint64_t cap)
{
	assert(cap % STORE_LINE == 0);
	return (uint64_t)((unsigned __int128)hash * cap >> 64) & ~(uint64_t)(STORE_LINE - 1);
}
static inline void store_prefetch(const struct store *s, uint64_t place)
{
	__builtin_prefetch(s->table + place * s->key, 1);
}

/* Inserts a key whose probing begins at `place`. The caller adds what was new
 * to s->n (store_added), and stops when the store is crowded. */
enum store_result store_insert(struct store *s, const uint64_t *key, uint64_t place);

/* Keys of one word. Most are there, and in the first line: that is seen by one
 * branch. A thread that is `alone` needs no locked instruction, which would
 * have all that it reads ahead wait. */
static inline enum store_result store_insert1(uint64_t *table, uint64_t cap, uint64_t key, uint64_t place, bool alone)
{
	assert(key && place + STORE_LINE <= cap); /* 0 is a free slot */
	const uint64_t *t = table + place;
#define AT(k) (unsigned)(__atomic_load_n(&t[k], __ATOMIC_RELAXED) == key)
	if (AT(0) | AT(1) | AT(2) | AT(3) | AT(4) | AT(5) | AT(6) | AT(7))
		return STORE_OLD;
#undef AT
	for (uint64_t i = place;; i = i + 1 == cap ? 0 : i + 1) {
		uint64_t seen = __atomic_load_n(&table[i], __ATOMIC_RELAXED);
		if (!seen && alone) {
			__atomic_store_n(&table[i], key, __ATOMIC_RELAXED);
			return STORE_NEW;
		}
		if (!seen && __atomic_compare_exchange_n(&table[i], &seen, key, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return STORE_NEW;
		if (seen == key)
			return STORE_OLD;
	}
}
static inline void store_added(struct store *s, uint64_t n)
{
	__atomic_fetch_add(&s->n, n, __ATOMIC_RELAXED);
}

#endif
