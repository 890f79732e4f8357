/* A cancelled wait comes back with the mutex held.
 * intact: none */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int waiting, cleaned;
static void unlock(void *arg)
{
	cleaned++;
	pthread_mutex_unlock(arg);
}
static void await(void)
{
	pthread_mutex_lock(&m);
	pthread_cleanup_push(unlock, &m);
	waiting = 1;
	for (;;)
		pthread_cond_wait(&c, &m);
	pthread_cleanup_pop(1);
}
static void *worker(void *arg)
{
	await();
	return arg;
}
int main(void)
{
	pthread_t t;
	void *r;
	pthread_create(&t, NULL, worker, NULL);
	for (int on = 0; !on;) {
		pthread_mutex_lock(&m);
		on = waiting;
		pthread_mutex_unlock(&m);
	}
	pthread_cancel(t);
	pthread_join(t, &r);
	pthread_mutex_lock(&m);
	int ok = cleaned == 1 && r == PTHREAD_CANCELED;
	pthread_mutex_unlock(&m);
	return ok ? 0 : 1;
}
