/* The post comes before the data.
 * intact: race x */
#include "race.h"
#include <semaphore.h>
static sem_t s;
static volatile int x, y;
static void *first(void *p)
{
	FIX(x = 1;)
	sem_post(&s);
	RACY(x = 1; /* @race */)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	sem_wait(&s);
	y = x; /* @race */
	return p;
}
int main(void)
{
	sem_init(&s, 0, 0);
	run2(first, second);
	return 0;
}
