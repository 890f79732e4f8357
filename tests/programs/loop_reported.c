/* The same, asked for.
 * intact: find many any
 * intact: option report_loops=1 */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void increment(void)
{
	pthread_mutex_lock(&m);
	x++;
	pthread_mutex_unlock(&m);
}
static void many(volatile int n)
{
	for (int i = 0; i < n; i++)
		increment();
}
static void *worker(void *arg)
{
	many(20);
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, worker, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return x == 40 ? 0 : 1;
}
