/*
 * state_sets: the states of the searches of verify_exhaustive.c, verify_causal_order.c and verify_object.c: an interleaved state with the set
 * of what it can represent, looked up by both.
 *
 * States, members and sets are rows (seqtab.h); a set is the numbers of its members in order. One set is
 * made at a time. Everything is bounded; the first limit that is spent is named in *limit, and nothing more is added then.
 */
#ifndef INTACT_VERDICT_STATE_SETS_H
#define INTACT_VERDICT_STATE_SETS_H

#include "base/map.h"
#include "base/seqtab.h"
#include "verdict/verify_exhaustive.h"

struct state_and_set {
	uint32_t state, set, parent;
	struct move by;
	struct move then; /* a second step; thread MAP_NONE: none */
};

struct state_sets {
	struct verify_exhaustive *out; /* max_states, limit, path */
	const char *crowded;           /* what the limit on a set's members is called */
	uint32_t nstate, width;        /* words of a state, of a member */
	struct seqtab states, members, sets;
	struct state_and_set *v; /* the first is the beginning */
	uint32_t n, cap;
	struct map seen;                     /* state and set: the pair */
	uint32_t *set, nset, cap_set;        /* being made */
	uint64_t work;                       /* members put into sets, and what else was looked at, so far */
	uint32_t *stamp, stamped, cap_stamp; /* by member: in it */
};

void state_sets_spent(struct state_sets *x, const char *limit);
/* A step came out so: was it cut short? */
static inline void state_sets_stepped(struct state_sets *x, enum ir_result r, const struct ir_effect *eff)
{
	if (r == IR_FAULT && eff->fault == IRF_LIMIT)
		state_sets_spent(x, "instructions of one step");
}
void state_sets_free(struct state_sets *x);
/* So many things more were looked at: all of it together is bounded. */
void state_sets_worked(struct state_sets *x, uint64_t n);

void state_sets_begin_set(struct state_sets *x);
/* Puts the member into the set being made; the second, one of another length than the rest. */
void state_sets_put(struct state_sets *x, const int32_t *member);
void state_sets_put_row(struct state_sets *x, const int32_t *member, uint32_t len);
/* Is it in there? */
bool state_sets_in_set(const struct state_sets *x, const int32_t *member);
bool state_sets_in_set_row(const struct state_sets *x, const int32_t *member, uint32_t len);
/* The number of the set that was made; MAP_NONE when out of memory. */
uint32_t state_sets_keep_set(struct state_sets *x);

/* The number of the pair if it is new, else MAP_NONE; `more` bytes are used elsewhere. */
uint32_t state_sets_add(struct state_sets *x, const int32_t *state, uint32_t set, uint32_t parent, struct move by, uint64_t more);
/* The same for one that two steps lead to. */
uint32_t state_sets_add_two(struct state_sets *x, const int32_t *state, uint32_t set, uint32_t parent, struct move by,
                            struct move then, uint64_t more);
/* The way to a pair into out->path; false when out of memory. */
bool state_sets_path(struct state_sets *x, uint32_t id);

#endif
