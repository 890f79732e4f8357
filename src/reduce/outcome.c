#include "reduce/outcome.h"

#include <string.h>

#include "base/invariant.h"

enum { KNOWN_MAX = 12, WRITTEN_MAX = 12, STACK_MAX = 32, BUDGET = 600 };

struct outcome_path { /* one way through the code, as far as it has been run */
	uint32_t pc;
	int32_t focus; /* the variable's value, when `focus_known` */
	bool focus_known;
	bool changed; /* something besides registers */
	bool dirty;   /* more slots written than are listed */
	uint8_t nknown, nwritten;
	struct {
		int32_t reg, value;
	} known[KNOWN_MAX];
	int32_t written[WRITTEN_MAX];
};

struct outcome_walk {
	const struct ir *p;
	const struct ir_template *t;
	uint32_t node, focus, budget;
	int32_t start; /* the focus at the beginning */
	struct outcomes *out;
	struct outcome_path stack[STACK_MAX];
	uint32_t top;
};

/* ---- registers ---------------------------------------------------------- */

static void forget(struct outcome_path *w, int32_t reg)
{
	for (uint32_t i = 0; i < w->nknown; i++)
		if (w->known[i].reg == reg) {
			w->known[i] = w->known[--w->nknown];
			return;
		}
}

static void wrote(const struct outcome_walk *x, struct outcome_path *w, int32_t reg)
{
	assert(reg >= 1 && (uint32_t)reg < x->t->nregs);
	if ((uint32_t)reg >= x->t->nslots)
		return;
	for (uint32_t i = 0; i < w->nwritten; i++)
		if (w->written[i] == reg)
			return;
	if (w->nwritten == WRITTEN_MAX)
		w->dirty = true;
	else
		w->written[w->nwritten++] = reg;
}

static void set(const struct outcome_walk *x, struct outcome_path *w, int32_t reg, bool known, int32_t value)
{
	forget(w, reg);
	wrote(x, w, reg);
	if (known && w->nknown < KNOWN_MAX) {
		assert((uint32_t)reg < x->t->nregs);
		w->known[w->nknown].reg = reg;
		w->known[w->nknown++].value = value;
	}
}

static void forget_range(struct outcome_path *w, int32_t reg, int32_t n)
{
	for (uint32_t i = w->nknown; i-- > 0;)
		if (w->known[i].reg >= reg && w->known[i].reg - reg < n)
			w->known[i] = w->known[--w->nknown];
}

/* An unknown register that a jump has found to be 0. */
static void learn_zero(struct outcome_path *w, int32_t reg)
{
	if (w->nknown == KNOWN_MAX)
		return;
	w->known[w->nknown].reg = reg;
	w->known[w->nknown++].value = 0;
}

static bool reg_value(const struct outcome_path *w, int32_t reg, int32_t *value)
{
	for (uint32_t i = 0; i < w->nknown; i++)
		if (w->known[i].reg == reg) {
			*value = w->known[i].value;
			return true;
		}
	return false;
}

static bool operand(const struct outcome_path *w, bool immediate, int32_t x, int32_t *value)
{
	if (!immediate)
		return reg_value(w, x, value);
	*value = x;
	return true;
}

/* ---- instructions ------------------------------------------------------- */

static void compute(const struct outcome_walk *x, struct outcome_path *w, const struct ir_ins *i)
{
	int32_t b = 0, c = 0, v = 0;
	bool kb = operand(w, i->imm & IR_IMM_B, i->b, &b);
	bool kc = operand(w, i->imm & IR_IMM_C, i->c, &c);
	bool known = kb;
	switch ((enum ir_op)i->op) {
	case IR_MOV:
		v = b;
		break;
	case IR_NOT:
		v = !b;
		break;
	case IR_BOOL:
		v = b != 0;
		break;
	case IR_EQ:
		v = b == c;
		known &= kc;
		break;
	case IR_NE:
		v = b != c;
		known &= kc;
		break;
	case IR_LT:
		v = b < c;
		known &= kc;
		break;
	case IR_LE:
		v = b <= c;
		known &= kc;
		break;
	case IR_GT:
		v = b > c;
		known &= kc;
		break;
	case IR_GE:
		v = b >= c;
		known &= kc;
		break;
	case IR_AND:
		v = b & c;
		known &= kc;
		break;
	case IR_OR:
		v = b | c;
		known &= kc;
		break;
	case IR_XOR:
		v = b ^ c;
		known &= kc;
		break;
	default:
		known = false;
		break;
	}
	set(x, w, i->a, known, v);
}

