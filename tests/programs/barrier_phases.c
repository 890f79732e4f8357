/* Phases kept apart by a barrier; marked blocks in each.
 * intact: none */
#define _GNU_SOURCE
#include <intact/annotate.h>
#include <pthread.h>
static pthread_barrier_t b;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int part[2], sum;
static void *worker(void *arg)
{
	int me = (int)(long)arg;
	for (int i = 0; i < 10; i++) {
		part[me] = i;
		pthread_barrier_wait(&b);
		{
			INTACT_ATOMIC("add");
			int other = part[1 - me];
			pthread_mutex_lock(&m);
			sum += other;
			pthread_mutex_unlock(&m);
		}
		pthread_barrier_wait(&b);
	}
	return arg;
}
int main(void)
{
	pthread_t t[2];
	pthread_barrier_init(&b, NULL, 2);
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return sum == 90 ? 0 : 1;
}
