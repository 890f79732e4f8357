/* A marked block that waits before it has done anything.
 * intact: restarts
 * intact: none */
#include <intact/annotate.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int items;
static void take(void)
{
	INTACT_ATOMIC("take");
	pthread_mutex_lock(&m);
	while (!items)
		pthread_cond_wait(&c, &m);
	items--;
	pthread_mutex_unlock(&m);
}
static void *worker(void *arg)
{
	take();
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&m);
		items++;
		pthread_cond_signal(&c);
		pthread_mutex_unlock(&m);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return items;
}
