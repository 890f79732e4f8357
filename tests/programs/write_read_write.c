/* The block writes twice; a reader in between sees half of it.
 * intact: find move predicted
 * intact: pattern intermediate state seen of 'from' and 'to'
 * explore: none -- its threads never overlap */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int from = 10, to;
static void debit(int n)
{
	pthread_mutex_lock(&m);
	from -= n;
	pthread_mutex_unlock(&m); /* @commit */
}
static void credit(int n)
{
	pthread_mutex_lock(&m); /* @violation */
	to += n;
	pthread_mutex_unlock(&m);
}
static void move(int n)
{ /* @entered */
	debit(n);
	credit(n);
}
static int total(void)
{
	pthread_mutex_lock(&m);
	int r = from + to;
	pthread_mutex_unlock(&m);
	return r;
}
static void *mover(void *arg)
{
	move(3);
	return arg;
}
static void *auditor(void *arg)
{
	*(int *)arg = total();
	return arg;
}
int main(void)
{
	pthread_t t;
	int r = 0;
	pthread_create(&t, NULL, mover, NULL);
	pthread_join(t, NULL);
	pthread_create(&t, NULL, auditor, &r);
	pthread_join(t, NULL);
	return r == 10 ? 0 : 1;
}