static void fork_path(struct outcome_walk *x, const struct outcome_path *w)
{
	assert(x->top <= STACK_MAX);
	if (x->top == STACK_MAX)
		x->out->gave_up = true;
	else
		x->stack[x->top++] = *w;
}

/* A write, of a value that is known or not. */
static void put(struct outcome_path *w, bool in_focus, bool known, int32_t value)
{
	if (in_focus) {
		w->focus_known = known;
		w->focus = value;
	} else {
		w->changed = true;
	}
}

/* cas on a variable: the way it fails goes on the stack, `w` succeeds. False
 * when `w` is not possible. */
static bool run_cas(struct outcome_walk *x, struct outcome_path *w, const struct ir_ins *i, bool in_focus)
{
	assert(i->op == IR_CAS);
	int32_t expected = 0, value = 0;
	bool ke = reg_value(w, i->d, &expected), kv = reg_value(w, i->e, &value);
	bool known = in_focus && w->focus_known && ke;
	if (!known || w->focus != expected) {
		struct outcome_path fail = *w;
		set(x, &fail, i->a, true, 0);
		fail.pc++;
		fork_path(x, &fail);
	}
	if (known && w->focus != expected)
		return false;
	set(x, w, i->a, true, 1);
	put(w, in_focus, kv, value);
	return true;
}

static void run_access(struct outcome_walk *x, struct outcome_path *w, const struct ir_ins *i)
{
	uint32_t var = (uint32_t)(i->op == IR_STORE ? i->a : i->b);
	bool in_focus = var == x->focus;
	int32_t v = 0;
	bool known;
	switch ((enum ir_op)i->op) {
	case IR_LOAD:
		set(x, w, i->a, in_focus && w->focus_known, w->focus);
		break;
	case IR_STORE:
		known = operand(w, i->imm & IR_IMM_B, i->b, &v);
		put(w, in_focus, known, v);
		break;
	case IR_XCHG:
		known = reg_value(w, i->d, &v);
		set(x, w, i->a, in_focus && w->focus_known, w->focus);
		put(w, in_focus, known, v);
		break;
	default: /* fetch_add */
		assert(i->op == IR_FADD);
		set(x, w, i->a, false, 0);
		w->focus_known &= !in_focus;
		w->changed = true;
		break;
	}
}

static bool listed(const uint32_t *list, uint32_t n, uint32_t slot)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i] == slot)
			return true;
	return false;
}

/* Is the state after the step unchanged, except for the place? What is reset on
 * arrival is dead there, and if the step came back, it was reset on the arrival
 * before, too. */
static bool is_same(const struct outcome_walk *x, const struct outcome_path *w, uint32_t succ)
{
	const struct ir_node *n = &x->p->nodes[succ];
	if (w->changed || w->dirty)
		return false;
	if (x->focus != IR_NONE && !(w->focus_known && w->focus == x->start))
		return false;
	for (uint32_t i = 0; i < w->nwritten; i++) {
		uint32_t slot = (uint32_t)w->written[i];
		if (!listed(x->p->kills + n->kill, n->nkill, slot) && !listed(x->p->kills + n->dead, n->ndead, slot))
			return false;
	}
	return true;
}

static uint8_t focus_value(bool known, int32_t v)
{
	return known && (v == 0 || v == 1) ? (uint8_t)v : VALUE_UNKNOWN;
}

static void arrive(struct outcome_walk *x, const struct outcome_path *w, uint32_t succ)
{
	assert(succ >= x->t->node && succ < x->t->node + x->t->nnode);
	struct outcome o = { succ, VALUE_UNKNOWN, VALUE_UNKNOWN, is_same(x, w, succ), false };
	o.pure = o.same && succ == x->node;
	if (x->focus != IR_NONE) {
		o.before = focus_value(true, x->start);
		o.after = focus_value(w->focus_known, w->focus);
	}
	for (uint32_t i = 0; i < x->out->n; i++) {
		struct outcome *q = &x->out->data[i];
		if (q->succ == o.succ && q->before == o.before && q->after == o.after) {
			q->pure &= o.pure;
			q->same &= o.same;
			return;
		}
	}
	if (x->out->n == OUTCOMES_MAX)
		x->out->gave_up = true;
	else {
		assert(!o.pure || o.before == o.after);
		x->out->data[x->out->n++] = o;
	}
}

