/*
 * A lost update, first only possible (two threads, one after the other), then, when
 * that has been told, one that happens; then the end that the argument names:
 * a signal's number, or 0 for an ordinary end. SIGKILL leaves no time for anything.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int balance;
static sem_t in_between, done;

static int get(void)
{
	pthread_mutex_lock(&m);
	int v = balance;
	pthread_mutex_unlock(&m);
	return v;
}

static void set(int v)
{
	pthread_mutex_lock(&m);
	balance = v;
	pthread_mutex_unlock(&m);
}

static void deposit(int meet)
{
	int v = get();
	if (meet) {
		sem_post(&in_between);
		sem_wait(&done);
	}
	set(v + 1);
}

static void *alone(void *arg)
{
	deposit(0);
	return arg;
}

static void *first(void *arg)
{
	deposit(1);
	return arg;
}

static void *second(void *arg)
{
	sem_wait(&in_between);
	set(100);
	sem_post(&done);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t a, b;
	sem_init(&in_between, 0, 0);
	sem_init(&done, 0, 0);
	for (int i = 0; i < 2; i++) {
		pthread_create(&a, 0, alone, 0);
		pthread_join(a, 0);
	}
	pthread_create(&a, 0, first, 0);
	pthread_create(&b, 0, second, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	int sig = argc > 1 ? atoi(argv[1]) : 0;
	if (sig == SIGSEGV)
		*(volatile int *)8 = 1;
	if (sig)
		kill(getpid(), sig);
	return 0;
}
