/*
 * The accesses are in functions of one access, which have no hooks of their
 * own where clang inlines them: the blocks around them are found all the same,
 * and the stacks name them.
 *
 * intact: find deposit any
 * intact: says Between get() and set() the lock
 */
#include <pthread.h>
#include <stdio.h>

struct account {
	long balance;
};
static struct account account;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static inline long peek(const struct account *a)
{
	return a->balance;
}

static inline void poke(struct account *a, long v)
{
	a->balance = v;
}

static long get(void)
{
	pthread_mutex_lock(&m);
	long v = peek(&account);
	pthread_mutex_unlock(&m); /* @commit */
	return v;
}

static void set(long v)
{
	pthread_mutex_lock(&m); /* @violation */
	poke(&account, v);
	pthread_mutex_unlock(&m);
}

static void deposit(long n)
{ /* @entered */
	set(get() + n);
}

static void *work(void *arg)
{
	(void)arg;
	deposit(1);
	return NULL;
}

int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%ld\n", account.balance);
	return 0;
}
