/*
 * object_bounded: a queue with room for a number of elements. A state is that number, then what is inside, the oldest first.
 *
 * An answer false of an enqueue says that the queue was full, and nothing that it was put in. One that never answered has
 * been put in if there was room; if there was none, it changes nothing, as if it had not happened.
 */
#include "history/spec.h"

enum { ENQUEUE = FN_BOUNDED_QUEUE_FIRST };

static bool bounded_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	uint32_t n = states_len(c, s) - 1;
	int64_t room = 0;
	*next = s;
	switch (op->fn) {
	case ENQUEUE:
		val_get_int(c->vals, states_at(c, s)[0], &room);
		if (op->res != RES_NONE && (n < room) != (op->res == RES_TRUE))
			return false;
		if (n < room)
			*next = vec_insert(c, s, n + 1, op->a);
		return true;
	case FN_DEQ:
	case FN_PEEK:
		if (op->b != VAL_NONE && op->b != (n ? states_at(c, s)[1] : VAL_NIL))
			return false;
		if (n && op->fn == FN_DEQ)
			*next = vec_remove(c, s, 1);
		return true;
	default:
		return false;
	}
}

static void bounded_print(struct spec_ctx *c, uint32_t s, struct buf *out)
{
	spec_print_after_bound(c, s, out);
	buf_str(out, " of ");
	val_print(c->vals, states_at(c, s)[0], out);
}

static const struct spec bounded = { vec_init_bound, bounded_apply, vec_move, bounded_print, vec_value };

static const struct object_operation ops[] = {
	{ .fn = ENQUEUE,
	  .shape = OP_OFFERS,
	  .also = FN_BIT(ENQ) | FN_BIT(PUSH) | FN_BIT(INSERT) | FN_BIT(ADD) | FN_BIT(WRITE),
	  .name = "try-enqueue",
	  .words = "tryenqueue try-put tryput" },
	{ .fn = FN_DEQ, .shape = OP_TAKES, .also = FN_BIT(POP) | FN_BIT(POLL) | FN_BIT(REMOVE) },
	{ .fn = FN_PEEK, .shape = OP_PEEKS },
	{ 0 },
};

const struct object_type object_bounded_queue = {
	.operations = "enqueue/try-enqueue (answers false: full), dequeue, peek; nil means empty; --init: its room",
	.ops = ops,
	.init = INIT_BOUND,
	.spec = &bounded,
};
