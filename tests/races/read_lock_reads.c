/* A writer with a read lock, a reader with one, too.
 * intact: race x */
#include "race.h"
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static volatile int x, y;
static void *first(void *p)
{
	FIX(pthread_rwlock_wrlock(&l);)
	RACY(pthread_rwlock_rdlock(&l);)
	x = 1; /* @race */
	pthread_rwlock_unlock(&l);
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	pthread_rwlock_rdlock(&l);
	y = x; /* @race */
	pthread_rwlock_unlock(&l);
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
