/* sections: the sets of locks a thread holds, against a list of them; locks go
 * in any order, readers' and writers', taken again and again. */
#include "check.h"

#include "base/rng.h"
#include "dynamic/reduction.h"

enum { LOCKS = 7, STEPS = 20000 };

static struct dynamic d;

static bool is_set(uint32_t set, const uint32_t *depth, const bool *read, bool writers)
{
	uint32_t n, want = 0;
	lockset_members(&d.sets, set, &n);
	for (uint32_t i = 0; i < LOCKS; i++) {
		bool in = depth[i] && !(writers && read[i]);
		want += in;
		if (in && !lockset_has(&d.sets, set, lock_id(&d.locks, 0x1000 + i * 64)))
			return false;
	}
	return n == want;
}

static void test_sets(void)
{
	CHECK(dynamic_init(&d));
	struct thread *t = calloc(1, sizeof *t);
	t->frames = calloc(8, sizeof *t->frames);
	t->limit = t->frames + 6;
	red_thread_begin(&d, t, NULL, 1, 1, 1, 0x10);
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct rng r;
		rng_seed(&r, seed);
		uint32_t depth[LOCKS] = { 0 };
		bool read[LOCKS] = { false };
		for (int i = 0; i < STEPS / 20; i++) {
			uint32_t l = (uint32_t)rng_below(&r, LOCKS);
			uintptr_t addr = 0x1000 + l * 64;
			/* letting go of all of it at once is a wait */
			bool wait = depth[l] > 1 && rng_below(&r, 4) == 0;
			if (depth[l] && rng_below(&r, 2)) {
				red_release(&d, t, addr, wait, 0x100);
				depth[l] = wait ? 0 : depth[l] - 1;
			} else {
				if (!depth[l])
					read[l] = rng_below(&r, 3) == 0;
				red_acquire(&d, t, addr, read[l], false, 0x200);
				depth[l]++;
			}
			CHECK(is_set(t->acc.all, depth, read, false));
			CHECK(is_set(t->acc.wr, depth, read, true));
		}
		for (uint32_t l = 0; l < LOCKS; l++)
			while (depth[l]) {
				red_release(&d, t, 0x1000 + l * 64, false, 0x100);
				depth[l]--;
			}
		CHECK_EQ(t->acc.all, LOCKSET_EMPTY);
	}
	red_thread_end(t);
	free(t->frames);
	free(t);
	dynamic_free(&d);
}

/* More sets than the first levels of the table have room for: none is lost,
 * none gets two numbers. */
static void test_many_sets(void)
{
	enum { N = 40000 };
	static uint32_t pair[N];
	struct lockset_table t;
	CHECK(lockset_init(&t));
	for (uint32_t i = 0; i < N; i++) {
		pair[i] = lockset_add(&t, NULL, lockset_add(&t, NULL, 0, 1 + i % 300), 1000 + i / 300);
		CHECK_EQ(lockset_remove(&t, NULL, pair[i], 1000 + i / 300), lockset_add(&t, NULL, 0, 1 + i % 300));
	}
	for (uint32_t i = 0; i < N; i++) {
		uint32_t n;
		const uint32_t *e = lockset_members(&t, pair[i], &n);
		CHECK(n == 2 && e[0] == 1 + i % 300 && e[1] == 1000 + i / 300);
		CHECK_EQ(lockset_add(&t, NULL, lockset_add(&t, NULL, 0, 1 + i % 300), 1000 + i / 300), pair[i]);
	}
	CHECK_EQ(t.nsets, 1 + N + 300);
	CHECK(t.level > 1);
	lockset_free(&t);
}

int main(void)
{
	RUN(test_sets);
	RUN(test_many_sets);
	return check_done();
}
