/*
 * state_graph: all states of a program and the transitions between them, found breadth first, with marks.
 *
 * For questions that look at single states and at what can be reached from them: no reduction is used but that identical
 * threads are kept sorted (search.h), since the others leave out states. `look` is asked once about each state, when it is
 * found, and says which marks it has; state_graph_back then gives a mark to every state from which one with that mark can be
 * reached. A state from which a step can go wrong gets all marks: a fault is reported as that, and what would follow does not
 * matter. States are numbered in the order in which they are found, so the first with some property is among the nearest.
 *
 * Cost: 4 (threads + 3) bytes per state and, when arrows are kept, 8 per transition, both under the limits of the options.
 */
#ifndef INTACT_EXPLORE_STATE_GRAPH_H
#define INTACT_EXPLORE_STATE_GRAPH_H

#include "explore/product.h"
#include "explore/search.h"

struct graph_arrow {
	uint32_t from, to;
};

struct graph_origin {
	uint32_t parent, thread, outcome; /* thread: its position in the parent */
};

struct state_graph {
	/* set by the caller */
	const struct ir *ir;
	const struct search_options *o;
	struct search_result *r; /* states, transitions, bytes, limit */
	uint64_t most;           /* states, besides the options' limit; 0: no bound of its own */
	bool keep_arrows;
	/* The marks of a new state: ids are its globals' and its threads', as in `states`. */
	uint32_t (*look)(void *arg, struct state_graph *q, uint32_t id, const uint32_t *ids);
	void *arg;
	bool enough; /* set by `look`: no more states are needed */
	/* the rest is its own */
	struct product x;
	uint32_t n;                 /* threads */
	struct vector_table states; /* globals, locals */
	struct graph_origin *from;
	uint32_t cap_from;
	struct graph_arrow *arrows;
	uint64_t narrows, cap_arrows;
	uint32_t *marks; /* by state */
	uint32_t cap_marks;
	uint32_t *cur, *next, *who;
	const char *limit;
};

/* All states, or as many as the limits allow (q->limit), or until there are enough. */
void state_graph_explore(struct state_graph *q);
/* Gives the mark to all states from which one with it can be reached. False: out of memory. */
bool state_graph_back(struct state_graph *q, uint32_t mark);
/* The way to a state; *path is malloc'ed. False: out of memory. */
bool state_graph_path(struct state_graph *q, uint32_t state, struct move **path, uint32_t *npath);
/* The state itself, with identical threads in the order in which they are sorted: room for nstate values. */
void state_graph_state(const struct state_graph *q, const uint32_t *ids, int32_t *state);
void state_graph_free(struct state_graph *q);

#endif
