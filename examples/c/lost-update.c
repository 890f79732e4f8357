/*
 * The race-free lost update: get and set each hold the mutex, increment does
 * not. Try: intact cc -g examples/c/lost-update.c -o lost-update -pthread
 *           intact run ./lost-update
 * The second thread happens to come late here, so the result is right; Intact
 * names the window all the same.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
static sem_t late;
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

static void *first(void *arg)
{
	increment();
	sem_post(&late);
	return arg;
}

static void *second(void *arg)
{
	sem_wait(&late);
	increment();
	return arg;
}

int main(void)
{
	pthread_t a, b;
	sem_init(&late, 0, 0);
	pthread_create(&a, NULL, first, NULL);
	pthread_create(&b, NULL, second, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("count = %d\n", count);
	return 0;
}
