/* Blocks of data through a queue: one thread fills them, workers sort each in
 * memory of their own and add up the results under a lock. Nearly all data is one
 * thread's; blocks are handed over, and given back. argv: workers, blocks, bytes. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define DEPTH 8
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t full = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;
static unsigned char *queue[DEPTH];
static int used, over;
static long size, sum, done;
__attribute__((noinline)) static void put(unsigned char *b)
{
	pthread_mutex_lock(&lock);
	while (used == DEPTH)
		pthread_cond_wait(&room, &lock);
	queue[used++] = b;
	pthread_cond_signal(&full);
	pthread_mutex_unlock(&lock);
}
__attribute__((noinline)) static unsigned char *take(void)
{
	unsigned char *b = NULL;
	pthread_mutex_lock(&lock);
	while (!used && !over)
		pthread_cond_wait(&full, &lock);
	if (used)
		b = queue[--used];
	pthread_cond_signal(&room);
	pthread_mutex_unlock(&lock);
	return b;
}
__attribute__((noinline)) static void add(long s)
{
	pthread_mutex_lock(&lock);
	sum += s;
	done++;
	pthread_mutex_unlock(&lock);
}
/* Counting sort by two bytes: tables and a copy, all the worker's own. */
static long sort(const unsigned char *b)
{
	unsigned *at = calloc(65537, sizeof *at), *out = malloc((size_t)size * sizeof *out);
	long s = 0;
	for (long i = 0; i + 1 < size; i++)
		at[(b[i] << 8 | b[i + 1]) + 1]++;
	for (int i = 0; i < 65536; i++)
		at[i + 1] += at[i];
	for (long i = 0; i + 1 < size; i++)
		out[at[b[i] << 8 | b[i + 1]]++] = (unsigned)i;
	for (long i = 0; i + 1 < size; i++)
		s += (long)out[i] * (i & 7);
	free(at);
	free(out);
	return s;
}
static void *worker(void *arg)
{
	unsigned char *b;
	while ((b = take())) {
		add(sort(b));
		free(b);
	}
	return arg;
}
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 4, blocks = argc > 2 ? atoi(argv[2]) : 16;
	pthread_t t[64];
	unsigned x = 1;
	size = argc > 3 ? atol(argv[3]) : 200000;
	for (long i = 0; i < n; i++)
		pthread_create(&t[i], 0, worker, 0);
	for (int k = 0; k < blocks; k++) {
		unsigned char *b = malloc((size_t)size);
		for (long i = 0; i < size; i++)
			b[i] = (unsigned char)((x = x * 1664525 + 1013904223) >> 28);
		put(b);
	}
	pthread_mutex_lock(&lock);
	over = 1;
	pthread_cond_broadcast(&full);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], 0);
	printf("%ld blocks, %ld\n", done, sum);
	return 0;
}
