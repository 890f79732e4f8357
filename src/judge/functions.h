/*
 * functions: which functions of a program `intact run` would report, from a few schedules under the explorer: the
 * analyses of `intact run` on the records of each (dynamic/replay.h), shown as it would show them (run_report.h). So
 * exploring judges the functions that watching judges, by the same code.
 */
#ifndef INTACT_JUDGE_FUNCTIONS_H
#define INTACT_JUDGE_FUNCTIONS_H

#include "program/explore_search.h"

/* Adds them to *out; one that was cut is reported in cli->err. False: the survey failed. Names live in the arena. */
bool functions_survey(struct cli *cli, const struct explore_ask *ask, struct arena *a, struct explore_gaps *out);

#endif
