/* confirm: finds bump -- the same with spin locks. */
#include <pthread.h>

static pthread_spinlock_t s;
static long total;

static long get(void)
{
	pthread_spin_lock(&s);
	long v = total;
	pthread_spin_unlock(&s);
	return v;
}

static void bump(long by)
{
#ifdef FIXED
	pthread_spin_lock(&s);
	total += by;
	pthread_spin_unlock(&s);
#else
	long v = get();
	pthread_spin_lock(&s);
	total = v + by;
	pthread_spin_unlock(&s);
#endif
}

static void *worker(void *arg)
{
	bump(2);
	return arg;
}

int main(void)
{
	pthread_t t[2];
	pthread_spin_init(&s, PTHREAD_PROCESS_PRIVATE);
	if (get())
		return 1;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
