/*
 * Mutual exclusion by two flags, as in Dekker's algorithm: a thread raises its flag and enters if the other one's is down.
 * The store of the own flag must reach memory before the other flag is read. With -DBROKEN the fence between them is missing:
 * under sequential consistency nothing is wrong, on x86 both threads can enter.
 *
 *   intact cc -g -DBROKEN dekker.c -o dekker -pthread && intact explore --exhaustive --memory=tso ./dekker
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag[2], inside;

static void *thread(void *arg)
{
	long self = (long)arg;
	atomic_store_explicit(&flag[self], 1, memory_order_release);
#ifndef BROKEN
	atomic_thread_fence(memory_order_seq_cst);
#endif
	if (!atomic_load_explicit(&flag[!self], memory_order_acquire)) {
		assert(atomic_fetch_add(&inside, 1) == 0);
		atomic_fetch_sub(&inside, 1);
	}
	atomic_store_explicit(&flag[self], 0, memory_order_release);
	return NULL;
}

int main(void)
{
	pthread_t t[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, thread, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
