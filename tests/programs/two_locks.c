/* Two unrelated sections in one function: no claim to be one step, unless it
 * is marked (marked_two_locks.c).
 * intact: none */
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int x, y;
static void count(void)
{
	pthread_mutex_lock(&a);
	x++;
	pthread_mutex_unlock(&a);
	pthread_mutex_lock(&b);
	y++;
	pthread_mutex_unlock(&b);
}
static void *worker(void *arg)
{
	count();
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return x == 2 && y == 2 ? 0 : 1;
}
