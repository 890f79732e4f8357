/*
 * product: the program that exploration really runs.
 *
 * A step touches the globals and one frame, and so does the serial run of a
 * block on the shadow store. The instrumented semantics of the
 * commit-atomicity paper (Section 4) is therefore itself a program of the
 * same shape: its globals are pairs (globals, shadow globals), its frames
 * pairs (frame, shadow frame, phase). Both are interned to small ids here
 * and every transition (global id, frame id) -> outcomes is computed once:
 * exploring is then table look-ups on vectors of ids.
 *
 * Shadow runs happen in one go: the rules [commit] and [shadow] together are
 * one outcome. So on a correct program there are exactly as many states as
 * under the standard semantics. A choice that the block made before its
 * commit is replayed on the shadow; one it makes later is guessed at the
 * commit and the guess is held against it (`script`).
 *
 * Threads of one template share a *kind* and with it all tables; templates
 * that use safe or regular variables have a kind per thread.
 */
#ifndef INTACT_EXPLORE_PRODUCT_H
#define INTACT_EXPLORE_PRODUCT_H

#include "base/map.h"
#include "explore/vectab.h"
#include "ir/ir.h"

#define PROD_NONE UINT32_MAX
#define PROD_BLOCK_ALL UINT32_MAX /* every block counts */

/*
 * Where blocks without `commit;` commit: at a step from a node, to particular
 * successors or any. Per node a list of successor nodes; the first time a
 * block instance takes such a step it commits.
 */
struct labelling {
	uint8_t *edge; /* by ir.succs index: a step along it commits */
	bool *at_entry; /* by block: the enter step commits */
};

enum prod_mode {
	PROD_STANDARD, /* the interleaved semantics alone */
	PROD_COMMIT,   /* with the shadow store */
};

enum prod_flag {
	PRODF_FAULT = 1,         /* the step itself goes wrong */
	PRODF_SHADOW_STUCK = 2,  /* the serial run of the block cannot go on */
	PRODF_SHADOW_ENDLESS = 4,
	PRODF_SHADOW_FAULT = 8,
	PRODF_LIMIT = 16,        /* a bound was spent: nothing is known */
	PRODF_COMMIT = 32,       /* this step is the block's commit action */
};

struct prod_edge {
	uint32_t global, local; /* ids after the step */
	uint32_t flags;
	uint32_t move, nmoves;  /* the steps it is made of: product.moves, each the
	                         * number of the outcome of ir_each, from 0 */
};

struct prod_local { /* what a local id stands for */
	uint32_t frame, shadow; /* in the kind's frame table */
	uint32_t script;        /* choices to replay or predicted; see product.c */
	uint8_t phase;          /* 0 outside or before, 1 after the commit */
	bool inside;            /* inside a marked block */
	bool equal;             /* frame == shadow, dead slots aside */
	uint32_t canon;         /* the frame with its dead slots zeroed */
};

struct prod_kind {
	uint32_t tmpl, thread;  /* a thread of it */
	struct vectab frames;
	struct vectab locals;   /* (frame, shadow, script, phase) */
	struct prod_local *info;
	uint32_t ninfo, cap;
	/* (global, local) -> header of its edge list + 1: a table while both
	 * ids are small, a map beyond */
	uint32_t *dense;
	uint32_t dense_globals, dense_locals; /* powers of two */
	struct map memo;
};

struct product {
	const struct ir *ir;
	enum prod_mode mode;
	uint32_t block; /* the one that counts, or PROD_BLOCK_ALL */
	const struct labelling *lab;
	uint32_t nkinds;
	struct prod_kind *kinds;
	uint32_t *kind_of; /* by thread */
	struct vectab plain_globals;
	struct vectab globals; /* (plain, shadow) */
	struct vectab scripts; /* (prefix, choice): a list, 0 is empty */
	struct prod_edge *edges;
	uint32_t nedges, cap_edges;
	int32_t *scratch; /* several globals and frames, for computing */
	uint32_t *moves;
	uint32_t nmoves, cap_moves;
	bool merge_local;  /* leaving and entering blocks are no steps of their own */
	bool drop_pure;    /* iterations that change nothing are dropped */
	uint64_t computed; /* transitions worked out */
	bool out_of_memory;
};

bool product_init(struct product *x, const struct ir *ir, enum prod_mode mode, uint32_t block,
                  const struct labelling *lab);
void product_free(struct product *x);

uint32_t product_initial_global(struct product *x);
uint32_t product_initial_local(struct product *x, uint32_t thread);

/*
 * The outcomes of a step of a thread of this kind: *n of them, valid until
 * the next call. PROD_NONE edges never occur; no outcomes: not enabled.
 */
const struct prod_edge *product_step_slow(struct product *x, uint32_t kind, uint32_t global,
                                          uint32_t local, uint32_t *n);
static inline const struct prod_edge *product_step(struct product *x, uint32_t kind,
                                                   uint32_t global, uint32_t local, uint32_t *n)
{
	const struct prod_kind *k = &x->kinds[kind];
	if (global < k->dense_globals && local < k->dense_locals) {
		uint32_t at1 = k->dense[(uint64_t)global * k->dense_locals + local];
		if (at1) {
			*n = x->edges[at1 - 1].global;
			return &x->edges[at1];
		}
	}
	return product_step_slow(x, kind, global, local, n);
}

static inline bool product_global_equal(const struct product *x, uint32_t global)
{
	const int32_t *v = vectab_get(&x->globals, global);
	return v[0] == v[1];
}
static inline const struct prod_local *product_local(const struct product *x, uint32_t kind,
                                                     uint32_t local)
{
	return &x->kinds[kind].info[local];
}
uint64_t product_bytes(const struct product *x);

/* Is the node inside a block that counts? */
static inline bool product_marked(const struct product *x, uint32_t node)
{
	uint32_t b = x->ir->nodes[node].block;
	return b != IR_NONE && (x->block == PROD_BLOCK_ALL || b == x->block);
}

#endif
