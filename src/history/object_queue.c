/*
 * object_queue: queue and priority queue. A state is what is inside: the oldest, or the least, first.
 */
#include "history/spec.h"
#include "intact/history.h"

/* What is at the front: its answer must be `b`, unless nothing was answered. */
static bool take(struct spec_ctx *c, uint32_t s, const struct hop *op, bool remove, uint32_t *next)
{
	uint32_t n = states_len(c, s);
	*next = s;
	if (!n)
		return op->b == VAL_NIL || op->b == VAL_NONE;
	if (op->b != VAL_NONE && op->b != states_at(c, s)[0])
		return false;
	if (remove)
		*next = vec_remove(c, s, 0);
	return true;
}

static bool queue_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	if (op->fn != FN_ENQ)
		return (op->fn == FN_DEQ || op->fn == FN_PEEK) && take(c, s, op, op->fn == FN_DEQ, next);
	*next = vec_insert(c, s, states_len(c, s), op->a);
	return true;
}

static bool pqueue_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	if (op->fn != FN_INSERT)
		return (op->fn == FN_POLL || op->fn == FN_PEEK) && take(c, s, op, op->fn == FN_POLL, next);
	uint32_t at = 0, n = states_len(c, s);
	while (at < n && val_compare(c->vals, states_at(c, s)[at], op->a) < 0)
		at++;
	*next = vec_insert(c, s, at, op->a);
	return true;
}

static uint32_t pqueue_init(struct spec_ctx *c, val init)
{
	uint32_t n, s = states_intern(c, NULL, 0);
	const val *e = val_elems(c->vals, init, &n);
	for (uint32_t i = 0; i < n; i++) {
		struct hop op = { .fn = FN_INSERT, .a = e[i] };
		pqueue_apply(c, s, &op, &s);
	}
	return s;
}

static const struct spec queue = { vec_init, queue_apply, vec_move, vec_print, vec_value };
static const struct spec pqueue = { pqueue_init, pqueue_apply, vec_move, vec_print, vec_value };

static const struct object_operation ops[] = {
	{ .fn = FN_ENQ, .shape = OP_WRITES, .also = FN_BIT(PUSH) | FN_BIT(INSERT) | FN_BIT(ADD) },
	{ .fn = FN_DEQ, .shape = OP_TAKES, .also = FN_BIT(POP) | FN_BIT(POLL) | FN_BIT(REMOVE) },
	{ .fn = FN_PEEK, .shape = OP_PEEKS },
	{ 0 },
};
static const struct object_operation pqueue_ops[] = {
	{ .fn = FN_INSERT, .shape = OP_WRITES, .also = FN_BIT(ADD) | FN_BIT(PUSH) | FN_BIT(ENQ) },
	{ .fn = FN_POLL, .shape = OP_TAKES, .also = FN_BIT(POP) | FN_BIT(DEQ) | FN_BIT(REMOVE) },
	{ .fn = FN_PEEK, .shape = OP_PEEKS },
	{ 0 },
};

const struct object_type object_queue = {
	.operations = "enqueue, dequeue, peek; nil means empty",
	.ops = ops,
	.init = INIT_LIST,
	.direct = DIRECT_QUEUE,
	.first = "front",
	.recorded = INTACT_QUEUE,
	.spec = &queue,
};
const struct object_type object_pqueue = {
	.aliases = "priorityqueue pqueue",
	.operations = "insert, poll (the least first), peek; nil means empty",
	.ops = pqueue_ops,
	.init = INIT_LIST,
	.direct = DIRECT_PQUEUE,
	.first = "bottom",
	.recorded = INTACT_PRIORITY_QUEUE,
	.spec = &pqueue,
};
