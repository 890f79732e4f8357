/*
 * explore_program: a program explored, from the functions that are judged to the report; and its test cases, one after
 * the other.
 */
#ifndef INTACT_JUDGE_EXPLORE_PROGRAM_H
#define INTACT_JUDGE_EXPLORE_PROGRAM_H

#include "program/explore_search.h"
#include "program/test_cases.h"
#include "report/explore.h"

/* EXIT_HOLDS: *got and *report are made (under gdb no report), *got is to be freed. Otherwise the message is in cli->err.
 * `functions`: those that `intact run` would report are judged. */
int explore_program(struct cli *cli, struct explore_ask *ask, bool functions, struct arena *a, struct explore_got *got,
                    struct explore_report *report);

/* Each case by itself. The time limit of `ask` is for all of them: each may use an equal part of what is left. Failing schedules
 * are saved in the directory `save`, unless it is NULL. Returns the exit code; EXIT_USAGE after a message. */
int explore_test_cases(struct cli *cli, const struct explore_ask *ask, bool functions, const struct test_cases *cases,
                       const char *save, struct arena *a, struct explore_cases *out);

#endif
