/*
 * sat: a small solver for propositional clauses, for questions to a prefix.
 *
 * Literals are 2 * variable, plus 1 when negated. Clauses may be added between
 * calls of sat_solve; the model of the last satisfiable call stays readable
 * until then. Everything lives under a budget of bytes and a deadline.
 */
#ifndef INTACT_CAUSAL_SAT_H
#define INTACT_CAUSAL_SAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sat; /* opaque */

static inline uint32_t sat_pos(uint32_t v)
{
	return 2 * v;
}
static inline uint32_t sat_neg(uint32_t v)
{
	return 2 * v + 1;
}

/* max_bytes 0 and deadline 0: none. NULL when out of memory. */
struct sat *sat_new(uint64_t max_bytes, double deadline);
void sat_free(struct sat *s);
/* A new variable; first tried as `phase`. UINT32_MAX when out of memory. */
uint32_t sat_var(struct sat *s, bool phase);
/* A clause; the literals are copied (and reordered). False when out of memory. */
bool sat_add(struct sat *s, uint32_t *lits, uint32_t n);
/* 1 satisfiable, 0 not, -1 a limit (sat_limit). */
int sat_solve(struct sat *s);
bool sat_value(const struct sat *s, uint32_t v);
const char *sat_limit(const struct sat *s); /* "memory" or "time" */
uint64_t sat_conflicts(const struct sat *s);
uint64_t sat_bytes(const struct sat *s);

#endif
