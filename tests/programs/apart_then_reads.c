/* main writes before it makes the worker and only reads afterwards: nobody can
 * change what the worker has read.
 * intact: none */
#include <pthread.h>
#include <semaphore.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int count;
static sem_t go, done;
static void set(int v)
{
	pthread_mutex_lock(&m);
	count = v;
	pthread_mutex_unlock(&m);
}
static int get(void)
{
	pthread_mutex_lock(&m);
	int v = count;
	pthread_mutex_unlock(&m);
	return v;
}
static void add(void)
{
	set(get() + 1);
}
static void *worker(void *arg)
{
	add();
	sem_post(&go);
	sem_wait(&done);
	add();
	return arg;
}
int main(void)
{
	pthread_t t;
	sem_init(&go, 0, 0);
	sem_init(&done, 0, 0);
	set(1);
	pthread_create(&t, NULL, worker, NULL);
	get();
	sem_wait(&go);
	get();
	sem_post(&done);
	get();
	pthread_join(t, NULL);
	return 0;
}
