/*
 * product_int: what the three files of product share (product.c: tables and
 * memo; product_step.c: one step with its shadow; product_merge.c: steps
 * glued together).
 */
#ifndef INTACT_EXPLORE_PRODUCT_INT_H
#define INTACT_EXPLORE_PRODUCT_INT_H

#include "explore/product.h"

enum glue { /* which next step may be glued to an outcome */
	    GLUE_NOTHING,
	    GLUE_LEFT, /* a left mover: it is past the pivot */
	    GLUE_ANY,  /* the pivot is still to come */
};

struct product_outcome { /* an edge being built */
	uint32_t global, local, flags;
	uint32_t last, nmoves; /* in computing.chain: the last of its moves */
	enum glue glue;
	bool entered; /* all it has done is enter a block */
};

struct chain { /* moves, each pointing to the one before */
	uint32_t before, number;
};

struct computing {
	struct product *x;
	struct prod_kind *k;
	uint32_t shadow_global;
	struct prod_local from;
	uint32_t from_node;
	uint32_t number;          /* of the outcome of ir_each */
	uint32_t before, nbefore; /* the moves that led to where the step begins */
	struct product_outcome *out;
	uint32_t nout, cap_out;
	struct chain *chain;
	uint32_t nchain, cap_chain;
};

uint32_t product_add_global(struct product *x, uint32_t g, uint32_t shadow);
uint32_t product_add_local(struct product *x, struct prod_kind *k, uint32_t frame, uint32_t shadow, uint32_t script, uint8_t phase);
/* All outcomes of one step from (global, local), appended to c->out. */
void product_one_step(struct computing *c, uint32_t global, uint32_t local);
/* The same, with the reductions that are on. */
void product_merged_step(struct computing *c, uint32_t global, uint32_t local);

#endif
