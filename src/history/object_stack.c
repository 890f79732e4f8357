/*
 * object_stack: stack and append-list. A state is a cons cell (rest, newest); 0 is empty.
 */
#include <stdlib.h>

#include "history/spec.h"
#include "intact/history.h"

static uint32_t cons_init(struct spec_ctx *c, val init)
{
	uint32_t n, s = states_intern(c, NULL, 0);
	const val *e = val_elems(c->vals, init, &n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t w[2] = { s, e[i] };
		s = states_intern(c, w, 2);
	}
	return s;
}

static bool stack_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	*next = s;
	if (op->fn == FN_PUSH) {
		uint32_t w[2] = { s, op->a };
		*next = states_intern(c, w, 2);
		return true;
	}
	if (op->fn != FN_POP && op->fn != FN_PEEK)
		return false;
	if (!states_len(c, s))
		return op->b == VAL_NIL || op->b == VAL_NONE;
	if (op->b != VAL_NONE && op->b != states_at(c, s)[1])
		return false;
	if (op->fn == FN_POP)
		*next = states_at(c, s)[0];
	return true;
}

static bool list_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	*next = s;
	if (op->fn == FN_APPEND) {
		uint32_t w[2] = { s, op->a };
		*next = states_intern(c, w, 2);
		return true;
	}
	if (op->fn != FN_READ)
		return false;
	uint32_t n;
	const val *e = val_elems(c->vals, op->b, &n);
	while (n && states_len(c, s) && states_at(c, s)[1] == e[n - 1]) {
		s = states_at(c, s)[0];
		n--;
	}
	return !n && !states_len(c, s);
}

static void cons_print(struct spec_ctx *c, uint32_t s, struct buf *out)
{
	uint32_t n = 0;
	buf_str(out, "[newest first:");
	for (; states_len(c, s); s = states_at(c, s)[0]) {
		if (n++ == 8) {
			buf_str(out, " ...");
			break;
		}
		buf_char(out, ' ');
		val_print(c->vals, states_at(c, s)[1], out);
	}
	buf_str(out, n ? "]" : " nothing]");
}

/* Down the chain, turning it over, and up again. */
static uint32_t cons_move(struct spec_ctx *from, uint32_t s, struct spec_ctx *to)
{
	uint32_t n = 0, out = states_intern(to, NULL, 0);
	for (uint32_t x = s; states_len(from, x); x = states_at(from, x)[0])
		n++;
	uint32_t *t = malloc(n * 4ull + 4);
	if (!t) {
		to->failed = true;
		return out;
	}
	for (uint32_t x = s, k = n; states_len(from, x); x = states_at(from, x)[0])
		t[--k] = states_at(from, x)[1];
	for (uint32_t k = 0; k < n; k++) {
		uint32_t w[2] = { out, t[k] };
		out = states_intern(to, w, 2);
	}
	free(t);
	return out;
}

static const struct spec stack = { cons_init, stack_apply, cons_move, cons_print, NULL };
static const struct spec list = { cons_init, list_apply, cons_move, cons_print, NULL };

static const struct object_operation ops[] = {
	{ .fn = FN_PUSH, .shape = OP_WRITES, .also = FN_BIT(INSERT) | FN_BIT(ADD) },
	{ .fn = FN_POP, .shape = OP_TAKES, .also = FN_BIT(POLL) | FN_BIT(REMOVE) },
	{ .fn = FN_PEEK, .shape = OP_PEEKS },
	{ 0 },
};
static const struct object_operation list_ops[] = { { .fn = FN_APPEND, .shape = OP_WRITES },
	                                            { .fn = FN_READ, .shape = OP_READS },
	                                            { 0 } };

const struct object_type object_stack = {
	.operations = "push, pop, peek; nil means empty",
	.ops = ops,
	.init = INIT_LIST,
	.direct = DIRECT_STACK,
	.first = "bottom",
	.recorded = INTACT_STACK,
	.spec = &stack,
};
const struct object_type object_list = {
	.aliases = "list",
	.operations = "append, read (the whole list)",
	.ops = list_ops,
	.init = INIT_LIST,
	.traits = OBJECT_APPENDS,
	.spec = &list,
};
