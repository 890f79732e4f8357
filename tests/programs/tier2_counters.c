/* Two counters, each updated in a section of its own, as statistics are; a third section shows dozens of them.
 * intact: find count_request any
 * intact: tier2 split counters -- each update is whole by itself */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long counters[16];
static volatile long shown;
static void count_in(void)
{
	pthread_mutex_lock(&m);
	counters[3]++;
	pthread_mutex_unlock(&m); /* @commit */
}
static void count_out(void)
{
	pthread_mutex_lock(&m); /* @violation */
	counters[7]++;
	pthread_mutex_unlock(&m);
}
static void count_request(void)
{ /* @entered */
	count_in();
	count_out();
}
static void show(void)
{
	long sum = 0;
	pthread_mutex_lock(&m);
	for (int i = 0; i < 16; i++)
		sum += counters[15 - i];
	pthread_mutex_unlock(&m);
	shown = sum;
}
static void *worker(void *arg)
{
	count_request();
	show();
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, worker, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return counters[3] == 2 ? 0 : 1;
}
