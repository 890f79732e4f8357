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
 * commit and the guess is compared with it (`script`).
 *
 * Threads of one template share a *kind* and with it all tables; templates
 * that use safe or regular variables have a kind per thread.
 */
#ifndef INTACT_EXPLORE_PRODUCT_H
#define INTACT_EXPLORE_PRODUCT_H

#include <pthread.h>

#include "base/invariant.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/varint.h"
#include "explore/locks.h"
#include "explore/stable_array.h"
#include "explore/vector_table.h"
#include "ir/ir.h"

#define PROD_NONE      UINT32_MAX
#define PRODUCT_WIDE   4096u      /* slots of product.wide */
#define PROD_BLOCK_ALL UINT32_MAX /* every block counts */

/*
 * Where blocks without `commit;` commit: at a step from a node, to particular
 * successors or any. Per node a list of successor nodes; the first time a
 * block instance takes such a step it commits.
 */
struct labelling {
	uint8_t *edge;  /* by ir.succs index: a step along it commits */
	bool *at_entry; /* by block: the enter step commits */
};

enum prod_mode {
	PROD_STANDARD, /* the interleaved semantics alone */
	PROD_COMMIT,   /* with the shadow store */
};

enum prod_flag {
	PRODF_FAULT = 1,        /* the step itself goes wrong */
	PRODF_SHADOW_STUCK = 2, /* the serial run of the block cannot go on */
	PRODF_SHADOW_ENDLESS = 4,
	PRODF_SHADOW_FAULT = 8,
	PRODF_LIMIT = 16,  /* a bound was reached: nothing is known */
	PRODF_COMMIT = 32, /* this step is the block's commit action */
};

struct prod_edge {
	uint32_t global, local; /* ids after the step */
	uint32_t flags;
	uint32_t move, nmoves; /* the steps it is made of: product.moves, each the
	                         * number of the outcome of ir_each, from 0 */
};

struct prod_local {             /* what a local id represents */
	uint32_t frame, shadow; /* in the kind's frame table */
	uint32_t script;        /* choices to replay or predicted; see product.c */
	uint8_t phase;          /* 0 outside or before, 1 after the commit */
	bool inside;            /* inside a marked block */
	bool equal;             /* frame == shadow, dead slots aside */
	uint32_t canon;         /* the frame with its dead slots zeroed */
};

/*
 * What a thread at a local state does in a global one, in one word, so that
 * the search's inner loop reads nothing else:
 *
 *   0                               not worked out yet
 *   PROD_BLOCKED                    no outcome
 *   PROD_LIST + header              several outcomes, or one with flags
 *   (global + 1) << 32 | local      one outcome, nothing to report
 *
 * and, in the highest bit of all but the first, whether the local state the
 * thread comes from is inside a block that counts.
 */
#define PROD_BLOCKED ((uint64_t)1)
#define PROD_LIST    ((uint64_t)2)
#define PROD_INSIDE  ((uint64_t)1 << 63)
/* Answers of product_code that are no entries: */
#define PROD_TROUBLE ((uint64_t)0) /* memory has ended */
#define PROD_WIDEN   UINT64_MAX    /* an outcome has an id beyond the limits */

struct prod_row {     /* of one global state: entries by local state */
	uint32_t cap; /* a power of two */
	uint64_t entry[];
};

struct prod_slot {           /* of the map that takes over when rows would be too many */
	uint64_t key, entry; /* entry 0: free */
};

struct prod_map {
	uint64_t cap, n;
	struct prod_slot slot[];
};

enum prod_attr {                    /* of a local state */
	         PRODA_INSIDE = 1,  /* inside a block that counts */
	         PRODA_UNEQUAL = 2, /* its shadow differs, dead slots aside */
	         PRODA_END = 4,     /* the thread has finished */
};

struct prod_kind {
	uint32_t tmpl, thread; /* a thread of it */
	struct vector_table frames;
	struct vector_table locals; /* (frame, shadow, script, phase) */
	struct prod_local *info;
	uint32_t ninfo, cap;
	uint32_t limit;           /* ids from here on are answered with PROD_WIDEN */
	uint32_t agreed;          /* so are those from here on, when ranks agree on ids (product_agree.h) */
	struct stable_array attr; /* enum prod_attr, one byte per local */
	struct stable_array rows; /* struct prod_row *, by global */
	struct prod_map *memo;
};

/*
 * Everything here may be read while another thread works out a step: edges,
 * attributes and rows never move, an entry is published after what it points
 * to. Working one out is done under `lock`; info, moves and the vector_tables
 * belong to the thread that holds it (or to a search with one thread).
 */
