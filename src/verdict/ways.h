/*
 * ways: what a register can be, given what its operations have said so far; for verify_object.c.
 *
 * Atomic: a set of members, each of which is one way in which the operations can have taken effect: the value,
 * and of each operation that has been invoked and not answered whether it has taken effect and, of a
 * read, what it saw. Operations take effect as late as they can: only an answer makes some do so, in any order, the
 * last of them the one that is answered. That loses nothing, because between two answers nothing looks. No
 * member left: no order of the operations explains the history, and none ever will.
 *
 * Regular and safe: a set of one member, the ended writes that a read that began now might return, each with
 * the open writes that began after its end (when one of those ends, it is overwritten), the initial value being
 * such a write that ended before everything; the values of the open writes; and for each open read what it may return: all of those at its
 * invocation, and every write that is invoked later. A safe read that has met a write may
 * return anything. An answer that is not among them leaves no member.
 *
 * Representation: sets of pairs.h; transitions are kept by set and event. Threads are bounded by WAYS_THREADS.
 */
#ifndef INTACT_VERDICT_WAYS_H
#define INTACT_VERDICT_WAYS_H

#include "verdict/object_history.h"
#include "verdict/pairs.h"

#define WAYS_THREADS 64u

enum ways_event { WAYS_ASK_READ, WAYS_ASK_WRITE, WAYS_READ, WAYS_WRITTEN };

struct ways {
	struct pairs *pairs;
	enum object_condition condition;
	uint32_t nthreads;
	struct rows events;
	struct map next;   /* set and event: set */
	int32_t *room;     /* of members being made */
	uint32_t cap;
};

void ways_init(struct ways *w, struct pairs *pairs, enum object_condition c, uint32_t nthreads);
void ways_free(struct ways *w);
uint64_t ways_bytes(const struct ways *w);
/* The set at the beginning; MAP_NONE when a limit is spent. */
uint32_t ways_first(struct ways *w, int32_t value);
/* The set behind the event; value: what is written, or was read. An empty set: nothing explains it. MAP_NONE: a limit is spent. */
uint32_t ways_next(struct ways *w, uint32_t set, uint32_t thread, enum ways_event e, int32_t value);

#endif
