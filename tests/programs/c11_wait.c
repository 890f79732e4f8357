/* C11 condition variables, once and recursive mutexes, used well.
 * intact: none */
#include <threads.h>
static mtx_t m;
static cnd_t c;
static once_flag once = ONCE_FLAG_INIT;
static int ready, data;
static void setup(void)
{
	mtx_init(&m, mtx_plain | mtx_recursive);
	cnd_init(&c);
}
static int take(void)
{
	mtx_lock(&m);
	while (!ready)
		cnd_wait(&c, &m);
	int r = data;
	mtx_unlock(&m);
	return r;
}
static void give(int v)
{
	mtx_lock(&m);
	data = v;
	ready = 1;
	cnd_signal(&c);
	mtx_unlock(&m);
}
static int worker(void *arg)
{
	(void)arg;
	call_once(&once, setup);
	return take();
}
int main(void)
{
	thrd_t t;
	int r;
	call_once(&once, setup);
	thrd_create(&t, worker, 0);
	give(5);
	thrd_join(t, &r);
	return r == 5 ? 0 : 1;
}
