/* Two accesses of a marked block under one lock each time, the other thread's
 * write in between: read, its write, write.
 * intact: find bump confirmed */
#include <intact/annotate.h>
#include <pthread.h>
#include "sched.h"
static int hits;
static void bump(void)
{
	INTACT_ATOMIC("bump"); /* @entered */
	int h = hits; /* @commit */
	at(1);
	at(3);
	hits = h + 1; /* @violation */
}
static void *one(void *arg)
{
	bump();
	return arg;
}
static void *two(void *arg)
{
	while (sched_step < 1)
		sched_yield();
	hits = 10;
	at(2);
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, one, NULL);
	pthread_create(&b, NULL, two, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return hits == 1 ? 0 : 1;
}
