/*
 * A stack whose nodes are freed as soon as no thread has announced that it looks at them (hazard pointers; one for each
 * thread). With -DBROKEN a thread that has announced a node does not look again whether it is still the top: it may have been freed
 * between the load and the announcement, and the explorer reports the use of freed memory.
 */
#include <intact/test.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { THREADS = 9, RETIRED = 16 };

struct node {
	struct node *next;
	long value;
};

struct stack {
	struct node *_Atomic top;
	struct node *_Atomic hazard[THREADS];
	_Atomic int threads;
	struct node *retired[THREADS][RETIRED]; /* each thread has its own */
};

static _Thread_local int self; /* its number from 1; 0: none yet */

static int number(struct stack *s)
{
	if (!self)
		self = atomic_fetch_add(&s->threads, 1) + 1;
	return self - 1;
}

static void *create(void)
{
	return calloc(1, sizeof(struct stack));
}

static void destroy(void *object)
{
	struct stack *s = object;
	for (struct node *n = atomic_load(&s->top), *next; n; n = next) {
		next = n->next;
		free(n);
	}
	for (int t = 0; t < THREADS; t++)
		for (int i = 0; i < RETIRED; i++)
			free(s->retired[t][i]);
	free(s);
}

static void retire(struct stack *s, struct node *n)
{
	struct node **mine = s->retired[number(s)];
	int i = 0;
	while (mine[i])
		i++;
	mine[i] = n;
	for (i = 0; i < RETIRED; i++) {
		int used = !mine[i];
		for (int t = 0; t < THREADS && !used; t++)
			used = atomic_load(&s->hazard[t]) == mine[i];
		if (!used) {
			free(mine[i]);
			mine[i] = NULL;
		}
	}
}

static long push(void *object, const long *arg)
{
	struct stack *s = object;
	struct node *n = malloc(sizeof *n);
	n->value = arg[0];
	n->next = atomic_load(&s->top);
	while (!atomic_compare_exchange_strong(&s->top, &n->next, n))
		;
	return INTACT_VOID;
}

static long pop(void *object, const long *arg)
{
	struct stack *s = object;
	struct node *n, *_Atomic *hazard = &s->hazard[number(s)];
	(void)arg;
	for (;;) {
		n = atomic_load(&s->top);
		if (!n)
			break;
		atomic_store(hazard, n);
#ifndef BROKEN
		if (atomic_load(&s->top) != n)
			continue;
#endif
		struct node *expected = n;
		if (atomic_compare_exchange_strong(&s->top, &expected, n->next))
			break;
	}
	atomic_store(hazard, NULL);
	if (!n)
		return INTACT_EMPTY;
	long value = n->value;
	retire(s, n);
	return value;
}

static const struct intact_test stack = {
	.name = "hazard-pointers",
	.progress = "lock-free",
	.create = create,
	.destroy = destroy,
	.before = { { "push", { 100 } } },
	.operations = { INTACT_OPERATION(push, .arg = { INTACT_UNIQUE }), INTACT_OPERATION(pop) },
	.spec = "stack",
};
INTACT_TEST_MAIN(stack)
