#include "causal/abstract.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

enum abstract_result { GO, ARRIVED, DROPPED };

static const struct kept unknown = { false, 0 };

static struct kept known(int64_t v)
{
	return (struct kept){ true, (int32_t)v };
}

/* One of n; the odometer's digits are kept from way to way. */
static uint32_t choose(struct abstract *x, uint32_t n)
{
	assert(x->at <= x->picks.len);
	if (n <= 1)
		return 0;
	if (x->at == x->picks.len) {
		struct pick p = { 0, n };
		avec_push(x->arena, &x->picks, p);
	}
	return x->picks.data[x->at++].value;
}

int abstract_next(struct abstract *x)
{
	while (x->picks.len) {
		struct pick *p = &x->picks.data[x->picks.len - 1];
		if (++p->value < p->size)
			return ++x->ways < ABSTRACT_WAYS ? 1 : -1;
		x->picks.len--;
	}
	return 0;
}

/* ---- touches ------------------------------------------------------------ */

static struct touch *touch(struct abstract *x, uint32_t cell)
{
	assert(cell < x->g->ncells);
	for (uint32_t i = 0; i < x->touches.len; i++)
		if (x->touches.data[i].cell == cell)
			return &x->touches.data[i];
	struct touch t = { cell, PROGRAM_ANY, PROGRAM_ANY, false };
	avec_push(x->arena, &x->touches, t);
	return &x->touches.data[x->touches.len - 1];
}

/* The cell's value now, which a step finds out by reading it. */
static struct kept cell_read(struct abstract *x, uint32_t cell)
{
	const struct program_cell *c = &x->g->cells[cell];
	struct touch *t = touch(x, cell);
	if (!c->nvalues)
		return unknown;
	if (t->write)
		return known((int64_t)c->lo + t->put);
	if (t->need == PROGRAM_ANY)
		t->need = choose(x, c->nvalues);
	assert(t->need < c->nvalues);
	return known((int64_t)c->lo + t->need);
}

/* False when the value does not fit: a fault. */
static bool cell_write(struct abstract *x, uint32_t cell, struct kept v)
{
	const struct program_cell *c = &x->g->cells[cell];
	const struct ir_var *var = &x->g->ir->vars[c->var];
	if (v.known && (v.value < var->lo || v.value > var->hi))
		return false;
	struct touch *t = touch(x, cell);
	t->write = true;
	if (c->nvalues)
		t->put = v.known ? (uint32_t)(v.value - c->lo) : choose(x, c->nvalues);
	assert(!c->nvalues || t->put < c->nvalues);
	return true;
}

/* The cell of var[index]; IR_NONE when the index is outside: a fault. */
static uint32_t cell_of(struct abstract *x, uint32_t var, struct kept index)
{
	assert(var < x->g->ir->nvars);
	const struct ir_var *v = &x->g->ir->vars[var];
	if (index.known && (uint32_t)index.value >= v->len)
		return IR_NONE;
	if (x->g->one_cell[var])
		return x->g->cell_at[var];
	return x->g->cell_at[var] + (index.known ? (uint32_t)index.value : choose(x, v->len));
}

/* ---- loops -------------------------------------------------------------- */

static bool same_moment(const struct abstract *x, const struct moment *m, uint32_t pc)
{
	assert(m->regs + x->t->nregs <= x->saved.len);
	if (m->pc != pc || m->ntouch != x->touches.len)
		return false;
	const struct kept *r = x->saved.data + m->regs;
	for (uint32_t i = 0; i < x->t->nregs; i++)
		if (r[i].known != x->r[i].known || (r[i].known && r[i].value != x->r[i].value))
			return false;
	const struct touch *t = x->saved_touches.data + m->touches;
	for (uint32_t i = 0; i < m->ntouch; i++) {
		const struct touch *u = &x->touches.data[i];
		if (t[i].cell != u->cell || t[i].need != u->need || t[i].put != u->put || t[i].write != u->write)
			return false;
	}
	return true;
}

static void forget(struct abstract *x)
{
	const struct ir_slot *slots = x->g->ir->slots + x->t->slot;
	for (uint32_t i = 1; i < x->t->nregs; i++)
		if (i >= x->t->nslots || !slots[i].is_lock)
			x->r[i] = unknown;
}

