/*
 * lag: a shadow that may be behind.
 *
 * A shadow is a quiescent state of a serial execution, with a status per
 * thread (shadows.h) and the *items* (steps outside, whole blocks) that have
 * ended in reality and not yet taken effect in it. Executions that differ in
 * the order of independent steps are one execution, so an item may take
 * effect later than it ended: before it, though, come the items whose end
 * causally precedes its beginning, and it comes before those whose beginning
 * its end precedes. For the second each ended item carries who knows that it
 * has ended: the threads whose next step comes causally after it, and the
 * shared places that pass the knowledge on, to readers and writers (it was
 * written) or to writers only (it was read).
 *
 * Nothing else of the past matters: the order between items that have taken
 * effect and those that have not is settled, and the knowledge of an item is
 * dropped with it. So a shadow is all there is to say about one serial
 * execution and what it may still do, and two executions that lead to the
 * same state and the same shadows need not be told apart.
 *
 * An open block has an item too as long as others come before it.
 *
 * As values (what is interned): globals id, local ids, status words; then for
 * each item thread, block + 1, open, the items before it (a mask), who knows
 * (two words), the number of places and the places, slot * 2 + 1 when it was
 * written. Items are in the order of their threads, those of a thread as they
 * happened, so equal shadows are equal values.
 */
#ifndef INTACT_EXPLORE_LAG_H
#define INTACT_EXPLORE_LAG_H

#include <stdbool.h>
#include <stdint.h>

#include "explore/seqtab.h"

#define LAG_ITEMS   32u /* of one shadow */
#define LAG_PLACES  48u /* that know of one item */
#define LAG_THREADS 64u
#define LAG_NO_BLOCK UINT32_MAX

struct lag_item {
	uint32_t thread;
	uint32_t block;   /* LAG_NO_BLOCK: a step outside */
	bool open;        /* a block that has not ended in reality */
	uint32_t before;  /* items that must take effect first; those of its own
	                   * thread go without saying */
	uint64_t knows;   /* threads */
	uint32_t nplaces; /* sorted */
	int32_t places[LAG_PLACES];
};

struct lag_shadow {
	int32_t *base;  /* globals, locals, statuses: width values */
	uint32_t width;
	uint32_t n;     /* items */
	struct lag_item item[LAG_ITEMS];
};

/* Room for shadows of this width; false when memory ends. */
bool lag_init(struct lag_shadow *s, uint32_t width);
void lag_free(struct lag_shadow *s);
void lag_copy(struct lag_shadow *to, const struct lag_shadow *from);
void lag_load(struct lag_shadow *s, const struct seqtab *t, uint32_t id);
uint32_t lag_save(const struct lag_shadow *s, struct seqtab *t);

/* Puts a new item behind its thread's others; false when it is one too many. */
bool lag_insert(struct lag_shadow *s, const struct lag_item *it);
void lag_remove(struct lag_shadow *s, uint32_t i);
/* The first item of the thread that has ended, or LAG_ITEMS. */
uint32_t lag_first(const struct lag_shadow *s, uint32_t thread);
/* The item of the thread's open block, or LAG_ITEMS. */
uint32_t lag_open(const struct lag_shadow *s, uint32_t thread);
/* How many have ended. */
uint32_t lag_ended(const struct lag_shadow *s);
/* The ended items of other threads that the thread knows of. */
uint32_t lag_known(const struct lag_shadow *s, uint32_t thread);
/*
 * A step of `thread` that touches these places (slot * 2 + 1 for a write):
 * first it learns what they know, then they learn what it knows. False when
 * there is no room for it.
 */
void lag_learn(struct lag_shadow *s, uint32_t thread, const int32_t *touch, uint32_t n);
bool lag_teach(struct lag_shadow *s, uint32_t thread, const int32_t *touch, uint32_t n);
/* Thread i becomes thread to[i]; the base is the caller's. */
void lag_permute(struct lag_shadow *s, const uint32_t *to);

#endif
