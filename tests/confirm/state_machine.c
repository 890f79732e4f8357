/* confirm: finds advance -- the state is read, the action is done, then the next state is written. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static enum { IDLE, BUSY, DONE } state;
static int done;

static void advance(void)
{
	pthread_mutex_lock(&m);
	int s = state;
#ifndef FIXED
	pthread_mutex_unlock(&m);
	pthread_mutex_lock(&m);
#endif
	switch (s) {
	case IDLE:
		state = BUSY;
		break;
	case BUSY:
		state = DONE;
		done++;
		break;
	default:
		break;
	}
	pthread_mutex_unlock(&m);
}

static void *worker(void *arg)
{
	advance();
	advance();
	return arg;
}

int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
