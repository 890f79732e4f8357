/* One reader of a lock writes other data, the next reads them.
 * intact: race x */
#include "race.h"
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static volatile int x, y;
static void *first(void *p)
{
	x = 1; /* @race */
	FIX(pthread_rwlock_wrlock(&l);)
	RACY(pthread_rwlock_rdlock(&l);)
	pthread_rwlock_unlock(&l);
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	pthread_rwlock_rdlock(&l);
	pthread_rwlock_unlock(&l);
	y = x; /* @race */
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
