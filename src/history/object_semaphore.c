/*
 * object_semaphore: a number of permits. A state is how many are left.
 */
#include "history/spec.h"

enum { TRY_ACQUIRE = FN_SEMAPHORE_FIRST };

static uint32_t semaphore_init(struct spec_ctx *c, val init)
{
	int64_t n = 0;
	val_get_int(c->vals, init, &n);
	return (uint32_t)n;
}

static bool semaphore_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	int64_t n;
	*next = s;
	switch (op->fn) {
	case FN_ACQUIRE:
		*next = s - 1;
		return s > 0;
	case FN_RELEASE:
		*next = s + 1;
		return s < UINT32_MAX;
	case TRY_ACQUIRE:
		*next = s - (s > 0);
		return op->b == VAL_NONE || op->b == val_bool(s > 0);
	default:
		return op->fn == FN_READ && val_get_int(c->vals, op->b, &n) && n == s;
	}
}

static void semaphore_print(struct spec_ctx *c, uint32_t s, struct buf *out)
{
	(void)c;
	buf_printf(out, "%u left", s);
}

static bool semaphore_value(struct spec_ctx *c, uint32_t s, struct values *vals, val *v)
{
	(void)c;
	*v = val_int(vals, s);
	return true;
}

static const struct spec semaphore = { semaphore_init, semaphore_apply, NULL, semaphore_print, semaphore_value };

static const struct object_operation ops[] = {
	{ .fn = FN_ACQUIRE, .shape = OP_LOCKS },
	{ .fn = FN_RELEASE, .shape = OP_LOCKS },
	{ .fn = TRY_ACQUIRE, .shape = OP_TRIES, .name = "try-acquire", .words = "tryacquire try-wait trywait" },
	{ .fn = FN_READ, .shape = OP_READS },
	{ 0 },
};

const struct object_type object_semaphore = {
	.operations = "acquire, release, try-acquire (answers true or false), read (how many are left); 1 at first",
	.ops = ops,
	.init = INIT_COUNT,
	.start = 1,
	.spec = &semaphore,
};
