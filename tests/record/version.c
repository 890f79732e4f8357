#include <intact/annotate.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static long count, table[8];
static long get(void) { pthread_mutex_lock(&m); long v = count; pthread_mutex_unlock(&m); return v; }
static void set(long v) { pthread_mutex_lock(&m); count = v; pthread_mutex_unlock(&m); }
static void increment(void) { INTACT_ATOMIC("increment"); set(get() + 1); }
static void *work(void *p)
{
	for (int i = 0; i < 8; i++) {
		pthread_rwlock_rdlock(&rw);
		(void)*(volatile long *)&table[i];
		pthread_rwlock_unlock(&rw);
	}
	increment();
	return p;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 8; i++)
		table[i] = i;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
/* version2.itr.gz is a recording of this (tests/record/run.py, older). */
