/* confirm: finds grow -- a recursive lock protects each call, not the two together. */
#include <pthread.h>

static pthread_mutex_t m;
static int size = 8, capacity = 2;

static int full(void)
{
	pthread_mutex_lock(&m);
	int f = size > capacity;
	pthread_mutex_unlock(&m);
	return f;
}

static void grow(void)
{
#ifdef FIXED
	pthread_mutex_lock(&m);
#endif
	if (full()) {
		pthread_mutex_lock(&m);
		capacity *= 2;
		pthread_mutex_unlock(&m);
	}
#ifdef FIXED
	pthread_mutex_unlock(&m);
#endif
}

static void *worker(void *arg)
{
	grow();
	return arg;
}

int main(void)
{
	pthread_t t[2];
	pthread_mutexattr_t attr;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&m, &attr);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
