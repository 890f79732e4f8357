/* As protected_lock, but one function takes the inner lock alone.
 * It can come in between.
 * intact: find increment predicted
 * explore: none -- `resets` runs when the others have ended */
#include <pthread.h>
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static int x;
static int get(void)
{
	pthread_mutex_lock(&inner);
	int r = x;
	pthread_mutex_unlock(&inner); /* @commit */
	return r;
}
static void set(int v)
{
	pthread_mutex_lock(&inner); /* @violation */
	x = v;
	pthread_mutex_unlock(&inner);
}
static void increment(void)
{ /* @entered */
	pthread_mutex_lock(&outer);
	set(get() + 1);
	pthread_mutex_unlock(&outer);
}
static void *resets(void *arg)
{
	set(0);
	return arg;
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
	int sum = x;
	pthread_create(&b, NULL, resets, NULL);
	pthread_join(b, NULL);
	return sum == 100 ? 0 : 1;
}
