/*
 * prefix: what the files of the unfolder share among themselves. unfold.c has
 * the loop and the extensions, cutoff.c judges them, concurrency.c is the co-relation,
 * prefix.c the arrays and the table of markings.
 */
#ifndef INTACT_CAUSAL_PREFIX_H
#define INTACT_CAUSAL_PREFIX_H

#include <stddef.h>

#include "base/grow.h"
#include "causal/unfold.h"

#define UF_UNIT 4u /* entries of the smallest list of younger events */

/* Records the limit that ended it; always false. */
bool prefix_stop(struct prefix *p, const char *limit);
/* Room for `need` elements; false when the budget is used up. New ones are zero, or whatever was there. */
#define PREFIX_ROOM(p, array, cap, need) (GROW_AS(GROW_ZERO, &(p)->memory, array, cap, need, 1) || prefix_stop((p), "memory"))
#define PREFIX_RAW(p, array, cap, need)  (GROW_AS(GROW_UNSET, &(p)->memory, array, cap, need, 1) || prefix_stop((p), "memory"))
/* A look at the clock every 1,024 calls. */
bool prefix_in_time(struct prefix *p);
/* Keeps the marking of the current configuration in p->marking. */
bool prefix_keep_marking(struct prefix *p);

/* A new event, waiting, and its conditions when it is inserted. */
bool prefix_new_event(struct prefix *p, uint32_t trans, const uint32_t *pre, uint32_t npre);
bool prefix_new_conditions(struct prefix *p, uint32_t e);

/*
 * The configuration [current] is walked only when needed: most events of a long
 * chain are judged by the size and hash of the one before them. While p->lazy,
 * the trail is empty and taken[] is that of chosen[] alone.
 */
void prefix_build(struct prefix *p);
/* Is this initial condition in the past of the current event? */
static inline bool prefix_behind(const struct prefix *p, uint32_t b)
{
	return p->root_of[b] == p->current + 1;
}

/* The initial conditions in the past of e, the current event: its list, and root_of[]. */
bool co_roots(struct prefix *p, uint32_t e);
/* found[] = the older conditions, not initial, that are concurrent with e, ascending. */
bool co_meet(struct prefix *p, uint32_t e);
/* Keeps found[] as the list of e, whose conditions exist, and e with each of
 * them and with the initial conditions in its past. */
bool co_keep(struct prefix *p, uint32_t e);

/*
 * The slot of a marking (event + 1, or 0 when it is new): that of the current
 * configuration with transition t of colour `ev` on p->chosen; `hash` is its
 * hash. The slot stays valid until the next call. NULL: a limit.
 */
uint32_t *prefix_find(struct prefix *p, uint32_t t, enum colour ev, uint64_t hash);

/* What it knows of transitions, and the arrays of the reduced mode. */
bool cutoff_start(struct prefix *p);
/*
 * Transition t on chosen[], which is in the cut of the current configuration:
 * kept, or a cut-off. False ends the search: a limit, or red (p->red).
 */
bool cutoff_judge(struct prefix *p, uint32_t t);
/* Reduced: a condition of this place has a colour, the first one. */
void cutoff_tinted(struct prefix *p, uint32_t place);
/* Reduced: can t, with condition c as its newest, leave everything as it is
 * whatever else it takes? Then it would be cut, and is not even looked for. */
bool cutoff_idle(const struct prefix *p, uint32_t t, uint32_t c);

#endif
