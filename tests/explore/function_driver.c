/* explore: find atomicity
 * explore: says add
 * explore: says step
 * A function that creates threads and then works with them is no block, as main is none: `drive` uses the lock again and
 * again while its own threads do. `add` is one, and is not atomic. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int count, done;

__attribute__((noinline)) static int get(void)
{
	pthread_mutex_lock(&m);
	int c = count;
	pthread_mutex_unlock(&m);
	return c;
}

__attribute__((noinline)) static void set(int c)
{
	pthread_mutex_lock(&m);
	count = c;
	pthread_mutex_unlock(&m);
}

__attribute__((noinline)) static void add(void)
{
#ifdef FIXED
	pthread_mutex_lock(&m);
	count++;
	pthread_mutex_unlock(&m);
#else
	set(get() + 1);
#endif
}

__attribute__((noinline)) static void finish(void)
{
	pthread_mutex_lock(&m);
	done++;
	pthread_mutex_unlock(&m);
}

static void *worker(void *arg)
{
	add();
	finish();
	return arg;
}

__attribute__((noinline)) static int finished(void)
{
	pthread_mutex_lock(&m);
	int d = done;
	pthread_mutex_unlock(&m);
	return d;
}

__attribute__((noinline)) static int drive(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	int early = finished();
#ifdef FIXED
	set(get());
#endif
	int late = finished();
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return early > late;
}

int main(void)
{
	return drive();
}
