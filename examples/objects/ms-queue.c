/*
 * The queue of Michael and Scott. Nodes that were dequeued are left alone; hazard-pointers.c shows when they can be freed. With -DBROKEN an enqueuer that has
 * found the end of the list links its node there by a store and not by a compare-and-swap: the node of another one that came in
 * between is lost.
 */
#include <intact/test.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
	struct node *_Atomic next;
	long value;
};

struct queue {
	struct node *_Atomic head, *_Atomic tail;
};

static struct node *node_new(long value)
{
	struct node *n = calloc(1, sizeof *n);
	n->value = value;
	return n;
}

static void *create(void)
{
	struct queue *q = calloc(1, sizeof *q);
	struct node *dummy = node_new(0);
	atomic_store(&q->head, dummy);
	atomic_store(&q->tail, dummy);
	return q;
}

static void destroy(void *object)
{
	struct queue *q = object;
	for (struct node *n = atomic_load(&q->head), *next; n; n = next) {
		next = atomic_load(&n->next);
		free(n);
	}
	free(q);
}

static long enqueue(void *object, const long *arg)
{
	struct queue *q = object;
	struct node *n = node_new(arg[0]), *tail, *next;
	for (;;) {
		tail = atomic_load(&q->tail);
		next = atomic_load(&tail->next);
		if (next) {
			atomic_compare_exchange_strong(&q->tail, &tail, next);
			continue;
		}
#ifdef BROKEN
		atomic_store(&tail->next, n);
		break;
#else
		if (atomic_compare_exchange_strong(&tail->next, &next, n))
			break;
#endif
	}
	atomic_compare_exchange_strong(&q->tail, &tail, n);
	return INTACT_VOID;
}

static long dequeue(void *object, const long *arg)
{
	struct queue *q = object;
	(void)arg;
	for (;;) {
		struct node *head = atomic_load(&q->head), *tail = atomic_load(&q->tail), *next = atomic_load(&head->next);
		if (!next)
			return INTACT_EMPTY;
		if (head == tail) {
			atomic_compare_exchange_strong(&q->tail, &tail, next);
			continue;
		}
		if (atomic_compare_exchange_strong(&q->head, &head, next))
			return next->value;
	}
}

static const struct intact_test queue = {
	.name = "ms-queue",
	.progress = "lock-free",
	.create = create,
	.destroy = destroy,
	.spec = "queue",
	.operations = { INTACT_OPERATION(enqueue, .arg = { INTACT_UNIQUE }), INTACT_OPERATION(dequeue) },
};
INTACT_TEST_MAIN(queue)
