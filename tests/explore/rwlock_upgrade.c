/* explore: find assertion
 * What was read under the read lock is old by the time the write lock is there. */
#include <assert.h>
#include <pthread.h>

static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static int count;

static void *worker(void *arg)
{
#ifdef FIXED
	pthread_rwlock_wrlock(&l);
	count++;
	pthread_rwlock_unlock(&l);
#else
	pthread_rwlock_rdlock(&l);
	int v = count;
	pthread_rwlock_unlock(&l);
	pthread_rwlock_wrlock(&l);
	count = v + 1;
	pthread_rwlock_unlock(&l);
#endif
	return arg;
}

int main(void)
{
	pthread_t t, u;
	pthread_create(&t, NULL, worker, NULL);
	pthread_create(&u, NULL, worker, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	assert(count == 2);
	return 0;
}
