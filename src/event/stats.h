/*
 * stats: what a trace holds: threads, events by kind, blocks, locks, the
 * variables and locks used most. Memory: a few words a name.
 */
#ifndef INTACT_EVENT_STATS_H
#define INTACT_EVENT_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

struct stats_use {
	uint64_t a, b;    /* reads, writes; or acquires, times another thread had it */
	uint32_t thread1; /* of the last use, + 1 */
	uint32_t threads; /* 1: one thread so far; 2: several */
};

struct stats_thread {
	uint64_t events, blocks, begun_at;
	uint32_t depth;
};

struct trace_stats {
	uint64_t kinds[EVENT_KINDS], events, reentrant;
	uint64_t blocks, nested, open, in_blocks, longest;
	uint32_t longest_thread, deepest;
	struct stats_use *vars, *locks;
	struct stats_thread *threads;
	size_t nvars, nlocks, nthreads;
	uint32_t used_vars, used_locks, used_threads, shared_vars;
};

struct trace_stats *stats_new(void);
void stats_free(struct trace_stats *s);
/* Events with their flags set (order.h). False: out of memory. */
bool stats_feed(struct trace_stats *s, const struct event *ev, size_t n);

#endif
