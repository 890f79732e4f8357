/* A block moves while another thread writes to it.
 * intact: race heap */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static char *volatile h;
static void *first(void *p)
{
	FIX(pthread_mutex_lock(&m);)
	h[3] = 1; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	FIX(pthread_mutex_lock(&m);)
	free(realloc(h, 1 << 20)); /* @race */
	FIX(pthread_mutex_unlock(&m);)
	return p;
}
int main(void)
{
	h = malloc(32);
	void *wall = malloc(32);
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	run2(first, second);
	free(wall);
	return 0;
}
