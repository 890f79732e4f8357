/* Three threads take three locks in a circle; in the twin the last takes them as the others.
 * intact: locks lock order */
#include "race.h"
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, c = PTHREAD_MUTEX_INITIALIZER;
static void both(pthread_mutex_t *x, pthread_mutex_t *y)
{
	pthread_mutex_lock(x); /* @race */
	pthread_mutex_lock(y); /* @race */
	pthread_mutex_unlock(y);
	pthread_mutex_unlock(x);
}
static void *first(void *p)
{
	both(&a, &b);
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	both(&b, &c);
	at(3);
	return p;
}
static void *third(void *p)
{
	at(4);
	both(RACY(&c) FIX(&a), RACY(&a) FIX(&c));
	return p;
}
int main(void)
{
	run3(first, second, third);
	return 0;
}
