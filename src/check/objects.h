/*
 * objects: the histories of a model's objects, for `intact check`.
 *
 * explore walks the executions and lin knows the paper's assertions; they
 * know nothing of each other and meet here.
 */
#ifndef INTACT_CHECK_OBJECTS_H
#define INTACT_CHECK_OBJECTS_H

#include "base/diag.h"
#include "explore/search.h"
#include "verdict/object_history.h"
#include "verdict/verdict.h"

struct check_engine;

struct objects_options {
	int condition;                        /* enum object_condition */
	const struct check_engine *assertion; /* who judges (ENGINE_OBJECTS); NULL: the monitor */
};

/* Can the assertion judge the model's objects? Else an error is in d. */
bool objects_allowed(const struct ir *p, const struct objects_options *o, struct diags *d);
/* One verdict for each object, in order: room for nobjects of them. */
void objects_check(const struct ir *p, const struct objects_options *o, const struct search_options *s, struct verdict *v);

/* ---- object_why.c: why the history of an object in a run does not meet its condition ---- */

/* One or two sentences; false: it does meet it, or nothing is known. */
bool object_why(const struct object_history *h, enum object_condition c, struct buf *out);

#endif
