/*
 * unfold: a complete finite prefix of a 1-safe net's unfolding.
 *
 * Every reachable marking of the net is the marking of some configuration of
 * the prefix, and what is enabled there is an event of it or a cut-off. Cut-off
 * events (those whose marking an earlier event reaches already) are counted
 * and not kept: nothing grows from them.
 *
 * With colours (colour.h) a marking is a coloured one, and the first event
 * that turns red ends it: its local configuration is the counterexample.
 */
#ifndef INTACT_CAUSAL_UNFOLD_H
#define INTACT_CAUSAL_UNFOLD_H

#include "base/grow.h"
#include "base/idtab.h"
#include "causal/config.h"

enum unfold_status {
	UNFOLD_DONE,
	UNFOLD_UNSAFE, /* the net is not 1-safe: place and marking say why */
	UNFOLD_LIMIT,  /* a limit was reached: `limit` says which */
	UNFOLD_RED,    /* colours: `red` is an event that breaks the chosen block */
};

struct unfold_options {
	uint64_t max_events;   /* cut-offs with them; 0: none */
	uint64_t max_bytes;    /* 0: none */
	double deadline;       /* CLOCK_MONOTONIC seconds; 0: none */
	uint64_t keep_cutoffs; /* presets of up to so many cut-offs are kept, for query.h */
	bool reduced;          /* more is cut off: enough for red, or for 1-safety (cutoff.c) */
};

/* The younger events beside a condition, or those that have an initial condition
 * in their past; each event by its first condition. */
struct uf_younger {
	uint32_t at, n; /* in units of the pool; entries */
	uint32_t cls;   /* room for UF_UNIT << cls entries; 0 entries when at is 0 */
};

/* Reduced: the coloured tokens of an event's marking, in tokens[]. */
struct uf_tokens {
	uint64_t at;
	uint32_t n, same; /* same: the event + 1 before it with this plain marking */
};

struct prefix {
	const struct net *net;
	struct config cfg; /* owns events, conditions and presets */
	uint32_t nevents;  /* event 0 (the beginning) and those waiting with them */
	uint32_t nconds, npres;
	uint64_t kept, cutoffs;     /* events in the prefix; cut-offs */
	uint64_t cutoff_conditions; /* what the cut-offs would produce */
	uint32_t *cut;              /* of kept cut-offs: how many conditions, which */
	uint64_t ncut;
	const char *limit; /* "events", "memory" or "time" */
	uint32_t unsafe_place, unsafe_trans;
	uint32_t *marking, nmarking; /* where unsafe_place holds two tokens */
	uint32_t red;                /* event, when the status is UNFOLD_RED */
	struct grow_budget memory;

	/* the rest is the builder's */
	struct unfold_options opt;
	uint32_t cap_events, cap_conds, cap_pres;
	uint32_t *co; /* conditions older than, and concurrent with, an event */
	uint64_t nco, cap_co;
	struct uf_younger *younger;            /* a condition */
	uint32_t *pool, npool, free_block[32]; /* units; lists of free blocks by class */
	uint64_t cap_pool;
	uint32_t *bucket, nbuckets; /* waiting events by |[e]|: first id, 0 = none */
	struct idtab table;         /* marking -> its first event */
	uint32_t ntable;
	uint32_t *found, nfound; /* co(e) being made */
	uint64_t cap_found;
	uint32_t *head, *link; /* co(e) by place: index + 1 */
	uint64_t cap_link;
	uint8_t *near;     /* a place: a condition of it is e's or in co(e), not initial */
	uint32_t *initial; /* a place: its initial condition + 1, or 0 */
	uint32_t *roots;   /* lists of initial conditions, shared by events: concurrency.c */
	uint64_t nroots, cap_roots;
	uint32_t nranks;   /* inserted events that have conditions */
	uint32_t *root_of; /* an initial condition: the newest event + 1 that has it in its past */
	uint32_t *chosen;  /* a preset being made */
	uint64_t cap_cut, cutoffs_kept;
	uint32_t *tokens; /* reduced: see cutoff.c */
	uint64_t ntokens, cap_tokens, cap_tokens_of;
	struct uf_tokens *tokens_of;
	colours *most;            /* a place: maximum being made, 0 between calls */
	uint8_t *loop;            /* a transition: takes and puts the same places */
	uint8_t *tinted;          /* a place: some condition of it has a colour */
	uint8_t *stirred;         /* a place: a loop on it touches a tinted one */
	uint32_t *move_at, *move; /* a place -> transitions that take from it, but loops */
	uint32_t current;         /* the event that was inserted last */
	bool lazy;                /* the current configuration is empty instead of [current] */
	uint32_t ticks;
};

/* Unfolds; prefix_free is due whatever it returns. The net stays the caller's. */
enum unfold_status unfold(const struct net *n, const struct unfold_options *opt, struct prefix *p);
/* The same with colours. */
enum unfold_status unfold_coloured(const struct colour_net *n, const struct unfold_options *opt, struct prefix *p);
void prefix_free(struct prefix *p);

/* Conditions of the prefix with those of the cut-offs, as other tools count. */
static inline uint64_t prefix_conditions(const struct prefix *p)
{
	return p->nconds + p->cutoff_conditions;
}

#endif
