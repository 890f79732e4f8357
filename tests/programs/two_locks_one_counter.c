/* One counter, read under one lock and written back under another.
 * intact: find move confirmed */
#include <pthread.h>
#include "sched.h"
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void move(int wait)
{ /* @entered */
	pthread_mutex_lock(&a);
	int v = n; /* @commit */
	pthread_mutex_unlock(&a);
	if (wait) {
		at(3);
		at(5);
	}
	pthread_mutex_lock(&b);
	n = v + 1; /* @violation */
	pthread_mutex_unlock(&b);
}
static void *other(void *arg)
{
	move(0);
	at(1);
	while (sched_step < 3)
		sched_yield();
	move(0);
	at(4);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, other, NULL);
	at(2);
	move(0);
	move(1);
	pthread_join(t, NULL);
	return n == 3 ? 0 : 1;
}
