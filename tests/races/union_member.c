/* Two members of a union share bytes.
 * intact: race u */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
union { int i; char c[4]; } u;
static void *first(void *p)
{
	FIX(pthread_mutex_lock(&m);)
	u.i = 1; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	FIX(pthread_mutex_lock(&m);)
	u.c[2] = 1; /* @race */
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
