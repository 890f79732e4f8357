/*
 * object_set: a set of elements. A state is their ids, ascending.
 */
#include <string.h>

#include "history/spec.h"
#include "intact/history.h"

static bool set_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	uint32_t lo = 0, n = states_len(c, s), hi = n;
	const uint32_t *w = states_at(c, s);
	*next = s;
	if (op->fn == FN_READ) {
		uint32_t m;
		const val *e = val_elems(c->vals, op->b, &m);
		return m == n && (!n || !memcmp(e, w, n * 4ull));
	}
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		if (w[mid] < op->a)
			lo = mid + 1;
		else
			hi = mid;
	}
	bool in = lo < n && w[lo] == op->a;
	if (op->fn == FN_CONTAINS)
		return op->res == RES_NONE || in == (op->res == RES_TRUE);
	bool changes = op->fn == FN_ADD ? !in : op->fn == FN_REMOVE && in;
	if (op->fn != FN_ADD && op->fn != FN_REMOVE)
		return false;
	if (op->res != RES_NONE && changes != (op->res == RES_TRUE))
		return false;
	if (changes)
		*next = op->fn == FN_ADD ? vec_insert(c, s, lo, op->a) : vec_remove(c, s, lo);
	return true;
}

static bool set_value(struct spec_ctx *c, uint32_t s, struct values *vals, val *v)
{
	*v = val_list(vals, VK_SET, states_at(c, s), states_len(c, s));
	return true;
}

static const struct spec set = { vec_init, set_apply, vec_move, vec_print, set_value };

static const struct object_operation ops[] = {
	{ .fn = FN_ADD, .shape = OP_CHANGES, .also = FN_BIT(INSERT) },
	{ .fn = FN_REMOVE, .shape = OP_CHANGES },
	{ .fn = FN_CONTAINS, .shape = OP_ASKS },
	{ .fn = FN_READ, .shape = OP_READS },
	{ 0 },
};

const struct object_type object_set = {
	.operations = "add, remove, contains (answers true or false, or none), read (all elements)",
	.ops = ops,
	.init = INIT_SET,
	.traits = OBJECT_ELEMENTS,
	.direct = DIRECT_SET,
	.recorded = INTACT_SET,
	.spec = &set,
};
