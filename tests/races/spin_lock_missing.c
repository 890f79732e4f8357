/* Only one side takes the spin lock.
 * intact: race x */
#include "race.h"
static pthread_spinlock_t s;
static volatile int x;
static void *first(void *p)
{
	pthread_spin_lock(&s);
	x = 1; /* @race */
	pthread_spin_unlock(&s);
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	FIX(pthread_spin_lock(&s);)
	x = 2; /* @race */
	FIX(pthread_spin_unlock(&s);)
	return p;
}
int main(void)
{
	pthread_spin_init(&s, 0);
	run2(first, second);
	pthread_spin_destroy(&s);
	return 0;
}
