/*
 * Treiber's stack, with nodes that are used again. With -DBROKEN the top is the number of a node alone: between the
 * load of the top and the compare-and-swap another thread can pop the node, pop the next one and push the first again, and the
 * compare-and-swap succeeds although what it believes about the next node is wrong (ABA). Otherwise the top has a
 * version that grows with every change.
 */
#include <intact/test.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { NODES = 16, NIL = 0 };

struct stack {
	_Atomic unsigned long top, unused; /* version << 8 | node */
	_Atomic unsigned next[NODES];
	long value[NODES];
};

static unsigned long changed(unsigned long old, unsigned node)
{
#ifdef BROKEN
	(void)old;
	return node;
#else
	return ((old >> 8) + 1) << 8 | node;
#endif
}

static void push_node(struct stack *s, _Atomic unsigned long *top, unsigned node)
{
	unsigned long old = atomic_load(top);
	do
		atomic_store(&s->next[node], (unsigned)(old & 255));
	while (!atomic_compare_exchange_weak(top, &old, changed(old, node)));
}

static unsigned pop_node(struct stack *s, _Atomic unsigned long *top)
{
	unsigned long old = atomic_load(top);
	while ((old & 255) != NIL) {
		unsigned next = atomic_load(&s->next[old & 255]);
		if (atomic_compare_exchange_weak(top, &old, changed(old, next)))
			break;
	}
	return old & 255;
}

static void *create(void)
{
	struct stack *s = calloc(1, sizeof *s);
	for (unsigned i = NODES - 1; s && i > 0; i--)
		push_node(s, &s->unused, i);
	return s;
}

static long push(void *object, const long *arg)
{
	struct stack *s = object;
	unsigned node = pop_node(s, &s->unused);
	if (node == NIL)
		return INTACT_FULL;
	s->value[node] = arg[0];
	push_node(s, &s->top, node);
	return INTACT_VOID;
}

static long pop(void *object, const long *arg)
{
	struct stack *s = object;
	unsigned node = pop_node(s, &s->top);
	(void)arg;
	if (node == NIL)
		return INTACT_EMPTY;
	long value = s->value[node];
	push_node(s, &s->unused, node);
	return value;
}

static const struct intact_test stack = {
	.name = "treiber-stack",
	.create = create,
	.destroy = free,
	.before = { { "push", { 100 } }, { "push", { 101 } } },
	.operations = { INTACT_OPERATION(push, .arg = { INTACT_UNIQUE }), INTACT_OPERATION(pop) },
	.spec = "stack",
};
INTACT_TEST_MAIN(stack)
