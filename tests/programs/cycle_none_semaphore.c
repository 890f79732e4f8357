/* Semaphores order a marked block and another thread both ways; they touch no
 * common data: order is no conflict.
 * intact: none */
#include <intact/annotate.h>
#include <pthread.h>
#include <semaphore.h>
static sem_t go, back;
static int mine, its;
static void *server(void *arg)
{
	sem_wait(&go);
	its++;
	sem_post(&back);
	return arg;
}
static int round_trip(void)
{
	INTACT_ATOMIC("round trip");
	mine = 1;
	sem_post(&go);
	sem_wait(&back);
	return mine;
}
int main(void)
{
	pthread_t t;
	sem_init(&go, 0, 0);
	sem_init(&back, 0, 0);
	pthread_create(&t, NULL, server, NULL);
	int v = round_trip();
	pthread_join(t, NULL);
	return v == 1 && its == 1 ? 0 : 1;
}
