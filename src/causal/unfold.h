/*
 * unfold: a complete finite prefix of a 1-safe net's unfolding.
 *
 * Every reachable marking of the net is the marking of some configuration of
 * the prefix, and what is enabled there is an event of it or a cut-off. Cut-off
 * events (those whose marking an earlier event reaches already) are counted
 * and not kept: nothing grows from them.
 */
#ifndef INTACT_CAUSAL_UNFOLD_H
#define INTACT_CAUSAL_UNFOLD_H

#include "causal/config.h"

enum unfold_status {
	UNFOLD_DONE,
	UNFOLD_UNSAFE, /* the net is not 1-safe: place and marking say why */
	UNFOLD_LIMIT,  /* a limit was reached: `limit` says which */
};

struct unfold_options {
	uint64_t max_events; /* cut-offs with them; 0: none */
	uint64_t max_bytes;  /* 0: none */
	double deadline;     /* CLOCK_MONOTONIC seconds; 0: none */
};

struct uf_chunk; /* part of a list of events */

struct prefix {
	const struct net *net;
	struct config cfg; /* owns events, conditions and presets */
	uint32_t nevents;  /* event 0 (the beginning) and those waiting with them */
	uint32_t nconds, npres;
	uint64_t kept, cutoffs;     /* events in the prefix; cut-offs */
	uint64_t cutoff_conditions; /* what the cut-offs would produce */
	const char *limit;          /* "events", "memory" or "time" */
	uint32_t unsafe_place, unsafe_trans;
	uint32_t *marking, nmarking; /* where unsafe_place holds two tokens */
	uint64_t bytes;

	/* the rest is the builder's */
	struct unfold_options opt;
	uint32_t cap_events, cap_conds, cap_pres, cap_chunks, nchunks;
	uint32_t *co; /* conditions older than, and concurrent with, an event */
	uint64_t nco, cap_co;
	struct uf_chunk *chunks;
	uint32_t *bucket, nbuckets; /* waiting events by |[e]|: first id, 0 = none */
	uint32_t *table, ntable, cap_table; /* marking -> its first event + 1 */
	uint32_t *seen, seen_now, cap_seen;
	uint32_t *found, nfound, cap_found; /* co(e) being made */
	uint32_t *head, *link, cap_link;    /* co(e) by place: index + 1 */
	uint32_t *chosen;                   /* a preset being made */
	uint32_t ticks;
};

/* Unfolds; prefix_free is due whatever it returns. The net stays the caller's. */
enum unfold_status unfold(const struct net *n, const struct unfold_options *opt,
                          struct prefix *p);
void prefix_free(struct prefix *p);

/* Conditions of the prefix with those of the cut-offs, as other tools count. */
static inline uint64_t prefix_conditions(const struct prefix *p)
{
	return p->nconds + p->cutoff_conditions;
}

/*
 * Is there a reachable marking with a token on each of the places (distinct)?
 * Decided on the prefix: a set of pairwise concurrent conditions. 1 yes (the
 * marking is then in p->marking), 0 no, -1 a limit (p->limit).
 */
int prefix_cover(struct prefix *p, const uint32_t *places, uint32_t n);

#endif
