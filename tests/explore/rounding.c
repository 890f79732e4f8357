/* explore: find assertion
 * explore: says fegetround() == 0
 * explore: flags -lm
 * How floating point rounds belongs to the thread; a new one has it from its creator. */
#include <assert.h>
#include <fenv.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *upward(void *arg)
{
	fesetround(FE_UPWARD);
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&m);
		pthread_mutex_unlock(&m);
		assert(fegetround() == FE_UPWARD);
	}
	return arg;
}

static void *nearest(void *arg)
{
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	assert(fegetround() == 0);
	return arg;
}

int main(void)
{
	pthread_t t, u;
	pthread_create(&t, NULL, upward, NULL);
#ifndef FIXED
	fesetround(FE_DOWNWARD);
#endif
	pthread_create(&u, NULL, nearest, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return 0;
}
