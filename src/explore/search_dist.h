/*
 * search_dist: a search that several processes (ranks, dist/dist.h) share.
 *
 * A search begins on rank 0, alone; most are over before it is worth a message. When a level begins with `from` states or more,
 * rank 0 tells the others the question (the text of the program, the options), its tables of ids, and the states: from
 * then on a state belongs to the rank that the hash of its packed words names, and a rank stores and expands what belongs
 * to it. A successor that belongs to another rank waits in a batch for that rank, is sorted, written as
 * differences (key_code.h) and sent; the owner looks it up. A level ends when all ranks have expanded all they have and
 * taken in all that was sent; then they add up what they know, and each decides the same: there is a next level, the search
 * has ended, a limit was reached on some rank, or a violation was found on some rank.
 *
 * Ids are equal on all ranks, so that packed states are (product_agree.h). A state with a step to something that has no agreed id
 * waits; at the end of the level the ranks agree on ids, and what has waited is expanded, in the same level. Where ids do
 * not fit their fields any more, fields become wider on all ranks and states are distributed again, as their hash has changed.
 *
 * States, transitions, depth and verdict are those of a search on one rank: each state is expanded once. The way to a violation is
 * found by rank 0 in a search of its own (counterexample.c), which is the one that a search without other ranks makes:
 * counterexamples are the same.
 *
 * Each rank may have several threads. They share the outgoing and incoming messages under one lock; at the end of a level
 * one thread works for all.
 */
#ifndef INTACT_EXPLORE_SEARCH_DIST_H
#define INTACT_EXPLORE_SEARCH_DIST_H

#include "dist/dist.h"
#include "explore/search_int.h"

struct dist_search;

/* ---- the search ---- */

/* The search, in memory and at the beginning of a level, goes on with the other ranks. No thread works. It stays as it was
 * when some rank cannot take part. */
void dist_begin(struct search *s);
void dist_search_free(struct search *s);
/* Room for a worker that is new. */
bool dist_worker_new(struct worker *w);
void dist_worker_end(struct worker *w);
/* The worker's batch: inserted here, or sent. */
void dist_found(struct worker *w);
/* The state waits until ids are agreed. */
void dist_hold(struct worker *w, const uint64_t *key);
/* Takes in some of what other ranks have sent. False: there is nothing at present. */
bool dist_take_in(struct worker *w);
/* Is the worker in the midst of something? */
bool dist_busy(const struct worker *w);
/* All threads are here. When the rank has nothing more to do the level ends, together with the other ranks. */
void dist_meet(struct search *s, bool done);
/* Of all ranks, at the end of the last level. */
uint64_t dist_states(const struct dist_search *x);
uint64_t dist_transitions(const struct dist_search *x);
uint64_t dist_bytes(const struct search *s);

/* ---- the other ranks ---- */

enum { DIST_QUESTION = 1, DIST_QUIT, DIST_STATES }; /* kinds of messages; DIST_STATES and above are of a search */

struct dist_program { /* of a question: how its program is made again */
	const char *name, *text;
	uint32_t length;
	bool sml, keep_dead;
	uint32_t alone1, ntemplates;
	/* by template, malloc'ed: */
	const char **names;
	uint32_t *count; /* threads */
	bool *any;
};

/* What a message of kind DIST_QUESTION asks about; false: damaged. Points into the message. */
bool dist_program_of(const unsigned char *message, size_t n, struct dist_program *p);
void dist_program_free(struct dist_program *p);
/* Takes part in the search that the message asks for; ir NULL: it cannot. */
void dist_follow(struct dist *d, const unsigned char *message, size_t n, const struct ir *ir);

#endif
