/* Handed on through a third thread, or not.
 * intact: race x */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int x, y;
static int a, b;
static void *first(void *p)
{
	x = 1; /* @race */
	__atomic_store_n(&a, 1, __ATOMIC_RELEASE);
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	__atomic_load_n(&a, __ATOMIC_ACQUIRE);
	__atomic_store_n(&b, 1, RACY(__ATOMIC_RELAXED) FIX(__ATOMIC_RELEASE));
	at(3);
	return p;
}
static void *third(void *p)
{
	at(4);
	__atomic_load_n(&b, __ATOMIC_ACQUIRE);
	x = 2; /* @race */
	return p;
}
int main(void)
{
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	run3(first, second, third);
	return 0;
}
