#include "reduce/value_ranges.h"

#include <string.h>

#include "base/invariant.h"

enum { KNOWN_MAX = 24, STACK_MAX = 32, BUDGET = 600, WIDEN = 4, ROUNDS = 24 };

struct range {
	int64_t lo, hi;
};

static const struct range full = { INT32_MIN, INT32_MAX };

struct values_path {
	uint32_t pc, nknown;
	bool committed; /* perhaps */
	struct {
		int32_t reg;
		struct range r;
	} known[KNOWN_MAX];
};

struct values_flow {
	const struct flow *f;
	const struct ir *p;
	const struct ir_template *t;
	struct range *vars;  /* by variable, all elements together */
	struct range *slots; /* by ir.slots */
	uint8_t *committed;  /* by node: the thread's block may have committed */
	uint32_t node, round, budget, top;
	bool changed, fault;
	struct values_path stack[STACK_MAX];
};

/* ---- ranges ------------------------------------------------------------- */

static bool inside(struct range r, int64_t lo, int64_t hi)
{
	return r.lo >= lo && r.hi <= hi;
}

static struct range clamp(struct range r, int64_t lo, int64_t hi)
{
	assert(lo <= hi);
	struct range c = { r.lo < lo ? lo : r.lo, r.hi > hi ? hi : r.hi };
	return c.lo <= c.hi ? c : (struct range){ lo, lo }; /* faults always: any value will do */
}

static struct range hull4(int64_t a, int64_t b, int64_t c, int64_t d)
{
	struct range r = { a, a };
	int64_t v[3] = { b, c, d };
	for (int i = 0; i < 3; i++) {
		r.lo = v[i] < r.lo ? v[i] : r.lo;
		r.hi = v[i] > r.hi ? v[i] : r.hi;
	}
	return r;
}

static void join(struct values_flow *x, struct range *to, struct range r, int64_t lo, int64_t hi)
{
	assert(r.lo <= r.hi && to->lo <= to->hi);
	r = clamp(r, lo, hi);
	if (inside(r, to->lo, to->hi))
		return;
	if (x->round >= WIDEN)
		*to = (struct range){ lo, hi };
	if (r.lo < to->lo)
		to->lo = r.lo;
	if (r.hi > to->hi)
		to->hi = r.hi;
	assert(to->lo >= lo && to->hi <= hi);
	x->changed = true;
}

static struct range get(const struct values_flow *x, const struct values_path *w, int32_t reg)
{
	assert(reg >= 0 && (uint32_t)reg < x->t->nregs);
	for (uint32_t i = 0; i < w->nknown; i++)
		if (w->known[i].reg == reg)
			return w->known[i].r;
	return (uint32_t)reg < x->t->nslots ? x->slots[x->t->slot + (uint32_t)reg] : full;
}

/* Stores into a slot count at once: what a path leaves in it does not matter
 * more than what it ever held. */
static void set(struct values_flow *x, struct values_path *w, int32_t reg, struct range r)
{
	assert(reg >= 1 && (uint32_t)reg < x->t->nregs && r.lo <= r.hi);
	if ((uint32_t)reg < x->t->nslots) {
		const struct ir_slot *s = &x->p->slots[x->t->slot + (uint32_t)reg];
		join(x, &x->slots[x->t->slot + (uint32_t)reg], r, s->lo, s->hi);
	}
	for (uint32_t i = 0; i < w->nknown; i++)
		if (w->known[i].reg == reg) {
			w->known[i].r = r;
			return;
		}
	if (w->nknown < KNOWN_MAX) {
		w->known[w->nknown].reg = reg;
		w->known[w->nknown++].r = r;
	} /* else it is its slot's range, or full */
}

static struct range operand(const struct values_flow *x, const struct values_path *w, bool imm, int32_t v)
{
	return imm ? (struct range){ v, v } : get(x, w, v);
}

/* ---- instructions ------------------------------------------------------- */

static struct range truth(bool may_be_false, bool may_be_true)
{
	assert(may_be_false || may_be_true);
	return (struct range){ !may_be_false, may_be_true };
}

