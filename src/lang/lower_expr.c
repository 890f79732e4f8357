/*
 * lower_expr: expressions, places and calls.
 *
 * A value is an operand: a constant, a local's own register (expressions
 * change no local, so no copy is needed), or a temporary.
 */
#include "base/invariant.h"
#include "lang/lower.h"

#include <string.h>

/* ---- instructions ------------------------------------------------------- */

void emit3(struct lower *l, enum ir_op op, uint32_t a, struct val b, struct val c, struct span at)
{
	assert(op < IR_OP_COUNT);
	ir_emit(&l->b,
	        (struct ir_ins){ .op = (uint8_t)op,
	                         .imm = (uint8_t)((b.imm ? IR_IMM_B : 0) | (c.imm ? IR_IMM_C : 0)),
	                         .a = (int32_t)a,
	                         .b = b.v,
	                         .c = c.v },
	        at);
}

void emit2(struct lower *l, enum ir_op op, uint32_t a, struct val b, struct span at)
{
	emit3(l, op, a, b, imm(0), at);
}

static void jump(struct lower *l, enum ir_op op, uint32_t label, struct val cond, struct span at)
{
	assert(op == IR_JMP || op == IR_JZ || op == IR_JNZ);
	emit2(l, op, label, cond, at);
}

static uint32_t temp(struct lower *l, int32_t lo, int32_t hi)
{
	assert(lo <= hi);
	return ir_reg(&l->b, lo, hi, false);
}

#define RANGE_HEIGHT 16

/*
 * Every value e can have without a fault, for the width of the register that
 * may carry it across a step. Coarse: types, constants, + - * % and ?:.
 */
static void value_range(const struct expr *e, int64_t *lo, int64_t *hi)
{
	int64_t al, ah, bl, bh;
	*lo = INT32_MIN;
	*hi = INT32_MAX;
	if (e->is_const) {
		*lo = *hi = e->value;
	} else if (e->type == TY_BOOL) {
		*lo = 0;
		*hi = 1;
	} else if (is_place(e) && e->decl && e->decl->type) {
		*lo = e->decl->type->min;
		*hi = e->decl->type->max;
	} else if (e->kind == E_CALL && e->sync == SYNC_RECV) {
		*lo = e->args->decl->type->min;
		*hi = e->args->decl->type->max;
	} else if (e->kind == E_DEREF) {
		*lo = 0;
		*hi = e->enum_decl->value - 2;
	} else if (e->kind == E_ANY) {
		*lo = e->any_type->min;
		*hi = e->any_type->max;
	} else if (e->type == TY_ENUM && e->enum_decl) {
		*lo = 0;
		*hi = e->enum_decl->value - 1;
	} else if (e->height > RANGE_HEIGHT) {
		return; /* asked at every level: keep it cheap */
	} else if (e->kind == E_COND) {
		value_range(e->b, &al, &ah);
		value_range(e->c, &bl, &bh);
		*lo = al < bl ? al : bl;
		*hi = ah > bh ? ah : bh;
	} else if (e->kind == E_BINARY && (e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MOD)) {
		value_range(e->a, &al, &ah);
		value_range(e->b, &bl, &bh);
		if (e->op == OP_MOD && e->b->is_const && bl > 0) {
			*lo = al >= 0 ? 0 : 1 - bl;
			*hi = bl - 1;
		} else if (e->op != OP_MOD) {
			*lo = e->op == OP_ADD ? al + bl : al - bh;
			*hi = e->op == OP_ADD ? ah + bh : ah - bl;
		}
	}
	*lo = *lo < INT32_MIN ? INT32_MIN : *lo > INT32_MAX ? INT32_MAX : *lo;
	*hi = *hi > INT32_MAX ? INT32_MAX : *hi < INT32_MIN ? INT32_MIN : *hi;
	assert(*lo <= *hi);
}

/* A register for a value of this expression. */
static uint32_t temp_for(struct lower *l, const struct expr *e)
{
	int64_t lo, hi;
	value_range(e, &lo, &hi);
	return temp(l, (int32_t)lo, (int32_t)hi);
}

/* ---- places ------------------------------------------------------------- */

