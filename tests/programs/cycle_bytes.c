/* Two halves of eight bytes, a thread each: no cycle between different bytes.
 * intact: none */
#include <intact/annotate.h>
#include <pthread.h>
#include "sched.h"
static struct { int mine, its; } both __attribute__((aligned(8)));
static void bump(void)
{
	INTACT_ATOMIC("bump");
	int h = both.mine;
	at(1);
	at(3);
	both.mine = h + 1;
}
static void *other(void *arg)
{
	while (sched_step < 1)
		sched_yield();
	both.its += 5;
	at(2);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, other, NULL);
	bump();
	pthread_join(t, NULL);
	return both.mine == 1 && both.its == 5 ? 0 : 1;
}
