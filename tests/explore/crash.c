/* explore: find crash
 * explore: says SIGSEGV
 * A pointer is looked at again after it was tested. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static int object = 3;
static _Atomic(int *) p = &object;

static void *reader(void *arg)
{
#ifdef FIXED
	int *q = p;
	if (q)
		return *q == 3 ? NULL : arg;
#else
	if (p)
		return *(volatile int *)p == 3 ? NULL : arg;
#endif
	return NULL;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, reader, NULL);
	p = NULL;
	pthread_join(t, NULL);
	return 0;
}
