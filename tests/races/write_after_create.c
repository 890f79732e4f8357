/* The argument is changed after the thread was made.
 * intact: race arg */
#include "race.h"
static volatile int arg, y;
static void *work(void *p)
{
	RACY(at(2);)
	y = arg; /* @race */
	return p;
}
int main(void)
{
	pthread_t t;
	FIX(arg = 1;)
	pthread_create(&t, NULL, work, NULL);
	RACY(arg = 1; /* @race */)
	RACY(at(1);)
	pthread_join(t, NULL);
	return 0;
}
