/*
 * lower_chan: channels of bounded size, made of plain shared variables and steps (docs/language.md has the same in words, and
 * tests/differential/test_words.py compares the two).
 *
 * A chan is an array of values, oldest first, and the number of those in use. Receiving moves the others down, and what is not
 * in use has the default value: so two states that hold the same values in the same order are one state, which a ring of
 * indices would tell apart.
 */
#include <string.h>

#include "base/invariant.h"
#include "lang/lower.h"

struct ir_var chan_used(struct lower *l, const struct decl *d, const struct ir_var *values)
{
	assert(d->type->kind == TY_CHAN && d->ndims >= 1);
	struct ir_var v = *values;
	uint32_t holds = d->dims[d->ndims - 1];
	v.name = arena_printf(l->arena, "%s.used", values->name);
	v.kind = IRV_PLAIN;
	v.value = IR_VALUE_INT;
	v.lo = 0;
	v.hi = (int32_t)holds;
	v.len = d->array_len / holds;
	v.is_array = d->ndims > 1;
	v.shape = NULL;
	if (values->shape && d->ndims > 1) {
		struct ir_shape *s = arena_new(l->arena, struct ir_shape);
		s->pattern = arena_printf(l->arena, "%.*s.used", (int)strlen(values->shape->pattern) - 2, values->shape->pattern);
		s->n = d->ndims - 1;
		s->dim = d->dims;
		v.shape = s;
	}
	return v;
}

struct chan { /* the one that a call is on */
	const struct decl *d;
	struct val number; /* among those of the variable */
	uint32_t holds;
	struct span at;
};

static uint32_t temp(struct lower *l, int64_t lo, int64_t hi)
{
	return ir_reg(&l->b, (int32_t)lo, (int32_t)hi, false);
}

static void load(struct lower *l, uint32_t reg_, uint32_t var, struct val index, struct span at)
{
	emit3(l, IR_LOAD, reg_, (struct val){ true, (int32_t)var }, index, at);
}

/* Where value i of the chan is. */
static struct val slot(struct lower *l, const struct chan *c, struct val i)
{
	if (c->number.imm && i.imm)
		return imm((int64_t)c->number.v * c->holds + i.v);
	uint32_t r = temp(l, 0, c->d->array_len);
	if (c->number.imm) {
		emit3(l, IR_ADD, r, i, imm((int64_t)c->number.v * c->holds), c->at);
		return reg(r);
	}
	emit3(l, IR_MUL, r, c->number, imm(c->holds), c->at);
	emit3(l, IR_ADD, r, reg(r), i, c->at);
	return reg(r);
}

/* The beginning of the step: goes on when there is room (or a value), else waits; with `no`, goes there instead. */
static uint32_t begin(struct lower *l, const struct chan *c, bool sends, uint32_t won, uint32_t no)
{
	if (!l->in_step)
		ir_stop(&l->b, (struct ir_node){ .kind = IRN_STEP, .primitive = IR_PRIMITIVE, .span = c->at }, c->at);
	l->in_step++;
	uint32_t used = temp(l, 0, c->holds), able = won ? won : temp(l, 0, 1);
	load(l, used, c->d->used, c->number, c->at);
	emit3(l, sends ? IR_LT : IR_GT, able, reg(used), imm(sends ? c->holds : 0), c->at);
	if (won)
		emit2(l, IR_JZ, no, reg(able), c->at);
	else
		emit2(l, IR_ASSUME, 0, reg(able), c->at);
	return used;
}

static void put(struct lower *l, const struct chan *c, uint32_t used, struct val v)
{
	emit3(l, IR_STORE, c->d->id, v, slot(l, c, reg(used)), c->at);
	emit3(l, IR_ADD, used, reg(used), imm(1), c->at);
	emit3(l, IR_STORE, c->d->used, reg(used), c->number, c->at);
}

/* The oldest value into `to`; the others move down. */
static void take(struct lower *l, const struct chan *c, uint32_t used, uint32_t to)
{
	int32_t lo = c->d->type->min, hi = c->d->type->max;
	uint32_t end = ir_label(&l->b), head = ir_label(&l->b), mark = l->b.top;
	uint32_t i = temp(l, 0, c->holds), next = temp(l, lo, hi), more = temp(l, 0, 1);
	load(l, to, c->d->id, slot(l, c, imm(0)), c->at);
	emit3(l, IR_SUB, used, reg(used), imm(1), c->at);
	emit2(l, IR_MOV, i, imm(0), c->at);
	ir_place(&l->b, head);
	emit3(l, IR_LT, more, reg(i), reg(used), c->at);
	emit2(l, IR_JZ, end, reg(more), c->at);
	uint32_t after = temp(l, 0, c->holds);
	emit3(l, IR_ADD, after, reg(i), imm(1), c->at);
	load(l, next, c->d->id, slot(l, c, reg(after)), c->at);
	emit3(l, IR_STORE, c->d->id, reg(next), slot(l, c, reg(i)), c->at);
	emit2(l, IR_MOV, i, reg(after), c->at);
	jmp(l, head, c->at);
	ir_place(&l->b, end);
	emit3(l, IR_STORE, c->d->id, imm(lo > 0 || hi < 0 ? lo : 0), slot(l, c, reg(i)), c->at);
	emit3(l, IR_STORE, c->d->used, reg(used), c->number, c->at);
	l->b.top = mark;
}

static void lower_try(struct lower *l, struct expr *e, const struct chan *c, uint32_t won)
{
	uint32_t no = ir_label(&l->b);
	struct expr *arg = e->args->next;
	bool sends = e->sync == SYNC_TRY_SEND;
	struct decl *to = sends ? NULL : meant(l, arg->decl);
	struct val index = sends ? imm(0) : place_index(l, arg);
	struct val v = sends ? lower_converted(l, arg, c->d->type->of) : imm(0);
	uint32_t got = temp(l, c->d->type->min, c->d->type->max);
	uint32_t used = begin(l, c, sends, won, no);
	if (sends)
		put(l, c, used, v);
	else
		take(l, c, used, got);
	l->in_step--;
	if (to) {
		struct val x = reg(got);
		if (to->type->wrap)
			x = lower_wrapped(l, x, to->type, e->span);
		else if (to->type->kind == TY_BOOL)
			emit2(l, IR_BOOL, got, x, e->span);
		if (to->is_shared)
			shared_store(l, to, index, x, e->span);
		else
			store_local(l, to, index, x, e->span);
	}
	ir_place(&l->b, no);
}

void lower_chan(struct lower *l, struct expr *e, uint32_t dest)
{
	assert(e->sync >= SYNC_SEND && e->args);
	uint32_t mark = l->b.top;
	const struct decl *d = meant(l, e->args->decl);
	struct chan c = { .d = d, .number = chan_number(l, e->args), .holds = d->dims[d->ndims - 1], .at = e->span };
	if (e->sync == SYNC_SEND) {
		struct val v = lower_converted(l, e->args->next, d->type->of);
		put(l, &c, begin(l, &c, true, 0, 0), v);
		l->in_step--;
	} else if (e->sync == SYNC_RECV) {
		uint32_t to = dest ? dest : temp(l, d->type->min, d->type->max);
		take(l, &c, begin(l, &c, false, 0, 0), to);
		l->in_step--;
	} else {
		lower_try(l, e, &c, dest ? dest : temp(l, 0, 1));
	}
	l->b.top = mark;
}
