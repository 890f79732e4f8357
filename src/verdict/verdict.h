/*
 * verdict: what an engine found out, as data. Renderers and the independent
 * checker see nothing else of an engine.
 */
#ifndef INTACT_VERDICT_H
#define INTACT_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/ir.h"
#include "verdict/engine.h"

struct move { /* one step of a schedule */
	uint32_t thread;
	uint32_t outcome; /* of ir_successors, from 0 */
};

enum answer { ANSWER_HOLDS, ANSWER_VIOLATED, ANSWER_UNKNOWN };

enum verdict_problem { /* why it is violated */
	               PROBLEM_NONE,
	               PROBLEM_ATOMICITY, /* no serial order of the same blocks ends there */
	               PROBLEM_STUCK,     /* ... nor ends at all: a block waits forever when it runs alone */
	               PROBLEM_ENDLESS,   /* ... or loops forever */
	               PROBLEM_FAULT,
	               PROBLEM_DEADLOCK,
	               PROBLEM_COMMIT,     /* the marked commit points disagree with the result */
	               PROBLEM_QUIESCENCE, /* the threads can never all be outside their blocks again */
	               PROBLEM_ALWAYS,     /* a reachable state breaks an `always` */
	               PROBLEM_FINALLY,    /* ... in which all threads have finished breaks a `finally` */
	               PROBLEM_REACH,      /* what can always be reached cannot be reached any more */
	               PROBLEM_HISTORY,    /* an object's history does not meet its condition */
};

struct causal_run;

/* For how many threads a proof is. */
enum scope {
	SCOPE_DECLARED, /* as many as there are */
	SCOPE_ANY_OF,   /* any number of the threads declared with more than one or with any */
	SCOPE_ANY,      /* any number of each */
};

enum { VERDICT_ATTEMPTS = 16 };

struct attempt { /* what one engine made of the question */
	const struct engine *engine;
	enum answer answer; /* ANSWER_VIOLATED of an abstract engine is not the last word */
	const char *limit;  /* the limit that was reached, or NULL */
	char *why;          /* why it could not tell; malloc'ed or NULL */
	uint64_t states;
	double seconds;
};

#define VERDICT_PROGRAM UINT32_MAX /* all blocks at once */

struct verdict {        /* the answer to one question */
	uint32_t block; /* or VERDICT_PROGRAM */
	enum answer answer;
	enum verdict_problem problem;
	const struct engine *engine; /* whose argument decided it, or was tried last */
	const char *limit;           /* ANSWER_UNKNOWN: which limit was reached, ... */
	const char *reason;          /* ... or a sentence saying why it is not known */
	char *commits;               /* "commits at line 12: data = ..."; malloc'ed or NULL */
	struct move *path;           /* counterexample, from the initial state; malloc'ed */
	uint32_t npath;
	int32_t *serial;               /* final states of serial orders, nstate values each; NULL: not known */
	uint32_t nserial, nserial_all; /* kept here; how many there are */
	int32_t *halt;                 /* PROBLEM_STUCK, PROBLEM_ENDLESS: the state in which ... */
	uint32_t halt_thread;          /* ... this thread's block is, running alone; or NULL */
	struct causal_run *causal;     /* counterexample of the causal engines (causal_run.h), owned */
	uint64_t states, transitions, bytes;
	uint64_t conditions, events, cutoffs; /* of a prefix, when there is one */
	double seconds;
	enum scope scope;                          /* ANSWER_HOLDS */
	bool as_part;                              /* a block that is atomic because the program is serializable */
	char *notes;                               /* what the argument rests on; malloc'ed or NULL */
	struct attempt attempts[VERDICT_ATTEMPTS]; /* the engines asked, in order, the last included */
	uint32_t nattempts;
	/* of a question about an object */
	uint32_t object1;      /* its number + 1; 0: the question is about blocks, or ... */
	uint32_t property1;    /* ... about this condition on states: its number + 1 */
	const char *condition; /* "atomic", "regular", "safe" */
	char *why;             /* violated: a sentence; malloc'ed or NULL */
};

void verdict_free(struct verdict *v);

#endif
