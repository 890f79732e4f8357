/*
 * spec: sequential specifications, the seam between objects and engines.
 *
 * An object is a set of states and one function: may this operation, with the
 * answer it gave, happen in this state, and what is the state after? States
 * are 32-bit ids that mean something only together with their context; equal
 * ids are equal states, which is all the searches ask. A specification
 * written elsewhere (in the model language) is one more `struct spec`.
 *
 * An operation that never answered may answer anything: apply then accepts
 * whatever the state allows.
 */
#ifndef INTACT_HISTORY_SPEC_H
#define INTACT_HISTORY_SPEC_H

#include "base/seqtab.h"
#include "history/history.h"

struct spec_ctx;

struct spec {
	/* The state an object starts in. */
	uint32_t (*init)(struct spec_ctx *c, val init);
	/* False: not allowed here. May be called with any state of c. */
	bool (*apply)(struct spec_ctx *c, uint32_t state, const struct hop *op, uint32_t *next);
	/* The same state in another context of this object (to forget the rest);
	 * NULL when states are values and need no table. */
	uint32_t (*move)(struct spec_ctx *from, uint32_t state, struct spec_ctx *to);
	/* The state as text ("3", "[1 2]"). */
	void (*print)(struct spec_ctx *c, uint32_t state, struct buf *out);
	/* The state as an initial value, made in vals; NULL when there is no such value. */
	bool (*value)(struct spec_ctx *c, uint32_t state, struct values *vals, val *v);
};

struct text_node;

struct spec_ctx {
	const struct spec *spec;
	const struct values *vals; /* only read */
	struct limits *lim;
	uint32_t k;              /* of the k-atomic register */
	bool failed;             /* out of memory: answers mean nothing now */
	struct seqtab st;        /* states that are vectors of values */
	struct text_node *texts; /* of the key-value map */
	uint32_t ntexts, ctexts;
	struct map text_map;
	uint32_t *tmp; /* scratch for building vectors */
	uint32_t ctmp;
	const void *user; /* OBJ_USER: struct seqspec */
};

/*
 * Does the operation, with the answer it gave, never change the state, in any
 * state that allows it? Only then may a search let it happen as soon as it
 * can: a write of the value already there is not one of these, it may be
 * wanted later.
 */
static inline bool hop_observes(const struct hop *op)
{
	switch (op->fn) {
	case FN_READ:
	case FN_PEEK:
	case FN_CONTAINS:
		return true;
	case FN_CAS:
		return op->res == RES_FALSE || (op->res == RES_TRUE && op->a == op->b);
	case FN_ADD:
	case FN_REMOVE:
		return op->res == RES_FALSE;
	case FN_DEQ:
	case FN_POP:
	case FN_POLL:
		return op->b == VAL_NIL;
	default:
		return false;
	}
}

/* k > 1: the k-atomic register. */
const struct spec *spec_of(enum object o, uint32_t k);
void spec_open(struct spec_ctx *c, const struct spec *s, const struct values *vals, struct limits *lim, uint32_t k);
void spec_close(struct spec_ctx *c);
/* Interned vectors, for engines that keep such tables themselves: equal
 * vectors have equal ids, ids are dense. `w` may not point into the table.
 * When out of memory, c->failed is set. */
uint32_t states_intern(struct spec_ctx *c, const uint32_t *w, uint32_t len);
static inline const uint32_t *states_at(const struct spec_ctx *c, uint32_t id)
{
	return (const uint32_t *)c->st.pool + c->st.start[id];
}
static inline uint32_t states_len(const struct spec_ctx *c, uint32_t id)
{
	return (uint32_t)(c->st.start[id + 1] - c->st.start[id]);
}
static inline uint32_t states_count(const struct spec_ctx *c)
{
	return c->st.n;
}
extern const struct spec spec_kregister;

/* For specifications whose states are vectors of values. */
uint32_t vec_init(struct spec_ctx *c, val init);
void vec_print(struct spec_ctx *c, uint32_t state, struct buf *out);
uint32_t vec_move(struct spec_ctx *from, uint32_t state, struct spec_ctx *to);
/* Of objects with a bound: [bound e1 e2 ...]. The initial value is the bound, or a list of it and what is inside. */
uint32_t vec_init_bound(struct spec_ctx *c, val init);
void spec_print_after_bound(struct spec_ctx *c, uint32_t state, struct buf *out);
bool vec_value(struct spec_ctx *c, uint32_t state, struct values *vals, val *v);
/* The vector with v put in at place `at`; without the one there. */
uint32_t vec_insert(struct spec_ctx *c, uint32_t state, uint32_t at, uint32_t v);
uint32_t vec_remove(struct spec_ctx *c, uint32_t state, uint32_t at);
/* Room for n words; NULL, and c->failed, when out of memory. */
uint32_t *spec_scratch(struct spec_ctx *c, uint32_t n);

void spec_kv_close(struct spec_ctx *c); /* what it keeps in c */
/* Length and hash of a key-value map's text; false when it is no text. */
bool spec_text(const struct spec_ctx *c, uint32_t state, uint64_t *len, uint64_t *hash);

#endif
