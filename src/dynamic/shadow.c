#include "dynamic/shadow.h"

#include <sched.h>

#include "base/relax.h"

#define DIR_SIZE   (sizeof(uint64_t *) << SHADOW_DIR_BITS)
#define MAX_LEAVES (1u << 20)
#define USED_SIZE  (sizeof(uint32_t) * MAX_LEAVES)
#define LEAF_SIZE  (2 * sizeof(uint64_t) * SHADOW_SECOND)
#define MAX_RACES  (1u << 20)
#define MAX_EXTS   (1u << 18)

bool shadow_init(struct shadow *s, struct lockset_table *sets)
{
	*s = (struct shadow){ .nraces = 1, .nexts = 1, .sets = sets };
	s->dir = pages_map(DIR_SIZE);
	s->races = pages_map(MAX_RACES * sizeof *s->races);
	s->exts = pages_map(MAX_EXTS * sizeof *s->exts);
	s->used = pages_map(USED_SIZE);
	if (s->dir && s->used && s->races && s->exts)
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
	*s = (struct shadow){ 0 };
}

uint64_t *shadow_leaf(struct shadow *s, uintptr_t addr)
{
	uint64_t **entry = &s->dir[addr >> SHADOW_LEAF_BITS & ((1u << SHADOW_DIR_BITS) - 1)];
	uint64_t *leaf = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
	if (leaf || s->degraded)
		return leaf;
	spin_lock(&s->grow);
	leaf = *entry;
	if (!leaf) {
		leaf = s->nused < MAX_LEAVES ? pages_map_large(LEAF_SIZE) : NULL;
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

void race_note(struct race *r, struct race_access by, bool write)
{
	struct race_access *a = write ? r->w : r->r;
	if (a[0].uid != by.uid)
		a[1] = a[0];
	a[0] = by;
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

/* The first word of data that is only read, by several. */
static uint64_t read_word(const struct accessor *a, unsigned bytes, uint32_t locks)
{
	return CELL_READ << CELL_TAG | own(a, bytes << 8) | (locks == LOCKSET_EMPTY ? bytes : 0);
}

/* No lock covers all accesses any more: a race record takes over. */
static enum mover become_racy(struct shadow *s, const struct accessor *a, struct cell *c, unsigned need, uint32_t wlocks,
                              uint32_t *race)
{
	uint32_t i = s->sets->full ? MAX_RACES : __atomic_fetch_add(&s->nraces, 1, __ATOMIC_RELAXED);
	if (i >= MAX_RACES) { /* cannot remember: claim nothing */
		if (!s->sets->full)
			__atomic_store_n(&s->nraces, MAX_RACES, __ATOMIC_RELAXED);
		*c = (struct cell){ own(a, need), a->all };
		return MOVE_LOCAL;
	}
	s->races[i] = (struct race){ .wlocks = wlocks };
	/* The one before us left no trace but that it was there. */
	if (!is_mine(a, c->w0)) {
		bool wrote = c->w0 & 0xff && !(c->w0 & CELL_SHUT);
		s->races[i].tid = (uint32_t)(c->w0 >> 48) & SHADOW_MAX_TID;
		s->races[i].epoch = (uint32_t)(c->w0 >> 16);
		(wrote ? s->races[i].w : s->races[i].r)[0] = (struct race_access){ RACE_SOMEONE, 0, s->races[i].tid,
			                                                           s->races[i].epoch, (uint32_t)c->w1 };
	}
	c->w0 = CELL_OTHER << CELL_TAG | (need & 0xff00);
	c->w1 = i;
	*race = i;
	return MOVE_RACY;
}

static enum mover access_excl(struct shadow *s, const struct accessor *a, struct cell *c, unsigned need, uint32_t *race)
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
		*c = (struct cell){ CELL_SHARED << CELL_TAG | own(a, need), common | (uint64_t)w << 32 };
		return MOVE_PROTECTED;
	}
	if (ordered) {
		*c = (struct cell){ own(a, need), held | (a->atomic ? CELL_ATOMIC : 0) };
		return MOVE_LOCAL;
	}
	if (!conflict) {
		*c = (struct cell){ read_word(a, bytes | touched, common), common | CELL_MET };
		return MOVE_READ;
	}
	return become_racy(s, a, c, need, write ? held : (uint32_t)c->w1, race);
}

static enum mover access_read(struct shadow *s, struct accessor *a, struct cell *c, unsigned need, uint32_t *race)
{
	uint32_t locks = (uint32_t)c->w1;
	bool mine = is_mine(a, c->w0);
	uint64_t met = mine ? c->w1 & CELL_MET : before(a, c->w0) ? 0 : CELL_MET;
	if (!(need & 0xff)) {
		uint32_t common = lockset_meet(s->sets, a->cache, locks, a->all);
		/* Leave the line alone when nothing is learnt: readers share it. */
		if (common != locks || (c->w0 & need) != need)
			*c = (struct cell){ read_word(a, (need | (unsigned)c->w0) >> 8 & 0xff, common), common | met };
		return MOVE_READ;
	}
	uint32_t common = lockset_meet(s->sets, a->cache, locks, a->wr);
	if (common) {
		a->unread = true;
		*c = (struct cell){ CELL_SHARED << CELL_TAG | own(a, need), common | (uint64_t)a->wr << 32 };
		return MOVE_PROTECTED;
	}
	/* The reader before is not known any more. That this thread came after it in no order is, as long as the
	 * thread has not been ordered with anyone since. */
	bool meets = mine && met && (uint32_t)(c->w0 >> 16) == a->epoch;
	if (a->live <= 1 || (before(a, c->w0) && !meets)) {
		*c = (struct cell){ own(a, need), a->wr };
		return MOVE_LOCAL;
	}
	return become_racy(s, a, c, need, a->wr, race);
}

static enum mover access_shared(struct shadow *s, const struct accessor *a, struct cell *c, unsigned need, uint32_t *race)
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
		*c = (struct cell){ CELL_SHARED << CELL_TAG | own(a, need), common | (uint64_t)wlocks << 32 };
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

static enum mover access_racy(struct shadow *s, const struct accessor *a, struct cell *c, unsigned need, uint32_t *race)
{
	struct race *r = &s->races[(uint32_t)c->w1];
	bool write = need & 0xff;
	*race = (uint32_t)c->w1;
	if (write) {
		r->wlocks = lockset_meet(s->sets, a->cache, r->wlocks, a->wr);
		return MOVE_RACY;
	}
	/* Write-protected data read under the writers' lock. */
	return lockset_meet(s->sets, a->cache, r->wlocks, a->all) ? MOVE_PROTECTED : MOVE_RACY;
}

static enum mover access_plain(struct shadow *s, struct accessor *a, struct cell *c, unsigned need, uint32_t *race)
{
	if (!(c->w0 & 0xffff)) { /* a thread that left no bytes has released it */
		*c = (struct cell){ own(a, need), (need & 0xff ? a->wr : a->all) | (a->atomic ? CELL_ATOMIC : 0) };
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

/* ---- bytes that were never touched together: a cell each ---- */

static uint32_t ext_new(struct shadow *s)
{
	spin_lock(&s->ext_lock);
	uint32_t i = s->ext_free;
	if (i)
		s->ext_free = (uint32_t)s->exts[i][0].w0;
	else if (s->nexts < MAX_EXTS)
		i = s->nexts++;
	spin_unlock(&s->ext_lock);
	return i;
}

static void ext_drop(struct shadow *s, uint32_t i)
{
	spin_lock(&s->ext_lock);
	s->exts[i][0].w0 = s->ext_free;
	s->ext_free = i;
	spin_unlock(&s->ext_lock);
}

static bool split(struct shadow *s, struct cell *c)
{
	uint32_t i = ext_new(s);
	if (!i)
		return false;
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
	c->w0 = CELL_OTHER << CELL_TAG; /* READ is never split: none is open */
	c->w1 = CELL_EXT | i;
	return true;
}

/* All written at once and the same thread's: what was apart is one again. */
static void join(struct shadow *s, struct cell *c)
{
	uint32_t ext = (uint32_t)c->w1;
	struct cell all = s->exts[ext][0];
	for (unsigned b = 1; b < 8; b++)
		if (s->exts[ext][b].w0 != all.w0 || s->exts[ext][b].w1 != all.w1)
			return;
	if (all.w0 >> CELL_TAG != CELL_EXCL)
		return;
	*c = (struct cell){ all.w0 | 0xffff, all.w1 };
	ext_drop(s, ext);
}

/* Bytes are judged one by one; the worst answer counts. A mask of 0x0101 is
 * the whole of a one-byte cell. */
static enum mover access_ext(struct shadow *s, struct accessor *a, struct cell *c, unsigned mask, bool write, uint32_t *race)
{
	enum mover worst = MOVE_LOCAL;
	struct cell *sub = s->exts[(uint32_t)c->w1];
	for (unsigned rest = mask; rest; rest &= rest - 1) {
		unsigned b = (unsigned)__builtin_ctz(rest);
		enum mover m = access_plain(s, a, &sub[b], write ? 0x101 : 0x100, race);
		if (m > worst)
			worst = m;
		c->w0 = (c->w0 & ~(1ull << b)) | (uint64_t)cell_open(sub[b].w0, 1) << b;
	}
	if (write && mask == 0xff)
		join(s, c);
	return worst;
}

/* The owner of CELL_PART's other bytes, as a first word. */
static uint64_t part_other(const struct cell *c)
{
	return (c->w1 & ~(CELL_PART | 0xff)) << 8;
}

/* EXCL bytes of another thread, and now this one reads some and others. */
static bool become_part(const struct shadow *s, const struct accessor *a, struct cell *c, unsigned mask, enum mover *m)
{
	unsigned touched = (unsigned)(c->w0 >> 8) & 0xff;
	if (s->no_parts || c->w0 >> CELL_TAG != CELL_EXCL || c->w0 & 0xff || c->w1 || a->all || a->atomic || !a->tid ||
	    a->tid == SHADOW_MAX_TID /* not CELL_BUSY */)
		return false;
	*m = mask & touched ? MOVE_READ : MOVE_LOCAL;
	c->w1 = CELL_PART | (c->w0 & ~0xffffull) >> 8 | (touched & ~mask);
	c->w0 = CELL_OTHER << CELL_TAG | own(a, (mask & ~touched) << 8 | (mask & touched));
	return true;
}

/* All bytes are written, by a thread to which they have been handed over. */
static bool overwrite_part(const struct accessor *a, struct cell *c)
{
	uint64_t one = c->w0 & CELL_KEY_MASK & ~CELL_SHUT, two = part_other(c);
	if (a->atomic || is_mine(a, one) || !before(a, one))
		return false;
	if (c->w1 & 0xff && (is_mine(a, two) || !before(a, two)))
		return false;
	*c = (struct cell){ own(a, 0xffff), a->wr };
	return true;
}

/* A read that leaves three kinds of bytes; false: it does not. */
static bool access_part(const struct accessor *a, struct cell *c, unsigned mask, bool write, enum mover *m)
{
	unsigned open = (unsigned)c->w0 & 0xff, mine = (unsigned)(c->w0 >> 8) & 0xff;
	unsigned other = (unsigned)c->w1 & 0xff, rest = mask & ~open;
	bool first = ((c->w0 ^ own(a, 0)) & (CELL_KEY_MASK ^ CELL_SHUT)) == 0;
	bool second = part_other(c) == own(a, 0);
	if (write && mask == 0xff) {
		*m = MOVE_LOCAL;
		return overwrite_part(a, c);
	}
	if (write || a->all || a->atomic || (!first && !second))
		return false;
	*m = open & mask ? MOVE_READ : MOVE_LOCAL;
	if (first) {
		unsigned theirs = rest & other; /* never this thread's: then `first` was it */
		bool ordered = theirs && before(a, part_other(c));
		if (theirs && !ordered) {
			*m = MOVE_READ;
			open |= theirs;
		}
		mine |= rest & ~open;
		other &= ~theirs;
	} else {
		if (rest & mine)
			return false;
		other |= rest;
	}
	c->w0 = (c->w0 & ~0xffffull) | mine << 8 | open;
	c->w1 = (c->w1 & ~0xffull) | other;
	return true;
}

/* CELL_PART as CELL_EXT; when there is no room as bytes that all read. */
static void expand(struct shadow *s, struct cell *c)
{
	struct cell was = *c;
	unsigned open = (unsigned)was.w0 & 0xff, mine = (unsigned)(was.w0 >> 8) & 0xff;
	unsigned other = (unsigned)was.w1 & 0xff;
	uint64_t key = was.w0 & CELL_KEY_MASK & ~CELL_SHUT, all = open | mine | other;
	if (!split(s, c)) {
		*c = (struct cell){ CELL_READ << CELL_TAG | key | all << 8 | all, 0 };
		return;
	}
	for (unsigned b = 0; b < 8; b++) {
		uint64_t w0 = open >> b & 1    ? CELL_READ << CELL_TAG | key | 0x101
		              : mine >> b & 1  ? key | 0x100
		              : other >> b & 1 ? part_other(&was) | 0x100
		                               : 0;
		/* What is open was read by the thread of word 0 when nothing had ordered it. */
		s->exts[(uint32_t)c->w1][b] = (struct cell){ w0, open >> b & 1 ? CELL_MET : 0 };
	}
	c->w0 |= open;
}

static bool now(const struct accessor *a, uint64_t w0, unsigned mask)
{
	return ((w0 ^ CELL_KEY(a->tid, a->epoch)) & CELL_KEY_MASK) == 0 && w0 >> 8 & mask;
}

bool shadow_read_now(const struct shadow *s, const struct accessor *a, const uint64_t *c, unsigned mask)
{
	uint64_t w0 = __atomic_load_n(c, __ATOMIC_RELAXED), w1 = c[SHADOW_SECOND];
	if (w0 >> CELL_TAG != CELL_OTHER)
		return now(a, w0, mask);
	/* The lock that protects the bytes protects their cells from being split or joined. */
	return w0 != CELL_BUSY && w1 & CELL_EXT && mask && now(a, s->exts[(uint32_t)w1][__builtin_ctz(mask)].w0, 1);
}

bool shadow_known_now(const struct shadow *s, const struct accessor *a, const uint64_t *c, unsigned mask, bool write)
{
	uint64_t w0 = __atomic_load_n(c, __ATOMIC_RELAXED), w1 = c[SHADOW_SECOND];
	if (w0 >> CELL_TAG != CELL_OTHER || w0 == CELL_BUSY || !(w1 & CELL_EXT))
		return false;
	const struct cell *sub = s->exts[(uint32_t)w1];
	for (unsigned rest = mask; rest; rest &= rest - 1) {
		uint64_t one = sub[__builtin_ctz(rest)].w0;
		if (!now(a, one, 1) || (write && !(one & 1)))
			return false;
	}
	return true;
}

static uint64_t take(uint64_t *c)
{
	for (unsigned n = 0;; n++) {
		uint64_t w0 = __atomic_load_n(c, __ATOMIC_RELAXED);
		if (w0 != CELL_BUSY && __atomic_compare_exchange_n(c, &w0, CELL_BUSY, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return w0;
		if (n < 64) {
			cpu_relax();
		} else if (n < 100000) {
			sched_yield();
		} else if (w0 == CELL_BUSY) {
			/* Its thread did not survive a fork: start afresh. */
			c[SHADOW_SECOND] = 0;
			__atomic_compare_exchange_n(c, &w0, 0, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		}
	}
}

/* Only another thread's bytes, and still in use: keep them apart. */
static bool wants_split(const struct accessor *a, const struct cell *c, unsigned mask)
{
	uint64_t tag = c->w0 >> CELL_TAG;
	unsigned touched = (unsigned)(c->w0 >> 8 | c->w0) & 0xff;
	if (!touched || touched == mask || (tag == CELL_OTHER && c->w1 & (CELL_EXT | CELL_PART)))
		return false;
	if (tag == CELL_EXCL)
		return !is_mine(a, c->w0) && !before(a, c->w0);
	return tag == CELL_READ ? false : (mask & ~touched) != 0;
}

enum mover shadow_access(struct shadow *s, struct accessor *a, uint64_t *c, unsigned mask, bool write, uint32_t *race,
                         uint64_t *was)
{
	unsigned need = write ? mask * 0x101 : mask << 8;
	uint64_t seen = __atomic_load_n(c, __ATOMIC_RELAXED);
	/* Readers of shared constants write nothing. */
	if (!write && cell_open(seen, mask))
		return MOVE_READ;
	if (!write && seen >> CELL_TAG == CELL_READ && (seen & need) == need) {
		uint32_t locks = (uint32_t)__atomic_load_n(c + SHADOW_SECOND, __ATOMIC_RELAXED);
		if (locks == a->all)
			return MOVE_READ;
	}
	struct cell now = { take(c), 0 };
	if (now.w0)
		now.w1 = c[SHADOW_SECOND];
	uint64_t before_w1 = now.w1;
	if (was)
		*was = now.w0;
	enum mover m = MOVE_LOCAL;
	bool done = false;
	if (wants_split(a, &now, mask) && (write || !(done = become_part(s, a, &now, mask, &m))))
		split(s, &now);
	if (!done && now.w0 >> CELL_TAG == CELL_OTHER && now.w1 & CELL_PART && !(done = access_part(a, &now, mask, write, &m)))
		expand(s, &now);
	if (done)
		;
	else if (now.w0 >> CELL_TAG == CELL_OTHER && now.w1 & CELL_EXT)
		m = access_ext(s, a, &now, mask, write, race);
	else
		m = access_plain(s, a, &now, need, race);
	if (now.w1 != before_w1)
		c[SHADOW_SECOND] = now.w1;
	__atomic_store_n(c, now.w0, __ATOMIC_RELEASE);
	return m;
}
