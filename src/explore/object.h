/*
 * object: every history of an object in every execution of a program,
 * checked against the object's specification.
 *
 * The states explored are pairs (state of the program, state of a monitor;
 * see monitor.h). Objects are judged one at a time: a set of histories of
 * several objects is linearizable when each object's are.
 *
 * Reductions, all exact (each can be switched off, which the tests use):
 *
 *   local     A thread's steps that touch nothing another thread can see are
 *             taken at once, together with the step before them. A return is
 *             taken immediately too, and a call only together with the first
 *             visible step after it: a later call and an
 *             earlier answer only add to what precedes what, and a history
 *             that meets atomicity, regularity or safety keeps doing so when
 *             operations precede each other less. A read of a safe or
 *             regular variable is invoked and answered in one go: what it
 *             may return when it takes long, it may return at some moment
 *             of that time, and no other thread sees it.
 *   symmetry  Threads of one template that nothing names are
 *             interchangeable; states are kept with their frames sorted.
 *
 * An operation that an object's own operation calls on the same object is
 * part of the implementation: no operation of the history.
 *
 * Faulting steps are not taken: another check reports them. States are
 * visited in the order of the number of steps that lead there, so the run
 * that is found is a shortest one of the reduced graph; it is then sought
 * without reductions among shorter ones, within a budget.
 */
#ifndef INTACT_EXPLORE_OBJECT_H
#define INTACT_EXPLORE_OBJECT_H

#include "explore/checkpoint.h"
#include "explore/monitor.h"
#include "verdict/verdict.h"

struct object_options {
	enum monitor_kind kind;
	monitor_judge *judge; /* MONITOR_RECORD */
	void *judge_arg;
	bool local, symmetry;           /* reductions */
	uint64_t max_states, max_bytes; /* 0: no bound */
	double deadline;                /* CLOCK_MONOTONIC seconds; 0: none */
	struct checkpoint *checkpoint;  /* when it is asked to stop, so is this; or NULL */
	uint32_t max_steps;             /* longer runs are not looked at; 0: all are */
};

struct object_result {
	enum answer answer;
	const char *limit; /* unknown: "states", "memory", "time", "step", "clients", "interrupt" */
	struct move *path; /* violated: from the initial state; malloc'ed */
	uint32_t npath;
	uint64_t states, transitions, bytes;
	uint32_t monitor_states;
	uint64_t judged; /* histories given to judge */
};

void object_check(const struct ir *p, uint32_t object, const struct object_options *o, struct object_result *r);
void object_result_free(struct object_result *r);

#endif
