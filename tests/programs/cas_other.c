/* The swap makes good what was read of `x`, not what was read of `limit`.
 * intact: find take any
 * intact: restarts */
#include <intact/annotate.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
static _Atomic int x, limit = 10;
static sem_t go, done;
static int take(void)
{
	INTACT_ATOMIC("take"); /* @entered */
	int most = atomic_load(&limit); /* @commit */
	sem_post(&go);
	sem_wait(&done);
	int old = 0;
	while (old < most && !atomic_compare_exchange_strong(&x, &old, old + 1)) /* @violation */
		;
	return old < most;
}
static void *writer(void *arg)
{
	sem_wait(&go);
	atomic_store(&limit, 0);
	atomic_fetch_add(&x, 1);
	sem_post(&done);
	return arg;
}
int main(void)
{
	pthread_t t;
	sem_init(&go, 0, 0);
	sem_init(&done, 0, 0);
	pthread_create(&t, NULL, writer, NULL);
	int taken = take();
	pthread_join(t, NULL);
	return !taken;
}
