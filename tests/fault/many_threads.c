/* 9,000 threads alive at once (TSan stops at 8,128). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int alive, go;
static void *wait_for_all(void *arg)
{
	pthread_mutex_lock(&m);
	alive++;
	while (!go)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
	return arg;
}
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 9000, made = 0;
	pthread_t *t = malloc((size_t)n * sizeof *t);
	pthread_attr_t a;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 64 << 10);
	for (; made < n; made++)
		if (pthread_create(&t[made], &a, wait_for_all, 0))
			break;
	pthread_mutex_lock(&m);
	go = 1;
	pthread_cond_broadcast(&c);
	pthread_mutex_unlock(&m);
	for (int i = 0; i < made; i++)
		pthread_join(t[i], 0);
	printf("%d\n", made);
	return made == n ? 0 : 1;
}
