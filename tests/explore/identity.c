/* explore: find assertion
 * What is made of the ids of the process and its threads is the same in every run, and a call about one of the program's
 * threads is about no other process. The bug: a counter without a lock, in a path that depends on both. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int count, rounds;

static void *worker(void *arg)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	assert(!sched_setaffinity((pid_t)syscall(SYS_gettid), sizeof set, &set));
	assert(!pthread_setaffinity_np(pthread_self(), sizeof set, &set));
	assert(sched_getaffinity((pid_t)syscall(SYS_gettid), sizeof set, &set) == 0 && CPU_COUNT(&set) > 0);
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
	srand((unsigned)(getpid() ^ getppid()));
	rounds = 1 + rand() % 2;
	assert(getpid() == syscall(SYS_gettid));
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	assert(count == 2 * rounds);
	return 0;
}
