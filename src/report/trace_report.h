/*
 * trace_report: what `intact trace` found, kept and shown.
 *
 * Findings with the same places (where the block begins, where the cycle
 * leaves it, the two ends of the closing link) are one finding with a count;
 * the first is kept with its cycle. Beyond `limit` kept ones further kinds
 * are only counted, so memory does not follow the number of violations.
 */
#ifndef INTACT_REPORT_TRACE_REPORT_H
#define INTACT_REPORT_TRACE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json_out.h"
#include "base/map.h"
#include "event/names.h"
#include "verdict/cycle.h"

struct trace_finding {
	struct cycle cycle; /* its own copy of the links */
	uint64_t count;
};

struct cycles {
	struct trace_finding *list;
	uint32_t n, cap, limit; /* limit 0: all */
	bool each;              /* do not merge */
	struct map by_places;
	uint64_t blocks; /* violating blocks, all of them */
	uint64_t kinds;  /* different places, kept or not */
	uint64_t lost, unkept;
	bool nomem;
};

void cycles_init(struct cycles *f, uint32_t limit, bool each);
void cycles_free(struct cycles *f);
/* A cycle_fn; ctx is the struct cycles. */
void cycles_add(void *ctx, const struct cycle *c);

/* "w(x)" as text. */
void op_show(const struct trace_names *t, uint8_t kind, uint32_t target, struct buf *out);

struct trace_event { /* what a document says of any event */
	uint64_t event;
	uint32_t thread, target, loc;
	uint8_t kind;
};
/* Its members, of the object that is open; `tmp` is room. */
void json_event(const struct trace_names *t, const struct trace_event *e, struct buf *tmp, struct json_out *j);
/* The member "findings"; `t` may be NULL when there are none. */
void cycles_json(const struct cycles *f, const struct trace_names *t, struct json_out *j);

#endif
