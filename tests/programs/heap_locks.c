/* Locks on the heap have no names: one is called by where it was initialised, one
 * that was made of zeros by where it was first taken.
 * intact: find move predicted
 * intact: says (made in queue_new, heap_locks.c:19)
 * intact: says (first taken in push, heap_locks.c:24) */
#include <pthread.h>
#include <stdlib.h>
#include "sched.h"
struct queue {
	pthread_mutex_t made, zeros;
	int a, b;
};
static struct queue *q;
__attribute__((noinline)) static struct queue *queue_new(void)
{
	struct queue *n = calloc(1, sizeof *n);
	if (!n)
		abort();
	pthread_mutex_init(&n->made, NULL); /* line 19 */
	return n;
}
__attribute__((noinline)) static void push(int v)
{
	pthread_mutex_lock(&q->zeros); /* line 24 */
	q->b = v;
	pthread_mutex_unlock(&q->zeros);
}
static int pop(void)
{
	pthread_mutex_lock(&q->made);
	int v = q->a++;
	pthread_mutex_unlock(&q->made);
	return v;
}
static void move(void)
{
	pop();
	push(pop());
	push(1);
}
static void *worker(void *arg)
{
	at(2);
	move();
	return arg;
}
int main(void)
{
	pthread_t t;
	q = queue_new();
	pthread_create(&t, NULL, worker, NULL);
	push(pop());
	at(1);
	pthread_join(t, NULL);
	return 0;
}
