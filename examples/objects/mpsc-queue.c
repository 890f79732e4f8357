/*
 * Vyukov's queue for many producers and one consumer: a producer puts its node at the end by an exchange and links it
 * afterwards. Until then the consumer cannot reach what comes behind: it reports an empty queue, so that the queue is quiescently consistent
 * and lock-free. With -DBROKEN the consumer waits for the link. Then the queue is linearizable, but no longer lock-free: a producer
 * that is interrupted between the two steps stops the consumer, as a lock would.
 */
#include <intact/test.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
	struct node *_Atomic next;
	long value;
};

struct queue {
	struct node *_Atomic tail;
	struct node *head; /* the consumer's */
};

static void *create(void)
{
	struct queue *q = calloc(1, sizeof *q);
	q->head = calloc(1, sizeof *q->head);
	atomic_store(&q->tail, q->head);
	return q;
}

static void destroy(void *object)
{
	struct queue *q = object;
	for (struct node *n = q->head, *next; n; n = next) {
		next = atomic_load(&n->next);
		free(n);
	}
	free(q);
}

static long put(void *object, const long *arg)
{
	struct queue *q = object;
	struct node *n = calloc(1, sizeof *n);
	n->value = arg[0];
	struct node *before = atomic_exchange(&q->tail, n);
	atomic_store(&before->next, n);
	return INTACT_VOID;
}

static long take(void *object, const long *arg)
{
	struct queue *q = object;
	struct node *old = q->head, *next;
	(void)arg;
#ifdef BROKEN
	if (atomic_load(&q->tail) == old)
		return INTACT_EMPTY;
	while (!(next = atomic_load(&old->next)))
		;
#else
	next = atomic_load(&old->next);
	if (!next)
		return INTACT_EMPTY;
#endif
	long value = next->value;
	q->head = next;
	free(old);
	return value;
}

static const struct intact_test queue = {
	.name = "mpsc-queue",
	.create = create,
	.destroy = destroy,
#ifndef BROKEN
	.condition = "quiescent",
#endif
	.progress = "lock-free",
	.operations = {
		INTACT_OPERATION(take, .threads = INTACT_THREAD(1)),
		INTACT_OPERATION(put, .arg = { INTACT_UNIQUE }, .threads = INTACT_THREADS_FROM(2)),
	},
};
INTACT_TEST_MAIN(queue)
