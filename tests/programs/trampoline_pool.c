/* A pool's thread calls its jobs through a pointer, too: but it has taken them out
 * of a queue before, and jobs are judged.
 * intact: find job predicted
 * explore: none -- its threads never overlap */
#include <pthread.h>
static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER, m = PTHREAD_MUTEX_INITIALIZER;
static int balance, taken;
static void job(void)
{ /* @entered */
	pthread_mutex_lock(&m);
	int b = balance;
	pthread_mutex_unlock(&m); /* @commit */
	pthread_mutex_lock(&m); /* @violation */
	balance = b + 1;
	pthread_mutex_unlock(&m);
}
static void (*const jobs[])(void) = { job, job };
static void *pool(void *arg)
{
	pthread_mutex_lock(&queue);
	void (*fn)(void) = jobs[taken++];
	pthread_mutex_unlock(&queue);
	fn();
	return arg;
}
int main(void)
{
	pthread_t t;
	for (int i = 0; i < 2; i++) {
		pthread_create(&t, NULL, pool, NULL);
		pthread_join(t, NULL);
	}
	return balance == 2 ? 0 : 1;
}
