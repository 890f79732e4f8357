/*
 * delayed_shadow: a shadow that may lag behind the execution.
 *
 * A shadow is a quiescent state of a serial execution, with a status per
 * thread (shadows.h) and the *items* (steps outside, whole blocks) that have
 * ended in reality and not yet taken effect in it. Executions that differ in
 * the order of independent steps are one execution, so an item may take
 * effect later than it ended: before it, though, come the items whose end
 * causally precedes its beginning, and it comes before those whose beginning
 * its end precedes. For the second each ended item carries which threads know
 * that it has ended: the threads whose next step comes causally after it, and
 * the shared places that pass the knowledge on, to readers and writers (it
 * was written) or to writers only (it was read).
 *
 * Nothing else of the past matters: the order between items that have taken
 * effect and those that have not is settled, and the knowledge of an item is
 * dropped with it. So a shadow describes everything about one serial
 * execution and its possible continuations, and two executions that lead to
 * the same state and the same shadows need not be distinguished.
 *
 * An open block has an item too as long as others come before it.
 *
 * As values (what is interned): globals id, local ids, status words; then for
 * each item thread, block + 1, open, the items before it (a mask), who knows
 * (two words), the number of places and the places, slot * 2 + 1 when it was
 * written. Items are in the order of their threads, those of a thread as they
 * happened, so equal shadows are equal values.
 */
#ifndef INTACT_EXPLORE_DELAYED_SHADOW_H
#define INTACT_EXPLORE_DELAYED_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/seqtab.h"

#define DELAYED_ITEMS    32u /* of one shadow */
#define DELAYED_PLACES   48u /* that know of one item */
#define DELAYED_THREADS  64u
#define DELAYED_NO_BLOCK UINT32_MAX

struct delayed_item {
	uint32_t thread;
	uint32_t block;   /* DELAYED_NO_BLOCK: a step outside */
	bool open;        /* a block that has not ended in reality */
	uint32_t before;  /* items that must take effect first; those of its own
	                   * thread go without saying */
	uint64_t knows;   /* threads */
	uint32_t nplaces; /* sorted */
	int32_t places[DELAYED_PLACES];
};

struct delayed_shadow {
	int32_t *base; /* globals, locals, statuses: width values */
	uint32_t width;
	uint32_t n; /* items */
	struct delayed_item item[DELAYED_ITEMS];
};

/* Room for shadows of this width; false when out of memory. */
bool delayed_init(struct delayed_shadow *s, uint32_t width);
void delayed_free(struct delayed_shadow *s);
void delayed_copy(struct delayed_shadow *to, const struct delayed_shadow *from);
void delayed_load(struct delayed_shadow *s, const struct seqtab *t, uint32_t id);
uint32_t delayed_save(const struct delayed_shadow *s, struct seqtab *t);

/* Appends a new item to its thread's items; false when it is one too many. */
bool delayed_insert(struct delayed_shadow *s, const struct delayed_item *it);
void delayed_remove(struct delayed_shadow *s, uint32_t i);
/* The first item of the thread that has ended, or DELAYED_ITEMS. */
uint32_t delayed_first(const struct delayed_shadow *s, uint32_t thread);
/* The item of the thread's open block, or DELAYED_ITEMS. */
uint32_t delayed_open(const struct delayed_shadow *s, uint32_t thread);
/* How many have ended. */
uint32_t delayed_ended(const struct delayed_shadow *s);
/* The ended items of other threads that the thread knows of. */
uint32_t delayed_known(const struct delayed_shadow *s, uint32_t thread);
/*
 * A step of `thread` that touches these places (slot * 2 + 1 for a write):
 * first it learns what they know, then they learn what it knows. False when
 * there is no room for it.
 */
void delayed_learn(struct delayed_shadow *s, uint32_t thread, const int32_t *touch, uint32_t n);
bool delayed_teach(struct delayed_shadow *s, uint32_t thread, const int32_t *touch, uint32_t n);
/* Thread i becomes thread to[i]; the base is the caller's. */
void delayed_permute(struct delayed_shadow *s, const uint32_t *to);

#endif
