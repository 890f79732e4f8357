/*
 * object_mutex: a lock, of which it is not asked who holds it. A state is 0, free, or 1, held.
 */
#include "history/spec.h"
#include "intact/history.h"

static uint32_t mutex_init(struct spec_ctx *c, val init)
{
	(void)c;
	return init == VAL_TRUE;
}

static bool mutex_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	(void)c;
	*next = op->fn == FN_ACQUIRE;
	return s != *next;
}

static void mutex_print(struct spec_ctx *c, uint32_t s, struct buf *out)
{
	(void)c;
	buf_str(out, s ? "held" : "free");
}

static bool mutex_value(struct spec_ctx *c, uint32_t s, struct values *vals, val *v)
{
	(void)c;
	(void)vals;
	*v = val_bool(s);
	return true;
}

static const struct spec mutex = { mutex_init, mutex_apply, NULL, mutex_print, mutex_value };

static const struct object_operation ops[] = {
	{ .fn = FN_ACQUIRE, .shape = OP_LOCKS },
	{ .fn = FN_RELEASE, .shape = OP_LOCKS },
	{ 0 },
};

const struct object_type object_mutex = {
	.aliases = "lock",
	.operations = "acquire/lock, release/unlock (the releasing process is not checked)",
	.ops = ops,
	.init = INIT_HELD,
	.recorded = INTACT_MUTEX,
	.spec = &mutex,
};
