/*
 * problem: the question about a history: the operations on one object, the
 * condition they should meet, and the kinds of proof that they do not. The
 * algorithms (src/lin) answer it; the independent checker (verdict/verify_history.h) reads
 * the answer with nothing but this.
 */
#ifndef INTACT_HISTORY_PROBLEM_H
#define INTACT_HISTORY_PROBLEM_H

#include "history/history.h"

enum condition { COND_ATOMIC, COND_REGULAR, COND_SAFE, COND_SEQUENTIAL };
extern const char *const condition_names[];

/* Why a history is not what it should be; `ops` of the result are the facts. */
enum proof {
	PROOF_NONE,
	PROOF_EXHAUSTED, /* every order was tried: culprit, states before it */
	PROOF_UNWRITTEN, /* ops[0] returned a value that nothing had written */
	PROOF_FUTURE,    /* ops[0] returned before ops[1], its write, was invoked */
	PROOF_CHAIN,     /* each op's value is at least as new as the one's before:
	                      ops[0..n-1], the last cannot be (single writer) */
	PROOF_ZONES,     /* two values, each seen before and after the other:
	                      ops[0] ends before ops[1] starts (one value), ops[2]
	                      before ops[3] (the other), and they interleave */
	PROOF_INSIDE,    /* ops[0] ends, then the value of ops[2],ops[3] lives and
	                      dies, then ops[1] starts with the first value again */
	PROOF_FIFO,      /* queue: ops[0] before ops[1] in, ops[3] before ops[2] out */
	PROOF_TWICE,     /* ops[0] and ops[1] took the same value */
	PROOF_NOT_EMPTY, /* ops[0] said empty; the others cover its interval */
	PROOF_PRIORITY,  /* ops[0] took; a smaller one was there all the time */
	PROOF_COUNTS,    /* no order exists, found by elimination */
	PROOF_SUPPLY,    /* register: ops[0] shows another value than ops[1], which
	                      * begins later, and so on in pairs: so often its value
	                      * was brought; the ops after the pairs, one fewer, are
	                      * all that could have done it */
	PROOF_STALE,     /* regular, safe: ops[0] returned the value of ops[1],
	                      which ops[2] had overwritten before ops[0] began */
};
extern const char *const proof_names[]; /* as JSON has them, NULL-terminated */

/* Operations in the order of their invocations, with ranks below nevents as times. */
struct problem {
	const struct hop *ops;
	uint32_t n, nevents;
	enum object obj;
	val init;
	uint32_t k;         /* > 1: k-atomicity */
	uint64_t max_steps; /* of the search; 0: no bound but lim */
	const struct values *vals;
	struct limits *lim;
	const struct seqspec *user; /* OBJ_USER */
};

/* For PARANOID: the operations are in the order of their invocations, each returns after it is invoked or never, and no
 * two events have one rank. */
bool problem_valid(const struct problem *p);

#endif
