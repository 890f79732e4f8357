/*
 * order: is this sequence of events one that a program can have made?
 *
 * Follows locks, threads and the nesting of blocks, marks the events that
 * only repeat (EVENT_INNER), and names what cannot be. A recording may start
 * in the middle of a run, so what can be explained by an earlier past is
 * allowed: releasing a lock or ending a block whose start was not seen,
 * joining a thread whose fork was not seen. What no past explains is an
 * error. docs/trace.md has the table.
 *
 * Memory: a few words for each lock and thread. Cost: constant per event.
 */
#ifndef INTACT_EVENT_ORDER_H
#define INTACT_EVENT_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "event/reader.h"

struct order;

/* `lenient` turns the errors into warnings. NULL when out of memory. */
struct order *order_new(const char *file, bool lenient, trace_msg_fn *fn, void *ctx);
void order_free(struct order *o);
/*
 * Sets the flags of n events. Returns how many are good: n, or the number
 * before the first error (which the callback was told).
 */
size_t order_check(struct order *o, struct event *ev, size_t n, const struct trace_names *names);

#endif
