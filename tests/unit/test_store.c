/*
 * The store of states against a naive twin: alone, with many threads at once,
 * and moved in parts when it grows.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/rng.h"
#include "check.h"
#include "explore/store.h"

/* ---- the store against a naive twin ------------------------------------- */

#define TWIN_MAX 40000u

struct twin { /* every vector, in order; looked for one by one in its bucket */
	uint32_t nfields, n;
	uint32_t *ids;
	uint32_t *next, head[4096];
};

static uint32_t twin_bucket(const struct twin *t, const uint32_t *ids)
{
	uint32_t h = 0;
	for (uint32_t i = 0; i < t->nfields; i++)
		h = h * 31 + ids[i];
	return h % 4096;
}

static bool twin_add(struct twin *t, const uint32_t *ids)
{
	uint32_t b = twin_bucket(t, ids);
	for (uint32_t i = t->head[b]; i; i = t->next[i])
		if (!memcmp(t->ids + (size_t)i * t->nfields, ids, t->nfields * sizeof *ids))
			return false;
	t->n++;
	memcpy(t->ids + (size_t)t->n * t->nfields, ids, t->nfields * sizeof *ids);
	t->next[t->n] = t->head[b];
	t->head[b] = t->n;
	return true;
}

/* The key of ids in the store; grows the nodes when they are crowded. */
static void key_of(struct store *s, const uint32_t *ids, uint64_t *key)
{
	uint64_t *words = malloc(sizeof *words * s->at.words);
	uint32_t *nodes = malloc(sizeof *nodes * tree_room(s->at.words));
	store_pack(s, ids, words);
	if (s->tree) {
		while (!(key[0] = tree_root(&s->nodes, words, s->at.words, nodes, NULL, NULL)))
			CHECK(tree_grow(&s->nodes));
	} else {
		memcpy(key, words, sizeof *key * s->key);
	}
	free(words);
	free(nodes);
}

static bool insert_ids(struct store *s, const uint32_t *ids)
{
	uint64_t key[STORE_INLINE];
	key_of(s, ids, key);
	bool new = store_insert(s, key, store_place(store_hash(key, s->key), s->cap)) == STORE_NEW;
	store_added(s, new);
	if (store_crowded(s))
		CHECK(store_grow(s));
	return new;
}

/* Random vectors whose values grow, so that fields have to be widened. */
static void compare_store(uint32_t nfields, uint32_t spread, uint64_t seed)
{
	struct store s;
	struct twin t = { .nfields = nfields };
	struct rng r;
	uint8_t *bits = malloc(nfields);
	uint32_t *ids = malloc(sizeof *ids * nfields), differ = 0;
	t.ids = malloc(sizeof *ids * nfields * (TWIN_MAX + 1));
	t.next = calloc(TWIN_MAX + 1, sizeof *t.next);
	memset(bits, 1, nfields);
	bits[0] = 2;
	rng_seed(&r, seed);
	CHECK(store_init(&s, nfields, bits, 0));
	for (uint32_t k = 0; k < TWIN_MAX; k++) {
		uint32_t most = 2 + k * spread / TWIN_MAX;
		bool wider = false;
		for (uint32_t i = 0; i < nfields; i++) {
			ids[i] = i % 3 == 1 ? rng_below(&r, 2) : rng_below(&r, most);
			if (nfields > 20 && i > 4 && rng_below(&r, 8))
				ids[i] = 0; /* wide states have much in common */
			if (i > 3 && ids[i] >= 1u << bits[3])
				ids[i] = 1;
			while (ids[i] >= (1u << bits[i]) - (i == 0))
				bits[i]++, wider = true;
		}
		for (uint32_t i = 4; wider && i < nfields; i++) /* as those of one kind do */
			bits[i] = bits[3] > bits[i] ? bits[3] : bits[i];
		if (wider)
			CHECK(store_widen(&s, bits, NULL, NULL));
		differ += insert_ids(&s, ids) != twin_add(&t, ids);
	}
	CHECK_EQ(differ, 0);
	CHECK_EQ(s.n, t.n);
	for (uint32_t k = 1; k <= t.n; k++) /* all there, and read back as they were */
		differ += insert_ids(&s, t.ids + (size_t)k * nfields);
	for (uint32_t k = 1; k <= t.n; k += 97) {
		uint64_t key[STORE_INLINE], *words = malloc(sizeof *words * s.at.words);
		key_of(&s, t.ids + (size_t)k * nfields, key);
		store_words(&s, key, words);
		store_unpack(&s, words, ids);
		differ += memcmp(ids, t.ids + (size_t)k * nfields, sizeof *ids * nfields) != 0;
		free(words);
	}
	CHECK_EQ(differ, 0);
	store_free(&s);
	free(t.ids);
	free(t.next);
	free(bits);
	free(ids);
}

static void test_store_alone(void)
{
	compare_store(2, 300, 1);    /* one word */
	compare_store(12, 12, 2);    /* one word, full */
	compare_store(16, 200, 3);   /* two words, then a tree */
	compare_store(60, 40, 4);    /* a tree from early on */
	compare_store(300, 9, 5);    /* a deep one */
	compare_store(3, 70000, 6);  /* wide fields */
}

/* ---- many at once -------------------------------------------------------- */

#define HAMMERS 4u
#define ROUNDS  40u
#define BURST   200u

