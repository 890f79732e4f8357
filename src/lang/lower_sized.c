/*
 * lower_sized: types that wrap (type_sized.c).
 *
 * A value v becomes lo + (v - lo) mod n. Since n is at most WRAP_MAX, v % n + 2n stays in 32 bits and is positive, so that the
 * remainder, whose sign is C's, is the one that is wanted.
 */
#include "base/invariant.h"
#include "lang/lower.h"

static int64_t modulo(int64_t v, int64_t n)
{
	return (v % n + n) % n;
}

struct val lower_wrapped(struct lower *l, struct val v, const struct type_ref *ty, struct span at)
{
	assert(ty->wrap && ty->kind == TY_INT);
	int64_t lo = ty->min, n = (int64_t)ty->max - lo + 1;
	if (v.imm)
		return imm(lo + modulo(v.v - lo, n));
	uint32_t r = ir_reg(&l->b, ty->min, ty->max, false);
	emit3(l, IR_MOD, r, v, imm(n), at);
	emit3(l, IR_ADD, r, reg(r), imm(2 * n - modulo(lo, n)), at);
	emit3(l, IR_MOD, r, reg(r), imm(n), at);
	if (lo)
		emit3(l, IR_ADD, r, reg(r), imm(lo), at);
	return reg(r);
}

/* One step: reads, adds, and writes what the sum wraps to. */
void lower_wrapping_add(struct lower *l, struct decl *d, struct val index, struct val by, uint32_t dest, struct span at)
{
	assert(d->is_shared && d->type->wrap);
	if (!l->in_step)
		ir_stop(&l->b, (struct ir_node){ .kind = IRN_STEP, .primitive = IR_PRIMITIVE, .span = at }, at);
	l->in_step++;
	uint32_t mark = l->b.top, sum = ir_reg(&l->b, INT32_MIN, INT32_MAX, false),
		 old = ir_reg(&l->b, d->type->min, d->type->max, false);
	emit3(l, IR_LOAD, old, (struct val){ true, (int32_t)d->id }, index, at);
	emit3(l, IR_ADD, sum, reg(old), by, at);
	emit3(l, IR_STORE, d->id, lower_wrapped(l, reg(sum), d->type, at), index, at);
	emit2(l, IR_MOV, dest, reg(old), at);
	l->b.top = mark;
	l->in_step--;
}
