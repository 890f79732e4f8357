/* <threads.h>.
 * intact: find increment predicted
 * explore: none -- its threads never overlap */
#include <threads.h>
static mtx_t m;
static int x;
static int get(void)
{
	mtx_lock(&m);
	int r = x;
	mtx_unlock(&m); /* @commit */
	return r;
}
static void set(int v)
{
	mtx_lock(&m); /* @violation */
	x = v;
	mtx_unlock(&m);
}
static void increment(void)
{ /* @entered */
	set(get() + 1);
}
static int worker(void *arg)
{
	(void)arg;
	increment();
	return 7;
}
int main(void)
{
	thrd_t t;
	int r = 0, sum = 0;
	mtx_init(&m, mtx_plain);
	for (int i = 0; i < 2; i++) {
		thrd_create(&t, worker, 0);
		thrd_join(t, &r);
		sum += r;
	}
	mtx_destroy(&m);
	return x == 2 && sum == 14 ? 0 : 1;
}
