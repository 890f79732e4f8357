/*
 * A store that is in the buffer when its block is freed by another thread. Under sequential consistency the thread that
 * frees sees `done` only after the store was made; here it looks at the order of its own two accesses, not at `done`.
 * T1 leaves the block alone when T2 has said so before T1 looks; each misses what the other has said: store buffering.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int using, frees;
static atomic_int *block;

static void *user(void *arg)
{
	atomic_store_explicit(&using, 1, memory_order_relaxed);
#ifdef FIXED
	atomic_thread_fence(memory_order_seq_cst);
#endif
	if (!atomic_load_explicit(&frees, memory_order_acquire))
		atomic_store_explicit(block, 1, memory_order_relaxed);
	atomic_store_explicit(&using, 0, memory_order_release);
	return arg;
}

static void *freer(void *arg)
{
	atomic_store_explicit(&frees, 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	while (atomic_load_explicit(&using, memory_order_acquire))
		;
	free(block);
	return arg;
}

int main(void)
{
	pthread_t t, u;
	block = malloc(sizeof *block);
	atomic_init(block, 0);
	pthread_create(&t, NULL, user, NULL);
	pthread_create(&u, NULL, freer, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return 0;
}
