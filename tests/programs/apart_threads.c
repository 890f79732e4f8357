/* Whoever uses the counter has not made the next thread yet, or waits for it: no
 * schedule can break add(), though it takes the lock twice.
 * intact: none */
#include <intact/annotate.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int count;
static void set(int v)
{
	pthread_mutex_lock(&m);
	count = v;
	pthread_mutex_unlock(&m);
}
static int get(void)
{
	pthread_mutex_lock(&m);
	int v = count;
	pthread_mutex_unlock(&m);
	return v;
}
static void add(void)
{
	set(get() + 1);
}
static void add_marked(void)
{
	INTACT_ATOMIC("add_marked");
	set(get() + 1);
}
static void *worker(void *arg)
{
	for (int i = 0; i < 3; i++) {
		add();
		add_marked();
	}
	return arg;
}
static void *manager(void *arg)
{
	pthread_t t;
	add();
	pthread_create(&t, NULL, worker, NULL);
	pthread_join(t, NULL);
	return arg;
}
int main(void)
{
	pthread_t t;
	set(5);
	add();
	add_marked();
	pthread_create(&t, NULL, manager, NULL);
	pthread_join(t, NULL);
	add();
	add_marked();
	return count != 5 + 2 + 7 + 2;
}
