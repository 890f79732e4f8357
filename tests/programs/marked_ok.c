/* Two-phase locking in a marked block is reducible; so is one non-mover.
 * intact: none */
#include <intact/annotate.h>
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int x, y;
static _Atomic int total;
static void move(int n)
{
	INTACT_ATOMIC("move");
	pthread_mutex_lock(&a);
	pthread_mutex_lock(&b);
	x -= n;
	total++;
	y += n;
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
}
static void *worker(void *arg)
{
	for (int i = 0; i < 50; i++)
		move(1);
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return x == -100 && y == 100 && total == 100 ? 0 : 1;
}
