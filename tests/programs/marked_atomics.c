/* Check-then-act on an atomic: each access is, the pair is not.
 * intact: find claim any
 * explore: none -- its threads never overlap */
#include <intact/annotate.h>
#include <pthread.h>
#include <stdatomic.h>
static _Atomic int owner;
static int claim(int who)
{
	INTACT_ATOMIC("claim"); /* @entered */
	if (atomic_load(&owner)) /* @commit */
		return 0;
	atomic_store(&owner, who); /* @violation */
	return 1;
}
static void *worker(void *arg)
{
	if (claim((int)(long)arg))
		atomic_store(&owner, 0);
	return arg;
}
static void *idle(void *arg)
{
	pthread_mutex_t *m = arg;
	pthread_mutex_lock(m);
	pthread_mutex_unlock(m);
	return arg;
}
int main(void)
{
	pthread_t t[2], k;
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&m);
	pthread_create(&k, NULL, idle, &m);
	for (long i = 0; i < 2; i++) {
		pthread_create(&t[i], NULL, worker, (void *)(i + 1));
		pthread_join(t[i], NULL);
	}
	pthread_mutex_unlock(&m);
	pthread_join(k, NULL);
	return owner;
}
