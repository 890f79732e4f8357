/* Look up, then insert: two sections of one lock.
 * intact: find put_if_absent predicted
 * intact: pattern check-then-act of 'n'
 * explore: none -- its threads never overlap */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int keys[32], n;
static int contains(int k)
{
	int found = 0;
	pthread_mutex_lock(&m);
	for (int i = 0; i < n; i++)
		found |= keys[i] == k;
	pthread_mutex_unlock(&m); /* @commit */
	return found;
}
static void insert(int k)
{
	pthread_mutex_lock(&m); /* @violation */
	keys[n++] = k;
	pthread_mutex_unlock(&m);
}
static void put_if_absent(int k)
{ /* @entered */
	if (!contains(k))
		insert(k);
}
static void *worker(void *arg)
{
	put_if_absent((int)(long)arg);
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (long i = 0; i < 2; i++) {
		pthread_create(&t[i], NULL, worker, (void *)i);
		pthread_join(t[i], NULL);
	}
	return n == 2 ? 0 : 1;
}
