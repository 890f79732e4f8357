/* explore: find deadlock
 * A thread is cancelled while it waits for a condition: it has the mutex again, and only a cleanup handler gives it back. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;

static void give_back(void *arg)
{
	(void)arg;
	pthread_mutex_unlock(&m);
}

static void *worker(void *arg)
{
	(void)give_back;
	pthread_mutex_lock(&m);
#ifdef FIXED
	pthread_cleanup_push(give_back, NULL);
#endif
	while (!ready)
		pthread_cond_wait(&c, &m);
#ifdef FIXED
	pthread_cleanup_pop(0);
#endif
	pthread_mutex_unlock(&m);
	return arg;
}

int main(void)
{
	pthread_t t;
	void *value;
	pthread_create(&t, NULL, worker, NULL);
	pthread_cancel(t);
	pthread_mutex_lock(&m);
	ready = 1;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	pthread_join(t, &value);
	return value != NULL && value != PTHREAD_CANCELED;
}
