/*
 * dynamic: locksets, stacks, locks and shadow cells against naive twins and
 * by hand. The seed is printed; INTACT_SEED repeats a run, INTACT_SOAK makes
 * it a hundred times longer.
 */
#include "check.h"
#include "soak.h"

#include "base/rng.h"
#include "dynamic/reduction.h"

static uint64_t seed = 20040;
static unsigned rounds = 20000;

/* ---- locksets: 64 locks, a set is a word ---- */

static uint64_t bits_of(const struct lockset_table *t, uint32_t set)
{
	uint32_t n;
	const uint32_t *e = lockset_members(t, set, &n);
	uint64_t b = 0;
	for (uint32_t i = 0; i < n; i++)
		b |= 1ull << e[i];
	return b;
}

static void test_lockset_twin(void)
{
	struct lockset_table t;
	static struct lockset_cache cache;
	struct { uint32_t id; uint64_t bits; } v[16] = { { 0, 0 } };
	struct rng r;
	rng_seed(&r, seed);
	CHECK(lockset_init(&t));
	for (unsigned i = 0; i < rounds; i++) {
		unsigned a = (unsigned)rng_below(&r, 16), b = (unsigned)rng_below(&r, 16);
		unsigned to = (unsigned)rng_below(&r, 16);
		uint32_t lock = (uint32_t)rng_below(&r, 12);
		struct lockset_cache *c = rng_below(&r, 2) ? &cache : NULL;
		uint32_t id;
		uint64_t bits;
		switch (rng_below(&r, 3)) {
		case 0:
			id = lockset_add(&t, c, v[a].id, lock);
			bits = v[a].bits | 1ull << lock;
			break;
		case 1:
			id = lockset_remove(&t, c, v[a].id, lock);
			bits = v[a].bits & ~(1ull << lock);
			break;
		default:
			id = lockset_meet(&t, c, v[a].id, v[b].id);
			bits = v[a].bits & v[b].bits;
		}
		CHECK_EQ(bits_of(&t, id), bits);
		CHECK_EQ(lockset_has(&t, id, lock), bits >> lock & 1);
		for (unsigned k = 0; k < 16; k++) /* equal sets, equal ids */
			CHECK((v[k].bits == bits) == (v[k].id == id));
		v[to].id = id;
		v[to].bits = bits;
	}
	CHECK(!t.full);
	lockset_free(&t);
}

static void test_lockset_bound(void)
{
	struct lockset_table t;
	uint32_t s = 0, n;
	CHECK(lockset_init(&t));
	for (uint32_t i = 1; i <= 400; i++)
		s = lockset_add(&t, NULL, s, i);
	lockset_members(&t, s, &n);
	CHECK_EQ(n, LOCKSET_MAX);
	lockset_free(&t);
}

static void test_stack(void)
{
	struct stack_tree t;
	uint64_t pcs[8];
	CHECK(stack_init(&t));
	uint32_t a = stack_push(&t, stack_push(&t, 0, 10), 20);
	uint32_t b = stack_push(&t, stack_push(&t, 0, 10), 20);
	uint32_t c = stack_push(&t, stack_push(&t, 0, 11), 20);
	CHECK_EQ(a, b);
	CHECK(a != c);
	CHECK_EQ(stack_walk(&t, c, pcs, 8), 2);
	CHECK_EQ(pcs[0], 20);
	CHECK_EQ(pcs[1], 11);
	CHECK_EQ(stack_walk(&t, 0, pcs, 8), 0);
	stack_free(&t);
}

/* Code that goes away and comes back, against stacks kept as they should read: a place
 * in the second half of the addresses moves, and is another when it is met again. */
