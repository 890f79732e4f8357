/* The result is read before the join.
 * intact: race x */
#include "race.h"
static volatile int x, y;
static void *work(void *p)
{
	x = 1; /* @race */
	at(1);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, work, NULL);
	at(2);
	FIX(pthread_join(t, NULL);)
	y = x; /* @race */
	RACY(pthread_join(t, NULL);)
	return 0;
}
