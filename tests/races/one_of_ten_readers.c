/* Ten readers; one of them without the lock.
 * intact: race x */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int x, y[10];
static void *reader(void *p)
{
	int i = (int)(size_t)p, lock = i != 3 FIX(|| 1);
	at(2 * i + 1);
	if (lock)
		pthread_mutex_lock(&m);
	y[i] = x; /* @race */
	if (lock)
		pthread_mutex_unlock(&m);
	at(2 * i + 2);
	return p;
}
int main(void)
{
	pthread_t t[10];
	for (size_t i = 0; i < 10; i++)
		pthread_create(&t[i], NULL, reader, (void *)i);
	at(21);
	pthread_mutex_lock(&m);
	x = 1; /* @race */
	pthread_mutex_unlock(&m);
	for (int i = 0; i < 10; i++)
		pthread_join(t[i], NULL);
	return 0;
}