static const struct type_ref *type_of(const struct decl *d)
{
	return d->type;
}

static uint32_t reg_of(struct lower *l, const struct decl *d)
{
	assert(d->id < l->local_reg.len && l->local_reg.data[d->id]);
	return l->local_reg.data[d->id];
}

/* An access to a ghost belongs to the step before. */
void stop_access(struct lower *l, const struct decl *d, enum ir_node_kind kind, struct val index, struct span at)
{
	if (pool_of(d)) {
		stop(l, IRN_STEP);
		check_cell(l, d, index, at);
	} else if (!(d->whole ? d->whole : d)->is_ghost) {
		stop(l, kind);
	}
}

struct val shared_load(struct lower *l, struct decl *d, struct val index, struct span at)
{
	assert(d->is_shared && d->id < l->b.vars.len);
	const struct type_ref *ty = type_of(d);
	uint32_t t = temp(l, ty->min, ty->max);
	struct val var = { true, (int32_t)d->id };
	if (d->var_class != VAR_PLAIN) {
		not_in_step(l, at, "an access to a safe or regular variable takes time");
		stop(l, IRN_REGISTER);
		emit3(l, IR_RINV, 0, var, index, at);
		stop(l, IRN_REGISTER);
		emit3(l, IR_RRESP, t, var, index, at);
	} else {
		stop_access(l, d, IRN_ACCESS, index, at);
		emit3(l, IR_LOAD, t, var, index, at);
	}
	return reg(t);
}

void shared_store(struct lower *l, struct decl *d, struct val index, struct val v, struct span at)
{
	assert(d->is_shared && d->id < l->b.vars.len);
	if (d->var_class != VAR_PLAIN) {
		not_in_step(l, at, "an access to a safe or regular variable takes time");
		stop(l, IRN_REGISTER);
		emit3(l, IR_WINV, d->id, v, index, at);
		stop(l, IRN_REGISTER);
		emit3(l, IR_WRESP, d->id, v, index, at);
	} else {
		stop_access(l, d, IRN_ACCESS, index, at);
		emit3(l, IR_STORE, d->id, v, index, at);
	}
}

struct val local_load(struct lower *l, struct decl *d, struct val index, struct span at)
{
	assert(!d->is_shared);
	if (!d->is_array && l->u->refs_to_locals) { /* what follows may change it */
		uint32_t copy = temp(l, type_of(d)->min, type_of(d)->max);
		emit2(l, IR_MOV, copy, reg(reg_of(l, d)), at);
		return reg(copy);
	}
	if (!d->is_array)
		return reg(reg_of(l, d));
	uint32_t t = temp(l, type_of(d)->min, type_of(d)->max);
	ir_emit(&l->b,
	        (struct ir_ins){ .op = IR_LGET,
	                         .imm = index.imm ? IR_IMM_C : 0,
	                         .a = (int32_t)t,
	                         .b = (int32_t)reg_of(l, d),
	                         .c = index.v,
	                         .d = (int32_t)d->array_len },
	        at);
	return reg(t);
}

static bool needs_range(const struct type_ref *ty)
{
	return ty->kind != TY_BOOL && (ty->min != INT32_MIN || ty->max != INT32_MAX);
}

void store_local(struct lower *l, struct decl *d, struct val index, struct val v, struct span at)
{
	assert(!d->is_shared);
	const struct type_ref *ty = type_of(d);
	bool known = v.imm && v.v >= ty->min && v.v <= ty->max;
	if (!d->is_array) {
		uint32_t r = reg_of(l, d);
		if (v.imm || (uint32_t)v.v != r)
			emit2(l, IR_MOV, r, v, at);
		if (needs_range(ty) && !known)
			emit3(l, IR_RANGE, r, imm(ty->min), imm(ty->max), at);
		return;
	}
	if (needs_range(ty) && !known) {
		uint32_t t = temp(l, INT32_MIN, INT32_MAX);
		emit2(l, IR_MOV, t, v, at);
		emit3(l, IR_RANGE, t, imm(ty->min), imm(ty->max), at);
		v = reg(t);
	}
	ir_emit(&l->b,
	        (struct ir_ins){ .op = IR_LSET,
	                         .imm = (uint8_t)((v.imm ? IR_IMM_B : 0) | (index.imm ? IR_IMM_C : 0)),
	                         .a = (int32_t)reg_of(l, d),
	                         .b = v.v,
	                         .c = index.v,
	                         .d = (int32_t)d->array_len },
	        at);
}

