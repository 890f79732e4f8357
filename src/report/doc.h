/*
 * doc: a result as a document, the one thing every renderer takes.
 *
 * A command writes its result as JSON (docs/json.md). The renderer, in the
 * command itself or in `intact report` later, reads those bytes, so the same
 * document always gives the same page. A document may come from outside, so
 * it is validated against the schema (share/report.schema.json, compiled in)
 * before a renderer sees it: types, ranges and sizes are then known; what the
 * schema cannot say (numbers that point into lists) renderers look up with
 * care.
 */
#ifndef INTACT_REPORT_DOC_H
#define INTACT_REPORT_DOC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/json_out.h"

#define DOC_SCHEMA    "intact-1"
#define DOC_MAX_BYTES ((size_t)256 << 20)

/* Opens the document's object, with the members that every one begins with:
 * "intact", "schema", "kind"; behind so many blanks on a new line, 0: on the same. */
void doc_begin(struct json_out *j, const char *kind, unsigned indent);
/* The member "results", written already and separated by commas. */
void doc_results(struct json_out *j, const struct buf *results);
/* Closes it; nothing else may be open. */
void doc_end(struct json_out *j);

/* The document in `text`, or NULL and the reason in `why`
 * ("12:3: ...", "results[0].line: expected a whole number"). json_decref. */
json_t *doc_parse(const char *text, size_t len, struct buf *why);

/* The schema itself, as text. */
const char *doc_schema(size_t *len);
/* Does `value` meet `schema`? The supported keywords: $ref (#/$defs/...),
 * type, const, enum, required, properties, additionalProperties, items,
 * minItems, maxItems, minimum, maximum, maxLength, allOf, if and then. */
bool schema_check(const json_t *schema, const json_t *value, struct buf *why);

/* Members, with care: "" or 0 or NULL when absent or of another type. */
const char *doc_text(const json_t *o, const char *key);
/* A member as a terminal may show it; NULL: there is none. */
const char *doc_safe(struct arena *a, const json_t *o, const char *key);
json_int_t doc_number(const json_t *o, const char *key);
bool doc_is(const json_t *o, const char *key, const char *text);

#endif
