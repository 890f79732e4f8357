/*
 * A list that readers walk without a lock: writers, under a mutex, unlink a node, wait until every reader that was in the list
 * has left it (a grace period), and free the node. With -DBROKEN they do not wait: a reader may stand on the freed node.
 */
#include <intact/test.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
	struct node *_Atomic next;
	long key;
};

struct list {
	struct node *_Atomic first;
	_Atomic int readers[2], turn; /* those that entered in this turn */
	pthread_mutex_t writers;
};

static void *create(void)
{
	struct list *l = calloc(1, sizeof *l);
	pthread_mutex_init(&l->writers, NULL);
	return l;
}

static void destroy(void *object)
{
	struct list *l = object;
	for (struct node *n = atomic_load(&l->first), *next; n; n = next) {
		next = atomic_load(&n->next);
		free(n);
	}
	pthread_mutex_destroy(&l->writers);
	free(l);
}

static void wait_for_readers(struct list *l)
{
#ifndef BROKEN
	for (int i = 0; i < 2; i++) { /* twice: a reader may have read the turn and not counted itself yet */
		int turn = atomic_load(&l->turn);
		atomic_store(&l->turn, !turn);
		while (atomic_load(&l->readers[turn]))
			sched_yield();
	}
#else
	(void)l;
#endif
}

static struct node *_Atomic *find(struct list *l, long key)
{
	struct node *_Atomic *at = &l->first;
	for (struct node *n; (n = atomic_load(at)) && n->key < key;)
		at = &n->next;
	return at;
}

static long add(void *object, const long *arg)
{
	struct list *l = object;
	pthread_mutex_lock(&l->writers);
	struct node *_Atomic *at = find(l, arg[0]), *n = atomic_load(at);
	int is_new = !n || n->key != arg[0];
	if (is_new) {
		struct node *made = malloc(sizeof *made);
		made->key = arg[0];
		atomic_store(&made->next, n);
		atomic_store(at, made);
	}
	pthread_mutex_unlock(&l->writers);
	return is_new;
}

static long del(void *object, const long *arg)
{
	struct list *l = object;
	pthread_mutex_lock(&l->writers);
	struct node *_Atomic *at = find(l, arg[0]), *n = atomic_load(at);
	int is_there = n && n->key == arg[0];
	if (is_there) {
		atomic_store(at, atomic_load(&n->next));
		wait_for_readers(l);
		free(n);
	}
	pthread_mutex_unlock(&l->writers);
	return is_there;
}

static long contains(void *object, const long *arg)
{
	struct list *l = object;
	int turn = atomic_load(&l->turn);
	atomic_fetch_add(&l->readers[turn], 1);
	struct node *n = atomic_load(&l->first);
	while (n && n->key < arg[0])
		n = atomic_load(&n->next);
	int is_there = n && n->key == arg[0];
	atomic_fetch_sub(&l->readers[turn], 1);
	return is_there;
}

static const struct intact_test list = {
	.name = "rcu-list",
	.create = create,
	.destroy = destroy,
	.before = { { "add", { 1 } } },
	.operations = {
		INTACT_OPERATION(add, .arg = { INTACT_RANGE(1, 2) }, .flags = INTACT_BOOLEAN),
		INTACT_OPERATION(del, .arg = { INTACT_RANGE(1, 2) }, .flags = INTACT_BOOLEAN, .as = "remove"),
		INTACT_OPERATION(contains, .arg = { INTACT_RANGE(1, 2) }, .flags = INTACT_BOOLEAN),
	},
	.spec = "set",
};
INTACT_TEST_MAIN(list)
