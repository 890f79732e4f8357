/*
 * Stores to memory that code without hooks uses again at once: atomics on the thread's own stack, thread-local ones, and
 * blocks that are freed and given out again. Nothing of it is lost or damaged, whatever is in the buffer.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_int *_Atomic published;
static atomic_int shared;
static _Thread_local atomic_int local;

static __attribute__((noinline)) int on_the_stack(int value)
{
	atomic_int here;
	atomic_init(&here, 0);
	atomic_store_explicit(&published, &here, memory_order_release);
	atomic_store_explicit(&shared, value, memory_order_relaxed);
	atomic_store_explicit(&here, value, memory_order_relaxed);
	atomic_store_explicit(&published, NULL, memory_order_seq_cst);
	return atomic_load_explicit(&here, memory_order_relaxed);
}

static __attribute__((noinline)) int fill_the_stack(int value)
{
	volatile char room[256];
	for (unsigned i = 0; i < sizeof room; i++)
		room[i] = (char)value;
	for (unsigned i = 0; i < sizeof room; i++)
		assert(room[i] == (char)value);
	return room[17];
}

static void *thread(void *arg)
{
	int self = (int)(long)arg;
	assert(on_the_stack(self) == self);
	assert(fill_the_stack(self) == self);
	atomic_store_explicit(&local, self, memory_order_relaxed);
	atomic_int *block = malloc(sizeof *block);
	atomic_store_explicit(block, self, memory_order_relaxed);
	assert(atomic_load_explicit(block, memory_order_relaxed) == self);
	free(block);
	char *again = malloc(sizeof *block);
	memset(again, 7, sizeof *block);
	assert(again[0] == 7 && again[3] == 7);
	free(again);
	assert(atomic_load_explicit(&local, memory_order_relaxed) == self);
	return NULL;
}

int main(void)
{
	pthread_t t, u;
	pthread_create(&t, NULL, thread, (void *)1);
	pthread_create(&u, NULL, thread, (void *)2);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	int last = atomic_load_explicit(&shared, memory_order_relaxed);
	assert(last == 1 || last == 2);
	return 0;
}
