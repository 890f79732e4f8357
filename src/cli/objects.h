/*
 * objects: the histories of a model's objects, for `intact check`.
 *
 * explore walks the executions and lin knows the paper's assertions; they
 * know nothing of each other and meet here.
 */
#ifndef INTACT_CLI_OBJECTS_H
#define INTACT_CLI_OBJECTS_H

#include "base/diag.h"
#include "explore/search.h"
#include "verdict/object_history.h"
#include "verdict/verdict.h"

enum objects_assertion { ASSERT_MONITOR, ASSERT_SOAR, ASSERT_CLMT };
extern const char *const objects_assertions[];

struct objects_options {
	int condition; /* enum object_condition */
	int assertion; /* enum objects_assertion */
};

/* Can the assertion judge the model's objects? Else an error is in d. */
bool objects_allowed(const struct ir *p, const struct objects_options *o, struct diags *d);
/* One verdict for each object, in order: room for nobjects of them. */
void objects_check(const struct ir *p, const struct objects_options *o, const struct search_options *s,
                   struct verdict *v);

#endif
