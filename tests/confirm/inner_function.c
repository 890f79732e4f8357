/* confirm: finds reserve -- the fault is in a function that is called by others that are in order. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int seats = 2, sold;

static int free_seats(void)
{
	pthread_mutex_lock(&m);
	int n = seats - sold;
	pthread_mutex_unlock(&m);
	return n;
}

static int reserve(void)
{
#ifdef FIXED
	pthread_mutex_lock(&m);
	int ok = sold < seats;
	sold += ok;
	pthread_mutex_unlock(&m);
	return ok;
#else
	if (!free_seats())
		return 0;
	pthread_mutex_lock(&m);
	sold++;
	pthread_mutex_unlock(&m);
	return 1;
#endif
}

static int order(int n)
{
	int got = 0;
	for (int i = 0; i < n; i++)
		got += reserve();
	return got;
}

static void *worker(void *arg)
{
	order(1);
	return arg;
}

int main(void)
{
	pthread_t t[3];
	if (free_seats() != 2)
		return 1;
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
