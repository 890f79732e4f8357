/* A function that is called with the lock held, and releases it on purpose while it works.
 * intact: find background predicted
 * intact: tier2 deliberate release -- the lock was held when the function was entered
 * explore: none -- its threads never overlap */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int state, done;
static void work(void)
{
	done++;
}
static void background(int v)
{ /* @entered */
	int next = state + v;
	pthread_mutex_unlock(&m); /* @commit */
	work();
	pthread_mutex_lock(&m); /* @violation */
	state = next;
}
static void *worker(void *arg)
{
	pthread_mutex_lock(&m);
	background(1);
	pthread_mutex_unlock(&m);
	return arg;
}
int main(void)
{
	pthread_t t;
	for (int i = 0; i < 2; i++) {
		pthread_create(&t, NULL, worker, NULL);
		pthread_join(t, NULL);
	}
	return state == 2 ? 0 : 1;
}
