/* explore: find misuse
 * explore: says freed memory
 * The count of users is dropped before the last use. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct box {
	atomic_int users;
	int value;
};

static void drop(struct box *b)
{
	if (atomic_fetch_sub(&b->users, 1) == 1)
		free(b);
}

static void *user(void *arg)
{
	struct box *b = arg;
#ifdef FIXED
	int v = b->value;
	drop(b);
#else
	drop(b);
	int v = b->value;
#endif
	return v == 7 ? NULL : b;
}

int main(void)
{
	struct box *b = malloc(sizeof *b);
	atomic_init(&b->users, 2);
	b->value = 7;
	pthread_t t;
	pthread_create(&t, NULL, user, b);
	drop(b);
	pthread_join(t, NULL);
	return 0;
}
