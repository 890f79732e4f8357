#include "dynamic/stack.h"

#define STACK_HEADS (1u << 18)

bool stack_init(struct stack_tree *t)
{
	*t = (struct stack_tree){ .n = 1 };
	t->nodes = pages_map(STACK_MAX_NODES * sizeof *t->nodes);
	t->heads = pages_map(STACK_HEADS * sizeof *t->heads);
	if (t->nodes && t->heads)
		return true;
	stack_free(t);
	return false;
}

void stack_free(struct stack_tree *t)
{
	if (t->nodes)
		pages_unmap(t->nodes, STACK_MAX_NODES * sizeof *t->nodes);
	if (t->heads)
		pages_unmap(t->heads, STACK_HEADS * sizeof *t->heads);
	*t = (struct stack_tree){ .n = 1 };
}

static uint32_t lookup(const struct stack_tree *t, uint32_t head, uint32_t parent, uint64_t pc)
{
	while (head) {
		const struct stack_node *n = &t->nodes[head];
		if (n->pc == pc && n->parent == parent)
			return head;
		head = n->next;
	}
	return 0;
}

uint32_t stack_push(struct stack_tree *t, uint32_t parent, uint64_t pc)
{
	uint64_t h = mix64(pc ^ (uint64_t)parent << 40);
	uint32_t *head = &t->heads[h % STACK_HEADS];
	uint32_t id = lookup(t, __atomic_load_n(head, __ATOMIC_ACQUIRE), parent, pc);
	if (id)
		return id;
	spin_lock(&t->lock[h % 64]);
	id = lookup(t, *head, parent, pc);
	if (!id) {
		id = __atomic_fetch_add(&t->n, 1, __ATOMIC_RELAXED);
		if (id >= STACK_MAX_NODES) {
			__atomic_store_n(&t->n, STACK_MAX_NODES, __ATOMIC_RELAXED);
			id = parent;
		} else {
			t->nodes[id] = (struct stack_node){ pc, parent, *head };
			__atomic_store_n(head, id, __ATOMIC_RELEASE);
		}
	}
	spin_unlock(&t->lock[h % 64]);
	return id;
}

uint32_t stack_move(struct stack_tree *t, uint64_t lo, uint64_t hi, uint64_t delta)
{
	uint32_t n = __atomic_load_n(&t->n, __ATOMIC_ACQUIRE), moved = 0;
	for (uint32_t i = 1; i < n && i < STACK_MAX_NODES; i++) {
		uint64_t pc = t->nodes[i].pc & STACK_PC;
		if (pc <= lo || pc > hi)
			continue;
		__atomic_store_n(&t->nodes[i].pc, t->nodes[i].pc + delta, __ATOMIC_RELAXED);
		moved++;
	}
	return moved;
}

uint32_t stack_walk(const struct stack_tree *t, uint32_t id, uint64_t *pcs, uint32_t max)
{
	uint32_t n = 0;
	for (; id && n < max; id = t->nodes[id].parent)
		pcs[n++] = t->nodes[id].pc;
	return n;
}
