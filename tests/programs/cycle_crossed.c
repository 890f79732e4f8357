/* Two marked blocks, each half before and half behind the other: neither is at
 * fault without the other, and every access is under its lock.
 * intact: find right confirmed */
#include <intact/annotate.h>
#include <pthread.h>
#include "sched.h"
static int x, y;
static void *left(void *arg)
{
	INTACT_ATOMIC("left");
	at(1);
	x = 1;
	at(2);
	at(5);
	y = 1;
	at(6);
	at(8);
	return arg;
}
static void right(void)
{
	INTACT_ATOMIC("right");
	while (sched_step < 2)
		sched_yield();
	y = 2;
	at(3);
	at(4);
	while (sched_step < 6)
		sched_yield();
	x = 2; /* @violation */
	at(7);
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, left, NULL);
	right();
	pthread_join(t, NULL);
	return x == 2 && y == 1 ? 0 : 1;
}
