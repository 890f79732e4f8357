/*
 * A bounded queue tested for atomicity with intact/history.h. Threads enqueue
 * and dequeue; then the history is checked.
 *
 *     cc -O2 ring.c -lintact -lpthread -o ring && ./ring
 *
 * `./ring broken` takes a lock-free-looking shortcut: it reads the head before
 * it takes the lock, so two threads can take the same value.
 */
#include <intact/history.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#define THREADS 4
#define ROUNDS 5000
#define SIZE 64

static int64_t ring[SIZE];
static unsigned head, tail;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int broken;

static int enqueue(int64_t v)
{
	pthread_mutex_lock(&lock);
	int ok = tail - head < SIZE;
	if (ok)
		ring[tail++ % SIZE] = v;
	pthread_mutex_unlock(&lock);
	return ok;
}

static int dequeue(int64_t *v)
{
	unsigned h = __atomic_load_n(&head, __ATOMIC_RELAXED);
	if (broken)
		sched_yield(); /* the window, opened wide */
	pthread_mutex_lock(&lock);
	if (!broken)
		h = head;
	int ok = h < tail;
	if (ok) {
		*v = ring[h % SIZE];
		__atomic_store_n(&head, h + 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&lock);
	return ok;
}

static void *work(void *history)
{
	static int64_t ids;
	int64_t id = __atomic_fetch_add(&ids, 1, __ATOMIC_RELAXED), v;
	struct intact_recorder *r = intact_history_recorder(history);
	for (int64_t i = 0; i < ROUNDS; i++) {
		intact_invoke(r, INTACT_ENQUEUE, id * ROUNDS + i);
		if (enqueue(id * ROUNDS + i))
			intact_return(r, 0);
		else
			intact_cancel(r); /* full */
		intact_invoke(r, INTACT_DEQUEUE, 0);
		if (dequeue(&v))
			intact_return(r, v);
		else
			intact_return_empty(r);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct intact_history *h = intact_history_new(INTACT_QUEUE, 0);
	pthread_t t[THREADS];
	broken = argc > 1 && !strcmp(argv[1], "broken");
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, h);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	enum intact_verdict v = intact_history_check(h);
	fputs(intact_history_report(h), stdout);
	intact_history_free(h);
	return (int)v;
}
