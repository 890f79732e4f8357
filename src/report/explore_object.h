/*
 * explore_object: the part of a report of `intact explore` that only object tests have.
 */
#ifndef INTACT_REPORT_EXPLORE_OBJECT_H
#define INTACT_REPORT_EXPLORE_OBJECT_H

#include "base/json_out.h"
#include "report/explore.h"

/* The scenario as a table, one column per thread. */
void explore_object_table(const struct explore_object *o, struct buf *out);
/* The verdict when nothing was found, and how much was looked at. */
void explore_object_holds(const struct explore_report *r, struct buf *out);
void explore_object_coverage(const struct explore_report *r, struct buf *out);
/* The member "object" of a document, and back (NULL: there is none). */
void explore_object_json(struct json_out *j, const struct explore_object *o);
struct explore_object *explore_object_read(const json_t *o, struct arena *a);

#endif