/* A backward jump to pc; false when this way has been here before. */
static bool loop(struct abstract *x, uint32_t pc)
{
	if (++x->loops > ABSTRACT_LOOPS)
		forget(x);
	for (uint32_t i = 0; i < x->moments.len; i++)
		if (same_moment(x, &x->moments.data[i], pc))
			return false;
	struct moment m = { pc, x->touches.len, x->saved.len, x->saved_touches.len };
	avec_push(x->arena, &x->moments, m);
	for (uint32_t i = 0; i < x->t->nregs; i++)
		avec_push(x->arena, &x->saved, x->r[i]);
	for (uint32_t i = 0; i < x->touches.len; i++)
		avec_push(x->arena, &x->saved_touches, x->touches.data[i]);
	return true;
}

/* ---- arithmetic --------------------------------------------------------- */

static enum abstract_result unary(struct abstract *x, const struct ir_ins *i, struct kept b)
{
	assert((uint32_t)i->a < x->t->nregs);
	struct kept *a = &x->r[i->a];
	*a = b;
	if (!b.known)
		return GO;
	switch (i->op) {
	case IR_NEG:
		if (b.value == INT32_MIN)
			return DROPPED;
		a->value = -b.value;
		break;
	case IR_NOT:
		a->value = !b.value;
		break;
	case IR_BITNOT:
		a->value = ~b.value;
		break;
	case IR_BOOL:
		a->value = b.value != 0;
		break;
	default:
		break; /* IR_MOV */
	}
	return GO;
}

static enum abstract_result binary(struct abstract *x, const struct ir_ins *i, struct kept kb, struct kept kc)
{
	assert((uint32_t)i->a < x->t->nregs);
	int64_t b = kb.value, c = kc.value, v;
	bool zero = (kb.known && !kb.value) || (kc.known && !kc.value);
	if ((i->op == IR_DIV || i->op == IR_MOD) && kc.known && !c)
		return DROPPED;
	if ((i->op == IR_SHL || i->op == IR_SHR) && kc.known && (c < 0 || c > 31))
		return DROPPED;
	if (!kb.known || !kc.known) {
		x->r[i->a] = zero && (i->op == IR_AND || i->op == IR_MUL) ? known(0) : unknown;
		return GO;
	}
	switch (i->op) {
	case IR_ADD:
		v = b + c;
		break;
	case IR_SUB:
		v = b - c;
		break;
	case IR_MUL:
		v = b * c;
		break;
	case IR_DIV:
		v = b / c;
		break;
	case IR_MOD:
		v = b % c;
		break;
	case IR_SHL:
		v = b * ((int64_t)1 << c);
		break;
	case IR_SHR:
		v = b >> c;
		break;
	case IR_AND:
		v = b & c;
		break;
	case IR_OR:
		v = b | c;
		break;
	case IR_XOR:
		v = b ^ c;
		break;
	case IR_EQ:
		v = b == c;
		break;
	case IR_NE:
		v = b != c;
		break;
	case IR_LT:
		v = b < c;
		break;
	case IR_LE:
		v = b <= c;
		break;
	case IR_GT:
		v = b > c;
		break;
	default:
		v = b >= c;
		break;
	}
	if (v < INT32_MIN || v > INT32_MAX)
		return DROPPED;
	x->r[i->a] = known(v);
	return GO;
}

/* Is b true? An unknown is both; a register found to be zero is known then. */
static bool truth(struct abstract *x, const struct ir_ins *i, struct kept b)
{
	assert((i->imm & IR_IMM_B) || (uint32_t)i->b < x->t->nregs);
	if (b.known)
		return b.value != 0;
	if (choose(x, 2))
		return true;
	if (!(i->imm & IR_IMM_B))
		x->r[i->b] = known(0);
	return false;
}

/* ---- instructions ------------------------------------------------------- */

