/*
 * object_step: what a thread can do next, for the exploration of an object's
 * histories (object.h).
 *
 * The successors of (globals, frame of a thread) are computed once and kept:
 * each is a chain of steps of that thread with the object's events among
 * them. Threads of one template share a *kind* and its tables; templates that
 * name threads have a kind per thread.
 */
#ifndef INTACT_EXPLORE_OBJECT_STEP_H
#define INTACT_EXPLORE_OBJECT_STEP_H

#include "base/map.h"
#include "explore/vector_table.h"
#include "ir/ir.h"

#define OBJECT_CHAIN 64u /* steps of one transition at most */

struct object_event {
	uint32_t rel;  /* object_steps.rels: (what, value), the client left open */
	uint32_t move; /* it happens with this move of the edge, from 0 */
};

struct object_edge {
	uint32_t global, frame; /* afterwards */
	uint32_t move, nmoves;  /* into moves: outcomes of ir_each, from 0 */
	uint32_t event, nevents;
};

enum object_class {
	OBJECT_END,    /* no step from here */
	OBJECT_LOCAL,  /* invisible to other threads */
	OBJECT_INVOKE, /* a call of the object */
	OBJECT_REAL,
};

struct object_kind {
	uint32_t tmpl, thread;
	struct vector_table frames;
	struct map memo; /* (global, frame) -> header of its edges */
};

struct object_level { /* a state on the way of a chain, and room for a next */
	int32_t *g, *f, *gout, *fout;
};

struct object_steps {
	const struct ir *ir;
	uint32_t object;
	bool local;   /* reduction */
	uint8_t *cls; /* by node: enum object_class */
	uint32_t nkinds;
	struct object_kind *kinds;
	uint32_t *kind_of; /* by thread */
	struct vector_table globals;
	struct vector_table rels;  /* (enum monitor_event, value) */
	struct object_edge *edges; /* a header (global = how many) before each list */
	uint32_t nedges, cap_edges;
	uint32_t *moves;
	uint32_t nmoves, cap_moves;
	struct object_event *events;
	uint32_t nevents, cap_events;
	struct object_level level[OBJECT_CHAIN + 1];
	/* the chain being followed */
	uint32_t kind, way[OBJECT_CHAIN], nway;
	struct object_event met[OBJECT_CHAIN];
	uint32_t nmet;
	bool failed, limit; /* out of memory; a step was too long */
};

bool object_steps_init(struct object_steps *s, const struct ir *p, uint32_t object, bool local);
void object_steps_free(struct object_steps *s);
/* The successors of a thread of this kind: *n edges, valid until the next call. */
const struct object_edge *object_steps_of(struct object_steps *s, uint32_t kind, uint32_t global, uint32_t frame, uint32_t *n);
uint64_t object_steps_bytes(const struct object_steps *s);

#endif
