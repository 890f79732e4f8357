/* Read-mostly kernel: threads look up a shared table under a reader lock;
 * now and then one writes. argv: threads, look-ups a thread. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
enum { SIZE = 1 << 16, BATCH = 256 };
static unsigned table[SIZE];
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static long rounds;
static unsigned look(unsigned x)
{
	unsigned s = 0;
	pthread_rwlock_rdlock(&lock);
	for (int i = 0; i < BATCH; i++) {
		x = table[x & (SIZE - 1)] + x * 1664525u + 1013904223u;
		s += x >> 16;
	}
	pthread_rwlock_unlock(&lock);
	return s;
}
static void update(unsigned x)
{
	pthread_rwlock_wrlock(&lock);
	table[x & (SIZE - 1)]++;
	pthread_rwlock_unlock(&lock);
}
static void *worker(void *arg)
{
	unsigned s = (unsigned)(long)arg;
	for (long i = 0; i < rounds; i++) {
		s += look(s);
		if (i % 1000 == 0)
			update(s);
	}
	return (void *)(long)s;
}
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 4;
	pthread_t t[64];
	rounds = argc > 2 ? atol(argv[2]) : 20000;
	for (unsigned i = 0; i < SIZE; i++)
		table[i] = i * 7;
	for (long i = 0; i < n; i++)
		pthread_create(&t[i], 0, worker, (void *)i);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], 0);
	puts("done");
	return 0;
}
