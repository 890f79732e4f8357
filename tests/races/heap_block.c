/* An element of a block of the heap.
 * intact: race heap */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int *h;
static int *get(void) { static pthread_once_t o = PTHREAD_ONCE_INIT; extern void make(void); pthread_once(&o, make); return h; }
void make(void) { h = calloc(16, sizeof *h); }
static void *first(void *p)
{
	FIX(pthread_mutex_lock(&m);)
	get()[5] = 1; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	FIX(pthread_mutex_lock(&m);)
	get()[5] = 2; /* @race */
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
