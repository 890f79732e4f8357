/* A word that lies in two of eight bytes.
 * intact: race raw */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static char raw[32] __attribute__((aligned(16)));
struct __attribute__((packed)) loose { char c; int i; };
static void *first(void *p)
{
	FIX(pthread_mutex_lock(&m);)
	((struct loose *)(raw + 5))->i = 1; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	FIX(pthread_mutex_lock(&m);)
	raw[9] = 1; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	return p;
}
int main(void)
{
	pthread_mutex_trylock(&m);
	pthread_mutex_unlock(&m);
	run2(first, second);
	return 0;
}
