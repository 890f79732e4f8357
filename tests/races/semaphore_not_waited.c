/* A try for the semaphore fails, and nobody looks.
 * intact: race x */
#include "race.h"
#include <semaphore.h>
static sem_t s;
static volatile int x, y;
static void *first(void *p)
{
	x = 1; /* @race */
	FIX(sem_post(&s);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	RACY(sem_trywait(&s);)
	FIX(sem_wait(&s);)
	y = x; /* @race */
	return p;
}
int main(void)
{
	sem_init(&s, 0, 0);
	run2(first, second);
	return 0;
}
