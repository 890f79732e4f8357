/* Two locks in two orders; the twin has one order.
 * intact: locks lock order */
#include "race.h"
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *first(void *p)
{
	pthread_mutex_lock(&a); /* @race */
	pthread_mutex_lock(&b); /* @race */
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	pthread_mutex_lock(RACY(&b) FIX(&a)); /* @race */
	pthread_mutex_lock(RACY(&a) FIX(&b)); /* @race */
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);

	return p;
}
int main(void)
{
	pthread_mutex_trylock(&a);
	pthread_mutex_unlock(&a);
	pthread_mutex_trylock(&b);
	pthread_mutex_unlock(&b);
	run2(first, second);
	return 0;
}
