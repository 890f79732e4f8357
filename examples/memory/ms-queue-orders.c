/*
 * The queue of Michael and Scott with acquire and release. With -DBROKEN a new node is linked by a relaxed compare-and-swap: who takes it
 * may find the node as it was before it was filled. `intact explore --memory=c11` shows it.
 */
#include <intact/test.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef BROKEN
#define LINK memory_order_relaxed
#else
#define LINK memory_order_release
#endif

struct node {
	_Atomic long value;
	struct node *_Atomic next;
};

struct queue {
	struct node *_Atomic head, *_Atomic tail;
	struct node node[16]; /* the first is the dummy, then one for each value */
};

static void *create(void)
{
	struct queue *q = calloc(1, sizeof *q);
	atomic_init(&q->head, q->node);
	atomic_init(&q->tail, q->node);
	return q;
}

static long enqueue(void *object, const long *arg)
{
	struct queue *q = object;
	struct node *n = &q->node[arg[0]];
	atomic_store_explicit(&n->value, arg[0], memory_order_relaxed);
	for (;;) {
		struct node *tail = atomic_load_explicit(&q->tail, memory_order_acquire);
		struct node *next = atomic_load_explicit(&tail->next, memory_order_acquire);
		if (!next && atomic_compare_exchange_strong_explicit(&tail->next, &next, n, LINK, memory_order_relaxed)) {
			atomic_compare_exchange_strong_explicit(&q->tail, &tail, n, memory_order_release, memory_order_relaxed);
			return INTACT_VOID;
		}
		next = atomic_load_explicit(&tail->next, memory_order_acquire);
		atomic_compare_exchange_strong_explicit(&q->tail, &tail, next, memory_order_release, memory_order_relaxed);
	}
}

static long dequeue(void *object, const long *arg)
{
	struct queue *q = object;
	(void)arg;
	for (;;) {
		struct node *head = atomic_load_explicit(&q->head, memory_order_acquire);
		struct node *next = atomic_load_explicit(&head->next, memory_order_acquire);
		if (!next)
			return INTACT_EMPTY;
		long value = atomic_load_explicit(&next->value, memory_order_relaxed);
		if (atomic_compare_exchange_strong_explicit(&q->head, &head, next, memory_order_acq_rel, memory_order_relaxed))
			return value;
	}
}

static const struct intact_test queue = {
	.name = "queue",
	.create = create,
	.destroy = free,
	.operations = { INTACT_OPERATION(enqueue, .arg = { INTACT_UNIQUE }), INTACT_OPERATION(dequeue) },
};
INTACT_TEST_MAIN(queue)
