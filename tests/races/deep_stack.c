/* The accesses are some calls down.
 * intact: race x */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x;
__attribute__((noinline)) static void c(void) { x++; /* @race */ }
__attribute__((noinline)) static void b(void) { c(); x--; /* @race */ }
__attribute__((noinline)) static void a(void) { b(); x += 2; /* @race */ }
static void *first(void *p)
{
	FIX(pthread_mutex_lock(&m);)
	a(); /* @race */
	FIX(pthread_mutex_unlock(&m);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	FIX(pthread_mutex_lock(&m);)
	a(); /* @race */
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
