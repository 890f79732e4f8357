/* Threads that never ran at the same time, without a join between.
 * intact: race x */
#include "race.h"
static volatile int x;
static void *work(void *p)
{
	at(p ? 2 : 1);
	x++; /* @race */
	return p;
}
int main(void)
{
	pthread_t t, u;
	pthread_create(&t, NULL, work, NULL);
	FIX(pthread_join(t, NULL);)
	pthread_create(&u, NULL, work, &t);
	RACY(pthread_join(t, NULL);)
	pthread_join(u, NULL);
	return 0;
}
