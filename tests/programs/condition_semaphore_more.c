/* What is given back is a signal and a total computed from the one read when the
 * semaphore was taken, and others count in the total, too: an update is lost.
 * intact: find update predicted
 * explore: none -- its threads never overlap */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static long n = 4, total;
static void update(void)
{ /* @entered */
	pthread_mutex_lock(&m);
	while (!n)
		pthread_cond_wait(&c, &m);
	n--;
	long old = total;
	pthread_mutex_unlock(&m); /* @commit */
	pthread_mutex_lock(&m); /* @violation */
	n++;
	total = old + 1;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
}
static void *worker(void *arg)
{
	update();
	return arg;
}
int main(void)
{
	pthread_t t;
	for (int i = 0; i < 2; i++) {
		pthread_create(&t, NULL, worker, NULL);
		pthread_join(t, NULL);
	}
	return total == 2 ? 0 : 1;
}
