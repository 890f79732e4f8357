/* C11: the result is read before the join.
 * intact: race x */
#include "race.h"
#include <threads.h>
static volatile int x, y;
static int work(void *p)
{
	x = 1; /* @race */
	at(1);
	return p != NULL;
}
int main(void)
{
	thrd_t t;
	thrd_create(&t, work, NULL);
	at(2);
	FIX(thrd_join(t, NULL);)
	y = x; /* @race */
	RACY(thrd_join(t, NULL);)
	return 0;
}