static struct range divide(struct values_flow *x, enum ir_op op, struct range b, struct range c)
{
	if (c.lo <= 0 && c.hi >= 0) {
		x->fault = true;
		return full;
	}
	assert(c.lo <= c.hi && (c.lo > 0 || c.hi < 0));
	if (op == IR_DIV)
		return hull4(b.lo / c.lo, b.lo / c.hi, b.hi / c.lo, b.hi / c.hi);
	int64_t m = (c.lo < 0 ? -c.lo : c.lo) > (c.hi < 0 ? -c.hi : c.hi) ? (c.lo < 0 ? -c.lo : c.lo) : (c.hi < 0 ? -c.hi : c.hi);
	struct range r = { b.lo < 0 ? -(m - 1) : 0, b.hi > 0 ? m - 1 : 0 };
	if (r.lo < b.lo && b.lo < 0)
		r.lo = b.lo;
	if (r.hi > b.hi && b.hi > 0)
		r.hi = b.hi;
	return r;
}

static struct range bitwise(enum ir_op op, struct range b, struct range c)
{
	int64_t top = 1;
	if (op == IR_AND && (b.lo >= 0 || c.lo >= 0))
		return (struct range){ 0, b.lo < 0 || (c.lo >= 0 && c.hi < b.hi) ? c.hi : b.hi };
	if (b.lo < 0 || c.lo < 0)
		return full;
	while (top <= b.hi || top <= c.hi)
		top *= 2;
	return (struct range){ 0, top - 1 };
}

static struct range compute(struct values_flow *x, const struct ir_ins *i, struct range b, struct range c)
{
	struct range r = full;
	switch ((enum ir_op)i->op) {
	case IR_MOV:
		return b;
	case IR_NEG:
		r = (struct range){ -b.hi, -b.lo };
		break;
	case IR_NOT:
		return truth(b.lo != 0 || b.hi != 0, b.lo <= 0 && b.hi >= 0);
	case IR_BOOL:
		return truth(b.lo <= 0 && b.hi >= 0, b.lo != 0 || b.hi != 0);
	case IR_BITNOT:
		return (struct range){ ~b.hi, ~b.lo };
	case IR_ADD:
		r = (struct range){ b.lo + c.lo, b.hi + c.hi };
		break;
	case IR_SUB:
		r = (struct range){ b.lo - c.hi, b.hi - c.lo };
		break;
	case IR_MUL:
		r = hull4(b.lo * c.lo, b.lo * c.hi, b.hi * c.lo, b.hi * c.hi);
		break;
	case IR_DIV:
	case IR_MOD:
		r = divide(x, (enum ir_op)i->op, b, c);
		break;
	case IR_SHL:
	case IR_SHR:
		if (!inside(c, 0, 31)) {
			x->fault = true;
			return full;
		}
		if (i->op == IR_SHR)
			return hull4(b.lo >> c.lo, b.lo >> c.hi, b.hi >> c.lo, b.hi >> c.hi);
		r = hull4(b.lo * (1LL << c.lo), b.lo * (1LL << c.hi), b.hi * (1LL << c.lo), b.hi * (1LL << c.hi));
		break;
	case IR_AND:
	case IR_OR:
	case IR_XOR:
		return bitwise((enum ir_op)i->op, b, c);
	case IR_EQ:
		return truth(b.lo != b.hi || c.lo != c.hi || b.lo != c.lo, b.lo <= c.hi && c.lo <= b.hi);
	case IR_NE:
		return truth(b.lo <= c.hi && c.lo <= b.hi, b.lo != b.hi || c.lo != c.hi || b.lo != c.lo);
	case IR_LT:
		return truth(b.hi >= c.lo, b.lo < c.hi);
	case IR_LE:
		return truth(b.hi > c.lo, b.lo <= c.hi);
	case IR_GT:
		return truth(b.lo <= c.hi, b.hi > c.lo);
	case IR_GE:
		return truth(b.lo < c.hi, b.hi >= c.lo);
	default:
		break;
	}
	x->fault |= !inside(r, full.lo, full.hi);
	return clamp(r, full.lo, full.hi);
}

static void check_range(struct values_flow *x, struct range r, int64_t lo, int64_t hi)
{
	x->fault |= !inside(r, lo, hi);
}

