/* history_json: the verdict about a history as a result of a document (docs/json.md), and back. */
#ifndef INTACT_REPORT_HISTORY_JSON_H
#define INTACT_REPORT_HISTORY_JSON_H

#include <stddef.h>

#include "base/json_out.h"
#include "report/history_text.h"

/* An order of what was known before a violated part became so, in numbers of the history, malloc'ed; NULL: it is not
 * known (lin/check.h: part_order). */
typedef uint32_t *history_order(const struct history *h, const struct interpretation *in, const struct check *c,
                                const struct part *part, uint32_t *n);

void history_json(const struct history *h, const struct interpretation *in, const struct lin_check_options *o,
                  const struct check *c, bool witness, history_order *before, struct buf *out);
void history_followed_json(const char *file, const struct history *h, const struct interpretation *in,
                           const struct history_followed *f, struct buf *out);
/* Nothing was decided: the limit was reached before. */
void history_spent_json(const char *file, const char *limit, uint32_t shard, uint32_t shards, struct buf *out);
void history_spent_text(const char *file, const char *limit, struct buf *out);

/* ---- history_log.c ---- */
/* The member "facts": what the operations of a proof are. */
void history_facts(const struct history *h, const struct interpretation *in, const struct result *r, struct json_out *j);
/* Whole numbers as a column, with its quotes. */
void history_column(const uint64_t *v, size_t n, struct buf *out);
/* The member "log": all operations as columns. */
void history_log(const struct history *h, const struct interpretation *in, const struct lin_check_options *o, const struct check *c,
                 history_order *before, struct json_out *j);

#endif