/* Goes on, always in the same way. */
static bool is_plain(enum ir_op op)
{
	switch (op) {
	case IR_STOP:
	case IR_NOP:
	case IR_JMP:
	case IR_JZ:
	case IR_JNZ:
	case IR_LOAD:
	case IR_STORE:
	case IR_XCHG:
	case IR_CAS:
	case IR_MOV:
	case IR_NOT:
	case IR_BOOL:
	case IR_EQ ... IR_GE:
	case IR_AND:
	case IR_OR:
	case IR_XOR:
		return true;
	default:
		return false;
	}
}

/* One instruction; false when the path ends with it. */
static bool run_one(struct outcome_walk *x, struct outcome_path *w)
{
	assert(w->pc >= x->t->code && w->pc < x->t->code + x->t->ncode);
	const struct ir_ins *i = &x->p->code[w->pc];
	int32_t v;
	bool known, jump = false;
	x->out->plain &= is_plain((enum ir_op)i->op);
	switch ((enum ir_op)i->op) {
	case IR_STOP:
		arrive(x, w, (uint32_t)i->a);
		return false;
	case IR_NOP:
	case IR_RANGE:
	case IR_ASSERT:
	case IR_OP_COUNT:
		break; /* a fault ends the execution: only the other way goes on */
	case IR_ASSUME:
		if (operand(w, i->imm & IR_IMM_B, i->b, &v) && !v)
			return false;
		break;
	case IR_STUCK:
		known = operand(w, i->imm & IR_IMM_B, i->b, &v);
		if (!known || !v)
			arrive(x, w, (uint32_t)i->a);
		if (known && !v)
			return false;
		break;
	case IR_JMP:
		jump = true;
		break;
	case IR_JZ:
	case IR_JNZ:
		known = operand(w, i->imm & IR_IMM_B, i->b, &v);
		if (!known) {
			struct outcome_path other = *w;
			other.pc = (uint32_t)i->a;
			learn_zero(i->op == IR_JZ ? &other : w, i->b);
			fork_path(x, &other);
		}
		jump = known && (i->op == IR_JZ) == !v;
		break;
	case IR_LOAD:
	case IR_STORE:
	case IR_XCHG:
	case IR_FADD:
		run_access(x, w, i);
		break;
	case IR_CAS:
		if (!run_cas(x, w, i, (uint32_t)i->b == x->focus))
			return false;
		break;
	case IR_LGET:
	case IR_CHOOSE:
		set(x, w, i->a, false, 0);
		break;
	case IR_LSET:
	case IR_LZERO:
		forget_range(w, i->a, i->d);
		w->dirty |= (uint32_t)i->a < x->t->nslots;
		break;
	case IR_ACQ:
	case IR_REL:
	case IR_RINV:
	case IR_WINV:
	case IR_WRESP:
	case IR_ENTER:
	case IR_EXIT:
	case IR_COMMIT:
	case IR_INVOKE:
	case IR_RESPOND:
		w->changed = true;
		break;
	case IR_RRESP:
		w->changed = true;
		set(x, w, i->a, false, 0);
		break;
	default:
		compute(x, w, i);
		break;
	}
	w->pc = jump ? (uint32_t)i->a : w->pc + 1;
	return true;
}

static void walk_from(struct outcome_walk *x, int32_t start)
{
	struct outcome_path first = { .pc = x->p->nodes[x->node].ins + 1, .focus = start, .focus_known = x->focus != IR_NONE };
	x->start = start;
	x->top = 0;
	fork_path(x, &first);
	while (x->top && !x->out->gave_up) {
		struct outcome_path w = x->stack[--x->top];
		do
			x->out->gave_up |= --x->budget == 0;
		while (!x->out->gave_up && run_one(x, &w));
	}
}

void outcomes_of(const struct ir *p, uint32_t tmpl, uint32_t node, uint32_t focus, struct outcomes *out)
{
	assert(node >= p->templates[tmpl].node && node < p->templates[tmpl].node + p->templates[tmpl].nnode);
	assert(focus == IR_NONE || (p->vars[focus].lo == 0 && p->vars[focus].hi == 1 && !p->vars[focus].is_array));
	struct outcome_walk x;
	x.p = p;
	x.t = &p->templates[tmpl];
	x.node = node;
	x.focus = focus;
	x.budget = BUDGET;
	x.out = out;
	out->n = 0;
	out->plain = true;
	out->gave_up = p->nodes[node].kind == IRN_END || p->nodes[node].kind == IRN_STUCK;
	if (out->gave_up)
		return;
	walk_from(&x, 0);
	if (focus != IR_NONE)
		walk_from(&x, 1);
}
