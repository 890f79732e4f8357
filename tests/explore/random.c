/* explore: find assertion
 * explore: says count == 2 * rounds
 * explore: watched
 * explore: option --functions=no
 * What the kernel gives at random is the same in every run, also from a file that was open before main. The bug: a counter
 * without a lock, in a path that depends on it. */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int count, rounds, early;

__attribute__((constructor)) static void before_main(void)
{
	early = open("/dev/urandom", O_RDONLY);
}

static void *worker(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&m);
		int c = count;
#ifndef FIXED
		pthread_mutex_unlock(&m);
		pthread_mutex_lock(&m);
#endif
		count = c + 1;
		pthread_mutex_unlock(&m);
	}
	return arg;
}

int main(void)
{
	pthread_t t[2];
	unsigned a[5] = { 0 }, sum = 0;
	int fd = open("/dev/random", O_RDONLY), copy = dup(early);
	assert(read(early, &a[0], sizeof a[0]) == sizeof a[0] && read(fd, &a[1], sizeof a[1]) == sizeof a[1]);
	assert(read(copy, &a[2], sizeof a[2]) == sizeof a[2] && !close(copy) && !close(fd));
	FILE *f = fopen("/dev/urandom", "r");
	assert(f && fread(&a[3], sizeof a[3], 1, f) == 1 && !fclose(f) && !getentropy(&a[4], sizeof a[4]));
	for (int i = 0; i < 5; i++)
		for (int k = 0; k < i; k++)
			assert(a[i] != a[k]); /* once in 400 million, were they real */
	for (int i = 0; i < 5; i++)
		sum += a[i];
	rounds = 1 + (int)(sum % 3);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	assert(count == 2 * rounds);
	return 0;
}
