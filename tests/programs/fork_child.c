/* The child of a fork finds too, in threads of its own.
 * intact: find increment predicted
 * explore: refused -- it forks */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static int get(void)
{
	pthread_mutex_lock(&m);
	int r = x;
	pthread_mutex_unlock(&m); /* @commit */
	return r;
}
static void set(int v)
{
	pthread_mutex_lock(&m); /* @violation */
	x = v;
	pthread_mutex_unlock(&m);
}
static void increment(void)
{ /* @entered */
	set(get() + 1);
}
static void *worker(void *arg)
{
	increment();
	return arg;
}
int main(void)
{
	pid_t p = fork();
	if (p == 0) {
		pthread_t t;
		for (int i = 0; i < 2; i++) {
			pthread_create(&t, NULL, worker, NULL);
			pthread_join(t, NULL);
		}
		_exit(x == 2 ? 0 : 1);
	}
	int status;
	waitpid(p, &status, 0);
	return 0;
}
