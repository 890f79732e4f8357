/* Counters of a compiler that counts which lines ran (--coverage): every thread
 * adds to them without a lock, and nobody means them to be exact.
 * intact: none */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
static uint64_t __llvm_gcov_ctr[4];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int total;
static sem_t one, two;
static __attribute__((noinline)) void add(int n, uint64_t *c)
{
	pthread_mutex_lock(&m);
	total += n;
	pthread_mutex_unlock(&m);
	uint64_t count = *c;
	__asm__ volatile("" ::: "memory");
	*c = count + 1;
}
static void *worker(void *arg)
{
	add(1, &__llvm_gcov_ctr[1]);
	sem_post(&one);
	sem_wait(&two);
	return arg;
}
int main(void)
{
	pthread_t t;
	sem_init(&one, 0, 0);
	sem_init(&two, 0, 0);
	pthread_create(&t, NULL, worker, NULL);
	add(1, &__llvm_gcov_ctr[1]);
	sem_wait(&one);
	sem_post(&two);
	add(1, &__llvm_gcov_ctr[1]);
	pthread_join(t, NULL);
	return 0;
}
