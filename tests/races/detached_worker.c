/* Nobody waits for a detached thread.
 * intact: race x */
#include "race.h"
static volatile int x;
static int done;
static void *work(void *p)
{
	x = 1; /* @race */
	FIX(__atomic_store_n(&done, 1, __ATOMIC_RELEASE);)
	at(1);
	return p;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, work, NULL);
	pthread_detach(t);
	at(2);
	FIX(while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE));)
	x = 2; /* @race */
	return done > 1;
}
