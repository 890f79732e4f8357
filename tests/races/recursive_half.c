/* A recursive lock is taken once and given back too often by the other.
 * intact: race x */
#define _GNU_SOURCE
#include "race.h"
static pthread_mutex_t m;
static volatile int x;
static void *first(void *p)
{
	pthread_mutex_lock(&m);
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	RACY(pthread_mutex_unlock(&m);)
	x = 1; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	pthread_mutex_lock(&m);
	x = 2; /* @race */
	pthread_mutex_unlock(&m);
	return p;
}
int main(void)
{
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&m, &a);
	run2(first, second);
	return 0;
}
