/* Results read after a join are nobody else's.
 * intact: none */
#include <intact/annotate.h>
#include <pthread.h>
static int result[4];
static void *worker(void *arg)
{
	int *r = arg;
	for (int i = 0; i < 100; i++)
		*r += i;
	return arg;
}
static int sum(void)
{
	INTACT_ATOMIC("sum");
	int s = 0;
	for (int i = 0; i < 4; i++) {
		s += result[i];
		result[i] = s;
	}
	return s;
}
int main(void)
{
	pthread_t t[4];
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 4; i++)
			pthread_create(&t[i], NULL, worker, &result[i]);
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
		if (sum() <= 0)
			return 1;
	}
	return 0;
}
