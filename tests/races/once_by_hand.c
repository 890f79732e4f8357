/* Initialised once by a plain flag.
 * intact: race value,made */
#include "race.h"
static pthread_once_t o = PTHREAD_ONCE_INIT;
static volatile int value;
RACY(static volatile int made;)
static void make(void)
{
	value = 7; /* @race */
}
static int get(void)
{
	FIX(pthread_once(&o, make);)
	RACY(if (!made) { /* @race */)
		RACY(make();)
		RACY(made = 1; /* @race */)
	RACY(})
	return value; /* @race */
}
static void *first(void *p)
{
	get();
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	get();
	return p;
}
int main(void)
{
	(void)&o;
	run2(first, second);
	return 0;
}
