/*
 * serial: is the observed execution conflict-serializable? Events in, one
 * cycle for each violating block out. docs/trace.md defines the terms.
 *
 * Two engines with one contract: `clock` (serial.c), linear, memory bounded by
 * live threads, variables and open blocks; `graph` (graph.c), the transaction
 * graph searched at every link, its twin for comparison.
 *
 * Events must have passed order_check, which sets their flags.
 */
#ifndef INTACT_DYNAMIC_SERIAL_H
#define INTACT_DYNAMIC_SERIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "verdict/cycle.h"

struct serial_opts {
	cycle_fn *found;
	void *ctx;
	size_t budget;         /* bytes; 0: clock: SERIAL_PAIRS_MAX; graph: none */
	uint32_t pairs;        /* clock: instead of SERIAL_PAIRS_MAX; 0: that (tests) */
	uint32_t serial_limit; /* clock: largest serial; 0: the default (tests) */
};

struct serial_stats {
	uint64_t links; /* conflicts between threads that were looked at */
	uint64_t slow;  /* of these, from what an open block reaches */
	uint64_t live;  /* peak: clock entries, or nodes of the graph */
	size_t bytes;   /* memory held at the end */
};

enum serial_end { SERIAL_OK, SERIAL_NOMEM, SERIAL_LIMIT, SERIAL_PAIRS };
#define SERIAL_PAIRS_MAX (1u << 23) /* of an open block and a thread it reaches */

struct serial;
struct serial *serial_new(const struct serial_opts *o);
/* Not SERIAL_OK: the analysis stopped there (no verdict about the rest). */
enum serial_end serial_feed(struct serial *s, const struct event *ev, size_t n);
void serial_stats(const struct serial *s, struct serial_stats *out);
void serial_free(struct serial *s);

struct graph;
struct graph *graph_new(const struct serial_opts *o);
enum serial_end graph_feed(struct graph *g, const struct event *ev, size_t n);
void graph_free(struct graph *g);

#endif