uint32_t declare_local(struct lower *l, struct decl *d)
{
	assert(!d->is_shared && d->array_len >= 1);
	const struct type_ref *ty = type_of(d);
	uint32_t r = d->is_array ? ir_array_reg(&l->b, d->array_len, ty->min, ty->max) : ir_reg(&l->b, ty->min, ty->max, true);
	if (l->b.error && !l->b.error_at.end)
		l->b.error_at = d->name_span;
	if (!d->id) {
		avec_push(l->arena, &l->local_reg, 0u);
		d->id = l->local_reg.len - 1;
	}
	l->local_reg.data[d->id] = r;
	struct build_local bl = { .vreg = r };
	bl.l.name = d->full ? d->full : intern_str(l->names, d->name);
	bl.l.shape = part_shape(l, d, NULL);
	bl.l.value = ty->kind == TY_BOOL ? IR_VALUE_BOOL : ty->kind == TY_ENUM ? IR_VALUE_ENUM : IR_VALUE_INT;
	bl.l.enum_id = ty->enum_decl ? ty->enum_decl->id : 0;
	bl.l.len = d->array_len;
	bl.l.is_array = d->is_array;
	bl.l.span = d->name_span;
	struct ir_scope sc = { l->b.scope, l->b.locals.len, 1 };
	avec_push(l->arena, &l->b.locals, bl);
	avec_push(l->arena, &l->b.scopes, sc);
	l->b.scope = l->b.scopes.len - 1;
	assert(d->id && d->id < l->local_reg.len && l->local_reg.data[d->id] == r);
	return r;
}

/* ---- counting accesses, for assume -------------------------------------- */

static uint32_t count_in_indices(struct lower *l, const struct expr *place)
{
	uint32_t n = place->kind == E_INDEX ? count_accesses(l, place->a) : 0;
	for (const struct expr *sel = place->kind == E_PATH ? place->args : NULL; sel; sel = sel->next)
		n += sel->kind == E_AT ? count_accesses(l, sel->a) : 0;
	return n;
}

uint32_t count_accesses(struct lower *l, const struct expr *e)
{
	if (!e || !e->shared)
		return 0;
	if (is_place(e)) {
		const struct decl *d = e->decl && e->decl->kind == D_VAR ? meant(l, e->decl) : NULL;
		return count_in_indices(l, e) + (!d || !d->is_shared ? 0 : d->var_class == VAR_PLAIN ? 1 : 2);
	}
	if (e->kind == E_CALL || e->kind == E_METHOD)
		return 2;
	uint32_t n = count_accesses(l, e->a) + count_accesses(l, e->b) + count_accesses(l, e->c);
	if (e->kind == E_CAS || e->kind == E_XCHG || e->kind == E_FADD)
		n = count_accesses(l, e->b) + count_accesses(l, e->c) + count_in_indices(l, e->a) + 1;
	assert(e->shared);
	return n;
}

/* ---- expressions -------------------------------------------------------- */

static enum ir_op ir_op_of(enum op op)
{
	switch (op) {
	case OP_NEG:
		return IR_NEG;
	case OP_NOT:
		return IR_NOT;
	case OP_BITNOT:
		return IR_BITNOT;
	case OP_ADD:
		return IR_ADD;
	case OP_SUB:
		return IR_SUB;
	case OP_MUL:
		return IR_MUL;
	case OP_DIV:
		return IR_DIV;
	case OP_MOD:
		return IR_MOD;
	case OP_SHL:
		return IR_SHL;
	case OP_SHR:
		return IR_SHR;
	case OP_AND:
		return IR_AND;
	case OP_OR:
		return IR_OR;
	case OP_XOR:
		return IR_XOR;
	case OP_EQ:
		return IR_EQ;
	case OP_NE:
		return IR_NE;
	case OP_LT:
		return IR_LT;
	case OP_LE:
		return IR_LE;
	case OP_GT:
		return IR_GT;
	case OP_GE:
		return IR_GE;
	default:
		return IR_NOP;
	}
}

