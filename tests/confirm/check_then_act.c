/* confirm: finds put_if_absent -- two threads both find the key missing. */
#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int keys[8], n;

static bool has(int key)
{
	bool found = false;
	for (int i = 0; i < n; i++)
		found |= keys[i] == key;
	return found;
}

static bool put_if_absent(int key)
{
	pthread_mutex_lock(&m);
	bool there = has(key);
#ifndef FIXED
	pthread_mutex_unlock(&m);
	if (there)
		return false;
	pthread_mutex_lock(&m);
#endif
	if (!there)
		keys[n++] = key;
	pthread_mutex_unlock(&m);
	return !there;
}

static void *worker(void *arg)
{
	put_if_absent(7);
	put_if_absent(*(int *)arg);
	return NULL;
}

int main(void)
{
	pthread_t t[2];
	int key[2] = { 1, 2 };
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, &key[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
