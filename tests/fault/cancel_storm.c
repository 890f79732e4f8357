/* Threads cancelled at any point, asynchronously too. */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
static int counter[64];
static void *spin(void *arg)
{
	int old;
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old);
	for (int i = 0;; i++) {
		counter[i % 64]++;
		pthread_testcancel();
	}
	return arg;
}
int main(void)
{
	for (int i = 0; i < 200; i++) {
		pthread_t t;
		void *r;
		pthread_create(&t, 0, spin, 0);
		pthread_cancel(t);
		pthread_join(t, &r);
		if (r != PTHREAD_CANCELED)
			return 1;
	}
	return 0;
}
