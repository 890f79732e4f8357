/* Allocation-heavy kernel: threads build and take down small trees.
 * argv: threads, trees a thread. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *l, *r; long v; };
static long rounds;
static struct node *grow(int depth)
{
	struct node *n = malloc(sizeof *n);
	n->v = depth;
	n->l = depth ? grow(depth - 1) : 0;
	n->r = depth ? grow(depth - 1) : 0;
	return n;
}
static long fell(struct node *n)
{
	if (!n)
		return 0;
	long s = n->v + fell(n->l) + fell(n->r);
	free(n);
	return s;
}
static void *worker(void *arg)
{
	long s = 0;
	for (long i = 0; i < rounds; i++)
		s += fell(grow(10));
	return (void *)s;
}
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 4;
	pthread_t t[64];
	rounds = argc > 2 ? atol(argv[2]) : 300;
	for (long i = 0; i < n; i++)
		pthread_create(&t[i], 0, worker, 0);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], 0);
	puts("done");
	return 0;
}
