/* Behind the trampoline and the thread's own function others are judged as ever.
 * intact: find deposit predicted
 * explore: none -- its threads never overlap */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int balance;
static int get(void)
{
	pthread_mutex_lock(&m);
	int b = balance;
	pthread_mutex_unlock(&m); /* @commit */
	return b;
}
static void set(int b)
{
	pthread_mutex_lock(&m); /* @violation */
	balance = b;
	pthread_mutex_unlock(&m);
}
static void deposit(int n)
{ /* @entered */
	set(get() + n);
}
static void teller(void)
{
	deposit(1);
}
static void *thread_entry(void *arg)
{
	(*(void (**)(void))arg)();
	return arg;
}
int main(void)
{
	void (*fn)(void) = teller;
	pthread_t t;
	for (int i = 0; i < 2; i++) {
		pthread_create(&t, NULL, thread_entry, &fn);
		pthread_join(t, NULL);
	}
	return balance == 2 ? 0 : 1;
}
