/*
 * Harris's sorted list as a set: a node is removed by marking its link first, so that nothing can be inserted behind it any
 * more. Removed nodes are left alone; hazard-pointers.c shows when they can be freed. With -DBROKEN it is only unlinked: an element that is inserted behind it at that moment is lost.
 */
#include <intact/test.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

struct node {
	_Atomic uintptr_t next; /* the lowest bit: this node is removed */
	long key;
};

struct list {
	_Atomic uintptr_t first;
};

static void *create(void)
{
	return calloc(1, sizeof(struct list));
}

static struct node *node_of(uintptr_t link)
{
	return (struct node *)(link & ~(uintptr_t)1);
}

static void destroy(void *object)
{
	struct list *l = object;
	for (struct node *n = node_of(atomic_load(&l->first)), *next; n; n = next) {
		next = node_of(atomic_load(&n->next));
		free(n);
	}
	free(l);
}

/* The first node that is not smaller, and the link to it; removed nodes on the way are unlinked. */
static struct node *find(struct list *l, long key, _Atomic uintptr_t **at)
{
again:
	*at = &l->first;
	uintptr_t link = atomic_load(*at);
	for (;;) {
		struct node *n = node_of(link);
		if (!n)
			return NULL;
		uintptr_t next = atomic_load(&n->next);
		if (next & 1) {
			uintptr_t expected = (uintptr_t)n;
			if (!atomic_compare_exchange_strong(*at, &expected, next & ~(uintptr_t)1))
				goto again;
			link = next & ~(uintptr_t)1;
			continue;
		}
		if (n->key >= key)
			return n;
		*at = &n->next;
		link = next;
	}
}

static long add(void *object, const long *arg)
{
	struct list *l = object;
	struct node *made = NULL, *n;
	_Atomic uintptr_t *at;
	for (;;) {
		n = find(l, arg[0], &at);
		if (n && n->key == arg[0])
			return 0;
		if (!made) {
			made = calloc(1, sizeof *made);
			made->key = arg[0];
		}
		atomic_store(&made->next, (uintptr_t)n);
		uintptr_t expected = (uintptr_t)n;
		if (atomic_compare_exchange_strong(at, &expected, (uintptr_t)made))
			return 1;
	}
}

static long del(void *object, const long *arg)
{
	struct list *l = object;
	_Atomic uintptr_t *at;
	for (;;) {
		struct node *n = find(l, arg[0], &at);
		if (!n || n->key != arg[0])
			return 0;
		uintptr_t next = atomic_load(&n->next), expected = (uintptr_t)n;
#ifdef BROKEN
		if (atomic_compare_exchange_strong(at, &expected, next))
			return 1;
#else
		if (next & 1 || !atomic_compare_exchange_strong(&n->next, &next, next | 1))
			continue;
		atomic_compare_exchange_strong(at, &expected, next);
		return 1;
#endif
	}
}

static long contains(void *object, const long *arg)
{
	struct list *l = object;
	struct node *n = node_of(atomic_load(&l->first));
	while (n && n->key < arg[0])
		n = node_of(atomic_load(&n->next));
	return n && n->key == arg[0] && !(atomic_load(&n->next) & 1);
}

static const struct intact_test list = {
	.name = "harris-list",
	.progress = "lock-free",
	.create = create,
	.destroy = destroy,
	.before = { { "add", { 1 } } },
	.after = { { "contains", { 1 } }, { "contains", { 2 } } },
	.operations = {
		INTACT_OPERATION(add, .arg = { INTACT_RANGE(1, 2) }, .flags = INTACT_BOOLEAN),
		INTACT_OPERATION(del, .arg = { INTACT_RANGE(1, 2) }, .flags = INTACT_BOOLEAN, .as = "remove"),
		INTACT_OPERATION(contains, .arg = { INTACT_RANGE(1, 2) }, .flags = INTACT_BOOLEAN),
	},
	.spec = "set",
};
INTACT_TEST_MAIN(list)
