#include "dynamic/shadow.h"

#include <sched.h>

#define DIR_SIZE  (sizeof(uint64_t *) << SHADOW_DIR_BITS)
#define MAX_LEAVES (1u << 20)
#define USED_SIZE (sizeof(uint32_t) * MAX_LEAVES)
#define LEAF_SIZE (2 * sizeof(uint64_t) * SHADOW_SECOND)
#define MAX_RACES (1u << 20)
#define MAX_EXTS  (1u << 18)
#define EXT_LOCKS 256u

bool shadow_init(struct shadow *s, struct lockset_table *sets)
{
	*s = (struct shadow){ .nraces = 1, .nexts = 1, .sets = sets };
	s->dir = pages_map(DIR_SIZE);
	s->races = pages_map(MAX_RACES * sizeof *s->races);
	s->exts = pages_map(MAX_EXTS * sizeof *s->exts);
	s->ext_locks = pages_map(EXT_LOCKS * sizeof *s->ext_locks);
	s->used = pages_map(USED_SIZE);
	if (s->dir && s->used && s->races && s->exts && s->ext_locks)
		return true;
	shadow_free(s);
	return false;
}

void shadow_free(struct shadow *s)
{
	if (s->dir) {
		for (uint32_t i = 0; i < s->nused; i++)
			pages_unmap(s->dir[s->used[i]], LEAF_SIZE);
		pages_unmap(s->dir, DIR_SIZE);
	}
	if (s->used)
		pages_unmap(s->used, USED_SIZE);
	if (s->races)
		pages_unmap(s->races, MAX_RACES * sizeof *s->races);
	if (s->exts)
		pages_unmap(s->exts, MAX_EXTS * sizeof *s->exts);
	if (s->ext_locks)
		pages_unmap(s->ext_locks, EXT_LOCKS * sizeof *s->ext_locks);
	*s = (struct shadow){ 0 };
}

uint64_t *shadow_leaf(struct shadow *s, uintptr_t addr)
{
	uint64_t **entry = &s->dir[addr >> SHADOW_LEAF_BITS &
	                              ((1u << SHADOW_DIR_BITS) - 1)];
	uint64_t *leaf = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
	if (leaf || s->degraded)
		return leaf;
	spin_lock(&s->grow);
	leaf = *entry;
	if (!leaf) {
		leaf = s->nused < MAX_LEAVES ? pages_map(LEAF_SIZE) : NULL;
		if (leaf) {
			s->used[s->nused++] = (uint32_t)(entry - s->dir);
			__atomic_store_n(entry, leaf, __ATOMIC_RELEASE);
		} else {
			s->degraded = true;
		}
	}
	spin_unlock(&s->grow);
	return leaf;
}

static void reset(struct shadow *s, uintptr_t addr, size_t size)
{
	uintptr_t at = (addr + 7) & ~(uintptr_t)7, end = (addr + size) & ~(uintptr_t)7;
	const uintptr_t leaf_mask = ((uintptr_t)1 << SHADOW_LEAF_BITS) - 1;
	if (size >> 47)
		return;
	if (size >> SHADOW_LEAF_BITS > s->nused) { /* mostly never touched */
		for (uint32_t i = 0; i < s->nused; i++) {
			uintptr_t lo = (uintptr_t)s->used[i] << SHADOW_LEAF_BITS;
			uintptr_t hi = lo + leaf_mask + 1;
			if (lo < at)
				lo = at;
			if (hi > end)
				hi = end;
			if (lo < hi)
				reset(s, lo, hi - lo);
		}
		return;
	}
	while (at < end) {
		uintptr_t stop = (at | leaf_mask) + 1;
		if (stop > end)
			stop = end;
		uint64_t *c = shadow_cell(s->dir, at);
		if (c) {
			pages_clear(c, stop - at);
			pages_clear(c + SHADOW_SECOND, stop - at);
		}
		at = stop;
	}
}

void shadow_reset(struct shadow *s, uintptr_t addr, size_t size)
{
	if (s->reach && s->reach->open)
		reach_forget(s->reach, addr, size);
	reset(s, addr, size);
}

