/* intact: find deposit predicted
 * intact: commits unlock deposit teller worker
 *
 * unlock is inlined behind a call whose last arguments were passed on the stack
 * and, with gcc -O2, not yet taken off it: the stack pointer is lower than when
 * the function around it was entered.
 * explore: none -- its threads never overlap */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int balance;
static inline __attribute__((always_inline)) void lock(void)
{
	pthread_mutex_lock(&m); /* @violation */
}
static inline __attribute__((always_inline)) void unlock(void)
{
	pthread_mutex_unlock(&m); /* @commit */
}
static __attribute__((noinline)) int sum(int *a, int *b, int *c, int *d, int *e, int *f, int *g)
{
	return *a + *b + *c + *d + *e + *f + *g + balance;
}
static __attribute__((noinline)) void deposit(int n)
{ /* @entered */
	int one = 1, two = 2, old;
	lock();
	old = sum(&n, &one, &two, &one, &two, &one, &two);
	unlock();
	lock();
	balance = old + one + two;
	unlock();
}
static __attribute__((noinline)) void teller(int n)
{
	deposit(n);
}
static void *worker(void *arg)
{
	teller(10);
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, worker, NULL);
	pthread_join(a, NULL);
	pthread_create(&b, NULL, worker, NULL);
	pthread_join(b, NULL);
	return balance ? 0 : 1;
}