void lower_branch(struct lower *l, struct expr *e, uint32_t to, bool when)
{
	uint32_t mark = l->b.top;
	if (!lower_nest(l, e->span))
		return;
	if (e->is_const) {
		if ((e->value != 0) == when)
			jump(l, IR_JMP, to, imm(0), e->span);
	} else if (e->kind == E_UNARY && e->op == OP_NOT) {
		lower_branch(l, e->a, to, !when);
	} else if (e->kind == E_BINARY && (e->op == OP_LAND || e->op == OP_LOR)) {
		if ((e->op == OP_LOR) == when) { /* either operand decides */
			lower_branch(l, e->a, to, when);
			lower_branch(l, e->b, to, when);
		} else {
			uint32_t skip = ir_label(&l->b);
			lower_branch(l, e->a, skip, !when);
			lower_branch(l, e->b, to, when);
			ir_place(&l->b, skip);
		}
	} else {
		struct val v = lower_expr(l, e);
		jump(l, when ? IR_JNZ : IR_JZ, to, v, e->span);
	}
	l->depth--;
	l->b.top = mark;
	assert(l->b.top == mark);
}

/* && and || as values */
static void lower_logic(struct lower *l, struct expr *e, uint32_t dest)
{
	assert(dest);
	uint32_t no = ir_label(&l->b), end = ir_label(&l->b);
	lower_branch(l, e, no, false);
	emit2(l, IR_MOV, dest, imm(1), e->span);
	jump(l, IR_JMP, end, imm(0), e->span);
	ir_place(&l->b, no);
	emit2(l, IR_MOV, dest, imm(0), e->span);
	ir_place(&l->b, end);
}

static void lower_choice(struct lower *l, struct expr *e, uint32_t dest)
{
	assert(e->kind == E_COND && dest);
	uint32_t no = ir_label(&l->b), end = ir_label(&l->b);
	lower_branch(l, e->a, no, false);
	lower_into(l, e->b, dest);
	jump(l, IR_JMP, end, imm(0), e->span);
	ir_place(&l->b, no);
	lower_into(l, e->c, dest);
	ir_place(&l->b, end);
}

struct val lower_converted(struct lower *l, struct expr *e, const struct type_ref *to)
{
	struct val v = lower_expr(l, e);
	if (to->wrap)
		return lower_wrapped(l, v, to, e->span);
	if (to->kind != TY_BOOL || e->type == TY_BOOL)
		return v;
	if (v.imm)
		return imm(v.v != 0);
	uint32_t t = temp(l, 0, 1);
	emit2(l, IR_BOOL, t, v, e->span);
	return reg(t);
}

/* Through a reference: type.c has reported the others. */
static void rmw_of_local(struct lower *l, const struct expr *e, const struct decl *d)
{
	if (l->failed)
		return;
	l->failed = true;
	diag_error(l->d, "not-shared", l->u->src, e->span,
	           "%s needs a shared variable; '%s' stands for the local '%s' in this call",
	           e->kind == E_CAS    ? "cas"
	           : e->kind == E_XCHG ? "exchange"
	                               : "fetch_add",
	           intern_str(l->names, e->a->name), d->full ? d->full : intern_str(l->names, d->name));
	note_calls(l);
}

/* cas, exchange, fetch_add: operands are copied after the node, so that they
 * do not live across it. */
