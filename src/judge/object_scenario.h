/*
 * object_scenario: which calls an object test makes: scenarios of a shape (threads x calls of each),
 * drawn from a seed or enumerated up to symmetry, given as text, and made smaller.
 *
 * Two scenarios are the same when one becomes the other by exchanging threads that may call the
 * same operations. Arguments that are INTACT_UNIQUE are numbered 1, 2, 3, ... by thread and place, so they are no choice.
 */
#ifndef INTACT_JUDGE_OBJECT_SCENARIO_H
#define INTACT_JUDGE_OBJECT_SCENARIO_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/rng.h"
#include "sched/objtest.h"

enum { SCENARIO_SHAPES = 16 };

struct scenario_shape {
	uint32_t threads, each;
};

/* Where scenarios come from. */
struct scenario_source {
	const struct objtest_about *about;
	struct scenario_shape shape[SCENARIO_SHAPES];
	uint32_t nshapes, at; /* at: the shape that is next */
	bool enumerate;       /* all of each shape; else `limit` drawn ones */
	uint64_t limit, given;
	struct rng rng;
	struct objtest_scenario only; /* if has_only: the one that was given */
	bool has_only;
	/* while a shape is enumerated: the choice of each slot */
	bool under_way;
	uint32_t digit[OBJTEST_CALLS];
	uint64_t *seen; /* hashes of those that were given, to draw none twice */
	uint32_t nseen, cap_seen;
};

/* "2x2,3x1". False: *err says what is wrong with it. */
bool scenario_shapes_read(struct scenario_source *s, const char *text, struct buf *err);
/* "push(1) pop() | push(2)", with the calls that main makes before and after in brackets at the ends; without brackets
 * those that the test names. False: *err says what is wrong, with a caret. */
bool scenario_read(const struct objtest_about *about, const char *text, struct objtest_scenario *out, struct buf *err);
/* As scenario_read reads it. */
void scenario_write(const struct objtest_about *about, const struct objtest_scenario *s, struct buf *out);
/* "push(1)". */
void scenario_call_write(const struct objtest_about *about, const struct objtest_call *c, struct buf *out);
/* "1", "empty", "full", "done", "true". */
void scenario_result_write(const struct objtest_about *about, const struct objtest_call *c, int64_t result, struct buf *out);

/* The next one; false: there is none left. */
bool scenario_next(struct scenario_source *s, struct objtest_scenario *out);
void scenario_source_free(struct scenario_source *s);
/* A thread of the shape that may call no operation; 0: there is none. */
uint32_t scenario_idle_thread(const struct objtest_about *about, struct scenario_shape shape);
/* How many scenarios of a shape there are; 0: more than a million. */
uint64_t scenario_count(const struct objtest_about *about, struct scenario_shape shape);

/*
 * Smaller scenarios, to try one after the other: first without a thread, then without a call, then with
 * a smaller argument. `nth` counts the proposals for `s`, from 0; false: there is no such proposal.
 */
bool scenario_smaller(const struct objtest_about *about, const struct objtest_scenario *s, uint32_t nth,
                      struct objtest_scenario *out);
/* Unique arguments numbered from 1 again; false: they are so already. */
bool scenario_renumber(const struct objtest_about *about, const struct objtest_scenario *s, struct objtest_scenario *out);

#endif
