/*
 * T1 stores N times before it reads; T2 stores, with a fence behind, and reads what T1 stored first. When all N fit into the
 * buffer, neither sees the other's store: with 8 entries, for N up to 8.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int x[16], y;
static int r1, r2, n;

static void *first(void *arg)
{
	for (int i = 0; i < n; i++)
		atomic_store_explicit(&x[i], 1, memory_order_relaxed);
	r1 = atomic_load_explicit(&y, memory_order_relaxed);
	return arg;
}

static void *second(void *arg)
{
	atomic_store_explicit(&y, 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	r2 = atomic_load_explicit(&x[0], memory_order_relaxed);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t, u;
	n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_create(&t, NULL, first, NULL);
	pthread_create(&u, NULL, second, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	assert(r1 || r2);
	return 0;
}
