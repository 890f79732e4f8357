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

#include "base/buf.h"
#include "base/map.h"
#include "event/names.h"
#include "verdict/cycle.h"

struct finding {
	struct cycle cycle;   /* its own copy of the links */
	uint64_t count;
};

struct cycles {
	struct finding *list;
	uint32_t n, cap, limit; /* limit 0: all */
	bool each;              /* do not merge */
	struct map by_places;
	uint64_t blocks;        /* violating blocks, all of them */
	uint64_t kinds;         /* different places, kept or not */
	uint64_t lost, unkept;
	bool nomem;
};

void cycles_init(struct cycles *f, uint32_t limit, bool each);
void cycles_free(struct cycles *f);
/* A cycle_fn; ctx is the struct cycles. */
void cycles_add(void *ctx, const struct cycle *c);

/* "w(x)" as text. */
void op_show(const struct trace_names *t, uint8_t kind, uint32_t target,
             struct buf *out);

/* `,"line":12` when the line of the event in the trace's text is known. */
void json_event_line(const struct trace_names *t, uint64_t event, struct buf *out);
void cycles_text(const struct cycles *f, const struct trace_names *t,
                 unsigned width, bool color, struct buf *out);
/* A JSON array. */
void cycles_json(const struct cycles *f, const struct trace_names *t,
                   struct buf *out);

#endif
