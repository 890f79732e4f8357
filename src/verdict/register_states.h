/*
 * register_states: what a register can be, given what its operations have said so far; for verify_object.c.
 *
 * Atomic: a set of members, each of which is one way in which the operations can have taken effect: the value, and of each operation that
 * has been invoked and not answered whether it has taken effect and, of a read, what it saw. Operations take effect as late as they can:
 * only an answer makes some do so, in any order, the last of them the one that is answered. That loses nothing, because between two
 * answers nothing looks. No member left: no order of the operations explains the history, and none ever will.
 *
 * Regular and safe: a set of one member, the ended writes that a read that began now might return, each with
 * the open writes that began after its end (when one of those ends, it is overwritten), the initial value being
 * such a write that ended before everything; the values of the open writes; and for each open read what it may return: all of those at its
 * invocation, and every write that is invoked later. A safe read that has met a write may
 * return anything. An answer that is not among them leaves no member.
 *
 * Representation: sets of state_sets.h; transitions are kept by set and event. Threads are bounded by REGISTER_THREADS.
 */
#ifndef INTACT_VERDICT_REGISTER_STATES_H
#define INTACT_VERDICT_REGISTER_STATES_H

#include "base/map.h"
#include "verdict/object_history.h"
#include "verdict/state_sets.h"

#define REGISTER_THREADS 64u

enum register_states_event { REGISTER_ASK_READ, REGISTER_ASK_WRITE, REGISTER_READ, REGISTER_WRITTEN };

struct register_states {
	struct state_sets *pairs;
	enum object_condition condition;
	uint32_t nthreads;
	struct seqtab events;
	struct map next; /* set and event: set */
	int32_t *room;   /* of members being made */
	uint32_t cap;
};

void register_states_init(struct register_states *w, struct state_sets *pairs, enum object_condition c, uint32_t nthreads);
void register_states_free(struct register_states *w);
uint64_t register_states_bytes(const struct register_states *w);
/* The set at the beginning; MAP_NONE when a limit is reached. */
uint32_t register_states_first(struct register_states *w, int32_t value);
/* The set after the event; value: what is written, or was read. An empty set: nothing explains it. MAP_NONE: a limit is reached. */
uint32_t register_states_next(struct register_states *w, uint32_t set, uint32_t thread, enum register_states_event e,
                              int32_t value);

#endif
