/* confirm: finds claim -- a flag is tested and set in two sections: two owners. */
#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static bool taken;

static bool is_taken(void)
{
	pthread_mutex_lock(&m);
	bool t = taken;
	pthread_mutex_unlock(&m);
	return t;
}

static void take(void)
{
	pthread_mutex_lock(&m);
	taken = true;
	pthread_mutex_unlock(&m);
}

static bool claim(void)
{
#ifdef FIXED
	pthread_mutex_lock(&m);
	bool mine = !taken;
	taken = true;
	pthread_mutex_unlock(&m);
	return mine;
#else
	if (is_taken())
		return false;
	take();
	return true;
#endif
}

static void give_back(void)
{
	pthread_mutex_lock(&m);
	taken = false;
	pthread_mutex_unlock(&m);
}

static void *worker(void *arg)
{
	if (claim())
		give_back();
	return arg;
}

int main(void)
{
	pthread_t t[2];
	if (is_taken())
		take();
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
