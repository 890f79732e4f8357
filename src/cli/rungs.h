/*
 * rungs: the engines as the ladder (decide.h) sees them: each puts what it
 * found out about a question into a verdict, and says whether that answers
 * it.
 */
#ifndef INTACT_CLI_RUNGS_H
#define INTACT_CLI_RUNGS_H

#include "cli/decide.h"

/*
 * Asks one engine. What it said goes to *a (answer, why; for reduction the
 * seconds it took before), its findings to *v. `max_states` bounds the causal
 * engine; 0: by the budget alone. The commit points found for all blocks go to
 * `points` (nblocks texts) when it is given. True when the question is answered.
 */
bool rung_ask(struct decide *d, enum decide_engine e, uint32_t block, uint64_t max_states,
              struct verdict *v, struct attempt *a, char **points);

/* The search options with what is left of the slice. */
struct search_options rung_remaining(const struct decide *d);
/* Which part of the whole budget, or of the slice too, nothing is left of; or NULL. */
const char *rung_all_spent(const struct decide *d);
const char *rung_spent(const struct decide *d);
/* Adds a search's counts, limit and path (taken over) to the verdict. */
void rung_take(struct verdict *v, struct search_result *r);
/* A better run in place of v's, if there is one nearby, and its ends. */
void rung_serial(const struct decide *d, uint32_t block, struct verdict *v);
/* The ends of serial orders of the blocks of v's run; when there is none, why (PROBLEM_STUCK, PROBLEM_ENDLESS) and where. */
enum problem rung_ends(const struct ir *p, uint32_t block, uint64_t bytes, struct verdict *v);
/* For how many threads a proof by the text is. */
enum scope rung_scope(const struct ir *p, bool any);
/* A copy, or NULL of NULL. */
char *rung_copy(const char *s);

#endif
