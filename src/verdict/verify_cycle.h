/*
 * verify_cycle: an independent judge of cycles (verdict/cycle.h).
 *
 * Reads the trace once, remembers what the events named in the cycles are,
 * then judges each cycle by the definitions of docs/trace.md alone. Shares
 * nothing with the engines that find cycles but the event reader; of the flags
 * only the reader's EVENT_FIRST is looked at.
 */
#ifndef INTACT_VERDICT_VERIFY_CYCLE_H
#define INTACT_VERDICT_VERIFY_CYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "verdict/cycle.h"

/* What the trace says about one event. */
struct cycle_fact {
	uint64_t event;   /* 0: not met in the trace */
	uint64_t block;   /* begin of the outermost block around it, 0: none */
	uint64_t ordinal; /* of its transaction within the thread */
	uint32_t thread, target, loc;
	uint32_t life; /* of its variable or lock: renewed so often (EVENT_FIRST) */
	uint8_t kind;
	bool repeats; /* an acquire of a lock held already, or its release */
};

struct cycle_judge;

struct cycle_judge *judge_new(void);
void judge_free(struct cycle_judge *j);
bool judge_want_cycle(struct cycle_judge *j, const struct cycle *c);
/* The trace, in order. False: out of memory. */
bool judge_feed(struct cycle_judge *j, const struct event *ev, size_t n);
/* NULL when the trace has no such event or it was not wanted. */
const struct cycle_fact *judge_fact(const struct cycle_judge *j, uint64_t event);
/*
 * NULL when the cycle is one, else what is wrong with it; *link then is the
 * number of the offending link, from 1 (0: the cycle as a whole).
 */
const char *judge_cycle(const struct cycle_judge *j, const struct cycle *c, uint32_t *link);

#endif
