/* Everybody only reads after the threads have started.
 * intact: none */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int a = 1, b = 2;
static int one(void)
{
	pthread_mutex_lock(&m);
	int r = a;
	pthread_mutex_unlock(&m);
	return r;
}
static int two(void)
{
	pthread_mutex_lock(&m);
	int r = b;
	pthread_mutex_unlock(&m);
	return r;
}
static int both(void)
{
	return one() + two();
}
static void *worker(void *arg)
{
	*(int *)arg = both();
	return arg;
}
int main(void)
{
	pthread_t t[2];
	int r[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, &r[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return r[0] == 3 && r[1] == 3 ? 0 : 1;
}
