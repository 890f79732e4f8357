/*
 * marking: the reachable markings of a small 1-safe net, one by one.
 *
 * The plain twin of the prefix, which tests hold it against: a marking is a bit a place, all of them are
 * kept in one array with a hash table over it, and each is expanded once. It
 * answers whether some marking enables nothing. Exponential in the number of
 * components where the prefix is not, so it lives under limits. No engine uses it.
 */
#ifndef INTACT_CAUSAL_MARKING_H
#define INTACT_CAUSAL_MARKING_H

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

/* Explores until all are seen, one is dead (unless `all`), or a limit: 0 = none. */
void markings_explore(const struct net *n, uint64_t max_states, uint64_t max_bytes,
                      double deadline, bool all, struct markings *m);
void markings_free(struct markings *m);

static inline bool marking_has(const struct markings *m, uint64_t i, uint32_t place)
{
	return m->bits[i * m->words + place / 64] >> (place % 64) & 1;
}

#endif