static void store(struct values_flow *x, uint32_t var, struct range r)
{
	const struct ir_var *v = &x->p->vars[var];
	check_range(x, r, v->lo, v->hi);
	join(x, &x->vars[var], r, v->lo, v->hi);
}

static void run_access(struct values_flow *x, struct values_path *w, const struct ir_ins *i)
{
	assert(x->f->set[x->node] != FLOW_UNREACHED);
	bool writes = i->op == IR_STORE || i->op == IR_ACQ || i->op == IR_REL || i->op == IR_WINV || i->op == IR_WRESP;
	uint32_t var = (uint32_t)(writes ? i->a : i->b);
	const struct ir_var *v = &x->p->vars[var];
	struct range index = operand(x, w, i->imm & IR_IMM_C, i->c), r = x->vars[var], d;
	check_range(x, index, 0, (int64_t)v->len - 1);
	switch ((enum ir_op)i->op) {
	case IR_LOAD:
		set(x, w, i->a, r);
		break;
	case IR_RRESP:
		set(x, w, i->a, (struct range){ v->lo, v->hi });
		break;
	case IR_STORE:
	case IR_WINV:
	case IR_WRESP:
		store(x, var, operand(x, w, i->imm & IR_IMM_B, i->b));
		break;
	case IR_CAS:
		set(x, w, i->a, (struct range){ 0, 1 });
		store(x, var, get(x, w, i->e));
		break;
	case IR_XCHG:
		d = get(x, w, i->d);
		set(x, w, i->a, r);
		store(x, var, d);
		break;
	case IR_FADD:
		d = get(x, w, i->d);
		set(x, w, i->a, r);
		store(x, var, (struct range){ r.lo + d.lo, r.hi + d.hi });
		break;
	case IR_REL:
		x->fault |= index.lo != index.hi || !held_locks_has(&x->f->sets, x->f->set[x->node], v->slot + (uint32_t)index.lo);
		break;
	default:
		break; /* acquire, the beginning of a safe read */
	}
}

static void fork_path(struct values_flow *x, const struct values_path *w, uint32_t pc)
{
	if (x->top == STACK_MAX) {
		x->fault = true;
		return;
	}
	x->stack[x->top] = *w;
	x->stack[x->top++].pc = pc;
}

static void arrive(struct values_flow *x, const struct values_path *w, uint32_t node)
{
	if (w->committed && !x->committed[node]) {
		x->committed[node] = 1;
		x->changed = true;
	}
}

/* A jump: true when only the jump can be taken; the other way is forked. */
static bool run_jump(struct values_flow *x, struct values_path *w, const struct ir_ins *i, struct range b)
{
	bool zero = b.lo <= 0 && b.hi >= 0, other = b.lo != 0 || b.hi != 0;
	bool jumps = i->op == IR_JZ ? zero : other, falls = i->op == IR_JZ ? other : zero;
	if (jumps && falls)
		fork_path(x, w, (uint32_t)i->a);
	assert(jumps || falls);
	return jumps && !falls;
}

