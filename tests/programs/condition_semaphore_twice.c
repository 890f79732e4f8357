/* Each half is under the semaphore, the two together are not.
 * intact: find both predicted
 * explore: none -- its threads never overlap */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int n = 1, x;
static void take(void)
{
	pthread_mutex_lock(&m); /* @violation */
	while (!n)
		pthread_cond_wait(&c, &m);
	n--;
	pthread_mutex_unlock(&m);
}
static void give(void)
{
	pthread_mutex_lock(&m);
	n++;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m); /* @commit */
}
static int get(void)
{
	take();
	int v = x;
	give();
	return v;
}
static void set(int v)
{
	take();
	x = v;
	give();
}
static void both(void)
{ /* @entered */
	set(get() + 1);
}
static void *worker(void *arg)
{
	both();
	return arg;
}
int main(void)
{
	pthread_t t;
	for (int i = 0; i < 2; i++) {
		pthread_create(&t, NULL, worker, NULL);
		pthread_join(t, NULL);
	}
	return x == 2 ? 0 : 1;
}
