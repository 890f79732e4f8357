/* One section for the whole increment.
 * intact: none */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int balance;
static void deposit(int n)
{
	pthread_mutex_lock(&m);
	balance += n;
	pthread_mutex_unlock(&m);
}
static void *worker(void *arg)
{
	for (int i = 0; i < 100; i++)
		deposit(1);
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, worker, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return balance == 200 ? 0 : 1;
}
