/* Threads get the address of the loop variable.
 * intact: race heap */
#include "race.h"
static volatile int sum;
static void *work(void *p)
{
	int v = *(volatile int *)p; /* @race */
	__atomic_fetch_add(&sum, v, __ATOMIC_SEQ_CST);
	at(1);
	return p;
}
int main(void)
{
	pthread_t t;
	volatile int i = 7;
	int own = 7;
	pthread_create(&t, NULL, work, RACY((void *)(size_t)&i) FIX(&own));
	at(2);
	i = 8; /* @race */
	pthread_join(t, NULL);
	return 0;
}
