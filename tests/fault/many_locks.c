/* 300 locks held at once. */
#include <pthread.h>
static pthread_mutex_t m[300];
static int x;
static void *all(void *arg)
{
	for (int i = 0; i < 300; i++)
		pthread_mutex_lock(&m[i]);
	x++;
	for (int i = 299; i >= 0; i--)
		pthread_mutex_unlock(&m[i]);
	return arg;
}
int main(void)
{
	pthread_t t[4];
	for (int i = 0; i < 300; i++)
		pthread_mutex_init(&m[i], 0);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], 0, all, 0);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	return x == 4 ? 0 : 1;
}
