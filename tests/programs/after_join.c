/* Threads race on a counter; main reads and writes it when it has waited for all
 * of them: nobody is left who could come in between. In a marked block, too.
 * intact: none
 * explore: race -- the workers all write `hits` */
#include <intact/annotate.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int rows;
static volatile int hits;
static void add(void)
{
	pthread_mutex_lock(&m);
	rows++;
	pthread_mutex_unlock(&m);
	hits = 1;
}
static void summary(void)
{
	pthread_mutex_lock(&m);
	rows = -rows;
	pthread_mutex_unlock(&m);
	hits = hits + 1;
}
static void again(void)
{
	INTACT_ATOMIC("again");
	hits = hits + 1;
	hits = hits + 1;
}
static void *worker(void *arg)
{
	add();
	return arg;
}
static void round_of(int threads)
{
	pthread_t t[3];
	for (int i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	summary();
	again();
}
int main(void)
{
	round_of(3);
	round_of(2); /* in slots of threads that have ended */
	return hits == 4 ? 0 : 1;
}
