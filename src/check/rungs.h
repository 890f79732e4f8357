/*
 * rungs: what the engines of the ladder (engine.h) share: asking one of them
 * within the budget, and processing a search and its run.
 */
#ifndef INTACT_CHECK_RUNGS_H
#define INTACT_CHECK_RUNGS_H

#include "check/decide.h"
#include "check/engine.h"

/*
 * Asks one engine of the ladder, unless nothing is left of the budget; what it
 * said is the next attempt of *v, what it found goes to *v. True when the
 * question is answered.
 */
bool rung_ask(struct decide *d, const struct check_engine *e, const struct engine_ask *q, struct verdict *v);

/* The search options with what is left of the slice. */
struct search_options rung_remaining(const struct decide *d);
/* Which part of the whole budget, or of the slice too, nothing is left of; or NULL. */
const char *rung_all_spent(const struct decide *d);
const char *rung_spent(const struct decide *d);
/* The end of this part of the time that is left; 0: there is no limit on it. */
double rung_part_of_time(const struct decide *d, double part);
/* Adds a search's counts, limit and path (taken over) to the verdict. */
void rung_take(struct verdict *v, struct search_result *r);
void rung_drop_path(struct verdict *v);
/* A better run in place of v's, if there is one nearby (not when it is one of the `shortest` already), and its ends. */
void rung_serial(const struct decide *d, uint32_t block, bool shortest, struct verdict *v);
/* The ends of serial orders of the blocks of v's run; if there is none, why (PROBLEM_STUCK, PROBLEM_ENDLESS) and where. */
enum verdict_problem rung_ends(const struct ir *p, uint32_t block, uint64_t bytes, struct verdict *v);
/* For how many threads a proof by the text is. */
enum scope rung_scope(const struct ir *p, bool any);
/* A copy, or NULL of NULL. */
char *rung_copy(const char *s);

#endif
