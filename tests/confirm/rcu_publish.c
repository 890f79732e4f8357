/* confirm: finds change -- a copy of the old version is changed and published: the other's change is lost. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
struct config {
	int a, b;
};
static struct config *current;

static void change(int a, int b)
{
	struct config *copy = malloc(sizeof *copy);
	pthread_mutex_lock(&m);
	*copy = *current;
#ifndef FIXED
	pthread_mutex_unlock(&m);
#endif
	copy->a += a;
	copy->b += b;
#ifndef FIXED
	pthread_mutex_lock(&m);
#endif
	current = copy;
	pthread_mutex_unlock(&m);
}

static void *first(void *arg)
{
	change(1, 0);
	return arg;
}

static void *second(void *arg)
{
	change(0, 1);
	return arg;
}

int main(void)
{
	pthread_t a, b;
	current = calloc(1, sizeof *current);
	pthread_create(&a, NULL, first, NULL);
	pthread_create(&b, NULL, second, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
