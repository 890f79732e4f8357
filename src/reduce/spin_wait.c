#include "reduce/spin_wait.h"

#include "base/invariant.h"

enum { LOOP_MAX = 64, ROUNDS = 16 }; /* longer and more tangled loops are taken for observers */

static const struct outcome *edges_of(const struct flow *f, uint32_t node, uint32_t *n)
{
	uint32_t at = f->special[node];
	*n = at ? f->edges.data[at - 1].succ : 0;
	assert(at + *n <= f->edges.len);
	return *n ? f->edges.data + at : NULL;
}

static bool takes(const struct outcome *e)
{
	return e->before == 0 && e->after == 1;
}

/* What can be said of the node without the others. */
static bool may_wait(const struct flow *f, uint32_t node)
{
	const struct ir_node *nd = &f->ir->nodes[node];
	uint32_t n, zero = 0, var = f->focus[node];
	const struct outcome *e = edges_of(f, node, &n);
	if (var == IR_NONE || !n || !e[-1].same)
		return false;
	for (uint32_t i = 0; i < nd->naccess; i++)
		if (f->ir->accesses[nd->access + i].var != var)
			return false;
	for (uint32_t i = 0; i < n; i++) {
		zero += e[i].before == 0;
		if (!e[i].same && !takes(&e[i]))
			return false;
	}
	return zero == 1;
}

/* Where the thread goes from `node` when the lock is free; IR_NONE: it takes it here. */
static uint32_t way_on(const struct flow *f, uint32_t node)
{
	assert(f->waits[node] != IR_NONE); /* so one edge has the lock free (may_wait) */
	uint32_t n;
	const struct outcome *e = edges_of(f, node, &n);
	while (e->before != 0)
		e++;
	return takes(e) ? IR_NONE : e->succ;
}

static uint32_t find_taker(const struct flow *f, uint32_t node)
{
	for (uint32_t left = LOOP_MAX; left; left--) {
		if (f->waits[node] == IR_NONE)
			return IR_NONE;
		uint32_t next = way_on(f, node);
		if (next == IR_NONE)
			return node;
		node = next;
	}
	return IR_NONE; /* in a circle with the lock free, or too far away */
}

/* Do its steps that take nothing stay with nodes of the same taker? */
static bool stays(const struct flow *f, uint32_t node)
{
	uint32_t n;
	const struct outcome *e = edges_of(f, node, &n);
	for (uint32_t i = 0; i < n; i++)
		if (!takes(&e[i]) && (f->waits[e[i].succ] != f->waits[node] || f->focus[e[i].succ] != f->focus[node] ||
		                      f->ir->nodes[e[i].succ].block != f->ir->nodes[node].block))
			return false;
	return true;
}

void spin_wait_find(struct flow *f)
{
	for (uint32_t id = 0; id < f->ir->nnodes; id++)
		f->waits[id] = may_wait(f, id) ? id : IR_NONE;
	bool again = true;
	for (uint32_t round = 0; again; round++) {
		assert(round <= ROUNDS + 1);
		again = false;
		for (uint32_t id = 0; id < f->ir->nnodes; id++)
			if (f->waits[id] != IR_NONE)
				f->waits[id] = round < ROUNDS ? find_taker(f, id) : IR_NONE;
		for (uint32_t id = 0; id < f->ir->nnodes; id++)
			if (f->waits[id] != IR_NONE && !stays(f, id)) {
				f->waits[id] = IR_NONE;
				again = true;
			}
	}
}
