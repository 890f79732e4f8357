/*
 * The race-free lost update: get and set each hold the mutex, increment does
 * not. Try:
 *   intact cc -g examples/c/lost-update.c -o lost-update -pthread
 *   intact run ./lost-update
 * The threads run one after the other here, so the result is right; Intact
 * names the window all the same.
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int count;

static int get(void)
{
	pthread_mutex_lock(&m);
	int v = count;
	pthread_mutex_unlock(&m);
	return v;
}

static void set(int v)
{
	pthread_mutex_lock(&m);
	count = v;
	pthread_mutex_unlock(&m);
}

static void increment(void)
{
	set(get() + 1);
}

static void *worker(void *arg)
{
	increment();
	return arg;
}

int main(void)
{
	for (int i = 0; i < 2; i++) {
		pthread_t t;
		pthread_create(&t, NULL, worker, NULL);
		pthread_join(t, NULL);
	}
	printf("count = %d\n", count);
	return 0;
}
