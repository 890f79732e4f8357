/* Code that belongs to no line, as optimizers make it: it is shown at its function's.
 * intact: find add any
 * intact: says /line_zero.c:21 (line_zero.c */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int value;
static int get(void)
{
	pthread_mutex_lock(&m);
	int v = value;
	pthread_mutex_unlock(&m);
	return v;
}
static void set(int v)
{
	pthread_mutex_lock(&m);
	value = v;
	pthread_mutex_unlock(&m);
}
__attribute__((noinline))
static void add(void)
{
#line 0
	set(get() + 1);
}
static void *worker(void *arg)
{
	add();
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, worker, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
