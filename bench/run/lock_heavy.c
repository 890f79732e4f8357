/* Lock-heavy kernel: threads do short transfers between accounts under two
 * locks each. argv: threads, transfers a thread. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
enum { ACCOUNTS = 64 };
static struct { pthread_mutex_t m; long balance; } account[ACCOUNTS];
static long rounds;
static void transfer(unsigned a, unsigned b, long n)
{
	unsigned lo = a < b ? a : b, hi = a < b ? b : a;
	pthread_mutex_lock(&account[lo].m);
	pthread_mutex_lock(&account[hi].m);
	account[a].balance -= n;
	account[b].balance += n;
	pthread_mutex_unlock(&account[hi].m);
	pthread_mutex_unlock(&account[lo].m);
}
static void *worker(void *arg)
{
	unsigned x = (unsigned)(long)arg * 2654435761u + 1;
	for (long i = 0; i < rounds; i++) {
		x = x * 1664525u + 1013904223u;
		unsigned a = x >> 8 & (ACCOUNTS - 1), b = x >> 16 & (ACCOUNTS - 1);
		if (a != b)
			transfer(a, b, 1);
	}
	return arg;
}
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 4;
	pthread_t t[64];
	long sum = 0;
	rounds = argc > 2 ? atol(argv[2]) : 400000;
	for (int i = 0; i < ACCOUNTS; i++)
		pthread_mutex_init(&account[i].m, 0);
	for (long i = 0; i < n; i++)
		pthread_create(&t[i], 0, worker, (void *)i);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], 0);
	for (int i = 0; i < ACCOUNTS; i++)
		sum += account[i].balance;
	printf("%ld\n", sum);
	return sum != 0;
}