struct product {
	const struct ir *ir;
	enum prod_mode mode;
	uint32_t block; /* the one that counts, or PROD_BLOCK_ALL */
	const struct labelling *lab;
	uint32_t nkinds;
	struct prod_kind *kinds;
	uint32_t *kind_of; /* by thread */
	struct vector_table plain_globals;
	struct vector_table globals; /* (plain, shadow) */
	struct vector_table scripts; /* (prefix, choice, of): a list, 0 is empty; see product_step.c */
	struct stable_array unequal; /* one byte per global: it and its shadow differ */
	uint32_t limit;              /* global ids from here on: PROD_WIDEN */
	uint32_t agreed;             /* and from here on, when ranks agree on ids */
	uint64_t *wide;              /* then: steps that were answered with PROD_WIDEN since (fingerprints) */
	struct stable_array edges;   /* struct prod_edge; a header's `global` is the length */
	uint64_t nedges;
	int32_t *scratch; /* several globals and frames, for computing */
	uint32_t *moves;
	uint32_t nmoves, cap_moves;
	struct locks locks; /* who commutes with whom; when transactions is set */
	bool simple;        /* entries may be simple: callers that need moves leave it off */
	bool merge_local;   /* leaving and entering blocks are no steps of their own */
	bool drop_pure;     /* iterations that change nothing are dropped */
	bool transactions;  /* what commutes with the others' steps is glued */
	uint64_t computed;  /* transitions worked out */
	uint64_t row_bytes;
	void **retired; /* rows and maps that were replaced, and may be read still */
	uint32_t nretired, cap_retired;
	pthread_mutex_t lock;
	bool out_of_memory;
};

bool product_init(struct product *x, const struct ir *ir, enum prod_mode mode, uint32_t block, const struct labelling *lab);
void product_free(struct product *x);

uint32_t product_initial_global(struct product *x);
uint32_t product_initial_local(struct product *x, uint32_t thread);

/*
 * The outcomes of a step of a thread of this kind: *n of them. NULL when
 * out of memory; no outcomes: not enabled. Not when `simple` is set.
 */
const struct prod_edge *product_step(struct product *x, uint32_t kind, uint32_t global, uint32_t local, uint32_t *n);

/* The entry, worked out when it is not there; any thread may ask. */
uint64_t product_code_slow(struct product *x, uint32_t kind, uint32_t global, uint32_t local);

static inline const struct prod_row *product_row(const struct prod_kind *k, uint32_t global)
{
	assert(global < k->rows.cap);
	return __atomic_load_n((struct prod_row **)stable_array_at(&k->rows, global), __ATOMIC_ACQUIRE);
}
static inline uint64_t product_code(struct product *x, uint32_t kind, uint32_t global, uint32_t local)
{
	const struct prod_row *row = product_row(&x->kinds[kind], global);
	uint64_t e = row && local < row->cap ? __atomic_load_n(&row->entry[local], __ATOMIC_ACQUIRE) : 0;
	return e ? e : product_code_slow(x, kind, global, local);
}
/* The row as long as local ids can be at present; NULL when that is too much. */
const struct prod_row *product_whole_row(struct product *x, uint32_t kind, uint32_t global);
/* The list that an entry represents, if it is one. */
static inline const struct prod_edge *product_list(const struct product *x, uint64_t entry, uint32_t *n)
{
	assert(!(entry >> 32 & 0x7fffffff) && (uint32_t)entry >= PROD_LIST);
	const struct prod_edge *head = stable_array_at(&x->edges, (uint32_t)((entry & ~PROD_INSIDE) - PROD_LIST));
	*n = head->global;
	return head + 1;
}
static inline bool product_is_list(uint64_t entry)
{
	return !(entry >> 32 & 0x7fffffff) && (uint32_t)entry >= PROD_LIST;
}
static inline uint8_t product_attr(const struct prod_kind *k, uint32_t local)
{
	return *(const uint8_t *)stable_array_at(&k->attr, local);
}
static inline bool product_unequal(const struct product *x, uint32_t global)
{
	return *(const bool *)stable_array_at(&x->unequal, global);
}

uint64_t product_bytes(const struct product *x);

/* The ids, in the order in which they were given out; and back, into a product that has given out none but the initial
 * state's. False when they are not those of this program, or memory has ended. */
void product_save(const struct product *x, struct buf *b);
bool product_load(struct product *x, struct cursor *c);

/* Switches transactions on; false when out of memory. */
bool product_use_transactions(struct product *x);

/* Is the node inside a block that counts? */
static inline bool product_marked(const struct product *x, uint32_t node)
{
	uint32_t b = x->ir->nodes[node].block;
	return b != IR_NONE && (x->block == PROD_BLOCK_ALL || b == x->block);
}

#endif
