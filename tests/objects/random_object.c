/* The random object of OBJECT_SEED as an object test. */
#include <intact/test.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "random_object.h"

static struct object o;
static atomic_int var[VARS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t semaphore;

#ifndef CONDITION
#define CONDITION "linearizable"
#endif

static void *create(void)
{
	const char *seed = getenv("OBJECT_SEED");
	o = make_object(seed ? strtoull(seed, NULL, 10) : 1);
	sem_init(&semaphore, 0, (unsigned)o.semaphore);
	return NULL;
}

static long run(int which)
{
	int acc = 0;
	for (int i = 0; i < o.op[which].n; i++) {
		const struct step s = o.op[which].step[i];
		int expected = acc;
		switch (s.kind) {
		case LOAD: acc = atomic_load(&var[s.var]); break;
		case STORE: atomic_store(&var[s.var], s.value < 0 ? acc : s.value); break;
		case ADD: acc = atomic_fetch_add(&var[s.var], 1); break;
		case CAS: acc = atomic_compare_exchange_strong(&var[s.var], &expected, s.value); break;
		case LOCK: pthread_mutex_lock(&lock); break;
		case UNLOCK: pthread_mutex_unlock(&lock); break;
		case WAIT: sem_wait(&semaphore); break;
		case POST: sem_post(&semaphore); break;
		}
	}
	return acc;
}

static long a(void *object, const long *arg) { (void)object; (void)arg; return run(0); }
static long b(void *object, const long *arg) { (void)object; (void)arg; return run(1); }
static long c(void *object, const long *arg) { (void)object; (void)arg; return run(2); }

static const struct intact_test test = {
	.name = "random",
	.create = create,
	.condition = CONDITION,
	.operations = { INTACT_OPERATION(a, .flags = INTACT_BLOCKS), INTACT_OPERATION(b, .flags = INTACT_BLOCKS),
	                INTACT_OPERATION(c, .flags = INTACT_BLOCKS) },
};
INTACT_TEST_MAIN(test)
