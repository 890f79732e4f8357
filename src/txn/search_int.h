/*
 * search_int: what the files of search.h share: the state of a search, and the growing graph with its topological order.
 */
#ifndef INTACT_TXN_SEARCH_INT_H
#define INTACT_TXN_SEARCH_INT_H

#include "txn/cdcl.h"
#include "txn/search.h"

#define NO_LIT UINT32_MAX

/* An edge in the growing graph. Where its nodes were connected before it is idle: it is there to be told of, and connects nothing. */
#define SEDGE_IDLE UINT32_MAX /* next_in of an idle edge */

struct sedge {
	uint32_t from, to, next_out, next_in; /* the next ones + 1 */
	uint32_t lit;                         /* what chose it, or NO_LIT */
};

struct propagator;

struct txn_search {
	struct txn_graph *g;
	const struct deps *d;
	struct arena *a;
	enum txn_level level;
	struct map *pair_var;    /* (version, version) ascending -> variable */
	AVEC(struct dpair) vars; /* variable: a before b when it is true */
	AVEC(struct sedge) edges;
	uint32_t *out, *in;    /* by node: edge + 1 */
	uint32_t *idle;        /* by node: the last idle edge out of it + 1 (next_out goes on), or NULL */
	uint32_t *ord, *at;    /* the topological order: place of a node, node at a place */
	uint32_t *mark, stamp; /* visited marks */
	uint32_t *parent;      /* edge + 1 that found a node */
	AVEC(uint32_t) stack, back, slots;
	AVEC(uint32_t) added; /* by literal heard: edges before it */
	AVEC(uint32_t) clause;
	uint32_t *by_order; /* scratch: versions of a key by their place */
	bool lazy;          /* pairs become variables when they are needed */
	bool contrary;      /* SEARCH_CONTRARY */
	struct cdcl *sat;
	struct txn_search_result *r;
	uint64_t max_conflicts;
	struct prover *prover;         /* or NULL */
	struct propagator *propagator; /* or NULL */
	uint32_t floor;                /* reach_back goes no further down than this place */
};

static inline bool search_by_place(const struct txn_search *s, uint32_t u, uint32_t v)
{
	return s->ord[u] < s->ord[v];
}

/* The literal "version a before version b", or NO_LIT when the pair is no variable. */
uint32_t search_literal(const struct txn_search *s, uint32_t a, uint32_t b);
/* With clocks: is a before b for certain? */
bool search_certain(const struct txn_graph *g, uint32_t a, uint32_t b);
/* Is a before b now, chosen or certain? The initial version is before all. */
bool search_before(const struct txn_search *s, uint32_t a, uint32_t b);

/* A variable for the pair. False: there are too many. */
bool search_open_pair(struct txn_search *s, uint32_t a, uint32_t b);

/* search_propagate.c */
void search_propagator_new(struct txn_search *s);
/* A literal is heard: its edges come next; the last one is taken back: its edges are gone. */
void search_propagator_heard(struct txn_search *s);
void search_propagator_unheard(struct txn_search *s);
/* `implied` and `explain` of the theory. */
uint32_t search_implied(void *arg, const uint32_t **lits);
void search_explain(void *arg, uint32_t lit, const uint32_t **clause, uint32_t *n);
/* May a path lead from u to v? (As of the last call of search_implied.) */
bool search_reaches(const struct txn_search *s, uint32_t u, uint32_t v);
/* Are the sets up to date? */
bool search_reach_known(const struct txn_search *s);

/* search_topology.c: s->clause: the literal, because of a path between the nodes by edges below `before`; with a reader: because that one would
 * miss a version, else because the opposite would close a cycle. */
void search_explain_path(struct txn_search *s, uint32_t from, uint32_t to, uint32_t before, uint32_t lit, uint32_t reader);
/* The edge u -> v of a literal. False: it closes a cycle, and s->clause says which choices cannot be combined. */
bool search_insert(struct txn_search *s, uint32_t u, uint32_t v, uint32_t lit);
/* What the literal states: a before b. */
void search_versions_of(const struct txn_search *s, uint32_t lit, uint32_t *a, uint32_t *b);
/* An edge of the growing graph as a step of the proof at hand. */
void search_prove_edge(struct txn_search *s, uint32_t e);

/* search_whole.c: `final` of levels that are more than the absence of cycles (monotonic-view, consistent-view, update-serializable). */
enum cdcl_final search_look(void *arg, const uint32_t **clause, uint32_t *n);

/* search_clauses.c: the clauses of cursor-stability, of update-atomic. */
void search_cursor_clauses(struct txn_search *s);
void search_update_clauses(struct txn_search *s);

#endif
