/* A loop takes one lock twice in each turn: behind the second section comes the
 * first of the next turn, and the report says that the loop comes round.
 * intact: find drain predicted
 * intact: says Also between line 19 and, in the next iteration of the loop, line 13
 * explore: none -- its threads never overlap */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int todo = 3, done;
static void drain(void)
{ /* @entered */
	for (int i = 0; i < 2; i++) {
		int left;
		pthread_mutex_lock(&m);
		left = todo;
		pthread_mutex_unlock(&m); /* @commit */
		pthread_mutex_lock(&m); /* @violation */
		todo = left - 1;
		done++;
		pthread_mutex_unlock(&m);
	}
}
static void *worker(void *arg)
{
	drain();
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++) {
		pthread_create(&t[i], NULL, worker, NULL);
		pthread_join(t[i], NULL);
	}
	return todo + done != 3;
}
