/* memcpy into what is read.
 * intact: race buffer */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
char buffer[64], from[64], c;
static void *first(void *p)
{
	FIX(pthread_mutex_lock(&m);)
	memcpy(buffer, from, 64); /* @race */
	FIX(pthread_mutex_unlock(&m);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	FIX(pthread_mutex_lock(&m);)
	c = buffer[40]; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	return p;
}
int main(void)
{
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	run2(first, second);
	return 0;
}
