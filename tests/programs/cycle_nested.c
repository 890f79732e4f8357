/* A marked block inside another: the inner one holds both ends of the cycle.
 * intact: find inner confirmed */
#include <intact/annotate.h>
#include <pthread.h>
#include "sched.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x, log_lines;
static void inner(void)
{
	INTACT_ATOMIC("inner"); /* @entered */
	pthread_mutex_lock(&m);
	int v = x;
	pthread_mutex_unlock(&m); /* @commit */
	at(1);
	at(3);
	pthread_mutex_lock(&m); /* @violation */
	x = v + 1;
	pthread_mutex_unlock(&m);
}
static void outer(void)
{
	INTACT_ATOMIC("outer");
	log_lines++;
	inner();
	log_lines++;
}
static void *other(void *arg)
{
	while (sched_step < 1)
		sched_yield();
	pthread_mutex_lock(&m);
	x += 10;
	pthread_mutex_unlock(&m);
	at(2);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, other, NULL);
	outer();
	pthread_join(t, NULL);
	return x == 1 && log_lines == 2 ? 0 : 1;
}
