/*
 * pairs: the states of the searches of verify_exhaustive.c, verify_causal_order.c and verify_object.c: an interleaved state with the set
 * of what it can represent, looked up by both.
 *
 * States, members and sets are rows (seqtab.h); a set is the numbers of its members in order. One set is
 * made at a time. Everything is bounded; the first limit that is spent is named in *limit, and nothing more is added then.
 */
#ifndef INTACT_VERDICT_PAIRS_H
#define INTACT_VERDICT_PAIRS_H

#include "base/map.h"
#include "base/seqtab.h"
#include "verdict/verify_exhaustive.h"

struct pair {
	uint32_t state, set, parent;
	struct move by;
	struct move then; /* a second step; thread MAP_NONE: none */
};

struct pairs {
	struct verify_exhaustive *out; /* max_states, limit, path */
	const char *crowded;           /* what the limit on a set's members is called */
	uint32_t nstate, width;        /* words of a state, of a member */
	struct seqtab states, members, sets;
	struct pair *v; /* the first is the beginning */
	uint32_t n, cap;
	struct map seen;                     /* state and set: the pair */
	uint32_t *set, nset, cap_set;        /* being made */
	uint64_t work;                       /* members put into sets, and what else was looked at, so far */
	uint32_t *stamp, stamped, cap_stamp; /* by member: in it */
};

void pairs_spent(struct pairs *x, const char *limit);
/* A step came out so: was it cut short? */
static inline void pairs_stepped(struct pairs *x, enum ir_result r, const struct ir_effect *eff)
{
	if (r == IR_FAULT && eff->fault == IRF_LIMIT)
		pairs_spent(x, "instructions of one step");
}
void pairs_free(struct pairs *x);
/* So many things more were looked at: all of it together is bounded. */
void pairs_worked(struct pairs *x, uint64_t n);

void pairs_begin_set(struct pairs *x);
/* Puts the member into the set being made; the second, one of another length than the rest. */
void pairs_put(struct pairs *x, const int32_t *member);
void pairs_put_row(struct pairs *x, const int32_t *member, uint32_t len);
/* Is it in there? */
bool pairs_in_set(const struct pairs *x, const int32_t *member);
bool pairs_in_set_row(const struct pairs *x, const int32_t *member, uint32_t len);
/* The number of the set that was made; MAP_NONE when out of memory. */
uint32_t pairs_keep_set(struct pairs *x);

/* The number of the pair if it is new, else MAP_NONE; `more` bytes are used elsewhere. */
uint32_t pairs_add(struct pairs *x, const int32_t *state, uint32_t set, uint32_t parent, struct move by, uint64_t more);
/* The same for one that two steps lead to. */
uint32_t pairs_add_two(struct pairs *x, const int32_t *state, uint32_t set, uint32_t parent, struct move by, struct move then,
                       uint64_t more);
/* The way to a pair into out->path; false when out of memory. */
bool pairs_path(struct pairs *x, uint32_t id);

#endif
