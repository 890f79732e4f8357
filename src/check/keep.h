/*
 * keep: a check that can be stopped and resumed: a checkpoint (explore/checkpoint.h) is of one model and one set of
 * options.
 *
 * What the answers depend on must be the same when the check is resumed: the version, the model's text, the numbers of
 * threads, the questions, the engines, the reductions and --max-states. Time, memory and the number of jobs may change.
 */
#ifndef INTACT_CHECK_KEEP_H
#define INTACT_CHECK_KEEP_H

#include "check/check.h"
#include "explore/checkpoint.h"

struct check_keep {
	const char *dir;
	bool resume;
	bool later;                        /* `dir` is a directory for others, too: see checkpoint_setup */
	double every;                      /* seconds between checkpoints; 0: at the end of every level */
	const volatile sig_atomic_t *stop; /* or NULL */
};

/* "90", "90s", "10m", "2h" as seconds; false when it is none of these. */
bool check_keep_interval(const char *text, double *seconds);
/* Opens or creates the directory. NULL: err says why. The options' search.checkpoint is for the caller to set. */
struct checkpoint *check_keep_open(const struct check_keep *k, const struct ir *p, const struct check_options *o, struct buf *err);

#endif
