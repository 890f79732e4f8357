/* pthread_once publishes what it set up.
 * intact: none */
#include <intact/annotate.h>
#include <pthread.h>
#include <stdlib.h>
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int *table;
static void setup(void)
{
	table = malloc(4 * sizeof *table);
	for (int i = 0; i < 4; i++)
		table[i] = i * i;
}
static int square(int i)
{
	INTACT_ATOMIC("square");
	pthread_once(&once, setup);
	return table[i] + table[0];
}
static void *worker(void *arg)
{
	*(int *)arg = square(3);
	return arg;
}
int main(void)
{
	pthread_t t[4];
	int r[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, worker, &r[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return r[0] == 9 && r[3] == 9 ? 0 : 1;
}
