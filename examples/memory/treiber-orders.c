/*
 * Treiber's stack with acquire and release. With -DBROKEN a push publishes its node by a relaxed compare-and-swap: who pops it may
 * find the node as it was before it was filled. `intact explore --memory=c11` shows it.
 */
#include <intact/test.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef BROKEN
#define PUBLISH memory_order_relaxed
#else
#define PUBLISH memory_order_release
#endif

struct node {
	_Atomic long value;
	struct node *_Atomic next;
};

struct stack {
	struct node *_Atomic top;
	struct node node[16]; /* one for each value: memory is not used again */
};

static void *create(void)
{
	return calloc(1, sizeof(struct stack));
}

static long push(void *object, const long *arg)
{
	struct stack *s = object;
	struct node *n = &s->node[arg[0]], *top = atomic_load_explicit(&s->top, memory_order_relaxed);
	atomic_store_explicit(&n->value, arg[0], memory_order_relaxed);
	do
		atomic_store_explicit(&n->next, top, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&s->top, &top, n, PUBLISH, memory_order_relaxed));
	return INTACT_VOID;
}

static long pop(void *object, const long *arg)
{
	struct stack *s = object;
	struct node *top = atomic_load_explicit(&s->top, memory_order_acquire);
	(void)arg;
	while (top) {
		struct node *next = atomic_load_explicit(&top->next, memory_order_relaxed);
		if (atomic_compare_exchange_weak_explicit(&s->top, &top, next, memory_order_acquire, memory_order_acquire))
			return atomic_load_explicit(&top->value, memory_order_relaxed);
	}
	return INTACT_EMPTY;
}

static const struct intact_test stack = {
	.name = "stack",
	.create = create,
	.destroy = free,
	.operations = { INTACT_OPERATION(push, .arg = { INTACT_UNIQUE }), INTACT_OPERATION(pop) },
};
INTACT_TEST_MAIN(stack)
