/*
 * marking: the reachable markings of a small 1-safe net, one by one.
 *
 * The plain twin of the prefix, which tests hold it against: a marking is a bit a place, all of them are
 * kept in one array with a hash table over it, and each is expanded once. It
 * answers whether some marking enables nothing. Exponential in the number of
 * components where the prefix is not, so it lives under limits. No engine uses it.
 */
#ifndef INTACT_TESTS_MARKING_H
#define INTACT_TESTS_MARKING_H

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "causal/net.h"

struct markings {
	const struct net *net;
	uint32_t words;      /* of a marking */
	uint64_t *bits;      /* n markings, in the order of their distance */
	uint64_t n, cap;
	uint64_t dead;       /* the nearest marking that enables nothing, if `deadlock` */
	bool deadlock;
	const char *limit;   /* "states", "memory" or "time"; NULL: all were seen */
	uint32_t unsafe;     /* a place that would get a second token, or NET_NONE */
};

static inline bool marking_has(const struct markings *m, uint64_t i, uint32_t place)
{
	return m->bits[i * m->words + place / 64] >> (place % 64) & 1;
}

/* ---- breadth first; open addressing, at most half full ---------------------- */

struct explore {
	struct markings *m;
	uint64_t *slots, nslots; /* index + 1 */
	uint64_t max_states, max_bytes;
	uint64_t *next; /* the marking being made */
};

static inline uint64_t hash_of(const uint64_t *b, uint32_t words)
{
	uint64_t h = 0;
	for (uint32_t i = 0; i < words; i++)
		h = hash64(h ^ b[i]) + i;
	return h;
}

static inline bool grow(struct explore *x)
{
	struct markings *m = x->m;
	uint64_t cap = m->cap ? m->cap * 2 : 1024, nslots = cap * 2;
	uint64_t bytes = cap * m->words * 8 + nslots * 8;
	if (x->max_bytes && bytes > x->max_bytes) {
		m->limit = "memory";
		return false;
	}
	uint64_t *bits = realloc(m->bits, cap * m->words * 8), *slots = calloc(nslots, 8);
	if (bits)
		m->bits = bits;
	if (!bits || !slots) {
		free(slots);
		m->limit = "memory";
		return false;
	}
	m->cap = cap;
	free(x->slots);
	x->slots = slots;
	x->nslots = nslots;
	for (uint64_t i = 0; i < m->n; i++) {
		uint64_t k = hash_of(m->bits + i * m->words, m->words) & (nslots - 1);
		while (slots[k])
			k = (k + 1) & (nslots - 1);
		slots[k] = i + 1;
	}
	return true;
}

/* Adds x->next unless it is known. */
__attribute__((noinline)) static bool add(struct explore *x) /* inlined, gcc 12 warns of next[] */
{
	struct markings *m = x->m;
	if (m->n == m->cap && !grow(x))
		return false;
	uint64_t k = hash_of(x->next, m->words) & (x->nslots - 1);
	for (; x->slots[k]; k = (k + 1) & (x->nslots - 1))
		if (!memcmp(m->bits + (x->slots[k] - 1) * m->words, x->next, m->words * 8))
			return true;
	if (x->max_states && m->n >= x->max_states) {
		m->limit = "states";
		return false;
	}
	memcpy(m->bits + m->n * m->words, x->next, m->words * 8);
	x->slots[k] = ++m->n;
	return true;
}

/* Fires t at marking i into x->next; false when it is not enabled. */
static inline bool fire(struct explore *x, uint64_t i, uint32_t t)
{
	struct markings *m = x->m;
	const struct net *n = m->net;
	for (uint32_t k = n->pre_at[t]; k < n->pre_at[t + 1]; k++)
		if (!marking_has(m, i, n->pre[k]))
			return false;
	memcpy(x->next, m->bits + i * m->words, m->words * 8);
	for (uint32_t k = n->pre_at[t]; k < n->pre_at[t + 1]; k++)
		x->next[n->pre[k] / 64] &= ~(UINT64_C(1) << (n->pre[k] % 64));
	for (uint32_t k = n->post_at[t]; k < n->post_at[t + 1]; k++) {
		uint64_t bit = UINT64_C(1) << (n->post[k] % 64);
		if (x->next[n->post[k] / 64] & bit)
			m->unsafe = n->post[k];
		x->next[n->post[k] / 64] |= bit;
	}
	return true;
}

static inline bool late(double deadline)
{
	return clock_seconds() >= deadline;
}

static inline void search(struct explore *x, double deadline, bool all)
{
	struct markings *m = x->m;
	for (uint64_t i = 0; i < m->n; i++) {
		bool some = false;
		for (uint32_t t = 0; t < m->net->ntrans; t++) {
			if (!fire(x, i, t))
				continue;
			some = true;
			if (m->unsafe != NET_NONE || !add(x))
				return;
		}
		if (!some && !m->deadlock) {
			m->deadlock = true;
			m->dead = i;
			if (!all)
				return;
		}
		if (deadline > 0 && (i & 63) == 63 && late(deadline)) {
			m->limit = "time";
			return;
		}
	}
}

/* Explores until all are seen, one is dead (unless `all`), or a limit: 0 = none. */
static inline void markings_explore(const struct net *n, uint64_t max_states, uint64_t max_bytes,
                      double deadline, bool all, struct markings *m)
{
	memset(m, 0, sizeof *m);
	m->net = n;
	m->words = n->nplaces / 64 + 1;
	m->unsafe = NET_NONE;
	struct explore x = { .m = m, .max_states = max_states, .max_bytes = max_bytes };
	x.next = calloc(m->words, 8);
	if (!x.next) {
		m->limit = "memory";
		return;
	}
	for (uint32_t i = 0; i < n->ninit; i++)
		x.next[n->init[i] / 64] |= UINT64_C(1) << (n->init[i] % 64);
	if (add(&x))
		search(&x, deadline, all);
	free(x.slots);
	free(x.next);
}

static inline void markings_free(struct markings *m)
{
	free(m->bits);
	memset(m, 0, sizeof *m);
}

#endif
