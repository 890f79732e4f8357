/*
 * cdcl: a solver for propositional clauses with a theory inside (conflict-driven clause learning, Marques-Silva and Sakallah 1999;
 * watched literals, first unique implication point, VSIDS, Luby restarts, saved phases).
 *
 * Literals are 2 * variable, plus 1 when negated. The theory hears of every literal that becomes true, in order, and of its
 * retraction, in reverse order; it answers with clauses that follow from it and are false at the moment.
 */
#ifndef INTACT_TXN_CDCL_H
#define INTACT_TXN_CDCL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum cdcl_final {
	CDCL_CONFLICT, /* a clause, as `assign` gives it */
	CDCL_ACCEPT,
	CDCL_MORE /* there are new variables (cdcl_var) */
};

struct cdcl_theory {
	void *arg;
	/* False: a conflict, *clause (n literals, all false, the theory's memory until the next call). */
	bool (*assign)(void *arg, uint32_t lit, const uint32_t **clause, uint32_t *n);
	void (*undo)(void *arg, uint32_t lit);
	/* All that is true was heard: what follows from it by the theory (n literals, the theory's memory until the next call; some may have values).
	 * New variables are allowed. Or NULL. */
	uint32_t (*implied)(void *arg, const uint32_t **lits);
	/* Why one of them follows: a clause of it and of literals that were false before it was set. The theory's memory until the next call. */
	void (*explain)(void *arg, uint32_t lit, const uint32_t **clause, uint32_t *n);
	/* Every variable has a value, or is settled. Or NULL: that is enough. */
	enum cdcl_final (*final)(void *arg, const uint32_t **clause, uint32_t *n);
	/* Which literal of the variable to try first. */
	uint32_t (*prefer)(void *arg, uint32_t var);
	/* True: the variable need not be decided now: the theory's model has a value for it. It is not asked about again before cdcl_again. Or NULL. */
	bool (*settled)(void *arg, uint32_t var);
	/* True: give up. Asked now and then. */
	bool (*stop)(void *arg);
	/* A clause was learned; or NULL. */
	void (*learned)(void *arg, const uint32_t *lits, uint32_t n);
};

struct cdcl; /* the arena's */

struct cdcl *cdcl_new(struct arena *a, uint32_t nvars, const struct cdcl_theory *th);
/* One variable more: the next number. Before solving, or from `final` or `implied`. */
uint32_t cdcl_var(struct cdcl *s);
/* From `final`: the variable must be decided after all. False: it has a value. */
bool cdcl_again(struct cdcl *s, uint32_t var);
/* A clause, before solving. */
void cdcl_add(struct cdcl *s, const uint32_t *lits, uint32_t n);
/* 1 satisfiable (the theory has heard the model), 0 not, -1 stopped. */
int cdcl_solve(struct cdcl *s);
bool cdcl_true(const struct cdcl *s, uint32_t lit);
bool cdcl_has_value(const struct cdcl *s, uint32_t var);
/* Is nothing decided at the moment? */
bool cdcl_at_root(const struct cdcl *s);
/* Is it true whatever is decided? */
bool cdcl_certain(const struct cdcl *s, uint32_t lit);
uint64_t cdcl_conflicts(const struct cdcl *s);

#endif
