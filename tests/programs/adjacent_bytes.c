/* Neighbouring bytes under different locks are different data.
 * intact: none */
#include <intact/annotate.h>
#include <pthread.h>
static pthread_mutex_t m[8];
static struct { char c[8]; } s;
static void bump(int i)
{
	INTACT_ATOMIC("bump");
	pthread_mutex_lock(&m[i]);
	s.c[i]++;
	s.c[i]++;
	pthread_mutex_unlock(&m[i]);
}
static void *worker(void *arg)
{
	for (int i = 0; i < 30; i++) {
		bump((int)(long)arg);
		bump(((int)(long)arg + 1) % 8);
	}
	return arg;
}
int main(void)
{
	pthread_t t[4];
	for (int i = 0; i < 8; i++)
		pthread_mutex_init(&m[i], NULL);
	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, worker, (void *)(i * 2));
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return s.c[0] == 60 ? 0 : 1;
}