struct hammer {
	struct store *s;
	pthread_barrier_t *round;
	uint32_t nfields, who;
	uint64_t new, seed;
};

/* Everybody inserts overlapping vectors; between rounds one grows the store. */
static void *hammer(void *arg)
{
	struct hammer *h = arg;
	struct rng r;
	uint32_t *ids = malloc(sizeof *ids * h->nfields);
	uint64_t *words = malloc(sizeof *words * h->s->at.words);
	uint32_t *nodes = malloc(sizeof *nodes * tree_room(h->s->at.words));
	for (uint32_t k = 0; k < ROUNDS; k++) {
		rng_seed(&r, h->seed + k + (h->who & 1) * 7); /* half of them alike */
		uint64_t before = h->new;
		for (uint32_t i = 0; i < BURST; i++) {
			uint64_t key[STORE_INLINE];
			for (uint32_t f = 0; f < h->nfields; f++)
				ids[f] = f < 3 || f + 2 > h->nfields ? rng_below(&r, 14) : rng_below(&r, 2);
			store_pack(h->s, ids, words);
			if (h->s->tree)
				key[0] = tree_root(&h->s->nodes, words, h->s->at.words, nodes, NULL, NULL);
			else
				memcpy(key, words, sizeof *key * h->s->key);
			if (!key[0])
				break; /* crowded: the rest of the burst is left out, by all */
			h->new += store_insert(h->s, key, store_place(store_hash(key, h->s->key), h->s->cap)) ==
			          STORE_NEW;
		}
		store_added(h->s, h->new - before);
		pthread_barrier_wait(h->round);
		if (!h->who && store_crowded(h->s) && !store_grow(h->s))
			abort();
		pthread_barrier_wait(h->round);
	}
	free(ids);
	free(words);
	free(nodes);
	return NULL;
}

/* How many different states the table holds, each counted once. */
static uint64_t different(const struct store *s)
{
	struct map seen;
	uint64_t n = 0;
	map_init(&seen);
	for (uint64_t i = 0; i < s->cap; i++) {
		const uint64_t *slot = s->table + i * s->key;
		if (!slot[0])
			continue;
		uint32_t fresh = (uint32_t)i, v = fresh;
		uint64_t key = slot[0] * 0x9E3779B97F4A7C15u ^ (s->key > 1 ? hash64(slot[1]) : 0);
		CHECK(map_intern(&seen, key, &v));
		n += v == fresh;
		CHECK(!(slot[0] & STORE_BUSY) || s->tree);
	}
	map_free(&seen);
	return n;
}

static void hammer_store(uint32_t nfields)
{
	struct store s;
	struct hammer h[HAMMERS];
	pthread_t t[HAMMERS];
	pthread_barrier_t round;
	uint8_t *bits = malloc(nfields);
	uint64_t sum = 0;
	memset(bits, 4, nfields);
	CHECK(store_init(&s, nfields, bits, 0));
	CHECK(store_admit(&s, HAMMERS));
	pthread_barrier_init(&round, NULL, HAMMERS);
	for (uint32_t i = 0; i < HAMMERS; i++) {
		h[i] = (struct hammer){ &s, &round, nfields, i, 0, 1000 };
		CHECK(!pthread_create(&t[i], NULL, hammer, &h[i]));
	}
	for (uint32_t i = 0; i < HAMMERS; i++) {
		pthread_join(t[i], NULL);
		sum += h[i].new;
	}
	CHECK_EQ(sum, s.n);            /* each state was new for exactly one */
	CHECK_EQ(different(&s), s.n);
	CHECK(sum > BURST * ROUNDS);   /* and they did not all do the same */
	CHECK(sum < HAMMERS * BURST * ROUNDS);
	pthread_barrier_destroy(&round);
	store_free(&s);
	free(bits);
}

static void test_store_together(void)
{
	hammer_store(8);  /* one word */
	hammer_store(24); /* two words */
	hammer_store(90); /* a tree */
}

/* ---- growing in parts ---------------------------------------------------- */

/* Keys of one or two words, so many that several threads move the table, and
 * some of them close to the borders between the parts. */
static void grow_in_parts(uint32_t nfields, uint32_t users)
{
	struct store s;
	uint8_t bits[4];
	uint64_t n = 0, missing = 0;
	memset(bits, 30, sizeof bits);
	CHECK(store_init(&s, nfields, bits, 0));
	CHECK(store_admit(&s, users));
	uint64_t before = 0;
	while (before < 5u << 20) {
		uint32_t ids[4] = { (uint32_t)(n * 2654435761u) >> 3, (uint32_t)n, 1, 2 };
		n += insert_ids(&s, ids);
		before = s.cap;
	}
	CHECK_EQ(n, s.n);
	for (uint64_t k = 0; k < n; k++) {
		uint32_t ids[4] = { (uint32_t)(k * 2654435761u) >> 3, (uint32_t)k, 1, 2 };
		missing += insert_ids(&s, ids);
	}
	CHECK_EQ(missing, 0);
	CHECK_EQ(n, s.n);
	store_free(&s);
}

static void test_store_grows(void)
{
	grow_in_parts(2, 1);
	grow_in_parts(2, 2);
	grow_in_parts(4, 3);
}

int main(void)
{
	RUN(test_store_alone);
	RUN(test_store_together);
	RUN(test_store_grows);
	return check_done();
}
