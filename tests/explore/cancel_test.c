/* explore: find assertion
 * explore: says pair[0] == pair[1]
 * Two counters are to stay equal; between them is a cancellation point. */
#include <assert.h>
#include <pthread.h>

static int pair[2];

static void *worker(void *arg)
{
	int old;
	for (int i = 0; i < 2; i++) {
#ifdef FIXED
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
#else
		(void)old;
#endif
		pair[0]++;
		pthread_testcancel();
		pair[1]++;
#ifdef FIXED
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
		pthread_testcancel();
#endif
	}
	return arg;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, worker, NULL);
	pthread_cancel(t);
	pthread_join(t, NULL);
	assert(pair[0] == pair[1]);
	return 0;
}
