/*
 * verify_serial: an independent judge of "this trace is serializable".
 *
 * Builds the graph that docs/trace.md defines, from the events alone: transactions, an arrow where one has an event
 * that conflicts with a later one of another or comes before it in the same thread. Then takes away, again and
 * again, what no arrow leads to. What is left, if anything, is on a cycle or after one. Of the conflicts those are
 * left out that others lead to: of the reads of one thread between two writes all but the last, and what came
 * before a write (the arrow to it, and from it, lead there). Shares nothing with the engines but the reader; of the
 * flags only the reader's EVENT_FIRST is looked at.
 *
 * Cost: linear; 4 bytes per transaction and 12 per arrow, about two per event. Arrows are bounded.
 */
#ifndef INTACT_VERDICT_VERIFY_SERIAL_H
#define INTACT_VERDICT_VERIFY_SERIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

struct serial_judge;

struct serial_judge *serial_judge_new(void);
void serial_judge_free(struct serial_judge *j);
/* The trace, in order. False: nothing more need be fed. */
bool serial_judge_feed(struct serial_judge *j, const struct event *ev, size_t n);

/* What was found. `limit`: why it is not known, or NULL. Else `cycle` has n transactions, by their first events, each of which
 * comes before the next and the last before the first; n 0: there is no cycle. Valid as long as the judge. */
struct serial_judged {
	const char *limit;
	const uint64_t *cycle;
	uint32_t n;
};
struct serial_judged serial_judge_end(struct serial_judge *j);

#endif
