/* Data handed to another thread and back by semaphores, in one marked block: no
 * access races, and yet the block is not one step.
 * intact: find round_trip confirmed */
#include <intact/annotate.h>
#include <pthread.h>
#include <semaphore.h>
static sem_t go, back;
static int box;
static void *server(void *arg)
{
	sem_wait(&go);
	box = box + 1;
	sem_post(&back);
	return arg;
}
static int round_trip(void)
{
	INTACT_ATOMIC("round trip"); /* @entered */
	box = 1; /* @commit */
	sem_post(&go);
	sem_wait(&back);
	return box; /* @violation */
}
int main(void)
{
	pthread_t t;
	sem_init(&go, 0, 0);
	sem_init(&back, 0, 0);
	pthread_create(&t, NULL, server, NULL);
	int v = round_trip();
	pthread_join(t, NULL);
	return v == 2 ? 0 : 1;
}
