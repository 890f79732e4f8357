/*
 * object_register: register and cas-register, whose state is the value; and the k-atomic register, whose state is the
 * last k values, the newest first.
 */
#include <string.h>

#include "history/spec.h"
#include "intact/history.h"

static uint32_t reg_init(struct spec_ctx *c, val init)
{
	(void)c;
	return init;
}

static bool reg_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	(void)c;
	*next = s;
	if (op->fn == FN_READ)
		return op->b == s;
	if (op->fn == FN_WRITE) {
		*next = op->a;
		return true;
	}
	if (op->fn != FN_CAS)
		return false;
	if (op->a == s && op->res != RES_FALSE) {
		*next = op->b;
		return true;
	}
	return op->a != s && op->res != RES_TRUE;
}

static void reg_print(struct spec_ctx *c, uint32_t s, struct buf *out)
{
	val_print(c->vals, s, out);
}

static bool reg_value(struct spec_ctx *c, uint32_t s, struct values *vals, val *v)
{
	(void)c;
	(void)vals;
	*v = s;
	return true;
}

static const struct spec reg = { reg_init, reg_apply, NULL, reg_print, reg_value };

static const struct object_operation ops[] = { { .fn = FN_READ, .shape = OP_READS },
	                                       { .fn = FN_WRITE, .shape = OP_WRITES },
	                                       { 0 } };
static const struct object_operation cas_ops[] = {
	{ .fn = FN_READ, .shape = OP_READS }, { .fn = FN_WRITE, .shape = OP_WRITES }, { .fn = FN_CAS, .shape = OP_CAS }, { 0 }
};

const struct object_type object_register = {
	.operations = "read/get, write/put/set",
	.ops = ops,
	.traits = OBJECT_VALUE,
	.spec = &reg,
};
const struct object_type object_cas_register = {
	.operations = "the same, and cas [from to]",
	.ops = cas_ops,
	.traits = OBJECT_VALUE,
	.recorded = INTACT_REGISTER,
	.spec = &reg,
};

/* ---- k-atomic register ----------------------------------------------------- */

static uint32_t kreg_init(struct spec_ctx *c, val init)
{
	return states_intern(c, &init, 1);
}

static bool kreg_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	uint32_t n = states_len(c, s);
	*next = s;
	if (op->fn == FN_READ) {
		for (uint32_t i = 0; i < n; i++)
			if (states_at(c, s)[i] == op->b)
				return true;
		return false;
	}
	if (op->fn != FN_WRITE)
		return false;
	uint32_t *t = spec_scratch(c, n + 1);
	if (!t)
		return false;
	memcpy(t + 1, states_at(c, s), n * 4ull);
	t[0] = op->a;
	*next = states_intern(c, t, n + 1 < c->k ? n + 1 : c->k);
	return true;
}

const struct spec spec_kregister = { kreg_init, kreg_apply, vec_move, vec_print, NULL };
