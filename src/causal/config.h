/*
 * config: a configuration of a branching process, grown and shrunk by a trail.
 *
 * The branching process is two arrays: conditions (copies of places, with the
 * colours of their tokens) and events (copies of transitions). Event 0 is the
 * beginning: it has no transition, and its conditions are the initial marking.
 * A configuration is a set of events closed under causes and free of
 * conflict; the current one is kept as flags beside the arrays, with the list
 * of its events (the trail), so that taking a step back is popping. On the way
 * it keeps a hash of the coloured marking: the sum over the tokens of a number
 * for (place, colours), so an event changes it by a number of its own.
 *
 * Plain nets have all tokens in one colour, and everything here is the same.
 *
 * Cost: adding [e] touches the events of [e] that are not there yet.
 */
#ifndef INTACT_CAUSAL_CONFIG_H
#define INTACT_CAUSAL_CONFIG_H

#include "base/invariant.h"
#include "causal/colour.h"

enum { COLOUR_PAIRS = 6 };          /* (w, r) with w <= r */
#define COLOUR_RED ((enum colour)3) /* of an event only: it ends the search */

struct uf_event {
	uint64_t hash;  /* of the marking of [e] */
	uint64_t delta; /* what e itself adds to a hash */
	uint64_t co_at; /* its older concurrent conditions: co_n of them in co[] */
	uint32_t co_n;
	uint32_t trans;
	uint32_t pre;   /* in pres[], in the order of the net's row */
	uint32_t post;  /* its first condition; they follow each other */
	uint32_t size;  /* |[e]| */
	uint32_t depth; /* longest chain of causes: the level in Foata's form */
	uint32_t next;  /* in its bucket; then its number in the order of insertion */
	uint32_t stamp;
	uint32_t roots; /* the initial conditions in its past: how many, which, in roots[] */
	uint8_t in;     /* of the current configuration */
	uint8_t dead;   /* found to be a cut-off while waiting */
	uint8_t colour; /* enum colour of the event */
	uint8_t warm;   /* some condition of it has a colour */
};

struct uf_cond {
	uint32_t place, event; /* event: its only cause */
	uint32_t first;        /* the first condition of that event */
};

struct config {
	const struct net *net;
	const struct colour_net *colours; /* NULL: a plain net */
	struct uf_event *events;
	struct uf_cond *conds;
	uint8_t *taken; /* a condition: by the current configuration, or chosen by it */
	colours *tint;  /* a condition: its colours */
	uint32_t *pres;
	uint32_t nevents;
	uint32_t *trail, ntrail; /* room for every event */
	uint32_t *scratch;       /* room for every event */
	int32_t *change;         /* a (place, colours): all 0 between calls */
	uint64_t hash, *place_hash;
	uint32_t *kept_from; /* an arc of net.post: which of t's pre arcs reads it, or NET_NONE */
	uint32_t stamp;
	bool plain; /* markings are compared without their colours */
};

static inline const uint32_t *uf_pre(const struct config *c, uint32_t e)
{
	assert(e < c->nevents);
	return c->pres + c->events[e].pre;
}
static inline uint32_t uf_npre(const struct config *c, uint32_t e)
{
	return e ? net_npre(c->net, c->events[e].trans) : 0;
}
static inline uint32_t uf_npost(const struct config *c, uint32_t e)
{
	return e ? net_npost(c->net, c->events[e].trans) : c->net->ninit;
}

/* 0 .. COLOUR_PAIRS - 1; anything for a red event, whose hash is never looked up. */
static inline uint32_t colour_index(colours c)
{
	uint32_t w = c & 15, r = c >> 4;
	assert(w <= r || r > COLOUR_Y);
	return r > COLOUR_Y ? 0 : r * (r + 1) / 2 + w;
}
/* The share of a token in the hash of a marking. */
static inline uint64_t config_token(const struct config *c, uint32_t place, colours tint)
{
	static const uint64_t odd[COLOUR_PAIRS] = {
		1, 0xC2B2AE3D27D4EB4Fu, 0x9E3779B185EBCA87u, 0x165667B19E3779F9u, 0x85EBCA77C2B2AE63u, 0x27D4EB2F165667C5u,
	};
	return c->plain ? c->place_hash[place] : c->place_hash[place] * odd[colour_index(tint)];
}
/* The colours after transition t on its post arc number i (an index of
 * net.post) for an event of colour `ev` on the conditions pre[]. */
static inline colours config_put(const struct config *c, uint32_t i, const uint32_t *pre, enum colour ev)
{
	if (!c->colours)
		return 0;
	uint32_t from = c->kept_from[i];
	return colours_put(ev, from != NET_NONE, from != NET_NONE ? c->tint[pre[from]] : 0);
}

/* Adds event e with its causes; false, and nothing changed, on a conflict. */
bool config_add(struct config *c, uint32_t e);
/* Takes back the youngest part of the trail, down to `len` events. */
void config_undo(struct config *c, uint32_t len);
/*
 * Does the current configuration with one more event (transition t of colour
 * `ev` on the conditions pre[]) have the marking of [e], with its colours unless
 * `plain`? Costs the
 * events in which the two differ, and a look at those they share.
 */
bool config_same_marking(struct config *c, uint32_t t, const uint32_t *pre, enum colour ev, uint32_t e);
/* The events of [e] in scratch[], event 0 apart; how many. */
uint32_t config_local(struct config *c, uint32_t e);
/* The places that hold a token now, into out (room for all places): how many;
 * a place with two tokens appears twice. */
uint32_t config_marking(struct config *c, uint32_t *out, uint32_t room);

/*
 * The total order of Esparza, Römer and Vogler on configurations of equal size:
 * does the current one with one more event (transition t at this depth) come
 * before [e]? First the transitions with their numbers (Parikh): at the first
 * transition, in the order of ids, where the numbers differ, more of it comes
 * first. Then level by level (Foata): fewer events in a level first, then the
 * transitions in it as before. (This is how mole breaks ties.)
 *
 * Adequate: adding the same event on both sides adds the same transition to
 * both Parikh vectors. When those are equal and the levels below i agree, a
 * place has had the same number of tokens come and go on both sides and they
 * came one after the other (1-safe), so the added event falls into a level up
 * to i on one side exactly when it falls into the same level on the other:
 * level i gets the same transitions on both sides, which changes neither which
 * one has fewer events nor which has more of the first that differs.
 *
 * Colours do not enter: they are a function of the configuration's transitions
 * and their causes (colour.h), so equal forms have equal colours, and the order
 * is total on coloured configurations as well.
 *
 * -1 when out of memory, else 0 or 1.
 */
int config_before(struct config *c, uint32_t t, uint32_t depth, uint32_t e);

#endif
