/* Hand over hand: who looks up takes the table's lock, then the bin's, and only
 * then lets go of the first. While insert holds the table's, it cannot come into
 * the gap of the bin's.
 * intact: none */
#include <pthread.h>
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER, bin = PTHREAD_MUTEX_INITIALIZER;
static int size, entries;
static void insert(void)
{
	pthread_mutex_lock(&table);
	pthread_mutex_lock(&bin);
	int had = entries;
	pthread_mutex_unlock(&bin);
	size++;
	pthread_mutex_lock(&bin);
	entries = had + 1;
	pthread_mutex_unlock(&bin);
	pthread_mutex_unlock(&table);
}
static void take(void)
{
	pthread_mutex_lock(&table);
	pthread_mutex_lock(&bin);
	pthread_mutex_unlock(&table);
	entries--;
	pthread_mutex_unlock(&bin);
}
static void *worker(void *arg)
{
	for (int i = 0; i < 3; i++) {
		insert();
		take();
	}
	return arg;
}
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return entries;
}
