/*
 * object_deque: a queue with two ends. A state is what is inside, from the front to the back.
 */
#include "history/spec.h"

enum { PUSH_FRONT = FN_DEQUE_FIRST, PUSH_BACK, POP_FRONT, POP_BACK };

static bool deque_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	uint32_t n = states_len(c, s), at = op->fn == POP_BACK && n ? n - 1 : 0;
	*next = s;
	switch (op->fn) {
	case PUSH_FRONT:
	case PUSH_BACK:
		*next = vec_insert(c, s, op->fn == PUSH_FRONT ? 0 : n, op->a);
		return true;
	case POP_FRONT:
	case POP_BACK:
		if (op->b != VAL_NONE && op->b != (n ? states_at(c, s)[at] : VAL_NIL))
			return false;
		if (n)
			*next = vec_remove(c, s, at);
		return true;
	default:
		return false;
	}
}

static const struct spec deque = { vec_init, deque_apply, vec_move, vec_print, vec_value };

static const struct object_operation ops[] = {
	{ .fn = PUSH_FRONT, .shape = OP_WRITES, .name = "push-front", .words = "pushfront push-left addfirst" },
	{ .fn = PUSH_BACK, .shape = OP_WRITES, .also = FN_BIT(PUSH), .name = "push-back", .words = "pushback push-right addlast" },
	{ .fn = POP_FRONT, .shape = OP_TAKES, .name = "pop-front", .words = "popfront pop-left pollfirst steal" },
	{ .fn = POP_BACK, .shape = OP_TAKES, .also = FN_BIT(POP), .name = "pop-back", .words = "popback pop-right polllast" },
	{ 0 },
};

const struct object_type object_deque = {
	.operations = "push-front, push-back/push, pop-front/steal, pop-back/pop; nil means empty",
	.ops = ops,
	.init = INIT_LIST,
	.spec = &deque,
};