static enum abstract_result local_array(struct abstract *x, const struct ir_ins *i, struct kept b, struct kept index)
{
	if (i->op == IR_LZERO) {
		for (int32_t k = 0; k < i->d; k++)
			x->r[i->a + k] = known(0);
		return GO;
	}
	if (index.known && (uint32_t)index.value >= (uint32_t)i->d)
		return DROPPED;
	if (!index.known && (uint32_t)i->d > ABSTRACT_LOCAL) {
		for (int32_t k = 0; i->op == IR_LSET && k < i->d; k++)
			x->r[i->a + k] = unknown;
		if (i->op == IR_LGET)
			x->r[i->a] = unknown;
		return GO;
	}
	int32_t e = index.known ? index.value : (int32_t)choose(x, (uint32_t)i->d);
	if (i->op == IR_LGET)
		x->r[i->a] = x->r[i->b + e];
	else
		x->r[i->a + e] = b;
	return GO;
}

static enum abstract_result shared_access(struct abstract *x, const struct ir_ins *i, struct kept b, struct kept index)
{
	assert(i->op != IR_ACQ && i->op != IR_REL);
	bool store = i->op == IR_STORE;
	uint32_t cell = cell_of(x, (uint32_t)(store ? i->a : i->b), index);
	if (cell == IR_NONE)
		return DROPPED;
	if (store)
		return cell_write(x, cell, b) ? GO : DROPPED;
	struct kept old = cell_read(x, cell), arg = unknown;
	if (i->op == IR_LOAD) {
		x->r[i->a] = old;
		return GO;
	}
	arg = x->r[i->d];
	if (i->op == IR_CAS) {
		bool won = old.known && arg.known ? old.value == arg.value : choose(x, 2) != 0;
		struct kept value = x->r[i->e];
		x->r[i->a] = known(won);
		return !won || cell_write(x, cell, value) ? GO : DROPPED;
	}
	struct kept v = arg;
	if (i->op == IR_FADD) {
		v = unknown;
		if (old.known && arg.known) {
			int64_t sum = (int64_t)old.value + arg.value;
			if (sum < INT32_MIN || sum > INT32_MAX)
				return DROPPED;
			v = known(sum);
		}
	}
	x->r[i->a] = old;
	return cell_write(x, cell, v) ? GO : DROPPED;
}

static enum abstract_result lock_access(struct abstract *x, const struct ir_ins *i, struct kept index)
{
	assert(i->op == IR_ACQ || i->op == IR_REL);
	uint32_t cell = cell_of(x, (uint32_t)i->a, index);
	if (cell == IR_NONE)
		return DROPPED;
	uint32_t elem = cell - x->g->cell_at[i->a];
	struct kept *mine = &x->r[(uint32_t)i->d + elem];
	struct touch *t = touch(x, cell);
	uint32_t now = t->write ? t->put : t->need, want = i->op == IR_REL;
	if (want && mine->known && !mine->value)
		return DROPPED; /* not the holder: a fault */
	if (now != PROGRAM_ANY && now != want)
		return DROPPED;
	if (!t->write)
		t->need = want;
	t->write = true;
	t->put = !want;
	*mine = known(!want);
	return GO;
}

/*
 * Safe and regular variables are abstract: invocation and response of a read
 * read the cell, those of a write write it. That is their dependence: a
 * write's steps look at and change the records of the reads in progress, a
 * read's steps look at the writes in progress and at the reader's own record.
 */
static enum abstract_result register_access(struct abstract *x, const struct ir_ins *i, struct kept b, struct kept index)
{
	bool write = i->op == IR_WINV || i->op == IR_WRESP;
	uint32_t cell = cell_of(x, (uint32_t)(write ? i->a : i->b), index);
	if (cell == IR_NONE)
		return DROPPED;
	if (write)
		return cell_write(x, cell, b) ? GO : DROPPED;
	cell_read(x, cell);
	if (i->op == IR_RRESP)
		x->r[i->a] = unknown;
	return GO;
}

static enum abstract_result arrive(struct abstract *x, uint32_t node)
{
	const struct ir *p = x->g->ir;
	const struct ir_node *n = &p->nodes[node];
	for (uint32_t i = 0; i < n->nkill; i++)
		x->r[p->kills[n->kill + i]] = known(0);
	for (uint32_t i = 0; i < n->ndead; i++) /* never read: one value is as good */
		x->r[p->kills[n->dead + i]] = known(0);
	for (uint32_t s = 1; s < x->t->nslots; s++) {
		const struct ir_slot *slot = &p->slots[x->t->slot + s];
		if (x->keep[s] == KEEP_NOT)
			x->r[s] = unknown;
		else if (x->keep[s] == KEEP_SPLIT && !x->r[s].known)
			x->r[s] = known((int64_t)slot->lo + choose(x, (uint32_t)((int64_t)slot->hi - slot->lo) + 1));
	}
	x->node = node;
	return ARRIVED;
}

