/* trace_stats: what a trace holds (event/stats.h), as text and as JSON. */
#ifndef INTACT_REPORT_TRACE_STATS_H
#define INTACT_REPORT_TRACE_STATS_H

#include "base/json_out.h"
#include "event/names.h"
#include "event/stats.h"

/* `top`: how many variables, locks and threads are listed. */
void stats_text(const struct trace_stats *s, const struct trace_names *t, uint32_t top, struct buf *out);
void stats_json(const struct trace_stats *s, const struct trace_names *t, uint32_t top, const char *key, struct json_out *j);

#endif
