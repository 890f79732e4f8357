/* explore: find assertion
 * explore: says bump of T
 * explore: says is not atomic (the conflicts are listed below)
 * explore: says reads count at get
 * The report of the failed assertion names the function that is its cause. */
#include <assert.h>
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

static void bump(void)
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
	bump();
	return arg;
}

int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	assert(count == 2);
	return 0;
}