static void lower_rmw(struct lower *l, struct expr *e, uint32_t dest)
{
	assert(e->kind == E_CAS || e->kind == E_XCHG || e->kind == E_FADD);
	struct decl *d = meant(l, e->a->decl);
	struct val index = place_index(l, e->a);
	if (!d->is_shared) {
		rmw_of_local(l, e, d);
		return;
	}
	struct val b = e->kind == E_FADD ? lower_expr(l, e->b) : lower_converted(l, e->b, d->type);
	if (e->kind == E_FADD && d->type->wrap) {
		lower_wrapping_add(l, d, index, b, dest, e->span);
		return;
	}
	struct val c = e->c ? lower_converted(l, e->c, d->type) : imm(0);
	stop_access(l, d, IRN_ACCESS, index, e->span);
	uint32_t first = temp(l, 0, 0), second = temp(l, 0, 0);
	emit2(l, IR_MOV, first, b, e->b->span);
	if (e->c)
		emit2(l, IR_MOV, second, c, e->c->span);
	ir_emit(&l->b,
	        (struct ir_ins){ .op = e->kind == E_CAS    ? IR_CAS
	                               : e->kind == E_XCHG ? IR_XCHG
	                                                   : IR_FADD,
	                         .imm = (uint8_t)(IR_IMM_B | (index.imm ? IR_IMM_C : 0)),
	                         .a = (int32_t)dest,
	                         .b = (int32_t)d->id,
	                         .c = index.v,
	                         .d = (int32_t)first,
	                         .e = (int32_t)second },
	        e->span);
}

static void lower_any(struct lower *l, struct expr *e, uint32_t dest)
{
	assert(e->kind == E_ANY && e->any_type->min <= e->any_type->max);
	emit3(l, IR_CHOOSE, dest, imm(e->any_type->min), imm(e->any_type->max), e->span);
}

/* Kinds whose result is written by their last instruction. */
static void lower_computed(struct lower *l, struct expr *e, uint32_t dest)
{
	assert(!e->is_const && dest);
	struct val a, b;
	if (!lower_nest(l, e->span))
		return;
	switch (e->kind) {
	case E_UNARY:
		a = lower_expr(l, e->a);
		emit2(l, e->op == OP_PLUS ? IR_MOV : ir_op_of(e->op), dest, a, e->span);
		break;
	case E_BINARY:
		if (e->op == OP_LAND || e->op == OP_LOR) {
			lower_logic(l, e, dest);
			break;
		}
		a = lower_expr(l, e->a);
		b = lower_expr(l, e->b);
		emit3(l, ir_op_of(e->op), dest, a, b, e->span);
		break;
	case E_COND:
		lower_choice(l, e, dest);
		break;
	case E_CALL:
	case E_METHOD:
		lower_call(l, e, dest);
		break;
	case E_CAS:
	case E_XCHG:
	case E_FADD:
		lower_rmw(l, e, dest);
		break;
	case E_ANY:
		lower_any(l, e, dest);
		break;
	case E_DEREF:
		lower_deref(l, e, dest);
		break;
	default:
		break;
	}
	l->depth--;
}

struct val lower_expr(struct lower *l, struct expr *e)
{
	assert(e->kind != E_ERROR); /* what does not parse is not lowered */
	if (e->is_const)
		return imm(e->value);
	if (is_place(e)) {
		struct decl *d = meant(l, e->decl);
		struct val index = place_index(l, e);
		return d->is_shared ? shared_load(l, d, index, e->span) : local_load(l, d, index, e->span);
	}
	uint32_t dest = temp_for(l, e), mark = l->b.top;
	lower_computed(l, e, dest);
	l->b.top = mark;
	return reg(dest);
}

void lower_into(struct lower *l, struct expr *e, uint32_t dest)
{
	assert(dest);
	uint32_t mark = l->b.top;
	if (e->is_const || is_place(e)) {
		struct val v = lower_expr(l, e);
		uint32_t last = l->b.code.len - 1;
		/* load straight into the register when the last instruction did */
		if (!v.imm && (uint32_t)v.v >= mark && (uint32_t)v.v < VREG_ARRAY && l->b.code.len > l->b.code0 &&
		    (l->b.code.data[last].op == IR_LOAD || l->b.code.data[last].op == IR_RRESP ||
		     l->b.code.data[last].op == IR_LGET) &&
		    l->b.code.data[last].a == v.v)
			l->b.code.data[last].a = (int32_t)dest;
		else if (v.imm || (uint32_t)v.v != dest)
			emit2(l, IR_MOV, dest, v, e->span);
	} else {
		lower_computed(l, e, dest);
	}
	l->b.top = mark;
}
