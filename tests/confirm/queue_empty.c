/* confirm: finds take_one -- the queue may be empty by the time it is popped. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int queue[4] = { 1, 2 }, n = 2;

static bool empty(void)
{
	pthread_mutex_lock(&m);
	bool e = n == 0;
	pthread_mutex_unlock(&m);
	return e;
}

static int take_one(void)
{
#ifdef FIXED
	pthread_mutex_lock(&m);
	int v = n ? queue[--n] : 0;
#else
	if (empty())
		return 0;
	pthread_mutex_lock(&m);
	assert(n > 0);
	int v = queue[--n];
#endif
	pthread_mutex_unlock(&m);
	return v;
}

static void *worker(void *arg)
{
	take_one();
	return arg;
}

int main(void)
{
	pthread_t t[3];
	if (empty())
		return 1;
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
