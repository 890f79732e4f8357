/*
 * objtest: what `intact explore` and an object test (intact/test.h) say to each
 * other: part of the block that they share (control.h).
 *
 * The program describes its object once (OBJTEST_DESCRIBE). Then one process explores:
 * it executes `scenario` under schedule after schedule and asks the tool about
 * every history that it has not asked about before (OBJTEST_ASK_JUDGE), and for another
 * scenario when one is done (OBJTEST_ASK_NEXT). A second process of the same program is the
 * *sequential oracle* (OBJTEST_SERIAL): it executes the calls of `order`, one at a time, and
 * says what they returned (OBJTEST_ASK_ORDER).
 *
 * A question is put by writing to `fd` and waiting for `replies` to change. What
 * the program writes is not trusted: the tool copies and checks it.
 */
#ifndef INTACT_SCHED_OBJTEST_H
#define INTACT_SCHED_OBJTEST_H

#include <stdint.h>

enum {
	OBJTEST_OPS = 32,         /* operations of an object */
	OBJTEST_ARGS = 3,         /* of an operation */
	OBJTEST_THREADS = 8,      /* that call it at the same time */
	OBJTEST_CALLS = 48,       /* of a scenario */
	OBJTEST_LISTED = 16,      /* calls before, and calls after */
	OBJTEST_NAME = 64,        /* of an operation, with the zero */
	OBJTEST_TEXT = 256,       /* of a specification */
	OBJTEST_ORDERS = 1 << 11, /* explanations that the program keeps */
	OBJTEST_MEMO = 1 << 15,   /* verdicts that the program keeps */
};

enum objtest_mode { OBJTEST_NONE, OBJTEST_DESCRIBE, OBJTEST_EXPLORE, OBJTEST_SERIAL };
enum objtest_ask { OBJTEST_ASK_NOTHING, OBJTEST_ASK_JUDGE, OBJTEST_ASK_NEXT, OBJTEST_ASK_ORDER };
enum objtest_reply {
	OBJTEST_FINE,    /* the history is explained; the next scenario, the next order is there */
	OBJTEST_WRONG,   /* it is not */
	OBJTEST_UNKNOWN, /* a limit was reached */
	OBJTEST_END      /* there is nothing more to do */
};

enum { OBJTEST_BLOCKS = 1, OBJTEST_BOOLEAN = 2, OBJTEST_HAS_MODEL = 4 }; /* flags of an operation */
enum objtest_progress { OBJTEST_ANY_PROGRESS, OBJTEST_OBSTRUCTION_FREE, OBJTEST_LOCK_FREE };
enum { OBJTEST_ARG_NONE, OBJTEST_ARG_RANGE, OBJTEST_ARG_UNIQUE };

struct objtest_arg {
	int64_t lo, hi;
	uint32_t kind;
};

struct objtest_op {
	char name[OBJTEST_NAME], as[OBJTEST_NAME]; /* as: what the specification calls it */
	uint32_t flags, threads;                   /* threads: a set, bit 0 is thread 1; 0: all */
	struct objtest_arg arg[OBJTEST_ARGS];
};

enum { OBJTEST_BEFORE, OBJTEST_PARALLEL, OBJTEST_AFTER }; /* parts of a scenario */

struct objtest_call {
	uint16_t op;
	uint8_t thread, part; /* thread 0: main, which makes the calls before and after */
	int64_t arg[OBJTEST_ARGS];
};

/* Calls are ordered: before, then by thread in its order, then after. */
struct objtest_scenario {
	uint32_t ncalls, nthreads;
	struct objtest_call call[OBJTEST_CALLS];
};

struct objtest_about {
	char name[OBJTEST_NAME], spec[OBJTEST_TEXT], initial[OBJTEST_TEXT], condition[OBJTEST_NAME];
	uint32_t nops, nbefore, nafter, has_model, progress; /* progress: enum objtest_progress */
	struct objtest_op op[OBJTEST_OPS];
	struct objtest_call before[OBJTEST_LISTED], after[OBJTEST_LISTED];
};

enum { OBJTEST_NOT_CALLED, OBJTEST_CALLED, OBJTEST_RETURNED };

/* Results with a meaning of their own, as intact/test.h defines them. */
#define OBJTEST_RESULT_VOID  (INT64_MIN + 1)
#define OBJTEST_RESULT_EMPTY (INT64_MIN + 2)
#define OBJTEST_RESULT_FULL  (INT64_MIN + 3)

/* Why calls have not returned. */
enum objtest_stuck {
	OBJTEST_ALL_WENT_ON,
	OBJTEST_WAITS, /* no thread can go on */
	OBJTEST_CUT,   /* an order: the limit on steps was reached */
	OBJTEST_FAILED /* an order: the program crashed, or ended */
};

/*
 * What happened: events are 2 * call for its invocation and 2 * call + 1 for its return. A call is invoked
 * with its first step (point) and returns right behind its last: any history of the same steps in which it is
 * invoked earlier or returns later has fewer calls that end before others begin, and is explained if this one is.
 *
 * With `partial` the run stands for all runs of its trace, that is, those with the same happens-before, which the
 * exhaustive search executes only once. Sets of calls say which of their first and last steps happen
 * before those of another: first_first[i] has j when j's first step happens before i's first, last_first[i] when j's last
 * happens before i's first, and so on. Every order of the steps that agrees with these is a history to be explained.
 *
 * Under C11 memory there is no time but happens-before: with OBJTEST_HAPPENS last_first[i] has j when j's return happens
 * before i's first step, and one order of the calls that agrees with these, and explains the results, is enough.
 */
enum objtest_partial { OBJTEST_ONE_ORDER, OBJTEST_TRACE, OBJTEST_HAPPENS };
struct objtest_history {
	uint32_t nevents, stuck; /* stuck: enum objtest_stuck */
	uint8_t event[2 * OBJTEST_CALLS];
	uint32_t step[2 * OBJTEST_CALLS]; /* of an invocation, the first step, of a return, the last: events of the schedule */
	uint8_t state[OBJTEST_CALLS];
	int64_t result[OBJTEST_CALLS];
	uint32_t partial;                                               /* enum objtest_partial */
	uint64_t first_first[OBJTEST_CALLS], last_first[OBJTEST_CALLS]; /* before the first step of a call */
	uint64_t first_last[OBJTEST_CALLS], last_last[OBJTEST_CALLS];   /* before its last */
};
enum { OBJTEST_NO_STEP = 0xffffffffu };

struct control_objtest {
	/* from the tool */
	uint32_t mode; /* enum objtest_mode */
	int32_t fd;    /* an eventfd */
	uint32_t server;
	struct objtest_scenario scenario;
	uint32_t norder;
	uint8_t order[OBJTEST_CALLS];
	uint32_t replies, reply; /* a futex; enum objtest_reply */
	/* With OBJTEST_FINE: an order of the calls `ordered` that explains it, as the set of calls before each. With
	 * OBJTEST_WRONG of a partial history: `history` has the events in an order that cannot be explained. */
	uint64_t ordered, before[OBJTEST_CALLS];
	/* from the program */
	uint32_t ask;
	struct objtest_about about;
	struct objtest_history history; /* of the run, or of the order */
	uint64_t histories, unknown;    /* that were asked about; that the tool could not judge */
};

#endif
