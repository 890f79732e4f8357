/* A struct is copied while a field is written.
 * intact: race s */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
struct big { long v[6]; };
struct big s, copy;
static void *first(void *p)
{
	FIX(pthread_mutex_lock(&m);)
	s.v[3] = 1; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	FIX(pthread_mutex_lock(&m);)
	copy = s; /* @race */
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
