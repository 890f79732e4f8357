/* explore: find assertion
 * A wait that can time out is taken for a success. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;

static void *producer(void *arg)
{
	struct timespec day = { 24 * 3600, 0 };
	nanosleep(&day, NULL);
	pthread_mutex_lock(&m);
	ready = 1;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	return arg;
}

int main(void)
{
	pthread_t t;
	struct timespec until, up;
	clock_gettime(CLOCK_MONOTONIC, &up);
	assert(up.tv_sec > 0);
	pthread_create(&t, NULL, producer, NULL);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 3600;
	pthread_mutex_lock(&m);
	int r = 0;
	while (!ready && r != ETIMEDOUT)
		r = pthread_cond_timedwait(&c, &m, &until);
#ifdef FIXED
	if (r != ETIMEDOUT)
#endif
		assert(ready);
	pthread_mutex_unlock(&m);
	pthread_join(t, NULL);
	return 0;
}
