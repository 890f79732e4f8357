/*
 * explore_int: what the documents of one search and of many (explore_cases.c) share: explore_json.c.
 */
#ifndef INTACT_REPORT_EXPLORE_INT_H
#define INTACT_REPORT_EXPLORE_INT_H

#include "report/doc.h"
#include "report/explore.h"

/* Opens the document, up to the arguments. */
void explore_json_begin(struct json_out *j, const char *verdict, const char *program, const char *const *arguments, uint32_t n);
/* The members that say what was looked at. */
void explore_json_search(struct json_out *j, const struct explore_report *r);
/* The elements of `results`; of: the case they belong to, or NULL. */
void explore_json_results(struct json_out *j, const struct explore_report *r, const char *of);

/* The same from a document. */
void explore_read_search(const json_t *doc, struct arena *a, struct explore_report *r);
void explore_read_results(const json_t *results, const char *of, struct arena *a, struct explore_report *r);

#endif
