/* A function that a thread's first function is called through: the thread's own
 * function is the one behind it. Of these only what looks like one of a few bugs counts: the two counters of `worker` do
 * not, the update in two sections of `other` does.
 * intact: find other any
 * intact: pattern lost update of 'x' */
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x, y;
struct start {
	void (*fn)(void *);
	void *arg;
};
static void *thread_entry(void *arg)
{
	struct start s = *(struct start *)arg;
	free(arg);
	s.fn(s.arg);
	return NULL;
}
static pthread_t spawn(void (*fn)(void *), void *arg)
{
	pthread_t t;
	struct start *s = malloc(sizeof *s);
	*s = (struct start){ fn, arg };
	pthread_create(&t, NULL, thread_entry, s);
	return t;
}
static void worker(void *arg)
{
	pthread_mutex_lock(&m);
	x++;
	pthread_mutex_unlock(&m);
	*(int *)arg = 1;
	pthread_mutex_lock(&m);
	x++;
	pthread_mutex_unlock(&m);
}
static void other(void *arg)
{
	pthread_mutex_lock(&m);
	y = x;
	pthread_mutex_unlock(&m);
	*(int *)arg = 1;
	pthread_mutex_lock(&m);
	x = y;
	pthread_mutex_unlock(&m);
}
int main(void)
{
	int ran[3] = { 0 };
	pthread_t t[3] = { spawn(worker, &ran[0]), spawn(worker, &ran[1]), spawn(other, &ran[2]) };
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return ran[0] && ran[1] && ran[2] ? 0 : 1;
}
