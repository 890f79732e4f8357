/*
 * object_test: an object test (intact/test.h) explored: scenarios are chosen, each is executed under many schedules or all, every
 * history is judged, and a scenario that fails is made smaller. For `intact explore`.
 */
#ifndef INTACT_JUDGE_OBJECT_TEST_H
#define INTACT_JUDGE_OBJECT_TEST_H

#include "program/explore_search.h"
#include "report/explore.h"

struct object_test_options {
	uint64_t scenarios;           /* to draw; 0: as many as usual */
	const char *shape, *scenario; /* as the options give them, or NULL */
	bool exhaustive;
};

/* Does the program's file say that it is one? */
bool object_test_is(const char *program);

struct object_test;
/* Starts the program to ask what it tests. NULL, and *code, after a message. */
struct object_test *object_test_new(struct cli *cli, const struct explore_ask *ask, const struct object_test_options *o, int *code);
void object_test_free(struct object_test *t);
/* As explore_search. got->failed->object has the scenario and the history. */
int object_test_search(struct object_test *t, struct explore_ask *ask, struct explore_got *got);
/* Follows the schedule of ask->replay in the scenario `text`. */
int object_test_replay(struct object_test *t, struct explore_ask *ask, const char *text, struct explore_got *got);
/* What is to be told beside the schedule; replaces counts of `report`. */
void object_test_tell(struct object_test *t, const struct explore_got *got, struct arena *a, struct explore_report *report);
/* The scenario of the failure, as the schedule file has it; in the arena. */
const char *object_test_scenario(const struct object_test *t, const struct explore_got *got, struct arena *a);
/* The exit code of a search that has found nothing. */
int object_test_code(const struct explore_report *report, const struct explore_ask *ask);

#endif
