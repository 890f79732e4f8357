/* confirm: finds add -- a counter behind get and set loses updates. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int count;

static int get(void)
{
	pthread_mutex_lock(&m);
	int v = count;
	pthread_mutex_unlock(&m);
	return v;
}

static void set(int v)
{
	pthread_mutex_lock(&m);
	count = v;
	pthread_mutex_unlock(&m);
}

static void add(void)
{
#ifdef FIXED
	pthread_mutex_lock(&m);
	count = count + 1;
	pthread_mutex_unlock(&m);
#else
	set(get() + 1);
#endif
}

static void *worker(void *arg)
{
	add();
	return arg;
}

int main(void)
{
	pthread_t t[2];
	set(get());
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