void race_note(struct race *r, uint32_t uid, uint32_t stack, bool write)
{
	struct race_access *a = write ? r->w : r->r;
	if (a[0].uid != uid)
		a[1] = a[0];
	a[0] = (struct race_access){ uid, stack };
	if (write)
		r->wseq++;
}

static bool before(const struct accessor *a, uint64_t w0)
{
	uint32_t tid = (uint32_t)(w0 >> 48) & SHADOW_MAX_TID;
	/* Threads beyond the clocks are taken as ordered: no false alarms. */
	if (tid >= a->nclock)
		return a->live <= 1 || tid >= 1024;
	return a->clock[tid] >= (uint32_t)(w0 >> 16);
}

static bool is_mine(const struct accessor *a, uint64_t w0)
{
	return (w0 >> 48 & SHADOW_MAX_TID) == a->tid && (uint32_t)(w0 >> 16) >= a->first;
}

static uint64_t own(const struct accessor *a, unsigned need)
{
	return CELL_KEY(a->tid, a->epoch) | need;
}

/* No lock covers all accesses any more: a race record takes over. */
static enum mover become_racy(struct shadow *s, const struct accessor *a,
                              struct cell *c, unsigned need, uint32_t wlocks,
                              uint32_t *race)
{
	uint32_t i = s->sets->full ? MAX_RACES
	                           : __atomic_fetch_add(&s->nraces, 1, __ATOMIC_RELAXED);
	if (i >= MAX_RACES) { /* cannot remember: claim nothing */
		if (!s->sets->full)
			__atomic_store_n(&s->nraces, MAX_RACES, __ATOMIC_RELAXED);
		*c = (struct cell){ own(a, need), a->all };
		return MOVE_LOCAL;
	}
	s->races[i] = (struct race){ .wlocks = wlocks };
	/* The one before us left no trace but that it was there. */
	if (!is_mine(a, c->w0)) {
		(c->w0 & 0xff ? s->races[i].w : s->races[i].r)[0].uid = RACE_SOMEONE;
		s->races[i].tid = (uint32_t)(c->w0 >> 48) & SHADOW_MAX_TID;
		s->races[i].epoch = (uint32_t)(c->w0 >> 16);
	}
	c->w0 = CELL_OTHER << CELL_TAG | own(a, need);
	if (c->w0 == CELL_BUSY)
		c->w0 ^= 1ull << 16;
	c->w1 = i;
	*race = i;
	return MOVE_RACY;
}

static enum mover access_excl(struct shadow *s, const struct accessor *a,
                              struct cell *c, unsigned need, uint32_t *race)
{
	unsigned bytes = (need | need >> 8) & 0xff;
	bool write = need & 0xff;
	uint32_t held = write ? a->wr : a->all;
	unsigned touched = (unsigned)(c->w0 >> 8) & 0xff;
	unsigned written = (unsigned)c->w0 & 0xff;
	if (is_mine(a, c->w0)) {
		if ((uint32_t)(c->w0 >> 16) == a->epoch) {
			need |= (unsigned)c->w0 & 0xffff;
			/* A read lock does not cover an earlier write. */
			held = lockset_meet(s->sets, a->cache, held, (uint32_t)c->w1);
		}
		*c = (struct cell){ own(a, need), held | (a->atomic ? CELL_ATOMIC : 0) };
		return MOVE_LOCAL;
	}
	bool conflict = write || written & bytes;
	uint32_t common = lockset_meet(s->sets, a->cache, held, (uint32_t)c->w1);
	/* Atomics order themselves: two threads' are shared, not handed over. */
	bool ordered = before(a, c->w0) && !(a->atomic && c->w1 & CELL_ATOMIC);
	if ((touched & bytes) && common && conflict) {
		uint32_t w = write ? written & bytes ? common : held : (uint32_t)c->w1;
		*c = (struct cell){ CELL_SHARED << CELL_TAG | own(a, need),
			            common | (uint64_t)w << 32 };
		return MOVE_PROTECTED;
	}
	if (ordered) {
		*c = (struct cell){ own(a, need), held | (a->atomic ? CELL_ATOMIC : 0) };
		return MOVE_LOCAL;
	}
	if (!conflict) {
		*c = (struct cell){ CELL_READ << CELL_TAG | own(a, need | (touched << 8)),
			            common };
		return MOVE_READ;
	}
	return become_racy(s, a, c, need, write ? held : (uint32_t)c->w1, race);
}

