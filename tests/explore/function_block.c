/* explore: find atomicity
 * explore: option --atomic increment
 * explore: says writes count
 * A function that is asked about by name. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int count;

static __attribute__((noinline)) int get(void)
{
	pthread_mutex_lock(&m);
	int v = count;
	pthread_mutex_unlock(&m);
	return v;
}

static __attribute__((noinline)) void set(int v)
{
	pthread_mutex_lock(&m);
	count = v;
	pthread_mutex_unlock(&m);
}

static __attribute__((noinline)) void increment(void)
{
#ifdef FIXED
	pthread_mutex_lock(&m);
	count++;
	pthread_mutex_unlock(&m);
	(void)get;
	(void)set;
#else
	set(get() + 1);
#endif
}

static void *worker(void *arg)
{
	increment();
	return arg;
}

int main(void)
{
	pthread_t t, u;
	pthread_create(&t, NULL, worker, NULL);
	pthread_create(&u, NULL, worker, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return 0;
}
