/* The check outside the lock reads a plain pointer.
 * intact: race instance */
#include "race.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int object;
static int *instance;
static int *get(void)
{
	RACY(if (!instance) { /* @race */)
	FIX(if (!__atomic_load_n(&instance, __ATOMIC_ACQUIRE)) {)
		pthread_mutex_lock(&m);
		object = 7;
		RACY(instance = &object; /* @race */)
		FIX(__atomic_store_n(&instance, &object, __ATOMIC_RELEASE);)
		pthread_mutex_unlock(&m);
	}
	RACY(return instance; /* @race */)
	FIX(return __atomic_load_n(&instance, __ATOMIC_ACQUIRE);)
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
	run2(first, second);
	return 0;
}
