/* confirm: finds spend -- the same with C11's mutexes. */
#include <pthread.h>
#include <threads.h>

static mtx_t m;
static int budget = 15;

static int left(void)
{
	mtx_lock(&m);
	int v = budget;
	mtx_unlock(&m);
	return v;
}

static int spend(int sum)
{
#ifdef FIXED
	mtx_lock(&m);
	int ok = budget >= sum;
	budget -= ok ? sum : 0;
	mtx_unlock(&m);
	return ok;
#else
	if (left() < sum)
		return 0;
	mtx_lock(&m);
	budget -= sum;
	mtx_unlock(&m);
	return 1;
#endif
}

static int worker(void *arg)
{
	(void)arg;
	return spend(7);
}

int main(void)
{
	thrd_t t[2];
	mtx_init(&m, mtx_plain);
	if (left() != 15)
		return 1;
	for (int i = 0; i < 2; i++)
		thrd_create(&t[i], worker, NULL);
	for (int i = 0; i < 2; i++)
		thrd_join(t[i], NULL);
	return 0;
}
