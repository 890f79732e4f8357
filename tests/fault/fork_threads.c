/* Forks while threads hammer locks; the child makes threads of its own. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;
static int x;
static void *hammer(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		pthread_mutex_lock(&m);
		x++;
		pthread_mutex_unlock(&m);
		free(malloc(64));
	}
	return arg;
}
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static int y;
static void *child_thread(void *arg)
{
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&own);
		y++;
		pthread_mutex_unlock(&own);
	}
	return arg;
}
int main(void)
{
	pthread_t t[2];
	int bad = 0;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, hammer, 0);
	for (int k = 0; k < 20; k++) {
		pid_t p = fork();
		if (p == 0) {
			pthread_t c[3];
			for (int i = 0; i < 3; i++)
				pthread_create(&c[i], 0, child_thread, 0);
			for (int i = 0; i < 3; i++)
				pthread_join(c[i], 0);
			_exit(y == 300 ? 0 : 1);
		}
		int st;
		waitpid(p, &st, 0);
		bad |= st;
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return bad ? 1 : 0;
}
