/* Neighbours in one word; the twin has one each.
 * intact: race v */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile char v[8];
static void *first(void *p)
{
	v[3] = 1; /* @race */
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	v[RACY(3) FIX(4)] = 1; /* @race */
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
