/* explore: find assertion
 * <threads.h>: the condition is signalled before the value is there. */
#include <assert.h>
#include <threads.h>

static mtx_t m;
static cnd_t c;
static int signalled, value;

static int producer(void *arg)
{
	(void)arg;
	mtx_lock(&m);
	signalled = 1;
	cnd_signal(&c);
#ifndef FIXED
	mtx_unlock(&m);
	mtx_lock(&m);
#endif
	value = 42;
	mtx_unlock(&m);
	return 0;
}

int main(void)
{
	thrd_t t;
	mtx_init(&m, mtx_plain);
	cnd_init(&c);
	thrd_create(&t, producer, NULL);
	mtx_lock(&m);
	while (!signalled)
		cnd_wait(&c, &m);
	assert(value == 42);
	mtx_unlock(&m);
	thrd_join(t, NULL);
	cnd_destroy(&c);
	mtx_destroy(&m);
	return 0;
}
