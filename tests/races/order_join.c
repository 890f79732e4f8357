/* Two orders; in the twin the second thread is made after the first has ended.
 * intact: locks lock order */
#include "race.h"
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *first(void *p)
{
	pthread_mutex_lock(&a); /* @race */
	pthread_mutex_lock(&b); /* @race */
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
	RACY(at(1);)
	return p;
}
static void *second(void *p)
{
	RACY(at(2);)
	pthread_mutex_lock(&b); /* @race */
	pthread_mutex_lock(&a); /* @race */
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
	FIX(pthread_t t; pthread_create(&t, NULL, first, NULL); pthread_join(t, NULL);)
	FIX(pthread_create(&t, NULL, second, NULL); pthread_join(t, NULL);)
	RACY(run2(first, second);)
	return 0;
}
