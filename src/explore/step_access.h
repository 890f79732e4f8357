/*
 * step_access: which shared places a step really read and wrote.
 *
 * The product knows where a step leads, not what it touched on the way. Here
 * the step is run once more with its accesses recorded, and the answer kept by
 * edge. A failed compare-and-swap is a read; an element of an array is a place
 * of its own; acquiring and releasing a lock write it.
 */
#ifndef INTACT_EXPLORE_STEP_ACCESS_H
#define INTACT_EXPLORE_STEP_ACCESS_H

#include "explore/product.h"
#include "base/seqtab.h"

struct step_access {
	struct product *x;
	struct map by_edge;  /* its first move -> list */
	struct seqtab lists; /* sorted, slot * 2 + 1 when written */
	struct ir_event *events;
	int32_t *room; /* globals and a frame, twice */
	bool out_of_memory, limit;
};

bool step_access_init(struct step_access *t, struct product *x);
void step_access_free(struct step_access *t);
/*
 * The places of one edge of a thread of `kind` from (global, local), a single
 * step; *n of them, valid until the next call.
 */
const int32_t *step_access_of(struct step_access *t, uint32_t kind, uint32_t global, uint32_t local, const struct prod_edge *edge,
                              uint32_t *n);

#endif
