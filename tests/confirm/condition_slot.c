/* confirm: finds exchange -- waiting is right, but the slot is emptied after the lock was given up. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int slot, turns;

static int exchange(int mine)
{
	pthread_mutex_lock(&m);
	while (!slot)
		pthread_cond_wait(&filled, &m);
	int theirs = slot;
#ifndef FIXED
	pthread_mutex_unlock(&m);
	pthread_mutex_lock(&m);
#endif
	slot = mine;
	turns++;
	pthread_cond_signal(&filled);
	pthread_mutex_unlock(&m);
	return theirs;
}

static void *worker(void *arg)
{
	*(int *)arg = exchange(*(int *)arg);
	return NULL;
}

int main(void)
{
	pthread_t t[2];
	int v[2] = { 2, 3 };
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, &v[i]);
	pthread_mutex_lock(&m);
	slot = 1;
	pthread_cond_signal(&filled);
	pthread_mutex_unlock(&m);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
