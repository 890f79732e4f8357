/* Unprotected read, then unprotected write, in a marked block.
 * intact: find bump any */
#include <intact/annotate.h>
#include <pthread.h>
#include "sched.h"
static int hits;
static void bump(void)
{
	INTACT_BEGIN("bump"); /* @entered */
	int r = hits; /* @commit */
	hits = r + 1; /* @violation */
	INTACT_END();
}
static void *one(void *arg)
{
	bump();
	at(1);
	at(3);
	bump();
	return arg;
}
static void *two(void *arg)
{
	while (sched_step < 1)
		sched_yield();
	bump();
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
	return hits == 3 ? 0 : 1;
}
