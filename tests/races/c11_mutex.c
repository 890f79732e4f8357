/* C11 threads; one side forgets the mutex.
 * intact: race x */
#include "race.h"
#include <threads.h>
static mtx_t m;
static volatile int x;
static int first(void *p)
{
	mtx_lock(&m);
	x = 1; /* @race */
	mtx_unlock(&m);
	at(1);
	return p != NULL;
}
static int second(void *p)
{
	at(2);
	FIX(mtx_lock(&m);)
	x = 2; /* @race */
	FIX(mtx_unlock(&m);)
	return p != NULL;
}
int main(void)
{
	thrd_t t, u;
	mtx_init(&m, mtx_plain);
	thrd_create(&t, first, NULL);
	thrd_create(&u, second, NULL);
	thrd_join(t, NULL);
	thrd_join(u, NULL);
	return 0;
}
