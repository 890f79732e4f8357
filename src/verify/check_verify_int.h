/* check_verify_int: what the parts of check_verify share. */
#ifndef INTACT_VERIFY_CHECK_VERIFY_INT_H
#define INTACT_VERIFY_CHECK_VERIFY_INT_H

#include "verify/verify.h"
#include "lang/lang.h"
#include "verdict/object_history.h"
#include "verdict/verify_exhaustive.h"

struct verify_asked {      /* what `intact check` was asked, as the document says; all of it when it says nothing */
	const char *block; /* one block alone, or NULL */
	bool causal;       /* about causes alone: no faults, no way out, no objects */
	bool faults;       /* about faults alone */
	bool deadlock;     /* report a deadlock as a violation */
	bool properties;   /* the conditions on states */
	bool quiescence;   /* can threads always leave their blocks? */
	json_t *any;       /* names of threads: any number of them; or NULL */
};

struct verify {
	struct claim_list *claims;
	const char *model;
	uint64_t max_states;
	struct lang lang;
	struct verify_asked asked;
	struct verify_exhaustive program; /* .states: 0 before the search */
	json_t *result;                   /* the one being looked at, or NULL */
};

struct verify_question { /* what a result is about, and what it says is wrong */
	enum verdict_problem problem;
	uint32_t block;
	bool of_object;
	bool of_property; /* `object` is its number then */
	uint32_t object;
	enum object_condition condition;
};

/* ---- check_verify.c: the document --------------------------------------------------- */

const char *verify_string(json_t *o, const char *key); /* "" when there is none */
/* The verdict of the result that is looked at, if it is one. */
const char *verify_claimed(const struct verify *v);
uint32_t verify_line(const struct verify *v);
void verify_say(struct verify *v, const char *name, enum claim_answer a, const char *why);
/* The block (VERDICT_PROGRAM: none) or the object a result names. False, with the reason in *why: there is no such thing. */
bool verify_question(const struct verify *v, json_t *result, struct verify_question *q, struct why *why);
/* Is a question about this block one about a program of its own (verdict/single_block.h)? Then it is loaded. */
bool verify_alone(const struct verify *v, uint32_t block, struct lang *l);

/* ---- check_verify_run.c: what is violated ------------------------------------------- */

void verify_counterexample(struct verify *v, json_t *result, const char *name);
/* The history of the run, derived and judged again: NULL when the condition is not met, else why not. */
const char *verify_history_of(const struct run *r, const struct verify_question *c, bool *unknown);

/* ---- check_verify_holds.c: what holds ----------------------------------------------- */

/* A condition that the result leaves out since no run ends: is that so? */
void verify_implied(struct verify *v, uint32_t property);
void verify_holds(struct verify *v, json_t *result, const char *name);
/* No run goes wrong (asked when no result is about that: `faults`), and threads can always leave their blocks. */
void verify_whole(struct verify *v, json_t *root, bool faults, bool lost);

#endif
