/*
 * check_read: a document of `intact check` as the data it was made of
 * (report/checked.h), so that `intact report` writes the text that the command
 * wrote: the model is loaded from the document, and counterexamples are
 * replayed from their schedules.
 */
#ifndef INTACT_API_CHECK_READ_H
#define INTACT_API_CHECK_READ_H

#include <jansson.h>

#include "lang/lang.h"
#include "report/checked.h"
#include "check/check.h"

struct check_read {
	struct lang lang;
	struct verdict *v;
	struct checked c; /* strings are the document's: it must stay */
};

/* `doc` meets the schema. False: it does not agree with itself (its model does not load, a
 * run is not one of the model, ...), or memory is used up. Free it in any case. */
bool check_read(struct check_read *r, const json_t *doc);
void check_read_free(struct check_read *r);
/* A run that a document tells by its schedule and its steps: the same? `r` is to be freed in any case. */
bool check_read_run(const struct ir *p, const json_t *told, struct run *r);

/* ---- the other way: a result of check_run as the data of its renderers, for `intact check` and the library ---- */

/* `model`: as the user named it; `keep_dead`: it was read with its dead locals kept. Replays the
 * counterexamples; false: out of memory. stories_free(c->stories, c->n) is due in any case. */
bool check_result_told(const struct check_result *r, const struct check_options *o, const char *model, bool keep_dead,
                       struct checked *c);

#endif