static void test_stack_move(void)
{
	enum { STACKS = 400, DEEP = 5, HALF = 32 };
	static uint64_t want[STACKS][DEEP], got[DEEP];
	static uint32_t id[STACKS];
	struct stack_tree t;
	struct rng r;
	rng_seed(&r, seed + 1);
	CHECK(stack_init(&t));
	uint64_t delta = 0;
	for (uint32_t i = 0; i < STACKS; i++) {
		for (uint32_t k = 0; k < DEEP; k++) {
			want[i][k] = 1 + rng_below(&r, 2 * HALF);
			want[i][k] |= rng_below(&r, 2) ? STACK_MARK : 0;
			id[i] = stack_push(&t, k ? id[i] : 0, want[i][k]);
		}
		if (rng_below(&r, 40))
			continue;
		delta += 1ull << 48;
		stack_move(&t, HALF, 2 * HALF, delta);
		for (uint32_t j = 0; j <= i; j++)
			for (uint32_t k = 0; k < DEEP; k++)
				if ((want[j][k] & STACK_PC) > HALF && (want[j][k] & STACK_PC) <= 2 * HALF)
					want[j][k] += delta;
	}
	CHECK(delta);
	for (uint32_t i = 0; i < STACKS; i++) {
		CHECK_EQ(stack_walk(&t, id[i], got, DEEP), DEEP);
		for (uint32_t k = 0; k < DEEP; k++)
			CHECK_EQ(got[k], want[i][DEEP - 1 - k]);
		for (uint32_t j = 0; j < i; j++) /* equal stacks are equal ids, within one life of the code */
			CHECK(id[i] != id[j] || !memcmp(want[i], want[j], sizeof want[i]));
	}
	stack_free(&t);
}

static void test_lock_move(void)
{
	struct lock_table t;
	CHECK(lock_init(&t));
	uint32_t in = lock_id(&t, 0x2010), out = lock_id(&t, 0x3000);
	t.locks[in].seq = 3;
	lock_forget(&t, 0x2000, 0x1000);
	CHECK_EQ(t.locks[in].lived, 1);
	CHECK_EQ(lock_move(&t, 0x2000, 0x1000, (uintptr_t)1 << 48), 1);
	CHECK_EQ(t.locks[in].addr, ((uintptr_t)1 << 48) + 0x2010);
	CHECK_EQ(t.locks[out].addr, 0x3000);
	CHECK_EQ(lock_id(&t, 0x3000), out);
	CHECK(lock_id(&t, 0x2010) != in);
	lock_free(&t);
}

static void test_locks(void)
{
	struct lock_table t;
	CHECK(lock_init(&t));
	uint32_t a = lock_id(&t, 0x1000), b = lock_id(&t, 0x1028);
	CHECK(a != b);
	CHECK_EQ(lock_id(&t, 0x1000), a);
	t.locks[a].seq = t.locks[b].seq = 7;
	lock_forget(&t, 0x1028, 8);
	CHECK_EQ(t.locks[a].seq, 7);
	CHECK_EQ(t.locks[b].seq, 0);
	CHECK_EQ(t.locks[b].life, 1);
	lock_forget(&t, 0, (size_t)1 << 40);
	CHECK_EQ(t.locks[a].seq, 0);
	lock_free(&t);
}

/* ---- shadow cells ---- */

static struct lockset_table sets;
static struct shadow sh;
static uint32_t clocks[4][4];

static struct accessor who(uint32_t tid, uint32_t epoch, uint32_t lock)
{
	struct accessor a = { .tid = tid, .epoch = epoch, .first = 1, .live = 3,
		.clock = clocks[tid], .nclock = 4 };
	if (lock)
		a.all = a.wr = lockset_add(&sets, NULL, 0, lock);
	return a;
}

static enum mover touch(uintptr_t addr, struct accessor a, bool write)
{
	uint32_t race = 0;
	CHECK(shadow_leaf(&sh, addr) != NULL);
	return shadow_access(&sh, &a, shadow_cell(sh.dir, addr), 0xff, write, &race, NULL);
}

