/* The library of load_waits.c. */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t sem;
static int done;

int waiter_done(void);
int waiter_done(void)
{
	return done;
}

static void *work(void *arg)
{
	int fd[2];
	char c = 1;
	if (pipe(fd) || write(fd[1], &c, 1) != 1 || read(fd[0], &c, 1) != 1)
		return arg;
	pthread_rwlock_wrlock(&lock);
	done = 1;
	pthread_rwlock_unlock(&lock);
	sem_post(&sem);
	return arg;
}

__attribute__((constructor)) static void load(void)
{
	pthread_t t;
	sem_init(&sem, 0, 0);
	pthread_create(&t, NULL, work, NULL);
	sem_wait(&sem);
	pthread_join(t, NULL);
}
