/* explore: find assertion
 * Which processor a thread is on is the same in every run, and a poll without descriptors is a sleep, which takes no time.
 * The bug: counters of processors, as if a thread could not be interrupted between reading and writing one. */
#define _GNU_SOURCE
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int count[1024];

static void *worker(void *arg)
{
	int cpu = sched_getcpu();
	unsigned same;
	assert(!syscall(SYS_getcpu, &same, NULL, NULL) && cpu == (int)same);
	poll(NULL, 0, 3600 * 1000);
#ifdef FIXED
	atomic_fetch_add(&count[cpu % 1024], 1);
#else
	count[cpu % 1024] = count[cpu % 1024] + 1;
#endif
	return arg;
}

int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	int sum = 0;
	for (int i = 0; i < 1024; i++)
		sum += count[i];
	assert(sum == 2);
	return 0;
}
