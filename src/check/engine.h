/*
 * engine: the engines as `intact check` sees them: one row each, in one table.
 *
 * Everything that has to know which engines there are reads this table: the
 * ladder (decide.h), --engine and its help, `intact explain`, `intact verify`;
 * reports see the part of a row that is in verdict/engine.h. An engine is
 * added by a file that defines its row and a line in ENGINE_ROWS.
 *
 * The rows of the ladder come first, from the cheapest to the most expensive:
 * the ladder asks them in this order.
 */
#ifndef INTACT_CHECK_ENGINE_H
#define INTACT_CHECK_ENGINE_H

#include <stdint.h>

#include "base/diag.h"
#include "verdict/engine.h"
#include "verdict/verdict.h"

struct decide;
struct check_options;

struct engine_ask {          /* a question to an engine of the ladder */
	uint32_t block;      /* or VERDICT_PROGRAM */
	uint64_t max_states; /* 0: what is left of the budget */
	char **points;       /* NULL, or room for nblocks texts: the commit points found; malloc'ed */
};

struct check_engine {
	struct engine about;
	bool ladder;           /* it answers questions of the ladder: `ask` is there */
	bool free;             /* it costs nothing: asked although the budget is used up */
	bool explores;         /* it visits the program's states, and so finds faults */
	bool shortest;         /* its counterexamples are the shortest already */
	uint64_t first_states; /* states of the first attempt, which must be cheap; what is left of the budget is for
	                        * it when no other engine has answered. 0: the first attempt is the only one */
	/*
	 * Answers a question of the ladder. What it said goes to *a (answer, why,
	 * seconds it took before), what it found to *v. True when the question is answered:
	 * v->answer is ANSWER_HOLDS, or ANSWER_VIOLATED with a concrete run.
	 */
	bool (*ask)(struct decide *d, const struct engine_ask *q, struct verdict *v, struct attempt *a);
	/* A block of a program that `program` says is serializable: is this argument enough for
	 * the block? Then *v is replaced. NULL: it is not asked. */
	bool (*ask_part)(struct decide *d, uint32_t block, const struct verdict *program, struct verdict *v);
	/* ... and why not, in other words than for the program; NULL: in the same. */
	const char *(*part_why)(const struct decide *d, uint32_t block);
	/* ENGINE_CAUSALITY: its own question. False: the options do not fit the model, see `d`. */
	bool (*ask_itself)(const struct ir *p, uint32_t block, const struct check_options *o, struct diags *d, struct verdict *v);
};

/* clang-format off */
#define ENGINE_ROWS(ROW)                                              \
	/* the ladder */                                              \
	ROW(reduction) ROW(causal) ROW(commit) ROW(exact)             \
	/* causality by itself */                                     \
	ROW(cover) ROW(unfold)                                        \
	/* other questions */                                         \
	ROW(search) ROW(quiescence) ROW(property) ROW(monitor) ROW(soar) ROW(clmt)
/* clang-format on */

#define ENGINE_DECLARE(name) extern const struct check_engine engine_##name;
ENGINE_ROWS(ENGINE_DECLARE)
#undef ENGINE_DECLARE

/* Every row, ended by NULL. */
extern const struct check_engine *const engines[];

/* The row with this name, or NULL. */
const struct check_engine *engine_find(const char *name);
/* May --engine name it? */
bool engine_is_choice(const struct check_engine *e);

enum { ENGINE_MAX_CHOICES = 32 };
/* What --engine takes: "auto" (the ladder), the engines, "all" (every one of the ladder), NULL. */
void engine_choices(const char *names[ENGINE_MAX_CHOICES]);
/* The other way round: the name of a choice. */
const char *engine_chosen(const struct check_engine *one, bool all);
/* The engines with this question, then NULL. */
void engine_names(enum engine_question q, const char *names[ENGINE_MAX_CHOICES]);
/* Is this one of what --engine takes? *one is the engine, or NULL for the ladder; *all: every engine of it. */
bool engine_choose(const char *name, const struct check_engine **one, bool *all);

#endif
