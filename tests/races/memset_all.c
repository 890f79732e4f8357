/* memset of what is read.
 * intact: race buffer */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
char buffer[64], c;
volatile size_t n = 64;
static void *first(void *p)
{
	FIX(pthread_mutex_lock(&m);)
	memset(buffer, 1, n); /* @race */
	FIX(pthread_mutex_unlock(&m);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	FIX(pthread_mutex_lock(&m);)
	c = buffer[9]; /* @race */
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
