/* A function marked by attribute is judged strictly.
 * intact: find count predicted
 * explore: none -- its threads never overlap */
#include <intact/annotate.h>
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int x, y;
INTACT_ATOMIC_FUNCTION static void count(void)
{ /* @entered */
	pthread_mutex_lock(&a);
	x++;
	pthread_mutex_unlock(&a); /* @commit */
	pthread_mutex_lock(&b); /* @violation */
	y++;
	pthread_mutex_unlock(&b);
}
static void *worker(void *arg)
{
	count();
	return arg;
}
int main(void)
{
	pthread_t t;
	for (int i = 0; i < 2; i++) {
		pthread_create(&t, NULL, worker, NULL);
		pthread_join(t, NULL);
	}
	return x == 2 && y == 2 ? 0 : 1;
}
