/* confirm: finds pop_two -- two elements that belong together are popped one by one.
 * What the update of top gives is used as an index; in memory that looks like a counter that both sections count
 * down. So it is shown by default where the compiler's facts are there (clang, with optimisation), and by --all else. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int stack[8] = { 1, 1, 2, 2, 3, 3 }, top = 6;

static int pop(void)
{
	pthread_mutex_lock(&m);
	int v = top ? stack[--top] : 0;
	pthread_mutex_unlock(&m);
	return v;
}

static int pop_two(void)
{
#ifdef FIXED
	pthread_mutex_lock(&m);
	int a = top ? stack[--top] : 0, b = top ? stack[--top] : 0;
	pthread_mutex_unlock(&m);
#else
	int a = pop(), b = pop();
#endif
	return a == b;
}

static void *worker(void *arg)
{
	return pop_two() ? arg : NULL;
}

int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return pop() > 3;
}
