/* Detached threads.
 * intact: find increment any */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int x, done;
static int get(void)
{
	pthread_mutex_lock(&m);
	int r = x;
	pthread_mutex_unlock(&m); /* @commit */
	return r;
}
static void set(int v)
{
	pthread_mutex_lock(&m); /* @violation */
	x = v;
	pthread_mutex_unlock(&m);
}
static void increment(void)
{ /* @entered */
	set(get() + 1);
}
static void *worker(void *arg)
{
	increment();
	pthread_mutex_lock(&m);
	done++;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
	return arg;
}
int main(void)
{
	for (int i = 0; i < 8; i++) {
		pthread_t t;
		pthread_create(&t, NULL, worker, NULL);
		pthread_detach(t);
	}
	pthread_mutex_lock(&m);
	while (done < 8)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
	return x > 0 ? 0 : 1;
}
