/* explore: find assertion
 * explore: says made == 1
 * explore: watched
 * The rest of <threads.h>: locks that try or have a limit, keys with destructors, ends of threads. The bug: a flag that two threads
 * test and set takes the place of call_once. */
#include <assert.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

static mtx_t m;
static cnd_t c;
static tss_t key;
static int destroyed, made, go;
static once_flag once = ONCE_FLAG_INIT;

static struct timespec soon(void)
{
	struct timespec t;
	timespec_get(&t, TIME_UTC);
	t.tv_nsec += 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void drop(void *p)
{
	assert(p == &destroyed);
	destroyed++;
}

static int ends(void *arg)
{
	assert(tss_get(key) == NULL && tss_set(key, arg) == thrd_success && tss_get(key) == arg);
	thrd_exit(7);
}

static void keys(void)
{
	thrd_t t;
	int value = 0;
	assert(tss_create(&key, drop) == thrd_success && tss_set(key, &value) == thrd_success);
	assert(thrd_create(&t, ends, &destroyed) == thrd_success && thrd_join(t, &value) == thrd_success);
	assert(value == 7 && destroyed == 1 && tss_get(key) == &value);
	tss_delete(key);
}

static void limits(void)
{
	struct timespec limit = soon();
	mtx_t again;
	assert(mtx_init(&m, mtx_timed) == thrd_success && mtx_init(&again, mtx_plain | mtx_recursive) == thrd_success);
	assert(cnd_init(&c) == thrd_success && mtx_trylock(&m) == thrd_success && mtx_trylock(&m) == thrd_busy);
	assert(mtx_timedlock(&m, &limit) == thrd_timedout);
	limit = soon();
	assert(cnd_timedwait(&c, &m, &limit) == thrd_timedout && mtx_unlock(&m) == thrd_success);
	limit = soon();
	limit.tv_sec += 3600;
	assert(mtx_timedlock(&m, &limit) == thrd_success && mtx_unlock(&m) == thrd_success);
	assert(mtx_lock(&again) == thrd_success && mtx_trylock(&again) == thrd_success);
	assert(mtx_unlock(&again) == thrd_success && mtx_unlock(&again) == thrd_success);
	mtx_destroy(&again);
}

static void make(void)
{
	made++;
}

static int user(void *arg)
{
	(void)arg;
	mtx_lock(&m);
	while (!go)
		cnd_wait(&c, &m);
	mtx_unlock(&m);
#ifdef FIXED
	call_once(&once, make);
#else
	mtx_lock(&m);
	int there = made;
	mtx_unlock(&m);
	if (!there) {
		mtx_lock(&m);
		make();
		mtx_unlock(&m);
	}
#endif
	return 3;
}

int main(void)
{
	thrd_t t[2];
	int r = 0;
	keys();
	limits();
	for (int i = 0; i < 2; i++)
		assert(thrd_create(&t[i], user, NULL) == thrd_success);
	mtx_lock(&m);
	go = 1;
	cnd_broadcast(&c);
	mtx_unlock(&m);
	assert(!thrd_equal(t[0], t[1]) && !thrd_equal(t[0], thrd_current()));
	for (int i = 0; i < 2; i++)
		assert(thrd_join(t[i], &r) == thrd_success);
	mtx_lock(&m);
	assert(made == 1);
	mtx_unlock(&m);
	cnd_destroy(&c);
	mtx_destroy(&m);
	return r == 3 ? 0 : 1;
}
