/* A lock made of a flag and a condition that is taken before anybody has waited for the
 * condition, and given back after: that is no evidence against those who take it later.
 * intact: none */
#include <pthread.h>
#include <semaphore.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t taken, waiting;
static int busy, x;
static void update(int first)
{
	pthread_mutex_lock(&m);
	while (busy) {
		sem_post(&waiting);
		pthread_cond_wait(&c, &m);
	}
	busy = 1;
	pthread_mutex_unlock(&m);
	if (first) {
		sem_post(&taken);
		sem_wait(&waiting);
	}
	x++;
	pthread_mutex_lock(&m);
	busy = 0;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
}
static void *worker(void *arg)
{
	if (arg)
		sem_wait(&taken);
	update(!arg);
	return NULL;
}
int main(void)
{
	pthread_t t[2];
	sem_init(&taken, 0, 0);
	sem_init(&waiting, 0, 0);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, i ? t : NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return x == 2 ? 0 : 1;
}
