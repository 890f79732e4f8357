/*
 * net: a plain place/transition net, meant to be 1-safe.
 *
 * Representation: places and transitions are dense 32-bit ids; the arcs are
 * four flat arrays in compressed rows (what a transition takes, what it puts,
 * which transitions consume from a place, and the initially marked places).
 * Everything is allocated in the builder's arena and does not change once
 * finished.
 *
 * Invariants of a finished net: every transition takes from at least one
 * place, no arc appears twice, ids are in range, the initial marking is a
 * set. Whether the net is 1-safe is not known before it is unfolded.
 */
#ifndef INTACT_CAUSAL_NET_H
#define INTACT_CAUSAL_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/invariant.h"

#define NET_MAX_NODES (UINT32_C(1) << 24) /* places, and transitions */
#define NET_MAX_ARCS  (UINT32_C(1) << 27)
#define NET_MAX_WIDTH 4096 /* places that one transition takes from */
#define NET_NONE      UINT32_MAX

struct net {
	const char *name; /* never NULL */
	uint32_t nplaces, ntrans, ninit;
	const char **place_name, **trans_name;
	uint32_t *pre_at, *pre;   /* transition -> places it takes from, ascending */
	uint32_t *post_at, *post; /* transition -> places it puts on, ascending */
	uint32_t *use_at, *use;   /* place -> transitions that take from it, ascending */
	uint32_t *init;           /* initially marked places, ascending */
};

static inline uint32_t net_npre(const struct net *n, uint32_t t)
{
	assert(t < n->ntrans && n->pre_at[t] <= n->pre_at[t + 1]);
	return n->pre_at[t + 1] - n->pre_at[t];
}
static inline uint32_t net_npost(const struct net *n, uint32_t t)
{
	assert(t < n->ntrans && n->post_at[t] <= n->post_at[t + 1]);
	return n->post_at[t + 1] - n->post_at[t];
}

struct net_arc {
	uint32_t trans, place;
	struct span at; /* where the input says so */
};

/* Collects a net piece by piece; everything in the arena. */
struct net_builder {
	struct arena *arena;
	const char *name;
	AVEC(const char *) places;
	AVEC(uint8_t) marked; /* a place */
	AVEC(const char *) trans;
	AVEC(struct span) trans_at;
	AVEC(struct net_arc) take, put;
};

void net_builder_init(struct net_builder *b, struct arena *a);
/* The new node's id; the name is kept, not copied. */
uint32_t net_add_place(struct net_builder *b, const char *name, bool marked);
uint32_t net_add_trans(struct net_builder *b, const char *name, struct span at);
/* An arc place -> trans, or trans -> place; both exist. */
void net_add_take(struct net_builder *b, uint32_t trans, uint32_t place, struct span at);
void net_add_put(struct net_builder *b, uint32_t trans, uint32_t place, struct span at);
/*
 * The finished net, or false with the reasons in `d`: an arc given twice, a
 * transition without input (it could fire forever), too many nodes. `src`
 * may be NULL when the net does not come from a text.
 */
bool net_finish(struct net_builder *b, struct net *n, const struct source *src, struct diags *d);

/* Reads PEP's ll_net or PNML, distinguished by the first character. */
bool net_read(const struct source *src, struct arena *a, struct diags *d, struct net *n);
bool net_read_pep(const struct source *src, struct arena *a, struct diags *d, struct net *n);
bool net_read_pnml(const struct source *src, struct arena *a, struct diags *d, struct net *n);

/* The net as text that net_read (and other tools) take back; dot for graphviz. */
void net_write_pep(const struct net *n, struct buf *out);
void net_write_pnml(const struct net *n, struct buf *out);
void net_write_dot(const struct net *n, struct buf *out);

#endif
