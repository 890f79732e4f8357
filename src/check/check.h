/*
 * check: a model is checked: which questions are asked of it, in which order,
 * and what each may cost. decide.h answers those about blocks.
 *
 * The questions: faults, failed assertions and deadlocks; the program, or
 * with --block one block of it; each block alone, when the program does not
 * answer for it; whether threads can always leave their blocks; each object;
 * each condition on states.
 * The program and its faults are one search when that is enough for both.
 *
 * Where any number of threads is asked about, what is proved for the declared
 * number only is *unknown*; and where a suspicion needs more threads than there are
 * declared, the model is checked once more with more of them.
 *
 * Prints nothing and keeps no state of its own: results are data, what is
 * wrong with the options is in `diags`, progress is search.progress.
 */
#ifndef INTACT_CHECK_CHECK_H
#define INTACT_CHECK_CHECK_H

#include "check/engine.h"
#include "check/objects.h"
#include "check/quiescence.h"
#include "explore/search.h"
#include "lang/lang.h"
#include "ir/ir.h"
#include "verdict/verdict.h"

struct check_options {
	const struct check_engine *engine; /* this one alone; NULL: the ladder */
	bool all;                          /* every engine of the ladder on every question; `engine` is NULL then */
	const char *block;                 /* this one alone, the others' marks ignored ("update", "worker.update"); or NULL */
	bool faults;                       /* look for faults only; neither `engine` nor `block` then */
	bool deadlock;                     /* a deadlock is a violation, too */
	bool count;                        /* visit the program's own states, to count them */
	bool reduced;                      /* unfold: a smaller prefix */
	struct search_options search;      /* limits, reductions, progress; max_bytes 0: half of the machine's memory */
	struct objects_options objects;
	const char *const *track, *const *abstract; /* causal engines: variables to keep, to forget */
	uint32_t ntrack, nabstract;
};

struct check_result {
	const struct ir *p; /* what the verdicts are about: the model, or the model with more threads */
	struct verdict *v;  /* in the order of the questions */
	uint32_t n;
	bool causality;     /* they are about causality alone (engine.h: ask_itself) */
	bool contradiction; /* one engine proves what another refutes: a bug */
	bool fault_free;    /* explored without a fault: */
	uint64_t states, transitions;
	uint32_t raised; /* how often the model was checked again with more threads */
	enum way_out way_out;
	struct lang models[2]; /* of p, when it is not the model */
};

enum check_status {
	CHECK_OK,
	CHECK_WRONG_OPTIONS, /* they do not fit the model: see the diagnostics */
	CHECK_NO_BLOCK,      /* the model has no such block */
	CHECK_NO_MEMORY,
};

/* Checks the model. *r is to be freed whatever is returned, and before p. */
enum check_status check_run(const struct ir *p, const struct check_options *o, struct diags *d, struct check_result *r);
void check_result_free(struct check_result *r);

/* ---- what every way to check a model does with blocks and verdicts ---- */

/* Is this what the block is called: "update" or "worker.update"? */
bool answers_name_block(const struct ir *p, uint32_t b, const char *name);
/* What n answers say together: one violation is enough, then one unknown. */
enum answer answers_together(const struct verdict *v, uint32_t n);

#endif
