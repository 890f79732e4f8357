/* A semaphore made of a mutex and a condition, used as a lock: what stands between
 * taking and giving back is not a gap. One thread waits for it while another has
 * it. With the signal under the mutex, after it, and with a flag in place of a
 * number.
 * intact: none */
#include <pthread.h>
#include "sched.h"
struct semaphore {
	pthread_mutex_t m;
	pthread_cond_t c;
	int n;
};
static struct semaphore s = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 1 };
static pthread_mutex_t flag_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t flag_free = PTHREAD_COND_INITIALIZER;
static int busy;
static long x, y, z;
static void take(void)
{
	pthread_mutex_lock(&s.m);
	while (!s.n) {
		once_at(2);
		pthread_cond_wait(&s.c, &s.m);
	}
	s.n--;
	pthread_mutex_unlock(&s.m);
}
static void give(void)
{
	pthread_mutex_lock(&s.m);
	s.n++;
	pthread_cond_signal(&s.c);
	pthread_mutex_unlock(&s.m);
}
static void give_late(void)
{
	pthread_mutex_lock(&s.m);
	s.n++;
	pthread_mutex_unlock(&s.m);
	pthread_cond_signal(&s.c);
}
static void first(void)
{
	take();
	at(1);
	at(3); /* the other waits */
	x++;
	give();
}
static void update(void)
{
	take();
	x++;
	y--;
	give();
}
static void move(void)
{
	take();
	x--;
	y++;
	give_late();
}
static void under_flag(void)
{
	pthread_mutex_lock(&flag_mutex);
	while (busy)
		pthread_cond_wait(&flag_free, &flag_mutex);
	busy = 1;
	pthread_mutex_unlock(&flag_mutex);
	z++;
	pthread_mutex_lock(&flag_mutex);
	busy = 0;
	pthread_cond_broadcast(&flag_free);
	pthread_mutex_unlock(&flag_mutex);
}
static void *worker(void *arg)
{
	if (!arg)
		first();
	else
		while (sched_step < 1)
			sched_yield();
	for (int i = 0; i < 20; i++) {
		update();
		move();
		under_flag();
	}
	return NULL;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, i ? t : NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return x == 1 && y == 0 && z == 40 ? 0 : 1;
}
