/* A cycle through two other threads: what the block wrote under one lock is
 * read by a second thread, passed to a third, and comes back under another lock.
 * No two sections of the block are of the same lock.
 * intact: find publish confirmed */
#include <intact/annotate.h>
#include <pthread.h>
#include "sched.h"
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER,
	c = PTHREAD_MUTEX_INITIALIZER;
static int x, y, z;
static int locked(pthread_mutex_t *m, int *p, int add)
{
	pthread_mutex_lock(m);
	int v = *p += add;
	pthread_mutex_unlock(m);
	return v;
}
static int publish(void)
{
	INTACT_ATOMIC("publish"); /* @entered */
	locked(&a, &x, 1);
	at(1);
	at(4);
	return locked(&c, &z, 0);
}
static void *second(void *arg)
{
	while (sched_step < 1)
		sched_yield();
	int v = locked(&a, &x, 0);
	locked(&b, &y, v);
	at(2);
	return arg;
}
static void *third(void *arg)
{
	while (sched_step < 2)
		sched_yield();
	int v = locked(&b, &y, 0);
	locked(&c, &z, v);
	at(3);
	return arg;
}
int main(void)
{
	pthread_t s, t;
	pthread_create(&s, NULL, second, NULL);
	pthread_create(&t, NULL, third, NULL);
	int v = publish();
	pthread_join(s, NULL);
	pthread_join(t, NULL);
	return v == 1 ? 0 : 1;
}