static enum mover access_read(struct shadow *s, const struct accessor *a,
                              struct cell *c, unsigned need, uint32_t *race)
{
	uint32_t locks = (uint32_t)c->w1;
	if (!(need & 0xff)) {
		uint32_t common = lockset_meet(s->sets, a->cache, locks, a->all);
		/* Leave the line alone when nothing is learnt: readers share it. */
		if (common != locks || (c->w0 & need) != need)
			*c = (struct cell){ CELL_READ << CELL_TAG |
				            own(a, need | (unsigned)(c->w0 & 0xff00)), common };
		return MOVE_READ;
	}
	uint32_t common = lockset_meet(s->sets, a->cache, locks, a->wr);
	if (common) {
		*c = (struct cell){ CELL_SHARED << CELL_TAG | own(a, need),
			            common | (uint64_t)a->wr << 32 };
		return MOVE_PROTECTED;
	}
	if (a->live <= 1 || before(a, c->w0)) {
		*c = (struct cell){ own(a, need), a->wr };
		return MOVE_LOCAL;
	}
	return become_racy(s, a, c, need, a->wr, race);
}

static enum mover access_shared(struct shadow *s, const struct accessor *a,
                                struct cell *c, unsigned need, uint32_t *race)
{
	bool write = need & 0xff;
	uint32_t held = write ? a->wr : a->all, wlocks = (uint32_t)(c->w1 >> 32);
	uint32_t common = lockset_meet(s->sets, a->cache, held, (uint32_t)c->w1);
	bool mine = is_mine(a, c->w0);
	if (write)
		wlocks = lockset_meet(s->sets, a->cache, wlocks, a->wr);
	if (common) {
		if (mine && (uint32_t)(c->w0 >> 16) == a->epoch)
			need |= (unsigned)c->w0 & 0xffff;
		*c = (struct cell){ CELL_SHARED << CELL_TAG | own(a, need),
			            common | (uint64_t)wlocks << 32 };
		return MOVE_PROTECTED;
	}
	/* All before were ordered by their lock; if the last one happened before
	 * this access, all did: the data has been handed over. */
	if (a->live <= 1 || (!mine && before(a, c->w0))) {
		*c = (struct cell){ own(a, need), held };
		return MOVE_LOCAL;
	}
	return become_racy(s, a, c, need, wlocks, race);
}

static enum mover access_racy(struct shadow *s, const struct accessor *a,
                              struct cell *c, unsigned need, uint32_t *race)
{
	struct race *r = &s->races[(uint32_t)c->w1];
	bool write = need & 0xff;
	*race = (uint32_t)c->w1;
	if (write) {
		r->wlocks = lockset_meet(s->sets, a->cache, r->wlocks, a->wr);
		return MOVE_RACY;
	}
	/* Write-protected data read under the writers' lock. */
	return lockset_meet(s->sets, a->cache, r->wlocks, a->all) ? MOVE_PROTECTED
	                                                          : MOVE_RACY;
}

static enum mover access_plain(struct shadow *s, const struct accessor *a,
                               struct cell *c, unsigned need, uint32_t *race)
{
	if (!(c->w0 & 0xffff)) { /* a thread that left no bytes has let go of it */
		*c = (struct cell){ own(a, need), (need & 0xff ? a->wr : a->all) |
			            (a->atomic ? CELL_ATOMIC : 0) };
		return MOVE_LOCAL;
	}
	switch (c->w0 >> CELL_TAG) {
	case CELL_EXCL:
		return access_excl(s, a, c, need, race);
	case CELL_SHARED:
		return access_shared(s, a, c, need, race);
	case CELL_READ:
		return access_read(s, a, c, need, race);
	default:
		return access_racy(s, a, c, need, race);
	}
}

