/* Counting by load and compare-and-swap, again when it fails: the value that is
 * swapped was the one read, so the block is one non-mover. With the load inside
 * the loop, and with the value that the failed swap brought.
 * intact: none
 * intact: restarts */
#include <intact/annotate.h>
#include <pthread.h>
#include <stdatomic.h>
static _Atomic int count, twice;
static void add(void)
{
	INTACT_ATOMIC("add");
	int old;
	do
		old = atomic_load(&count);
	while (!atomic_compare_exchange_strong(&count, &old, old + 1));
}
static void add_two(void)
{
	INTACT_ATOMIC("add_two");
	int old = atomic_load(&twice);
	while (!atomic_compare_exchange_weak(&twice, &old, old + 2))
		;
}
static void *worker(void *arg)
{
	for (int i = 0; i < 2000; i++) {
		add();
		add_two();
	}
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return count == 4000 && twice == 8000 ? 0 : 1;
}
