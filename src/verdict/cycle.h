/*
 * cycle: the witness that an execution is not conflict-serializable, as data.
 *
 * A cycle is a list of links; a link says that an event of one transaction
 * conflicts with a later event of another. The first link leaves the
 * violating block; each next one starts in the transaction the one before
 * reached, or in a later one of the same thread (program order); the last
 * one, whose target is the latest event of the cycle, returns to the block:
 * it closes the cycle.
 */
#ifndef INTACT_VERDICT_CYCLE_H
#define INTACT_VERDICT_CYCLE_H

#include <stdbool.h>
#include <stdint.h>

/* One end of a link: an event and the block that contains it. */
struct cycle_end {
	uint64_t event; /* its number in the trace, from 1 */
	uint64_t block; /* number of the outermost begin; 0: outside of blocks */
	uint32_t thread, target, loc;
	uint32_t block_loc, block_label;
	uint32_t serial; /* the engines' own: order within the thread */
	uint8_t kind;    /* enum event_kind */
};

struct cycle_link {
	struct cycle_end from, to;
};

struct cycle {
	/* the violating block is that of links[0].from and links[n-1].to */
	const struct cycle_link *links;
	uint32_t n; /* 0: the cycle was too long to record (see `lost`) */
	bool lost;
	struct cycle_end closing; /* the event of the block that closes the cycle */
	/*
	 * The block is at fault by itself: every other transaction is entered
	 * before it is left, so the block stays broken even when the others
	 * are taken apart into single events.
	 */
	bool alone;
	/* The innermost nested block that holds both ends, when `alone`; its
	 * begin event (0: the outermost block itself), place and label. */
	uint64_t inner;
	uint32_t inner_loc, inner_label;
};

/* Called once for each violating block, when its cycle closes. */
typedef void cycle_fn(void *ctx, const struct cycle *c);

#endif
