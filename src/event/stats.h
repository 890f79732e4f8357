/*
 * stats: what a trace holds: threads, events by kind, blocks, locks, the
 * variables and locks used most. Memory: a few words a name.
 */
#ifndef INTACT_EVENT_STATS_H
#define INTACT_EVENT_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_out.h"
#include "event/event.h"
#include "event/names.h"

struct trace_stats;

struct trace_stats *stats_new(void);
void stats_free(struct trace_stats *s);
/* Events with their flags set (order.h). False: out of memory. */
bool stats_feed(struct trace_stats *s, const struct event *ev, size_t n);
/* `top`: how many variables, locks and threads are listed. */
void stats_text(const struct trace_stats *s, const struct trace_names *t,
                uint32_t top, struct buf *out);
void stats_json(const struct trace_stats *s, const struct trace_names *t, uint32_t top, const char *key,
                struct json_out *j);

#endif
