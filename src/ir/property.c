/*
 * property: the conditions of `always`, `finally` and `can always reach`, looked at in one state.
 *
 * A condition is a tree of terms (ir.h). Its arithmetic is that of steps: what would be a fault there (an index outside the
 * array, a division by zero, 32 bits exceeded) makes the condition one that does not hold. The cost is that of the tree; no
 * memory. The tree is as high as the parser lets expressions be.
 */
#include "base/invariant.h"
#include "ir/ir.h"

const char *ir_property_word(enum ir_property_kind k)
{
	static const char *const words[] = { [IRP_ALWAYS] = "always", [IRP_FINALLY] = "finally", [IRP_REACH] = "reach" };
	assert(k <= IRP_REACH);
	return words[k];
}

bool ir_all_finished(const struct ir *p, const int32_t *state)
{
	for (uint32_t t = 0; t < p->nthreads; t++)
		if (p->nodes[ir_node_of(p, state, t)].kind != IRN_END)
			return false;
	return true;
}

static enum ir_fault narrow(int64_t v, int32_t *out)
{
	if (v < INT32_MIN || v > INT32_MAX)
		return IRF_OVERFLOW;
	*out = (int32_t)v;
	return IRF_NONE;
}

static enum ir_fault apply(enum ir_op op, int64_t a, int64_t b, int32_t *out)
{
	switch (op) {
	case IR_NEG:
		return narrow(-a, out);
	case IR_NOT:
		return narrow(!a, out);
	case IR_BITNOT:
		return narrow(~a, out);
	case IR_BOOL:
		return narrow(a != 0, out);
	case IR_ADD:
		return narrow(a + b, out);
	case IR_SUB:
		return narrow(a - b, out);
	case IR_MUL:
		return narrow(a * b, out);
	case IR_DIV:
		return b ? narrow(a / b, out) : IRF_DIVISION;
	case IR_MOD:
		return b ? narrow(a % b, out) : IRF_DIVISION;
	case IR_SHL:
		return b < 0 || b > 31 ? IRF_SHIFT : narrow(a * ((int64_t)1 << b), out);
	case IR_SHR:
		return b < 0 || b > 31 ? IRF_SHIFT : narrow(a >> b, out);
	case IR_AND:
		return narrow(a & b, out);
	case IR_OR:
		return narrow(a | b, out);
	case IR_XOR:
		return narrow(a ^ b, out);
	case IR_EQ:
		return narrow(a == b, out);
	case IR_NE:
		return narrow(a != b, out);
	case IR_LT:
		return narrow(a < b, out);
	case IR_LE:
		return narrow(a <= b, out);
	case IR_GT:
		return narrow(a > b, out);
	case IR_GE:
		return narrow(a >= b, out);
	default:
		assert(false);
		return IRF_LIMIT;
	}
}

static int32_t inside(const struct ir *p, uint32_t block, const int32_t *state)
{
	int32_t n = 0;
	for (uint32_t t = 0; t < p->nthreads; t++)
		n += ir_block_of(p, state, t) == block;
	return n;
}

/* ---- leaks --------------------------------------------------------------- */

enum { MANY_POOLS = 64, MANY_CELLS = 64 }; /* beyond, cells count as reachable: see docs/language.md */

/* Marks the cells that the references in a variable lead to; of a field, those of cells that are marked. Has it changed? */
static bool mark_from(const struct ir *p, const struct ir_var *v, const int32_t *state, uint64_t *marks)
{
	uint32_t to = v->refers1 - 1, each = v->cell1 ? v->len / p->pools[v->cell1 - 1].ncells : 0;
	bool changed = false;
	for (uint32_t e = 0; e < v->len; e++) {
		int32_t x = state[v->slot + e];
		if (x < 1 || (v->cell1 && !(marks[v->cell1 - 1] >> (e / each) & 1)))
			continue;
		changed |= !(marks[to] >> (x - 1) & 1);
		marks[to] |= (uint64_t)1 << (x - 1);
	}
	return changed;
}

static int32_t leaked(const struct ir *p, uint32_t pool, const int32_t *state)
{
	uint64_t marks[MANY_POOLS] = { 0 };
	int32_t n = 0;
	bool changed = p->npools <= MANY_POOLS;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < p->nvars; i++)
			if (p->vars[i].refers1)
				changed |= mark_from(p, &p->vars[i], state, marks);
	}
	const struct ir_pool *q = &p->pools[pool];
	assert(q->ncells <= MANY_CELLS);
	for (uint32_t k = 0; k < q->ncells; k++)
		n += state[p->vars[q->state].slot + k] == IR_CELL_LIVE && !(marks[pool] >> k & 1);
	return n;
}

enum ir_fault ir_term_look(const struct ir *p, uint32_t term, const int32_t *state, int32_t *out)
{
	assert(term < p->nterms);
	const struct ir_term *t = &p->terms[term];
	int32_t a = 0, b = 0;
	enum ir_fault f = IRF_NONE;
	switch ((enum ir_term_kind)t->kind) {
	case IRT_CONST:
		*out = t->value;
		return IRF_NONE;
	case IRT_VAR:
		f = t->a == IR_NONE ? IRF_NONE : ir_term_look(p, t->a, state, &a);
		if (!f && (a < 0 || (uint32_t)a >= p->vars[t->value].len))
			f = IRF_INDEX;
		if (!f)
			*out = state[p->vars[t->value].slot + (uint32_t)a];
		return f;
	case IRT_INDEX:
		f = ir_term_look(p, t->a, state, out);
		return f ? f : *out < 0 || *out >= t->value ? IRF_INDEX : IRF_NONE;
	case IRT_OP:
		f = ir_term_look(p, t->a, state, &a);
		if (!f && t->op >= IR_ADD)
			f = ir_term_look(p, t->b, state, &b);
		return f ? f : apply((enum ir_op)t->op, a, b, out);
	case IRT_AND:
	case IRT_OR:
		f = ir_term_look(p, t->a, state, &a);
		if (!f && (a != 0) == (t->kind == IRT_AND))
			f = ir_term_look(p, t->b, state, &a);
		*out = a != 0;
		return f;
	case IRT_COND:
		f = ir_term_look(p, t->a, state, &a);
		return f ? f : ir_term_look(p, a ? t->b : t->c, state, out);
	case IRT_LEAKED:
		*out = leaked(p, (uint32_t)t->value, state);
		return IRF_NONE;
	case IRT_INSIDE:
		*out = inside(p, (uint32_t)t->value, state);
		return IRF_NONE;
	}
	return IRF_LIMIT;
}

enum ir_fault ir_property_look(const struct ir *p, uint32_t property, const int32_t *state, int32_t *value)
{
	assert(property < p->nproperties);
	return ir_term_look(p, p->properties[property].term, state, value);
}

bool ir_property_holds(const struct ir *p, uint32_t property, const int32_t *state)
{
	int32_t v = 0;
	return ir_property_look(p, property, state, &v) == IRF_NONE && v != 0;
}

bool ir_property_broken(const struct ir *p, uint32_t property, const int32_t *state)
{
	switch (p->properties[property].kind) {
	case IRP_ALWAYS:
		return !ir_property_holds(p, property, state);
	case IRP_FINALLY:
		return ir_all_finished(p, state) && !ir_property_holds(p, property, state);
	default:
		return false;
	}
}
