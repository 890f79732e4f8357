/* The lost update: each access is locked, the increment is not.
 * intact: find deposit predicted
 * intact: pattern lost update of 'balance'
 * explore: none -- its threads never overlap */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int balance;
static int get(void)
{
	pthread_mutex_lock(&m);
	int r = balance;
	pthread_mutex_unlock(&m); /* @commit */
	return r;
}
static void set(int v)
{
	pthread_mutex_lock(&m); /* @violation */
	balance = v;
	pthread_mutex_unlock(&m);
}
static void deposit(int n)
{ /* @entered */
	set(get() + n);
}
static void *worker(void *arg)
{
	deposit(1);
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, worker, NULL);
	pthread_join(a, NULL);
	pthread_create(&b, NULL, worker, NULL);
	pthread_join(b, NULL);
	return balance == 2 ? 0 : 1;
}
