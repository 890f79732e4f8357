/*
 * config: a configuration of a branching process, grown and shrunk by a trail.
 *
 * The branching process is two arrays: conditions (copies of places) and
 * events (copies of transitions). Event 0 is the beginning: it has no
 * transition, and its conditions are the initial marking. A configuration is
 * a set of events closed under causes and free of conflict; the current one
 * is kept as flags in the arrays themselves, with the list of its events (the
 * trail), so that taking a step back is popping. On the way it keeps the
 * change of the marking against the initial one, the number of places where
 * that is not zero, and an additive hash of it: two configurations have the
 * same marking when subtracting one from the other leaves no place changed.
 *
 * Cost: adding [e] touches the events of [e] that are not there yet.
 */
#ifndef INTACT_CAUSAL_CONFIG_H
#define INTACT_CAUSAL_CONFIG_H

#include "causal/net.h"

struct uf_event {
	uint64_t hash;  /* of the marking of [e] */
	uint64_t co_at; /* its older concurrent conditions: co_n of them in co[] */
	uint32_t co_n;
	uint32_t trans;
	uint32_t pre;   /* in pres[], in the order of the net's row */
	uint32_t post;  /* its first condition; they follow each other */
	uint32_t size;  /* |[e]| */
	uint32_t depth; /* longest chain of causes: the level in Foata's form */
	uint32_t next;  /* in its bucket */
	uint32_t stamp;
	uint8_t in;     /* of the current configuration */
	uint8_t dead;   /* found to be a cut-off while waiting */
};

struct uf_cond {
	uint32_t place, event; /* event: its only cause */
	uint32_t younger;      /* first chunk of the younger events beside it */
	uint8_t taken;         /* by the current configuration, or chosen by it */
};

struct config {
	const struct net *net;
	struct uf_event *events;
	struct uf_cond *conds;
	uint32_t *pres;
	uint32_t nevents;
	uint32_t *trail, ntrail;    /* room for every event */
	uint32_t *scratch;          /* room for every event */
	int32_t *change;            /* a place: tokens more than initially */
	uint32_t changed;           /* places where that is not 0 */
	uint64_t hash, *place_hash;
	uint32_t stamp;
};

static inline const uint32_t *uf_pre(const struct config *c, uint32_t e)
{
	return c->pres + c->events[e].pre;
}

/* Fires transition t in the marking only: sign 1 forwards, -1 backwards. */
void config_shift(struct config *c, uint32_t t, int32_t sign);
/* Adds event e with its causes; false, and nothing changed, on a conflict. */
bool config_add(struct config *c, uint32_t e);
/* Takes back the youngest part of the trail, down to `len` events. */
void config_undo(struct config *c, uint32_t len);
/* Does the marking now equal that of [e]? */
bool config_same_marking(struct config *c, uint32_t e);
/* The events of [e] in scratch[], event 0 apart; how many. */
uint32_t config_local(struct config *c, uint32_t e);
/* The places that hold a token now, into out (room for all places): how many;
 * a place that holds two stands twice. */
uint32_t config_marking(const struct config *c, uint32_t *out, uint32_t room);

/*
 * The total order of Esparza, Römer and Vogler on configurations of equal
 * size: does the current one with one more event (transition t at this depth)
 * come before [e]? First the transitions with their numbers (Parikh), then
 * level by level (Foata); at the first transition, in the order of ids, where
 * the numbers differ, more of it comes first.
 *
 * Adequate: adding the same event on both sides adds the same transition to
 * both Parikh vectors. When those are equal and the levels below i agree, a
 * place has had the same number of tokens come and go on both sides and they
 * came one behind the other (1-safe), so the added event falls into a level
 * up to i on one side exactly when it falls into the same level on the other.
 *
 * -1 when memory ends, else 0 or 1.
 */
int config_before(struct config *c, uint32_t t, uint32_t depth, uint32_t e);

#endif
