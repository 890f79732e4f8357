/*
 * A bounded queue whose operations wait: put while it is full, take while it is empty. With -DBROKEN there is one condition
 * variable for both and a signal wakes one thread, which may be the wrong one: then all wait, though the queue is not empty.
 */
#include <intact/test.h>
#include <pthread.h>
#include <stdlib.h>

enum { ROOM = 1 };

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	long item[ROOM];
	int n;
};

static void *create(void)
{
	struct queue *q = calloc(1, sizeof *q);
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->changed, NULL);
	return q;
}

static void wake(struct queue *q)
{
#ifdef BROKEN
	pthread_cond_signal(&q->changed);
#else
	pthread_cond_broadcast(&q->changed);
#endif
}

static long put(void *object, const long *arg)
{
	struct queue *q = object;
	pthread_mutex_lock(&q->lock);
	while (q->n == ROOM)
		pthread_cond_wait(&q->changed, &q->lock);
	q->item[q->n++] = arg[0];
	wake(q);
	pthread_mutex_unlock(&q->lock);
	return INTACT_VOID;
}

static long take(void *object, const long *arg)
{
	struct queue *q = object;
	(void)arg;
	pthread_mutex_lock(&q->lock);
	while (!q->n)
		pthread_cond_wait(&q->changed, &q->lock);
	long value = q->item[0];
	for (int i = 1; i < q->n; i++)
		q->item[i - 1] = q->item[i];
	q->n--;
	wake(q);
	pthread_mutex_unlock(&q->lock);
	return value;
}

static const struct intact_test queue = {
	.name = "work-queue",
	.create = create,
	.destroy = free,
	.operations = {
		INTACT_OPERATION(put, .arg = { INTACT_UNIQUE }, .flags = INTACT_BLOCKS),
		INTACT_OPERATION(take, .flags = INTACT_BLOCKS),
	},
};
INTACT_TEST_MAIN(queue)
