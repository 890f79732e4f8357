/* Readers and writers, one section each.
 * intact: none */
#include <pthread.h>
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static int table[8];
static int look(int i)
{
	pthread_rwlock_rdlock(&l);
	int r = table[i];
	pthread_rwlock_unlock(&l);
	return r;
}
static void update(int i, int v)
{
	pthread_rwlock_wrlock(&l);
	table[i] += v;
	pthread_rwlock_unlock(&l);
}
static void *reader(void *arg)
{
	int sum = 0;
	for (int i = 0; i < 200; i++)
		sum += look(i % 8);
	return sum >= 0 ? arg : 0;
}
static void *writer(void *arg)
{
	for (int i = 0; i < 200; i++)
		update(i % 8, 1);
	return arg;
}
int main(void)
{
	pthread_t t[3];
	pthread_create(&t[0], NULL, reader, NULL);
	pthread_create(&t[1], NULL, reader, NULL);
	pthread_create(&t[2], NULL, writer, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return look(0) == 25 ? 0 : 1;
}
