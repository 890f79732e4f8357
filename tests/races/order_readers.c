/* A mutex and a lock for readers in two orders; in the twin both are readers of that.
 * intact: locks lock order */
#include "race.h"
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER, r = PTHREAD_RWLOCK_INITIALIZER;
static void *first(void *p)
{
	RACY(pthread_rwlock_wrlock(&l); /* @race */)
	FIX(pthread_rwlock_rdlock(&l);)
	pthread_rwlock_rdlock(&r); /* @race */
	pthread_rwlock_unlock(&r);
	pthread_rwlock_unlock(&l);
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	RACY(pthread_rwlock_wrlock(&r); /* @race */)
	FIX(pthread_rwlock_rdlock(&r);)
	pthread_rwlock_rdlock(&l); /* @race */
	pthread_rwlock_unlock(&l);
	pthread_rwlock_unlock(&r);
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
