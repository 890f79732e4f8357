/*
 * verify_history: is a verdict about a history true? Independent of the
 * engines: it knows the history and the sequential specifications, nothing
 * else, and is written to be read in one sitting.
 *
 * An order proves that a history meets a condition; a proof (the facts an
 * engine gives for a violation) is checked by what it says, and where an
 * engine only says that it tried everything, everything is tried again here,
 * naively, within a budget.
 */
#ifndef INTACT_VERDICT_VERIFY_HISTORY_H
#define INTACT_VERDICT_VERIFY_HISTORY_H

#include "base/buf.h"
#include "history/problem.h"

enum verify_answer { VERIFY_ACCEPTED, VERIFY_REJECTED, VERIFY_UNDECIDED };

/* VERIFY_REJECTED, with the reason: about an operation, or RANK_INF. `why` of the functions below gets the
 * reason when a claim is not accepted, except when memory ran out. */
enum verify_answer verify_reject(struct why *why, const char *text, uint32_t op);

/* Atomic (or k-atomic): every completed operation once, real-time order kept,
 * legal for the object. */
enum verify_answer verify_order(const struct problem *p, const uint32_t *order, uint32_t n, struct why *why);
/* Each operation at most once, each completed one exactly once. */
enum verify_answer verify_permutation(const struct problem *p, const uint32_t *order, uint32_t n, struct why *why);
/* Sequential: the order of each process kept instead of real time; keys are
 * objects of their own. What never answered comes at any time after what its
 * process had done before. */
enum verify_answer verify_order_sequential(const struct problem *p, const uint32_t *order, uint32_t n, struct why *why);
/* No such order exists: every one is tried, in at most `budget` steps. */
enum verify_answer verify_no_sequential(const struct problem *p, uint32_t budget, struct why *why);
/* Regular or safe: saw[i] is the write that read i returns (RANK_INF for the
 * initial value; the read itself: overlapped, with safe); writes have
 * themselves. */
enum verify_answer verify_reads_from(const struct problem *p, const uint32_t *saw, bool safe, struct why *why);
/* No write can be what this read returned. */
enum verify_answer verify_read_impossible(const struct problem *p, uint32_t read, bool safe, struct why *why);
/* The violation of atomicity that `proof` claims; where everything is tried, that
 * it was certain when the culprit returned (RANK_INF: at the end). `budget`:
 * configurations the naive search may keep. */
enum verify_answer verify_violation(const struct problem *p, enum proof proof, const uint32_t *ops, uint32_t nops, uint32_t culprit,
                                    uint32_t budget, struct why *why);
/* No order of what was known when `culprit` returned (RANK_INF: of all) is
 * legal: every one is tried, with at most `budget` configurations. */
enum verify_answer verify_by_trying(const struct problem *p, uint32_t culprit, uint32_t budget, struct why *why);
/* The states that the object may be in when `culprit` returns, without it, are
 * these, as text (`more`: and others). */
enum verify_answer verify_states(const struct problem *p, uint32_t culprit, char *const *states, uint32_t n, bool more,
                                 uint32_t budget, struct why *why);

#endif
