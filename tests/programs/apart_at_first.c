/* What main does before it makes the worker cannot meet it; what it does
 * afterwards can, though here the two wait for each other.
 * intact: find add predicted
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
static void *worker(void *arg)
{
	set(1);
	sem_post(&go);
	sem_wait(&done);
	return arg;
}
int main(void)
{
	pthread_t t;
	sem_init(&go, 0, 0);
	sem_init(&done, 0, 0);
	for (int i = 0; i < 2; i++) {
		if (i) {
			pthread_create(&t, NULL, worker, NULL);
			sem_wait(&go);
		}
		add();
	}
	sem_post(&done);
	pthread_join(t, NULL);
	return 0;
}
