/* main writes early, before it makes the worker, and later, while the worker is
 * there: only what it does then is evidence, and is shown.
 * intact: find add any
 * intact: says #0 late
 * explore: none -- its threads never overlap */
#include <pthread.h>
#include <semaphore.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int count;
static sem_t go, done;
static void set(int v)
{
	pthread_mutex_lock(&m); /* @violation */
	count = v;
	pthread_mutex_unlock(&m);
}
static int get(void)
{
	pthread_mutex_lock(&m);
	int v = count;
	pthread_mutex_unlock(&m); /* @commit */
	return v;
}
static void add(void) /* @entered */
{
	set(get() + 1);
}
static __attribute__((noinline)) void early(void)
{
	pthread_mutex_lock(&m);
	count = 7;
	pthread_mutex_unlock(&m);
}
static __attribute__((noinline)) void late(void)
{
	pthread_mutex_lock(&m);
	count = 9;
	pthread_mutex_unlock(&m);
}
static void *worker(void *arg)
{
	add();
	sem_post(&go);
	sem_wait(&done);
	return arg;
}
int main(void)
{
	pthread_t t;
	sem_init(&go, 0, 0);
	sem_init(&done, 0, 0);
	early();
	pthread_create(&t, NULL, worker, NULL);
	sem_wait(&go);
	late();
	sem_post(&done);
	pthread_join(t, NULL);
	return 0;
}
