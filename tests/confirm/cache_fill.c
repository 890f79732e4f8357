/* confirm: finds lookup -- the value that is put into the cache is older than the one there. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int cached, valid, source = 1;

static void update(int v)
{
	pthread_mutex_lock(&m);
	source = v;
	valid = 0;
	pthread_mutex_unlock(&m);
}

static int lookup(void)
{
	int v;
	pthread_mutex_lock(&m);
	if (valid) {
		v = cached;
		pthread_mutex_unlock(&m);
		return v;
	}
	v = source;
#ifndef FIXED
	pthread_mutex_unlock(&m);
	v = v * 2 / 2; /* what takes its time */
	pthread_mutex_lock(&m);
#endif
	cached = v;
	valid = 1;
	pthread_mutex_unlock(&m);
	return v;
}

static void *reader(void *arg)
{
	lookup();
	lookup();
	return arg;
}

static void *writer(void *arg)
{
	update(2);
	return arg;
}

int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, reader, NULL);
	pthread_create(&b, NULL, writer, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
