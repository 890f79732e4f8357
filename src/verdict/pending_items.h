/*
 * pending_items: a serial execution that lags behind the run that it has to explain, for verify_causal_order.c.
 *
 * It has a serial state, the threads whose present block has taken effect in it already, and the *items* (steps
 * outside, blocks) that have ended in the run and not happened in it yet. Items may happen in any order in which
 * one comes before another when its end causally precedes the other's beginning. So a late item carries what
 * comes causally after its end: threads (their next steps do) and places (a step that touches
 * one does, unless both only read). And every item that has begun carries the late items that come before it.
 * An item that has happened constrains nothing any more and is forgotten. A block that has begun and not ended
 * is an item here only while others come before it.
 *
 * As a row: the number of the serial state, two words of threads; then the items in the order of their threads,
 * those of one thread as they began, so that equal ones are equal rows.
 */
#ifndef INTACT_VERDICT_PENDING_ITEMS_H
#define INTACT_VERDICT_PENDING_ITEMS_H

#include <stdbool.h>
#include <stdint.h>

#define PENDING_ITEMS   24u
#define PENDING_PLACES  40u
#define PENDING_THREADS 64u
#define PENDING_ROW     (3u + PENDING_ITEMS * (6u + PENDING_PLACES)) /* words at most */

struct pending_item {
	uint32_t thread, block; /* block IR_NONE: a step outside */
	bool open;              /* a block that has not ended */
	uint32_t before;        /* items that come before it, a bit each */
	uint64_t knows;         /* threads that are causally after its end */
	uint32_t nplaces;
	uint32_t places[PENDING_PLACES]; /* slot * 2, + 1 when it was written; sorted, one a slot */
};

struct pending_items {
	uint32_t serial;
	uint64_t done;
	uint32_t n;
	struct pending_item item[PENDING_ITEMS];
};

/* As far as it is used. */
void pending_items_copy(struct pending_items *to, const struct pending_items *from);
/* Words written, or read. */
uint32_t pending_items_pack(const struct pending_items *l, int32_t *words);
void pending_items_unpack(struct pending_items *l, const int32_t *words, uint32_t len);

/* Behind the others of its thread; false when there is no room. */
bool pending_items_insert(struct pending_items *l, const struct pending_item *it);
/* It has happened, or ended. Open ones that nothing comes before any more go too. */
void pending_items_remove(struct pending_items *l, uint32_t i);
/* The thread's block that has not ended, or PENDING_ITEMS. */
uint32_t pending_items_open(const struct pending_items *l, uint32_t thread);
uint32_t pending_items_ended(const struct pending_items *l);

/*
 * A step of `thread` that touches these places: which items come causally before it, into *before, and what knows
 * of them afterwards. False when there are too many places.
 */
bool pending_items_step(struct pending_items *l, uint32_t thread, const uint32_t *places, uint32_t n, uint32_t *before);
/* `gone`: threads that will never move again; `all`: every thread. */
void pending_items_prune(struct pending_items *l, uint64_t gone, uint64_t all);
/*
 * Must some item happen before anything else that has not? `idle`: no block has begun and may happen at once. Then what
 * it leads to represents this one.
 */
bool pending_items_forced(const struct pending_items *l, uint64_t all, bool idle);

#endif
