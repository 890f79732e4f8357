/* Two marked blocks that read what the other one writes. The buffer is empty when a block begins and when it ends: not
 * both can have missed the other's store unless they overlap, and then no serial order explains it. */
#include <intact/annotate.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
static int r1, r2;
#ifdef FIXED
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
#define LOCK()   pthread_mutex_lock(&m)
#define UNLOCK() pthread_mutex_unlock(&m)
#else
#define LOCK()
#define UNLOCK()
#endif

static void *first(void *arg)
{
	LOCK();
	{
		INTACT_ATOMIC("first");
		atomic_store_explicit(&x, 1, memory_order_relaxed);
		r1 = atomic_load_explicit(&y, memory_order_relaxed);
	}
	UNLOCK();
	return arg;
}

static void *second(void *arg)
{
	LOCK();
	{
		INTACT_ATOMIC("second");
		atomic_store_explicit(&y, 1, memory_order_relaxed);
		r2 = atomic_load_explicit(&x, memory_order_relaxed);
	}
	UNLOCK();
	return arg;
}

int main(void)
{
	pthread_t t, u;
	pthread_create(&t, NULL, first, NULL);
	pthread_create(&u, NULL, second, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return 0;
}