/* One instruction; false at the end of the path. */
static bool run_one(struct values_flow *x, struct values_path *w)
{
	assert(w->pc >= x->t->code && w->pc < x->t->code + x->t->ncode);
	const struct ir_ins *i = &x->p->code[w->pc];
	struct range b = operand(x, w, i->imm & IR_IMM_B, i->b), all = full;
	bool jump = false;
	switch ((enum ir_op)i->op) {
	case IR_STOP:
		arrive(x, w, (uint32_t)i->a);
		return false;
	case IR_NOP:
	case IR_OP_COUNT:
	case IR_ENTER:
	case IR_INVOKE:
	case IR_RESPOND:
		break;
	case IR_RANGE:
		check_range(x, get(x, w, i->a), i->b, i->c);
		set(x, w, i->a, clamp(get(x, w, i->a), i->b, i->c));
		break;
	case IR_JMP:
		jump = true;
		break;
	case IR_JZ:
	case IR_JNZ:
		jump = run_jump(x, w, i, b);
		break;
	case IR_LOAD:
	case IR_STORE:
	case IR_CAS:
	case IR_XCHG:
	case IR_FADD:
	case IR_ACQ:
	case IR_REL:
	case IR_RINV:
	case IR_RRESP:
	case IR_WINV:
	case IR_WRESP:
		run_access(x, w, i);
		break;
	case IR_LGET:
		check_range(x, operand(x, w, i->imm & IR_IMM_C, i->c), 0, (int64_t)i->d - 1);
		set(x, w, i->a, all);
		break;
	case IR_LSET:
		check_range(x, operand(x, w, i->imm & IR_IMM_C, i->c), 0, (int64_t)i->d - 1);
		for (int32_t k = 0; k < i->d; k++) /* any element, or none */
			set(x, w, i->a + k, all);
		break;
	case IR_LZERO:
		for (int32_t k = 0; k < i->d; k++)
			set(x, w, i->a + k, (struct range){ 0, 0 });
		break;
	case IR_CHOOSE:
		set(x, w, i->a, (struct range){ i->b, i->c });
		break;
	case IR_ASSUME:
		if (b.lo == 0 && b.hi == 0)
			return false;
		break;
	case IR_STUCK:
		if (b.lo == 0 && b.hi == 0)
			return false;
		break;
	case IR_ASSERT:
		x->fault |= b.lo <= 0 && b.hi >= 0;
		break;
	case IR_EXIT:
		w->committed = false;
		break;
	case IR_COMMIT:
		x->fault |= w->committed;
		w->committed = true;
		break;
	default:
		set(x, w, i->a, compute(x, i, b, operand(x, w, i->imm & IR_IMM_C, i->c)));
		break;
	}
	w->pc = jump ? (uint32_t)i->a : w->pc + 1;
	return true;
}

static void run_node(struct values_flow *x, uint32_t node)
{
	assert(node >= x->t->node && node < x->t->node + x->t->nnode);
	struct values_path w = { .committed = x->committed[node] };
	x->node = node;
	x->budget = BUDGET;
	x->top = 0;
	fork_path(x, &w, x->p->nodes[node].ins + 1);
	while (x->top) {
		w = x->stack[--x->top];
		while (run_one(x, &w))
			if (--x->budget == 0) {
				x->fault = true; /* not known */
				return;
			}
	}
}

static void run_all(struct values_flow *x)
{
	const struct ir *p = x->p;
	x->changed = x->fault = false;
	for (uint32_t t = 0; t < p->ntemplates; t++) {
		x->t = &p->templates[t];
		for (uint32_t id = x->t->node; id < x->t->node + x->t->nnode; id++) {
			enum ir_node_kind k = p->nodes[id].kind;
			if (x->f->set[id] != FLOW_UNREACHED && k != IRN_END && k != IRN_STUCK)
				run_node(x, id);
		}
	}
}

bool value_ranges_fault_free(const struct flow *f, struct arena *a)
{
	const struct ir *p = f->ir;
	struct values_flow *x = arena_new(a, struct values_flow);
	x->f = f;
	x->p = p;
	x->vars = arena_array(a, struct range, p->nvars + 1);
	x->slots = arena_array(a, struct range, p->nslots + 1);
	x->committed = arena_array(a, uint8_t, p->nnodes + 1);
	for (uint32_t v = 0; v < p->nvars; v++) {
		struct range *r = &x->vars[v];
		*r = (struct range){ p->init[p->vars[v].slot], p->init[p->vars[v].slot] };
		for (uint32_t k = 1; k < p->vars[v].len; k++) {
			int32_t e = p->init[p->vars[v].slot + k];
			*r = (struct range){ e < r->lo ? e : r->lo, e > r->hi ? e : r->hi };
		}
	}
	for (uint32_t t = 0; t < p->ntemplates; t++) { /* what the threads start with */
		const struct ir_template *tm = &p->templates[t];
		const int32_t *frame = tm->count ? p->init + p->threads[tm->first_thread].frame : NULL;
		for (uint32_t s = 1; s < tm->nslots; s++)
			x->slots[tm->slot + s] = !frame ? full
			                                : (struct range){ frame[s] < 0 ? frame[s] : 0,
				                                          frame[s] > 0 ? frame[s] : 0 };
	}
	for (x->round = 0; x->round < ROUNDS; x->round++) {
		run_all(x);
		if (x->fault)
			return false; /* growing ranges take no fault away */
		if (!x->changed)
			return true;
	}
	return false;
}