static void test_shadow_states(void)
{
	memset(clocks, 0, sizeof clocks);
	/* one lock, always */
	CHECK_EQ(touch(0x10000, who(1, 5, 9), true), MOVE_LOCAL);
	CHECK_EQ(touch(0x10000, who(2, 5, 9), true), MOVE_PROTECTED);
	CHECK_EQ(touch(0x10000, who(3, 5, 9), false), MOVE_PROTECTED);
	/* then without it, unordered */
	CHECK_EQ(touch(0x10000, who(1, 6, 0), false), MOVE_RACY);
	CHECK_EQ(touch(0x10000, who(2, 6, 9), false), MOVE_PROTECTED); /* write-protected */
	CHECK_EQ(touch(0x10000, who(2, 6, 9), true), MOVE_RACY);
	/* initialised without a lock, then used with one */
	CHECK_EQ(touch(0x10008, who(1, 5, 0), true), MOVE_LOCAL);
	CHECK_EQ(touch(0x10008, who(1, 6, 9), true), MOVE_LOCAL);
	CHECK_EQ(touch(0x10008, who(2, 5, 9), true), MOVE_PROTECTED);
	/* only read */
	CHECK_EQ(touch(0x10010, who(1, 5, 0), false), MOVE_LOCAL);
	CHECK_EQ(touch(0x10010, who(2, 5, 0), false), MOVE_READ);
	CHECK_EQ(touch(0x10010, who(3, 5, 0), false), MOVE_READ);
	CHECK_EQ(touch(0x10010, who(3, 6, 0), true), MOVE_RACY);
	/* handed over */
	clocks[2][1] = 5;
	CHECK_EQ(touch(0x10018, who(1, 5, 0), true), MOVE_LOCAL);
	CHECK_EQ(touch(0x10018, who(2, 5, 0), true), MOVE_LOCAL);
	CHECK_EQ(touch(0x10018, who(1, 6, 0), true), MOVE_RACY);
	/* forgotten */
	shadow_reset(&sh, 0x10000, 0x1000);
	CHECK_EQ(touch(0x10018, who(3, 7, 0), true), MOVE_LOCAL);
}

/* Different bytes of a cell are different data: a twin with eight states. */
static void test_shadow_bytes(void)
{
	uint32_t race;
	struct accessor a = who(1, 9, 0), b = who(2, 9, 0);
	memset(clocks, 0, sizeof clocks);
	CHECK(shadow_leaf(&sh, 0x20000) != NULL);
	uint64_t *c = shadow_cell(sh.dir, 0x20000);
	CHECK_EQ(shadow_access(&sh, &a, c, 0x0f, true, &race, NULL), MOVE_LOCAL);
	CHECK_EQ(shadow_access(&sh, &b, c, 0xf0, true, &race, NULL), MOVE_LOCAL);
	CHECK_EQ(shadow_access(&sh, &a, c, 0x0f, true, &race, NULL), MOVE_LOCAL);
	CHECK_EQ(shadow_access(&sh, &b, c, 0x10, true, &race, NULL), MOVE_LOCAL);
	CHECK_EQ(shadow_access(&sh, &a, c, 0x18, true, &race, NULL), MOVE_RACY);
}

/*
 * CELL_PART, and what the hooks settle by it and by open bytes, against a cell
 * for each byte: the same answers. `parts` and `bytes` see the same accesses;
 * those that the hooks would settle only `bytes` sees.
 */
struct both {
	struct shadow parts, bytes;
	uint32_t epoch[4], first[4], clock[4][4];
	uint32_t locks[2];
	struct rng r;
	unsigned seen, settled, in_parts;
};

static unsigned some_bytes(struct rng *r)
{
	unsigned size = 1u << rng_below(r, 4), at = (unsigned)rng_below(r, 8);
	return rng_below(r, 3) ? ((1u << size) - 1) << (at & ~(size - 1)) & 0xff
	                       : ((1u << size) - 1) << at & 0xff;
}

