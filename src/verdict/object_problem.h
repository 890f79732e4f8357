/* object_problem: the history of an object in a run, as the algorithms on histories take it. */
#ifndef INTACT_VERDICT_OBJECT_PROBLEM_H
#define INTACT_VERDICT_OBJECT_PROBLEM_H

#include "history/problem.h"
#include "verdict/object_history.h"

/* Reads that were not answered say nothing and are left out;
 * number[i] is what operation i of the problem is here. */
struct object_problem {
	struct problem p;
	struct hop *hops;
	uint32_t *number;
	struct arena arena;
	struct values vals;
	struct limits lim;
};

/* False when out of memory; object_problem_free is due in any case. */
bool object_problem_init(struct object_problem *j, const struct object_history *h);
void object_problem_free(struct object_problem *j);

#endif
