/* As condition_semaphore, but another thread sets the number without having taken
 * anything: it comes in between, and what is given back is lost or one too many.
 * intact: find update predicted
 * explore: none -- its threads never overlap */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int n = 1, x;
static void update(void)
{ /* @entered */
	pthread_mutex_lock(&m);
	while (!n)
		pthread_cond_wait(&c, &m);
	n--;
	pthread_mutex_unlock(&m); /* @commit */
	x++;
	pthread_mutex_lock(&m); /* @violation */
	n++;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
}
static void reset(void)
{
	pthread_mutex_lock(&m);
	n = 1;
	pthread_mutex_unlock(&m);
}
static void *worker(void *arg)
{
	update();
	return arg;
}
static void *resets(void *arg)
{
	reset();
	return arg;
}
int main(void)
{
	pthread_t t;
	for (int i = 0; i < 2; i++) {
		pthread_create(&t, NULL, i ? resets : worker, NULL);
		pthread_join(t, NULL);
	}
	return n == 1 ? 0 : 1;
}
