/*
 * object_sequential: what the calls of a scenario return one at a time, found by executing them: the
 * specification of an object test that names no other.
 *
 * A second process of the program under test, the oracle (runtime/explore/object.c), executes orders of calls. What they
 * returned is kept as a tree: a node is an order, a child is the order with one more call. So each order is
 * executed at most once for a scenario, and an execution gives all nodes on its way.
 *
 * A history is explained by an order in which every call returns what it returned in the history, and a call that ended
 * before another began comes before it (Wing and Gong). Orders are tried depth first, and an order is left as soon as a result
 * differs. When calls wait forever (the history is stuck), each of them must have an order of the calls that returned, and
 * possibly of others that wait, behind which it waits when it is executed alone (Burckhardt, Dern, Musuvathi and Tan, Line-Up,
 * PLDI 2010, section 2.3; there without the others).
 */
#ifndef INTACT_JUDGE_OBJECT_SEQUENTIAL_H
#define INTACT_JUDGE_OBJECT_SEQUENTIAL_H

#include <stdbool.h>

#include "program/explore_server.h"

enum seq_condition { SEQ_LINEARIZABLE, SEQ_SEQUENTIAL, SEQ_QUIESCENT };
enum seq_verdict { SEQ_EXPLAINED, SEQ_NOT_EXPLAINED, SEQ_UNKNOWN };

/* The oracle, and what it has said about the scenario at hand. */
struct sequential {
	char **argv;
	bool keeps_pipe;
	double stall;
	uint64_t max_steps;
	struct explore_server server;
	bool started, broken;
	struct objtest_scenario scenario;
	struct seq_node *node;
	uint32_t nnodes, cap;
	uint64_t orders; /* that were executed */
	struct buf *err; /* why it is broken */
};

/* Why a history has an explanation, or none. */
struct seq_reason {
	uint64_t ordered, before[OBJTEST_CALLS]; /* the calls of an order that explains it, and for each those before it */
	uint32_t n;                              /* the longest order of calls that agrees with the history */
	uint8_t order[OBJTEST_CALLS];
	uint64_t next;                 /* calls that could come then */
	int64_t result[OBJTEST_CALLS]; /* what those would have returned, */
	uint8_t waits[OBJTEST_CALLS];  /* or whether they would have waited (1), crashed (2) */
	uint32_t waiting; /* a call that waits, although it would return when it is executed alone; OBJTEST_CALLS: none */
};

void sequential_init(struct sequential *s, char **argv, bool keeps_pipe, double stall, uint64_t max_steps, struct buf *err);
void sequential_free(struct sequential *s);
/* h is a history of sc, checked by its user. */
enum seq_verdict sequential_explain(struct sequential *s, const struct objtest_scenario *sc, const struct objtest_history *h,
                                    enum seq_condition condition, struct seq_reason *why);
/* Only whether the calls that wait may. */
enum seq_verdict sequential_waits(struct sequential *s, const struct objtest_scenario *sc, const struct objtest_history *h,
                                  enum seq_condition condition, struct seq_reason *why);

#endif
