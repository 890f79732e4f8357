/* explore: refuses more than 256 threads
 * explore: option -n 20 --races=no
 * explore: large
 * There is a limit, and it is named. */
#include <pthread.h>

#ifdef FIXED
enum { N = 200 };
#else
enum { N = 300 };
#endif

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *worker(void *arg)
{
	pthread_mutex_lock(&m);
	count++;
	pthread_mutex_unlock(&m);
	return arg;
}

int main(void)
{
	static pthread_t t[N];
	for (int i = 0; i < N; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], NULL);
	return count != N;
}
