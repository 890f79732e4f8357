/*
 * object_counter: a number that is added to. A state is two words, the value.
 */
#include "history/spec.h"
#include "intact/history.h"

static uint32_t counter_id(struct spec_ctx *c, int64_t n)
{
	uint32_t w[2] = { (uint32_t)(uint64_t)n, (uint32_t)((uint64_t)n >> 32) };
	return states_intern(c, w, 2);
}

static int64_t counter_value(const struct spec_ctx *c, uint32_t s)
{
	const uint32_t *w = states_at(c, s);
	return (int64_t)(w[0] | (uint64_t)w[1] << 32);
}

static uint32_t counter_init(struct spec_ctx *c, val init)
{
	int64_t n = 0;
	val_get_int(c->vals, init, &n);
	return counter_id(c, n);
}

static bool counter_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	int64_t n = 0, x = counter_value(c, s);
	*next = s;
	if (op->fn == FN_READ)
		return val_get_int(c->vals, op->b, &n) && n == x;
	if (op->fn != FN_ADD || !val_get_int(c->vals, op->a, &n))
		return false;
	*next = counter_id(c, (int64_t)((uint64_t)x + (uint64_t)n));
	return true;
}

static void counter_print(struct spec_ctx *c, uint32_t s, struct buf *out)
{
	buf_printf(out, "%lld", (long long)counter_value(c, s));
}

static const struct spec counter = { counter_init, counter_apply, vec_move, counter_print, NULL };

static const struct object_operation ops[] = {
	{ .fn = FN_READ, .shape = OP_READS },
	{ .fn = FN_ADD, .shape = OP_COUNTS, .also = FN_BIT(DEC) },
	{ 0 },
};

const struct object_type object_counter = {
	.operations = "add/inc, dec, read",
	.ops = ops,
	.init = INIT_NUMBER,
	.recorded = INTACT_COUNTER,
	.spec = &counter,
};
