/* Each thread has its elements, but one.
 * intact: race v */
#include "race.h"
static volatile int v[64];
static void *first(void *p)
{
	for (int i = 0; i < 32 RACY(+ 1); i++)
		v[i] = i; /* @race */
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	for (int i = 32; i < 64; i++)
		v[i] = i; /* @race */
	return p;
}
int main(void)
{
	run2(first, second);
	return 0;
}
