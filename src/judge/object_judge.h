/*
 * object_judge: is the history of an object test explained by its specification?
 *
 * An object of `intact history` or a specification file is asked as `intact history` would be (judge/history.h), the object itself
 * or its model by executing it (object_sequential.h). Whether calls that wait may do so is asked the object itself in
 * every case: the specifications of `intact history` do not say what waits.
 *
 * Orders of calls that have explained a history of the scenario at hand are kept, by the results of the calls: one explains every history with the same
 * results in which no call ended before another began that comes earlier in the order. Most histories are explained so.
 */
#ifndef INTACT_JUDGE_OBJECT_JUDGE_H
#define INTACT_JUDGE_OBJECT_JUDGE_H

#include "base/arena.h"
#include "base/console.h"
#include "judge/history.h"
#include "judge/object_sequential.h"

enum { JUDGE_ORDERS = 1 << 12 };

struct judge_order {       /* an order that explains these results */
	uint32_t scenario; /* the number of its scenario; another one: the entry is free */
	uint8_t state[OBJTEST_CALLS];
	int64_t result[OBJTEST_CALLS];
	uint64_t ordered, before[OBJTEST_CALLS]; /* the calls in it, and for each those before it */
};

struct object_judge {
	const struct objtest_about *about;
	struct sequential sequential;
	enum seq_condition condition;
	bool named;   /* `run` is asked, not the object itself */
	bool happens; /* calls are ordered by happens-before: OBJTEST_HAPPENS */
	struct history_args args;
	struct history_sink sink;
	struct history_run *run;
	struct buf results, spoilt; /* of `run`: JSON, messages */
	struct buf error;           /* the test itself is wrong: what `run` said; "" if it is not */
	uint64_t asked, unknown;
	/* of the last history */
	struct buf reason; /* why it is not explained */
	uint64_t ordered,
		before[OBJTEST_CALLS]; /* the order that explains it: the calls in it, and those before each; 0: not known */
	const struct objtest_history *at_hand;
	struct objtest_scenario scenario; /* of which orders are kept */
	struct judge_order *kept;         /* JUDGE_ORDERS, open addressing; NULL: none yet */
	uint32_t nkept, nscenarios;
};

/* False after a message in err: the specification or condition is wrong. `happens`: memory is C11's. */
bool object_judge_init(struct object_judge *j, const struct objtest_about *about, char **argv, bool keeps_pipe, double stall,
                       uint64_t max_steps, bool happens, struct buf *err);
void object_judge_free(struct object_judge *j);
/* The history is a program's: it is not trusted. One that is partial stands for many; when one of them has no explanation, its
 * events replace those of *h. */
enum seq_verdict object_judge(struct object_judge *j, const struct objtest_scenario *sc, struct objtest_history *h);
/* "the object itself, used by one thread", ... */
const char *object_judge_against(const struct object_judge *j, struct arena *a);

#endif
