/*
 * record_data: what is sent about accesses, and about freed memory.
 *
 * Most of it is about data that no other thread has to do with now; that is
 * noted in the thread's own bytes, without the ring's lock: between note_begin
 * and note_end the cell is changed and the record written. Everything else is
 * sent under the lock, after the notes of the data's previous owner.
 */
#include "record_int.h"

/*
 * Data that is always used under locks of which this thread holds the common
 * ones, none of them as a reader: as its own until it releases it. Other
 * threads accessed it before they released the lock, and that was sent before
 * this thread's acquisition. The outcome of red_access, when no lock is
 * learnt.
 */
static inline bool take_shared(struct rt_thread *th, uint64_t *c, unsigned mask, bool write, uintptr_t addr, uintptr_t pc)
{
	struct thread *t = &th->t;
	const struct accessor *a = &t->acc;
	uint64_t w0 = __atomic_load_n(c, __ATOMIC_RELAXED);
	uint64_t need = write ? mask * 0x101 : mask << 8, key = CELL_KEY(a->tid, a->epoch);
	if (w0 >> CELL_TAG != CELL_SHARED || (w0 >> 8 & mask) != mask || a->all != a->wr || !a->tid || t->nmarks ||
	    rt_dyn.reach.open)
		return false;
	uint64_t w1 = __atomic_load_n(c + SHADOW_SECOND, __ATOMIC_RELAXED);
	uint32_t common = (uint32_t)w1, writes = (uint32_t)(w1 >> 32);
	if (!common || lockset_meet(&rt_dyn.sets, a->cache, a->all, common) != common ||
	    (write && lockset_meet(&rt_dyn.sets, a->cache, writes, a->wr) != writes))
		return false;
	bool known = (w0 & ~0xffffull) == (CELL_SHARED << CELL_TAG | key);
	bool update = known && w0 >> 8 & mask;
	uint64_t was = w0;
	if (known)
		need |= w0 & 0xffff;
	if (!__atomic_compare_exchange_n(c, &w0, CELL_SHARED << CELL_TAG | key | need, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return false;
	if (write && !t->wrote && t->nheld)
		red_wrote(&rt_dyn, t, addr, mask, update, pc);
	if (t->traced)
		red_trail(t, addr, mask, write, true, was, pc);
	return true;
}

/* A thread's own data under other locks than before, or new data under locks: as
 * red_access does it. */
static inline bool take_mine(struct rt_thread *th, uint64_t *c, unsigned mask, bool write, uintptr_t addr, uintptr_t pc)
{
	struct thread *t = &th->t;
	const struct accessor *a = &t->acc;
	uint64_t w0 = __atomic_load_n(c, __ATOMIC_RELAXED);
	uint64_t need = write ? mask * 0x101 : mask << 8, key = CELL_KEY(a->tid, a->epoch);
	bool mine = w0 >> 48 == a->tid && (uint32_t)(w0 >> 16) >= a->first;
	if ((w0 && !mine) || !a->tid || t->nmarks || rt_dyn.reach.open ||
	    !__atomic_compare_exchange_n(c, &w0, CELL_BUSY, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	uint32_t held = write ? a->wr : a->all;
	bool update = (w0 & ~0xffffull) == key && w0 >> 8 & mask;
	if (w0 & 0xffff && (w0 & ~0xffffull) == key) {
		need |= w0 & 0xffff;
		held = lockset_meet(&rt_dyn.sets, a->cache, held, (uint32_t)c[SHADOW_SECOND]);
	}
	c[SHADOW_SECOND] = held;
	__atomic_store_n(c, key | need, __ATOMIC_RELEASE);
	if (write && !t->wrote && t->nheld)
		red_wrote(&rt_dyn, t, addr, mask, update, pc);
	if (t->traced)
		red_trail(t, addr, mask, write, false, w0, pc);
	return true;
}

/*
 * Data that was handed over (red_handed): what its owner did came before
 * something that it sent (a release, a post, its end) and that this thread's
 * clock knows; a clock is updated only under the ring's lock, after that. So
 * it has been told of.
 */
static NOINLINE bool take_other(struct rt_thread *th, uint64_t *c, unsigned mask, bool write, uintptr_t addr, uintptr_t pc)
{
	return take_mine(th, c, mask, write, addr, pc) ||
	       red_handed(&th->t, th->key & ~0xffffull, c, write ? mask * 0x101 : mask << 8, write);
}

/* A thread's own data, or as good as that, noted in its own bytes. */
static NOINLINE bool note_own(struct rt_thread *th, uint64_t *c, unsigned mask, bool write, uintptr_t addr, uintptr_t pc)
{
	unsigned char *s = note_at(th);
	if (unlikely(!s))
		return false;
	/* Each is one locked instruction: everything before it in the program
	 * is visible to a thread that sees the changed cell. */
	note_begin(th->own);
	bool own = __atomic_load_n(c, __ATOMIC_RELAXED) >> CELL_TAG == CELL_SHARED
	                   ? take_shared(th, c, mask, write, addr, pc)
	                   : rt_own(th, c, write ? mask * 0x101 : mask << 8, write, addr, pc) ||
	                             take_other(th, c, mask, write, addr, pc);
	__asm__ volatile("" ::: "memory");
	if (own)
		quick_put(th, s, write ? REC_WRITE : REC_READ, mask, addr, pc);
	note_end(th->own);
	return own;
}

/* Data that all only read: is there nothing to learn, but that it was read? */
static inline bool known_to_read(const struct rt_thread *th, const uint64_t *c, uint64_t w0, unsigned mask)
{
	uint64_t need = mask << 8;
	if (cell_open(w0, mask))
		return true;
	if (w0 >> CELL_TAG != CELL_READ || (w0 & need) != need)
		return false;
	return (uint32_t)__atomic_load_n(c + SHADOW_SECOND, __ATOMIC_RELAXED) == th->t.acc.all;
}

/*
 * Data that was written, but that this thread reads under a lock which all who
 * write to it hold, and so will not before this epoch ends. A thread that writes to
 * it without the lock calls take_over.
 */
static inline bool kept_from_writers(struct rt_thread *th, const uint64_t *c, unsigned mask)
{
	const struct accessor *a = &th->t.acc;
	uint64_t w0 = __atomic_load_n(c, __ATOMIC_RELAXED);
	uint32_t writes = (uint32_t)(__atomic_load_n(c + SHADOW_SECOND, __ATOMIC_RELAXED) >> 32);
	return w0 >> CELL_TAG == CELL_SHARED && (w0 >> 8 & mask) == mask && a->all != a->wr &&
	       lockset_meet(&rt_dyn.sets, a->cache, writes, a->all);
}

/* This thread's record of data that all only read, in this epoch. `era`: of when
 * it was that. An invalid entry has other upper bits of its index. */
static inline void keep_read(struct rt_thread *th, uint64_t era, unsigned mask, uintptr_t addr)
{
	if (unlikely(th->reads_era != era)) {
		for (unsigned i = 0; i < RT_READS; i++)
			th->reads[i] = ~((uint64_t)i << 3);
		th->reads_from = th->t.acc.epoch;
		th->reads_era = era;
	}
	th->reads[(addr >> 3) % RT_READS] = rec_read_of(th, mask, addr);
}

/* Was it this thread that left a cell so (not of CELL_OTHER), or another before
 * something that this one's clock knows of, and thus was sent? */
static inline bool told_before(const struct rt_thread *th, uint64_t w0)
{
	uint32_t tid = (uint32_t)(w0 >> 48) & SHADOW_MAX_TID;
	return tid == th->t.acc.tid || (tid < th->t.acc.nclock && th->t.acc.clock[tid] >= (uint32_t)(w0 >> 16));
}

/*
 * Data that all only read: a reader leaves nothing in the cell, so the thread
 * that ends this state sends all threads' notes first (take_over). The exchange
 * lets it see this one being made, or this one the cell changed; and who
 * changes it begins a new era then, so the one that was seen before the cell
 * was is right for `reads`.
 */
static inline __attribute__((always_inline)) bool note_read(struct rt_thread *th, uint64_t *c, unsigned mask, uintptr_t addr,
                                                            uintptr_t pc)
{
	unsigned char *s = rt_dyn.reach.open ? NULL : note_at(th);
	if (!s)
		return false;
	__atomic_exchange_n(&th->own->seq, th->own->seq + 1, __ATOMIC_SEQ_CST);
	uint64_t era = __atomic_load_n(&rt.reads_era, __ATOMIC_ACQUIRE);
	uint64_t w0 = __atomic_load_n(c, __ATOMIC_RELAXED);
	bool still = rt.recording && !rt_dyn.reach.open && known_to_read(th, c, w0, mask);
	__asm__ volatile("" ::: "memory");
	/* The thread that made it so, under the lock, has put that into the ring by now. */
	still = still &&
	        ((w0 >> CELL_TAG == CELL_READ && told_before(th, w0)) || !__atomic_load_n(&rec_shm->lock, __ATOMIC_ACQUIRE));
	if (still) {
		keep_read(th, era, mask, addr);
		quick_put(th, s, REC_READ, mask, addr, pc);
	}
	note_end(th->own);
	return still;
}

/* Signals stay out meanwhile. */
static inline void note_enter(struct rt_thread *th)
{
	th->busy = 1;
	__asm__ volatile("" ::: "memory");
}

static inline void note_leave(struct rt_thread *th)
{
	__asm__ volatile("" ::: "memory");
	th->busy = 0;
	if (unlikely(th->pending))
		rt_deliver(th);
}

void rec_read(uint64_t *c, uintptr_t addr, unsigned mask, uintptr_t pc)
{
	struct rt_thread *th = me;
	if (likely(rt.recording && !th->busy)) {
		note_enter(th);
		bool done = note_read(th, c, mask, addr, pc);
		note_leave(th);
		if (likely(done))
			return;
	}
	rt_access(addr, mask, false, pc);
}

void rec_touch_other(uintptr_t addr, unsigned mask, bool write, uintptr_t pc)
{
	struct rt_thread *th = me;
	uint64_t *c = rt_cell(addr);
	if (!c) {
		rt_access(addr, mask, write, pc);
		return;
	}
	if (!*c)
		rt_fresh(c);
	bool read = __atomic_load_n(c, __ATOMIC_RELAXED) >> CELL_TAG > CELL_SHARED, done;
	if (likely(!th->busy && !(read && write))) {
		if (read && rec_read_known(th, mask, addr))
			return;
		note_enter(th);
		done = read ? note_read(th, c, mask, addr, pc) : note_own(th, c, mask, write, addr, pc);
		note_leave(th);
		if (likely(done))
			return;
	}
	rt_access(addr, mask, write, pc);
}

/* The commonest of all: as note_own, of new data or the thread's own (rt_own). */
static inline __attribute__((always_inline)) bool touch_mine(struct rt_thread *th, uint64_t *c, uintptr_t addr, unsigned mask,
                                                             bool write, uintptr_t pc)
{
	struct thread *t = &th->t;
	struct rec_own *o = th->own;
	uint64_t key = th->key & ~0xffffull, need = write ? mask * 0x101 : mask << 8;
	uint64_t w0 = __atomic_load_n(c, __ATOMIC_RELAXED), n = o->n;
	if (unlikely(n >= th->own_end || t->acc.all != t->acc.wr || rt_dyn.reach.open ||
	             (write && !t->wrote && t->nheld | t->nmarks)))
		return false;
	if ((w0 & ~0xffffull) == key)
		need |= w0;
	else if (!w0 ? !t->acc.all : !((w0 ^ key) >> 48) && (uint32_t)(w0 >> 16) >= t->acc.first && c[SHADOW_SECOND] == t->acc.all)
		need |= key;
	else
		return false;
	note_begin(o);
	bool own = __atomic_compare_exchange_n(c, &w0, need, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	__asm__ volatile("" ::: "memory");
	if (own && t->traced)
		trail_push(t->trail, addr, mask | (write ? TRAIL_WRITE : 0u), 0, pc, red_floor(t));
	if (likely(own))
		quick_put(th, o->bytes + n % REC_OWN, write ? REC_WRITE : REC_READ, mask, addr, pc);
	note_end(o);
	return own;
}

static inline __attribute__((always_inline)) void touch_one(uintptr_t addr, unsigned mask, bool write, uintptr_t pc)
{
	struct rt_thread *th = me;
	uint64_t *c = rt_cell(addr);
	if (likely(c && !th->busy && th->own_end && !(*c >> CELL_TAG))) {
		if (!*c)
			rt_fresh(c);
		note_enter(th);
		bool own = frames_told(th) && touch_mine(th, c, addr, mask, write, pc);
		note_leave(th);
		if (likely(own))
			return;
	}
	rec_touch_other(addr, mask, write, pc);
}

void rec_touch_read(uintptr_t addr, unsigned mask, uintptr_t pc)
{
	touch_one(addr, mask, false, pc);
}

void rec_touch_write(uintptr_t addr, unsigned mask, uintptr_t pc)
{
	touch_one(addr, mask, true, pc);
}

/* May notes of reads be about a cell that looks so? */
static inline bool only_read(uint64_t w0)
{
	return w0 >> CELL_TAG == CELL_READ || (w0 >> CELL_TAG == CELL_OTHER && w0 & 0xff);
}

/* Under the lock: are there `reads` of this era that were kept_from_writers? */
static bool shared_kept;

/* A cell that looked like `was` is changed by this thread, under the lock. */
static void take_over(const struct rt_thread *th, uint64_t was, bool write)
{
	uint32_t owner = (uint32_t)(was >> 48) & SHADOW_MAX_TID;
	if (was >> CELL_TAG <= CELL_SHARED && owner) {
		if (!told_before(th, was))
			rec_tell_of(owner);
	} else if (only_read(was) && write) {
		rec_tell_all();
	}
	if (write && (only_read(was) || (was >> CELL_TAG == CELL_SHARED && shared_kept))) {
		shared_kept = false;
		__atomic_fetch_add(&rt.reads_era, 1, __ATOMIC_SEQ_CST);
	}
}

/* Thread `th` is inside the runtime; the recording is on. */
void rec_access(struct rt_thread *th, uintptr_t addr, unsigned mask, bool write, uintptr_t pc)
{
	uint64_t *leaf = rt_dir[addr >> SHADOW_LEAF_BITS & rt_dir_mask];
	uint64_t *c = leaf + ((addr & ((1u << SHADOW_LEAF_BITS) - 1)) >> 3);
	bool atomic = th->t.acc.atomic;
	unsigned kind = (write ? REC_WRITE : REC_READ) | (atomic ? REC_ATOMIC_READ : 0u);
	uint64_t need = write ? mask * 0x101 : mask << 8;
	if (leaf && !atomic) {
		uint64_t w0 = __atomic_load_n(c, __ATOMIC_RELAXED);
		if (!write && rec_read_known(th, mask, addr))
			return;
		if (w0 >> CELL_TAG <= CELL_SHARED) {
			if (note_own(th, c, mask, write, addr, pc))
				return;
		} else if (!write && known_to_read(th, c, w0, mask)) {
			if (note_read(th, c, mask, addr, pc))
				return;
		}
	}
	uint64_t was = 0;
	bool on = rec_begin(th);
	/* As the replay does: the ring may only have been full. */
	if (atomic || !leaf || !rt_own(th, c, need, write, addr, pc))
		red_access(&rt_dyn, &th->t, addr, mask, write, pc, &was);
	if (!on)
		return;
	take_over(th, was, write);
	rec_put(th, kind, mask, addr, pc);
	uint64_t era = __atomic_load_n(&rt.reads_era, __ATOMIC_ACQUIRE);
	if (leaf && !write && !atomic && !rt_dyn.reach.open && rt.recording) {
		bool kept = kept_from_writers(th, c, mask);
		if (kept || known_to_read(th, c, __atomic_load_n(c, __ATOMIC_RELAXED), mask))
			keep_read(th, era, mask, addr);
		shared_kept |= kept;
	}
	rec_end();
}

/* ---- memory that is given back ---- */

enum { FEW = 4096 }; /* bytes that are looked at one by one */

/*
 * Memory that only this thread has touched, with no lock or atomic in it: its
 * cells say so from here on, of no bytes (shadow.c takes that for never touched),
 * so that who gets it next can tell this thread's notes first.
 */
bool rec_forget_own(struct rt_thread *th, uintptr_t addr, size_t size)
{
	uintptr_t at = (addr + 7) & ~(uintptr_t)7, end = (addr + size) & ~(uintptr_t)7;
	const struct accessor *a = &th->t.acc;
	uint64_t *c = rt_cell(at), any = 0, tid = (uint64_t)a->tid << 48;
	if (size > FEW || (end - 1) >> SHADOW_LEAF_BITS != at >> SHADOW_LEAF_BITS || !tid || rt_dyn.reach.open ||
	    (rt_dyn.locks.n > 1 && lock_within(&rt_dyn.locks, addr, size)))
		return false;
	uint64_t *last = c && at < end ? c + (end - at) / 8 : c;
	for (uint64_t *i = c; i < last; i++) {
		uint64_t w0 = __atomic_load_n(i, __ATOMIC_RELAXED);
		if (w0 && (w0 ^ tid) >> 48)
			return false;
		any |= w0;
	}
	if (!(any & 0xffff))
		return true; /* nothing was known of it */
	/* It is no matter in which function; but blocks end with theirs. */
	unsigned char *s = th->t.nmarks ? note_at(th) : quick_at(th);
	if (unlikely(!s) && !(s = rec_make_quick(th, false)))
		return false;
	note_begin(th->own);
	uint64_t key = tid | (uint64_t)a->epoch << 16, all = a->all;
	for (uint64_t *i = c; i < last; i++)
		if (*i) {
			if (i[SHADOW_SECOND] != all)
				i[SHADOW_SECOND] = all;
			__atomic_store_n(i, key, __ATOMIC_RELEASE);
		}
	quick_put(th, s, REC_FORGET, 0, addr, size);
	note_end(th->own);
	return true;
}

/* Memory goes: what its owners noted of it comes before. */
void rec_forget(struct rt_thread *th, uintptr_t addr, size_t size)
{
	uintptr_t end = (addr + size) & ~(uintptr_t)7;
	bool all = size > FEW || lock_within(&rt_dyn.locks, addr, size), read = size > FEW;
	for (uintptr_t at = (addr + 7) & ~(uintptr_t)7; !read && at < end; at += 8) {
		uint64_t *c = shadow_cell(rt_dyn.shadow.dir, at);
		uint64_t w0 = c ? __atomic_load_n(c, __ATOMIC_RELAXED) : 0;
		read = only_read(w0) || (shared_kept && w0 >> CELL_TAG == CELL_SHARED);
		if (!all)
			take_over(th, w0, true);
	}
	if (read) /* who has read it has not read what comes there next */
		__atomic_fetch_add(&rt.reads_era, 1, __ATOMIC_SEQ_CST);
	if (all)
		rec_tell_all();
	rec_put(th, REC_FORGET, 0, addr, size);
}
