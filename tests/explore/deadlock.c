/* explore: find deadlock
 * explore: says lock
 * Two locks in two orders. */
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *left(void *arg)
{
	pthread_mutex_lock(&a);
	pthread_mutex_lock(&b);
	x++;
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
	return arg;
}

static void *right(void *arg)
{
#ifdef FIXED
	return left(arg);
#else
	pthread_mutex_lock(&b);
	pthread_mutex_lock(&a);
	x++;
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return arg;
#endif
}

int main(void)
{
	pthread_t t, u;
	pthread_create(&t, NULL, left, NULL);
	pthread_create(&u, NULL, right, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return x != 2;
}
