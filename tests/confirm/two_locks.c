/* confirm: finds rename_entry -- the table's lock is given up before the log's is taken, and taken again below it. */
#include <pthread.h>

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER, log_lock = PTHREAD_MUTEX_INITIALIZER;
static int name = 1, version, lines;

static void rename_entry(int to)
{
#ifdef FIXED
	pthread_mutex_lock(&log_lock);
	pthread_mutex_lock(&table);
	int old = version;
	lines++;
#else
	pthread_mutex_lock(&table);
	int old = version;
	pthread_mutex_unlock(&table);
	pthread_mutex_lock(&log_lock);
	lines++;
	pthread_mutex_lock(&table);
#endif
	name = to;
	version = old + 1;
	pthread_mutex_unlock(&table);
	pthread_mutex_unlock(&log_lock);
}

static void *worker(void *arg)
{
	rename_entry(*(int *)arg);
	return NULL;
}

int main(void)
{
	pthread_t t[2];
	int to[2] = { 2, 3 };
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, &to[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