static void both_order(struct both *v, unsigned tid)
{
	unsigned other = 1 + (unsigned)rng_below(&v->r, 3);
	if (other != tid && rng_below(&v->r, 2)) { /* it happened before us */
		for (unsigned i = 1; i < 4; i++)
			if (v->clock[tid][i] < v->clock[other][i])
				v->clock[tid][i] = v->clock[other][i];
		v->clock[other][other] = ++v->epoch[other];
	} else {
		v->clock[tid][tid] = ++v->epoch[tid];
		if (!rng_below(&v->r, 8)) /* another thread in this slot */
			v->first[tid] = v->epoch[tid];
	}
}

static void both_access(struct both *v, unsigned tid)
{
	uintptr_t addr = 0x30000 + rng_below(&v->r, 3) * 8;
	bool write = !rng_below(&v->r, 12);
	unsigned mask = write && rng_below(&v->r, 2) ? 0xff : some_bytes(&v->r);
	uint32_t locks = rng_below(&v->r, 25) ? LOCKSET_EMPTY : v->locks[rng_below(&v->r, 2)];
	struct accessor a = { .tid = tid, .epoch = v->epoch[tid], .first = v->first[tid], .live = 3,
		.clock = v->clock[tid], .nclock = 4, .all = locks, .wr = locks,
		.atomic = !rng_below(&v->r, 30) };
	uint64_t *c = shadow_cell(v->parts.dir, addr), *e = shadow_cell(v->bytes.dir, addr);
	uint64_t key = CELL_KEY(tid, a.epoch);
	uint32_t race_c = 0, race_e = 0;
	enum mover was = shadow_access(&v->bytes, &a, e, mask, write, &race_e, NULL);
	v->seen++;
	v->in_parts += *c >> CELL_TAG == CELL_OTHER && c[SHADOW_SECOND] & CELL_PART;
	if (!write && !a.atomic &&
	    (cell_open(*c, mask) || (!locks && cell_part_known(c, key, mask)))) {
		CHECK(was == MOVE_LOCAL || was == MOVE_READ);
		v->settled++;
		return;
	}
	enum mover is = shadow_access(&v->parts, &a, c, mask, write, &race_c, NULL);
	CHECK_EQ(is, was);
	CHECK_EQ(race_c != 0, race_e != 0);
}

static void test_shadow_parts(void)
{
	static struct both v;
	rng_seed(&v.r, seed + 5);
	CHECK(shadow_init(&v.parts, &sets) && shadow_init(&v.bytes, &sets));
	v.bytes.no_parts = true;
	v.locks[0] = lockset_add(&sets, NULL, 0, 3);
	v.locks[1] = lockset_add(&sets, NULL, v.locks[0], 4);
	CHECK(shadow_leaf(&v.parts, 0x30000) && shadow_leaf(&v.bytes, 0x30000));
	for (unsigned i = 0; i < rounds && !check_failed; i++) {
		if (i % 20 == 0) {
			shadow_reset(&v.parts, 0x30000, 64);
			shadow_reset(&v.bytes, 0x30000, 64);
		}
		unsigned tid = 1 + (unsigned)rng_below(&v.r, 3);
		if (!v.epoch[tid])
			v.clock[tid][tid] = v.epoch[tid] = v.first[tid] = 1;
		if (!rng_below(&v.r, 6))
			both_order(&v, tid);
		both_access(&v, tid);
	}
	printf("# %u accesses, %u to parts, %u settled\n", v.seen, v.in_parts, v.settled);
	CHECK(v.in_parts > v.seen / 20 && v.settled > v.seen / 100);
	shadow_free(&v.parts);
	shadow_free(&v.bytes);
}

int main(void)
{
	seed = soak_seed(soak_from(seed));
	rounds = soak_rounds(rounds, 100 * rounds);
	printf("# seed %" PRIu64 "\n", seed);
	CHECK(lockset_init(&sets));
	CHECK(shadow_init(&sh, &sets));
	RUN(test_lockset_twin);
	RUN(test_lockset_bound);
	RUN(test_stack);
	RUN(test_stack_move);
	RUN(test_lock_move);
	RUN(test_locks);
	RUN(test_shadow_states);
	RUN(test_shadow_bytes);
	RUN(test_shadow_parts);
	return check_done();
}
