/* confirm: finds average -- sum and count are read in two sections, and do not fit. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int sum, count;

static int get_sum(void)
{
	pthread_mutex_lock(&m);
	int v = sum;
	pthread_mutex_unlock(&m);
	return v;
}

static int get_count(void)
{
	pthread_mutex_lock(&m);
	int v = count;
	pthread_mutex_unlock(&m);
	return v;
}

static void sample(int v)
{
	pthread_mutex_lock(&m);
	sum += v;
	count++;
	pthread_mutex_unlock(&m);
}

static int average(void)
{
#ifdef FIXED
	pthread_mutex_lock(&m);
	int s = sum, n = count;
	pthread_mutex_unlock(&m);
#else
	int s = get_sum(), n = get_count();
#endif
	return n ? s / n : 0;
}

static void *reader(void *arg)
{
	return average() > 20 ? arg : NULL;
}

static void *writer(void *arg)
{
	sample(10);
	sample(20);
	return arg;
}

int main(void)
{
	pthread_t a, b;
	if (get_sum() != get_count())
		return 1;
	pthread_create(&a, NULL, reader, NULL);
	pthread_create(&b, NULL, writer, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
