#include "explore/store.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define GROW_GENTLY ((uint64_t)32 << 20) /* bytes */

static void lay_out(struct store *s)
{
	uint32_t at = 0;
	/* wide fields first, so that none straddles a word needlessly */
	for (unsigned w = 4; w; w /= 2)
		for (uint32_t i = 0; i < s->nfields; i++)
			if (s->width[i] == w) {
				s->offset[i] = (uint16_t)at;
				s->limit[i] = w == 4 ? UINT32_MAX - 1 : (1u << 8 * w) - 1;
				at += w;
			}
	s->words = (at + 3) / 4;
	s->bytes_only = at == s->nfields;
	s->version++;
}

static uint32_t *table_new(uint64_t cap, uint32_t words)
{
	if (cap > SIZE_MAX / 4 / words)
		return NULL;
	void *p = mmap(NULL, cap * words * 4, PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (cap * words * 4 >= (uint64_t)4 << 20)
		madvise(p, cap * words * 4, MADV_HUGEPAGE);
	return p;
}

static void table_free(uint32_t *t, uint64_t cap, uint32_t words)
{
	if (t)
		munmap(t, cap * words * 4);
}

bool store_init(struct store *s, uint32_t nfields, uint64_t budget)
{
	memset(s, 0, sizeof *s);
	s->nfields = nfields;
	s->budget = budget;
	s->width = malloc(nfields);
	s->offset = malloc(nfields * sizeof *s->offset);
	s->limit = malloc(nfields * sizeof *s->limit);
	if (!s->width || !s->offset || !s->limit || nfields > 16000)
		return false;
	memset(s->width, 1, nfields);
	lay_out(s);
	s->cap = 1024;
	s->full = s->cap / 5 * 4;
	s->table = table_new(s->cap, s->words);
	return s->table != NULL;
}

void store_free(struct store *s)
{
	table_free(s->table, s->cap, s->words);
	free(s->width);
	free(s->offset);
	free(s->limit);
	memset(s, 0, sizeof *s);
}

void store_pack(const struct store *s, const uint32_t *ids, uint32_t *key)
{
	memset(key, 0, s->words * 4);
	for (uint32_t i = 0; i < s->nfields; i++)
		store_put(s, key, i, ids[i]);
}

void store_unpack(const struct store *s, const uint32_t *key, uint32_t *ids)
{
	for (uint32_t i = 0; i < s->nfields; i++)
		ids[i] = store_field(s, key, i);
}

static inline bool same(const uint32_t *a, const uint32_t *b, uint32_t words)
{
	for (uint32_t i = 0; i < words; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* The slot where key is or belongs. Every packed state has a non-zero word. */
static inline uint32_t *locate(uint32_t *table, uint64_t cap, const uint32_t *key, uint64_t hash,
                               uint32_t words)
{
	uint64_t i = store_place(hash, cap);
	for (;; i = i + 1 == cap ? 0 : i + 1) {
		uint32_t *slot = table + i * words;
		if (!slot[0] || same(slot, key, words))
			return slot;
	}
}

static bool rebuild(struct store *s, uint64_t cap, uint32_t old_words, const struct store *old)
{
	uint32_t *t = table_new(cap, s->words);
	uint32_t *ids = malloc(sizeof *ids * s->nfields);
	uint32_t *key = malloc(4 * (size_t)s->words);
	bool ok = t && ids && key;
	for (uint64_t i = 0; ok && i < s->cap; i++) {
		const uint32_t *slot = s->table + i * old_words;
		if (!slot[0])
			continue;
		if (old) {
			store_unpack(old, slot, ids);
			store_pack(s, ids, key);
			slot = key;
		}
		memcpy(locate(t, cap, slot, store_hash(slot, s->words), s->words), slot, 4 * (size_t)s->words);
	}
	free(ids);
	free(key);
	if (!ok) {
		table_free(t, cap, s->words);
		return false;
	}
	table_free(s->table, s->cap, old_words);
	s->table = t;
	s->cap = cap;
	s->full = cap / 5 * 4;
	return true;
}

bool store_widen(struct store *s, uint32_t field, uint32_t id)
{
	struct store old = *s;
	uint8_t *width = malloc(s->nfields);
	uint16_t *offset = malloc(s->nfields * sizeof *offset);
	if (!width || !offset) {
		free(width);
		free(offset);
		return false;
	}
	memcpy(width, s->width, s->nfields);
	memcpy(offset, s->offset, s->nfields * sizeof *offset);
	old.width = width;
	old.offset = offset;
	s->width[field] = id + 1 < 1u << 16 ? 2 : 4;
	lay_out(s);
	bool ok = rebuild(s, s->cap, old.words, &old);
	free(width);
	free(offset);
	return ok;
}

static inline enum store_result insert(struct store *s, const uint32_t *key, uint64_t hash,
                                       uint32_t words)
{
	uint32_t *slot = locate(s->table, s->cap, key, hash, words);
	if (slot[0])
		return STORE_OLD;
	for (uint32_t i = 0; i < words; i++)
		slot[i] = key[i];
	s->n++;
	return STORE_NEW;
}

enum store_result store_insert(struct store *s, const uint32_t *key, uint64_t hash)
{
	if (s->n >= s->full) {
		uint64_t bytes = s->cap * s->words * 4;
		/* double while that is cheap, then by a quarter */
		uint64_t cap = bytes < GROW_GENTLY ? s->cap * 2 : s->cap + s->cap / 4;
		if (s->budget && (s->cap + cap) * s->words * 4 > s->budget)
			return STORE_FULL; /* both tables live while it grows */
		if (!rebuild(s, cap, s->words, NULL))
			return STORE_FULL;
	}
	switch (s->words) { /* the usual sizes without loops */
	case 1: return insert(s, key, hash, 1);
	case 2: return insert(s, key, hash, 2);
	case 3: return insert(s, key, hash, 3);
	case 4: return insert(s, key, hash, 4);
	case 5: return insert(s, key, hash, 5);
	case 6: return insert(s, key, hash, 6);
	default: return insert(s, key, hash, s->words);
	}
}
