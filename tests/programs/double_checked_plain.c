/* The old way, without atomics: racing, and still rechecked under the lock.
 * intact: none
 * explore: race -- the pointer is read without the lock */
#include <pthread.h>
#define atomic_load(p) (*(p))
#define atomic_store(p, v) (*(p) = (v))
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int *instance;
static int value;
static int *get(void)
{
	int *p = atomic_load(&instance);
	if (p)
		return p;
	pthread_mutex_lock(&m);
	p = atomic_load(&instance);
	if (!p) {
		value = 42;
		p = &value;
		atomic_store(&instance, p);
	}
	pthread_mutex_unlock(&m);
	return p;
}
static void *worker(void *arg)
{
	*(int *)arg = *get();
	return arg;
}
int main(void)
{
	pthread_t t[4];
	int r[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, worker, &r[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return r[0] == 42 && r[3] == 42 ? 0 : 1;
}
