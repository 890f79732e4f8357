/* confirm: finds transfer -- the balance is looked at in one section and spent in another. */
#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int account[2] = { 130, 0 };

static int balance(int a)
{
	pthread_mutex_lock(&m);
	int v = account[a];
	pthread_mutex_unlock(&m);
	return v;
}

static void move(int from, int to, int sum)
{
	pthread_mutex_lock(&m);
	account[from] -= sum;
	account[to] += sum;
	pthread_mutex_unlock(&m);
}

static bool transfer(int from, int to, int sum)
{
#ifdef FIXED
	bool ok;
	pthread_mutex_lock(&m);
	ok = account[from] >= sum;
	if (ok) {
		account[from] -= sum;
		account[to] += sum;
	}
	pthread_mutex_unlock(&m);
	return ok;
#else
	if (balance(from) < sum)
		return false;
	move(from, to, sum);
	return true;
#endif
}

static void *worker(void *arg)
{
	transfer(0, 1, 60);
	return arg;
}

int main(void)
{
	pthread_t t[2];
	move(0, 1, balance(1));
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