#define VALUE_B (i->imm & IR_IMM_B ? known(i->b) : x->r[i->b])
#define VALUE_C (i->imm & IR_IMM_C ? known(i->c) : x->r[i->c])

/* A jump: to the instruction before the target, as the loop adds one. */
static enum abstract_result jump(struct abstract *x, const struct ir_ins *i, uint32_t *pc)
{
	bool back = (uint32_t)i->a <= *pc;
	*pc = (uint32_t)i->a - 1;
	return !back || loop(x, (uint32_t)i->a) ? GO : DROPPED;
}

static enum abstract_result instruction(struct abstract *x, uint32_t *pc)
{
	const struct ir_ins *i = &x->g->ir->code[*pc];
	switch ((enum ir_op)i->op) {
	case IR_STOP:
		return arrive(x, (uint32_t)i->a);
	case IR_MOV ... IR_BOOL:
		return unary(x, i, VALUE_B);
	case IR_ADD ... IR_GE:
		return binary(x, i, VALUE_B, VALUE_C);
	case IR_RANGE: {
		struct kept a = x->r[i->a];
		return a.known && (a.value < i->b || a.value > i->c) ? DROPPED : GO;
	}
	case IR_JMP:
		return jump(x, i, pc);
	case IR_JZ:
		return truth(x, i, VALUE_B) ? GO : jump(x, i, pc);
	case IR_JNZ:
		return truth(x, i, VALUE_B) ? jump(x, i, pc) : GO;
	case IR_LGET:
		return local_array(x, i, unknown, VALUE_C);
	case IR_LSET:
		return local_array(x, i, VALUE_B, VALUE_C);
	case IR_LZERO:
		return local_array(x, i, unknown, unknown);
	case IR_STORE:
		return shared_access(x, i, VALUE_B, VALUE_C);
	case IR_LOAD:
	case IR_CAS:
	case IR_XCHG:
	case IR_FADD:
		return shared_access(x, i, unknown, VALUE_C);
	case IR_ACQ:
	case IR_REL:
		return lock_access(x, i, VALUE_C);
	case IR_WINV:
	case IR_WRESP:
		return register_access(x, i, VALUE_B, VALUE_C);
	case IR_RINV:
	case IR_RRESP:
		return register_access(x, i, unknown, VALUE_C);
	case IR_CHOOSE: {
		int64_t n = (int64_t)i->c - i->b + 1;
		x->r[i->a] = n > 16 ? unknown : known((int64_t)i->b + choose(x, (uint32_t)n));
		return GO;
	}
	case IR_ASSUME:
	case IR_ASSERT:
		return truth(x, i, VALUE_B) ? GO : DROPPED;
	case IR_STUCK:
		return truth(x, i, VALUE_B) ? GO : arrive(x, (uint32_t)i->a);
	case IR_ENTER:
		x->entered = (uint32_t)i->a;
		return GO;
	case IR_EXIT:
		x->exited = (uint32_t)i->a;
		return GO;
	case IR_NOP:
	case IR_COMMIT:
	case IR_INVOKE:
	case IR_RESPOND:
	case IR_OP_COUNT:
		return GO;
	}
	return GO;
}

bool abstract_way(struct abstract *x, uint32_t node, const struct kept *frame)
{
	const struct ir_node *n = &x->g->ir->nodes[node];
	enum abstract_result r = GO;
	if (n->kind == IRN_END || n->kind == IRN_STUCK)
		return false;
	for (uint32_t i = 0; i < x->t->nregs; i++)
		x->r[i] = i < x->t->nslots ? frame[i] : unknown;
	x->touches.len = x->moments.len = x->saved.len = x->saved_touches.len = 0;
	x->at = x->loops = 0;
	x->entered = x->exited = IR_NONE;
	for (uint32_t pc = n->ins + 1; r == GO; pc++)
		r = instruction(x, &pc);
	x->picks.len = x->at; /* digits that this way did not come to */
	return r == ARRIVED;
}
