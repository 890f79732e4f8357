/* The inner lock is only ever taken under the outer one, which is held
 * throughout: nobody can come in between.
 * intact: none */
#include <pthread.h>
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static int x;
static int get(void)
{
	pthread_mutex_lock(&inner);
	int r = x;
	pthread_mutex_unlock(&inner);
	return r;
}
static void set(int v)
{
	pthread_mutex_lock(&inner);
	x = v;
	pthread_mutex_unlock(&inner);
}
static void increment(void)
{
	pthread_mutex_lock(&outer);
	set(get() + 1);
	pthread_mutex_unlock(&outer);
}
static void *worker(void *arg)
{
	for (int i = 0; i < 50; i++)
		increment();
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, worker, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return x == 100 ? 0 : 1;
}
