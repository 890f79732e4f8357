/* args: the options of a check as they are given, for `intact check` and the library. */
#ifndef INTACT_CHECK_ARGS_H
#define INTACT_CHECK_ARGS_H

#include "base/opts.h"
#include "check/check.h"

struct check_args {
	struct check_options options;
	const char *engines[ENGINE_MAX_CHOICES], *judges[ENGINE_MAX_CHOICES]; /* choices of engine, assertion */
	int engine, judge;
	struct opt_list track, abstract; /* room: the caller's */
	uint64_t timeout, jobs;
};

/* Rows of an option table. `a`: a struct check_args *. */
/* clang-format off */
#define CHECK_ENGINE_OPTION(a) \
	{ OPT_CHOICE, "engine", 0, "ENGINE", &(a)->engine, "engine that decides", 0, 0, (a)->engines }
#define CHECK_QUESTION_OPTIONS(a) \
	{ OPT_STR, "block", 0, "NAME", &(a)->options.block, "this block alone, the other blocks' marks ignored", 0, 0, NULL }, \
	{ OPT_LIST, "track", 0, "NAME", &(a)->track, "causal engines: track the values of this variable", 0, 0, NULL }, \
	{ OPT_LIST, "abstract", 0, "NAME", &(a)->abstract, "causal engines: do not track the values of this variable", 0, 0, NULL }, \
	{ OPT_FLAG, "reduced", 0, NULL, &(a)->options.reduced, "--engine=unfold: a smaller prefix, enough for the verdict", 0, 0, NULL }, \
	{ OPT_FLAG, "deadlock", 0, NULL, &(a)->options.deadlock, "report a deadlock as a violation", 0, 0, NULL }, \
	{ OPT_UINT, "jobs", 'j', "N", &(a)->jobs, "explore with N threads (the result is the same)", 1, 32, NULL }, \
	{ OPT_FLAG, "faults", 0, NULL, &(a)->options.faults, "check only for faults and failed assertions (and --deadlock)", 0, 0, NULL }
#define CHECK_OBJECT_OPTIONS(a) \
	{ OPT_CHOICE, "condition", 0, "NAME", &(a)->options.objects.condition, "condition that their histories must meet", 0, 0, object_conditions }, \
	{ OPT_CHOICE, "assertion", 0, "NAME", &(a)->judge, "how they are checked: during exploration, or by an assertion of the SOAR paper", 0, 0, (a)->judges }
#define CHECK_LIMIT_OPTIONS(a) \
	{ OPT_UINT, "max-states", 0, "N", &(a)->options.search.max_states, "states of all searches together", 1, 0, NULL }, \
	{ OPT_SIZE, "max-memory", 0, "SIZE", &(a)->options.search.max_bytes, "memory limit (default: half the machine's memory)", 1 << 20, 0, NULL }, \
	{ OPT_UINT, "timeout", 0, "SECONDS", &(a)->timeout, "time limit for the whole command", 1, 0, NULL }
/* clang-format on */

/* The choices and the defaults; the rest of *a is zero. */
void check_args_init(struct check_args *a);
/* Completes a->options once all are read; the time limit begins. */
void check_args_done(struct check_args *a);

#endif
