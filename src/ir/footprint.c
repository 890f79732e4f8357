/*
 * footprint: the footprint of each node: every shared access a step from it may
 * make, and every node it may lead to.
 *
 * A walk over the local code after the node, stopping at IR_STOPs. Cost: the
 * sum of the walked segments; code that many nodes lead into is walked once for
 * each.
 */
#include "base/invariant.h"
#include "ir/build.h"

static uint32_t mode_of(uint8_t op)
{
	switch (op) {
	case IR_LOAD:
		return IRA_READ;
	case IR_STORE:
		return IRA_WRITE;
	case IR_CAS:
	case IR_XCHG:
	case IR_FADD:
		return IRA_RMW;
	case IR_ACQ:
		return IRA_ACQUIRE;
	case IR_REL:
		return IRA_RELEASE;
	case IR_RINV:
		return IRA_READ_INV;
	case IR_RRESP:
		return IRA_READ_RESP;
	case IR_WINV:
		return IRA_WRITE_INV;
	case IR_WRESP:
		return IRA_WRITE_RESP;
	default:
		return 0;
	}
}

static uint32_t var_of(const struct ir_ins *i)
{
	switch (i->op) {
	case IR_STORE:
	case IR_ACQ:
	case IR_REL:
	case IR_WINV:
	case IR_WRESP:
		return (uint32_t)i->a;
	default:
		return (uint32_t)i->b;
	}
}

struct foot_walk {
	struct ir_builder *b;
	uint32_t *seen; /* instruction -> stamp */
	uint32_t *work;
	uint32_t stamp;
};

static void add_succ(struct foot_walk *w, uint32_t first, uint32_t node)
{
	assert(node >= w->b->node0 && node < w->b->nodes.len);
	struct ir_builder *b = w->b;
	for (uint32_t i = first; i < b->succs.len; i++)
		if (b->succs.data[i] == node)
			return;
	avec_push(b->arena, &b->succs, node);
}

static void visit(struct foot_walk *w, uint32_t *top, uint32_t ins)
{
	assert(ins >= w->b->code0 && ins < w->b->code.len);
	uint32_t k = ins - w->b->code0;
	if (w->seen[k] != w->stamp) {
		w->seen[k] = w->stamp;
		assert(*top <= w->b->code.len - w->b->code0);
		w->work[(*top)++] = ins;
	}
}

static void walk_node(struct foot_walk *w, uint32_t id)
{
	assert(w->b->code.data[w->b->nodes.data[id].ins].op == IR_STOP &&
	       (uint32_t)w->b->code.data[w->b->nodes.data[id].ins].a == id);
	struct ir_builder *b = w->b;
	uint32_t top = 0, acc = b->accesses.len, succ = b->succs.len;
	w->stamp++;
	visit(w, &top, b->nodes.data[id].ins + 1);
	while (top) {
		uint32_t i = w->work[--top];
		const struct ir_ins *ins = &b->code.data[i];
		uint32_t mode = mode_of(ins->op);
		if (mode) {
			assert(var_of(ins) < b->vars.len);
			struct ir_access a = { var_of(ins), mode, ins->imm & IR_IMM_C ? (uint32_t)ins->c : IR_NONE, i };
			avec_push(b->arena, &b->accesses, a);
		}
		if (ins->op == IR_STOP) {
			add_succ(w, succ, (uint32_t)ins->a);
			continue;
		}
		if (ins->op == IR_STUCK)
			add_succ(w, succ, (uint32_t)ins->a);
		if (ir_is_jump(ins->op))
			visit(w, &top, (uint32_t)ins->a);
		if (ins->op != IR_JMP && !(ins->op == IR_STUCK && ins->imm & IR_IMM_B && !ins->b))
			visit(w, &top, i + 1);
	}
	struct ir_node *n = &b->nodes.data[id];
	n->access = acc;
	n->naccess = b->accesses.len - acc;
	n->succ = succ;
	n->nsucc = b->succs.len - succ;
	assert(n->nsucc); /* every step leads somewhere */
}

void ir_pass_footprint(struct ir_builder *b)
{
	uint32_t n = b->code.len - b->code0;
	struct foot_walk w = { b, arena_array(b->arena, uint32_t, n), arena_array(b->arena, uint32_t, n + 1), 0 };
	for (uint32_t i = b->node0; i < b->nodes.len; i++) {
		struct ir_node *nd = &b->nodes.data[i];
		if (nd->kind == IRN_END || nd->kind == IRN_STUCK) {
			nd->access = b->accesses.len;
			nd->succ = b->succs.len;
			continue;
		}
		walk_node(&w, i);
	}
}
