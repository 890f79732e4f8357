/* confirm: finds account_add -- objects of their own locks; two threads use the same one. */
#include <pthread.h>
#include <stdlib.h>

struct account {
	pthread_mutex_t m;
	int sum;
};

static int account_get(struct account *a)
{
	pthread_mutex_lock(&a->m);
	int v = a->sum;
	pthread_mutex_unlock(&a->m);
	return v;
}

static void account_add(struct account *a, int by)
{
#ifdef FIXED
	pthread_mutex_lock(&a->m);
	a->sum += by;
	pthread_mutex_unlock(&a->m);
#else
	int v = account_get(a);
	pthread_mutex_lock(&a->m);
	a->sum = v + by;
	pthread_mutex_unlock(&a->m);
#endif
}

static struct account *accounts[3];

static void *worker(void *arg)
{
	account_add(accounts[(long)arg], 1);
	account_add(accounts[2], 1);
	return NULL;
}

int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 3; i++) {
		accounts[i] = calloc(1, sizeof *accounts[i]);
		pthread_mutex_init(&accounts[i]->m, NULL);
		account_get(accounts[i]);
	}
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
