/* Only the producer writes its index; the others look at it. That it is read in one section and written in the next
 * loses nothing: whose role it is to write it is one thread's.
 * intact: find produce predicted
 * intact: tier2 one-thread role -- no other thread writes it
 * explore: none -- its threads never overlap */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
enum { ROUNDS = 20 }; /* a role shows in some executions */
static long head, tail, seen;
static long get_head(void)
{
	pthread_mutex_lock(&m);
	long h = head;
	pthread_mutex_unlock(&m); /* @commit */
	return h;
}
static void set_head(long h)
{
	pthread_mutex_lock(&m); /* @violation */
	head = h;
	pthread_mutex_unlock(&m);
}
static void produce(void)
{ /* @entered */
	set_head(get_head() + 1);
}
static void consume(void)
{
	pthread_mutex_lock(&m);
	seen = head;
	tail++;
	pthread_mutex_unlock(&m);
}
static void *producer(void *arg)
{
	for (volatile int i = 0; i < ROUNDS; i++) /* one call site: not unrolled */
		produce();
	return arg;
}
static void *consumer(void *arg)
{
	consume();
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, producer, NULL);
	pthread_join(t, NULL);
	pthread_create(&t, NULL, consumer, NULL);
	pthread_join(t, NULL);
	return head == ROUNDS && tail == 1 && seen == ROUNDS ? 0 : 1;
}