/* Bytes that were never touched together: a cell each. */
static bool split(struct shadow *s, struct cell *c)
{
	uint32_t i = __atomic_fetch_add(&s->nexts, 1, __ATOMIC_RELAXED);
	if (i >= MAX_EXTS) {
		__atomic_store_n(&s->nexts, MAX_EXTS, __ATOMIC_RELAXED);
		return false;
	}
	unsigned touched = (unsigned)(c->w0 >> 8 | c->w0) & 0xff;
	for (unsigned b = 0; b < 8; b++) {
		struct cell *sub = &s->exts[i][b];
		*sub = (struct cell){ 0 };
		if (!(touched >> b & 1))
			continue;
		*sub = *c;
		sub->w0 &= ~0xffffull;
		sub->w0 |= 0x100 | (c->w0 >> b & 1);
	}
	c->w0 = CELL_OTHER << CELL_TAG;
	c->w1 = CELL_EXT | i;
	return true;
}

/* Bytes are judged one by one; the worst answer counts. A mask of 0x0101 is
 * the whole of a one-byte cell. */
static enum mover access_ext(struct shadow *s, const struct accessor *a,
                             uint32_t ext, unsigned mask, bool write,
                             uint32_t *race)
{
	enum mover worst = MOVE_LOCAL;
	struct spin *lock = &s->ext_locks[ext % EXT_LOCKS];
	spin_lock(lock);
	for (unsigned b = 0; b < 8; b++) {
		if (!(mask >> b & 1))
			continue;
		enum mover m = access_plain(s, a, &s->exts[ext][b],
		                            write ? 0x101 : 0x100, race);
		if (m > worst)
			worst = m;
	}
	spin_unlock(lock);
	return worst;
}

static uint64_t take(uint64_t *c)
{
	for (unsigned n = 0;; n++) {
		uint64_t w0 = __atomic_load_n(c, __ATOMIC_RELAXED);
		if (w0 != CELL_BUSY &&
		    __atomic_compare_exchange_n(c, &w0, CELL_BUSY, 0,
		                                __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return w0;
		if (n < 64) {
			__builtin_ia32_pause();
		} else if (n < 100000) {
			sched_yield();
		} else if (w0 == CELL_BUSY) {
			/* Its thread did not survive a fork: start afresh. */
			c[SHADOW_SECOND] = 0;
			__atomic_compare_exchange_n(c, &w0, 0, 0, __ATOMIC_RELAXED,
			                            __ATOMIC_RELAXED);
		}
	}
}

/* Another thread's bytes, none of ours, and still in use: keep them apart. */
static bool wants_split(const struct accessor *a, const struct cell *c,
                        unsigned mask)
{
	uint64_t tag = c->w0 >> CELL_TAG;
	unsigned touched = (unsigned)(c->w0 >> 8 | c->w0) & 0xff;
	if (!touched || touched == mask || (tag == CELL_OTHER && c->w1 & CELL_EXT))
		return false;
	if (tag == CELL_EXCL)
		return !is_mine(a, c->w0) && !before(a, c->w0);
	return tag == CELL_READ ? false : (mask & ~touched) != 0;
}

enum mover shadow_access(struct shadow *s, const struct accessor *a, uint64_t *c,
                         unsigned mask, bool write, uint32_t *race, uint64_t *was)
{
	unsigned need = write ? mask * 0x101 : mask << 8;
	uint64_t seen = __atomic_load_n(c, __ATOMIC_RELAXED);
	/* Readers of shared constants write nothing. */
	if (!write && seen >> CELL_TAG == CELL_READ && (seen & need) == need) {
		uint32_t locks = (uint32_t)__atomic_load_n(c + SHADOW_SECOND, __ATOMIC_RELAXED);
		if (locks == LOCKSET_EMPTY || locks == a->all)
			return MOVE_READ;
	}
	struct cell now = { take(c), 0 };
	if (now.w0)
		now.w1 = c[SHADOW_SECOND];
	uint64_t before_w1 = now.w1;
	if (was)
		*was = now.w0;
	enum mover m;
	if (wants_split(a, &now, mask))
		split(s, &now);
	if (now.w0 >> CELL_TAG == CELL_OTHER && now.w1 & CELL_EXT)
		m = access_ext(s, a, (uint32_t)now.w1, mask, write, race);
	else
		m = access_plain(s, a, &now, need, race);
	if (now.w1 != before_w1)
		c[SHADOW_SECOND] = now.w1;
	__atomic_store_n(c, now.w0, __ATOMIC_RELEASE);
	return m;
}
