/* A flag.
 * intact: race done */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
#include <stdbool.h>
bool done, seen;
static void *first(void *p)
{
	FIX(pthread_mutex_lock(&m);)
	done = true; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	FIX(pthread_mutex_lock(&m);)
	seen = done; /* @race */
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
