/* confirm: finds audit -- the sum of two accounts, each read under the lock, misses money that is under way. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int a = 50, b = 50;

static int read_account(const int *account)
{
	pthread_mutex_lock(&m);
	int v = *account;
	pthread_mutex_unlock(&m);
	return v;
}

static int audit(void)
{
#ifdef FIXED
	pthread_mutex_lock(&m);
	int all = a + b;
	pthread_mutex_unlock(&m);
	return all;
#else
	return read_account(&a) + read_account(&b);
#endif
}

static void move(int sum)
{
	pthread_mutex_lock(&m);
	a -= sum;
	b += sum;
	pthread_mutex_unlock(&m);
}

static void *auditor(void *arg)
{
	return audit() != 100 ? arg : NULL;
}

static void *clerk(void *arg)
{
	move(10);
	return arg;
}

int main(void)
{
	pthread_t t, u;
	if (read_account(&a) != 50)
		return 1;
	pthread_create(&t, NULL, auditor, NULL);
	pthread_create(&u, NULL, clerk, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return 0;
}
