/*
 * record: tells `intact run` what the analyses are told (event/record.h), and
 * in which order.
 *
 * Every thread packs its records into its slot's own bytes (recstream.h); the
 * common ring has their order. A call of the analyses that is not about data of
 * the thread's own is made between rec_begin and rec_end, which hold the ring's
 * lock. It is held for tens of nanoseconds, except when a ring is full: then
 * whoever wants it sleeps.
 */
#include "record_int.h"

/* ---- the ring ---- */

NOINLINE void rec_lock_wait(void)
{
	for (unsigned n = 0;; n++) {
		uint32_t want = 0;
		if (!__atomic_load_n(&rec_shm->lock, __ATOMIC_RELAXED) &&
		    __atomic_compare_exchange_n(&rec_shm->lock, &want, 1, 0, __ATOMIC_ACQUIRE,
		                                __ATOMIC_RELAXED))
			return;
		if (n < 100)
			__builtin_ia32_pause();
		else
			rec_doze(n < 200 ? 20000 : 200000);
	}
}

static NOINLINE bool wait_for_room(void)
{
	for (unsigned n = 0; rt.recording; n++) {
		rec_shm->room = __atomic_load_n(&rec_shm->tail, __ATOMIC_ACQUIRE) + REC_RING;
		if (rec_shm->put < rec_shm->room)
			return true;
		/* Only whole calls show: it may be this one that fills the ring. */
		__atomic_store_n(&rec_shm->head, rec_shm->put, __ATOMIC_RELEASE);
		rec_wait_for_reader(n);
	}
	return false;
}

static inline void ring_put(struct rec r)
{
	uint64_t at = rec_shm->put;
	if (unlikely(at >= rec_shm->room) && !wait_for_room())
		return;
	rec_shm->ring[at % REC_RING] = r;
	rec_shm->put = at + 1;
}

void rec_plain(struct rec r)
{
	if (rec_to_file)
		rec_file_plain(r);
	else
		ring_put(r);
}

/* What a slot's threads have packed comes here. */
static inline void tell(uint32_t slot, struct rec_own *o, uint64_t n)
{
	if (n == o->told)
		return;
	if (unlikely(rec_to_file))
		rec_file_span(slot, n - o->told);
	else
		ring_put(rec_make(REC_SPAN, 0, n - o->told, slot, 0));
	o->told = n;
}

static void tell_of(uint32_t slot)
{
	struct rec_own *o = &rec_shm->own[slot];
	uint32_t seq = __atomic_load_n(&o->seq, __ATOMIC_ACQUIRE);
	for (unsigned k = 0; seq & 1 && __atomic_load_n(&o->seq, __ATOMIC_ACQUIRE) == seq; k++)
		if (k < 100)
			__builtin_ia32_pause();
		else
			rec_doze(20000);
	tell(slot, o, __atomic_load_n(&o->n, __ATOMIC_ACQUIRE));
}

void rec_tell_all(void)
{
	for (uint32_t i = 1; i < rt.nslots; i++)
		tell_of(i);
}

/* ---- the program counters that were used ---- */

#define PC_SET (1u << 17)
static uint64_t *pc_set;

static bool first_time(uint64_t pc)
{
	uint32_t at = (uint32_t)(mix64(pc) % PC_SET);
	for (unsigned k = 0; k < 16; k++, at = (at + 1) % PC_SET) {
		uint64_t was = __atomic_load_n(&pc_set[at], __ATOMIC_RELAXED);
		if (!was && __atomic_compare_exchange_n(&pc_set[at], &was, pc, 0, __ATOMIC_RELAXED,
		                                        __ATOMIC_RELAXED))
			return true;
		if (was == pc)
			return false;
	}
	return true;
}

/* For their names, which whoever writes the file looks up in the end. */
static NOINLINE void note_pcs(struct recenc *e, unsigned kind)
{
	bool named = kind <= REC_RELEASE || kind == REC_CREATE || kind == REC_PUSH ||
	             kind == REC_MARK;
	for (uint32_t i = 0; named && pc_set && i < e->nnews && i < 2; i++)
		if (e->news[i] && first_time(e->news[i])) {
			uint64_t at = __atomic_fetch_add(&rec_shm->npcs, 1, __ATOMIC_RELAXED);
			if (at < REC_PCS)
				__atomic_store_n(&rec_shm->pcs[at], e->news[i], __ATOMIC_RELEASE);
		}
	e->nnews = 0;
}

/* ---- a slot's own bytes ---- */

static struct recenc *encs[REC_SLOTS];

static NOINLINE struct recenc *find_enc(struct rt_thread *th)
{
	struct recenc **e = &encs[th->t.tid];
	if (!*e && (*e = pages_map(sizeof **e)))
		recenc_restart(*e);
	if (!pc_set && !rec_to_file) {
		uint64_t *none = NULL, *set = pages_map(PC_SET * sizeof *set);
		if (set && !__atomic_compare_exchange_n(&pc_set, &none, set, 0, __ATOMIC_RELEASE,
		                                        __ATOMIC_RELAXED))
			pages_unmap(set, PC_SET * sizeof *set);
	}
	if (!*e && rt.recording)
		rec_stop("there is no memory for it");
	th->own = &rec_shm->own[th->t.tid];
	return th->enc = *e;
}

static inline struct recenc *enc_of(struct rt_thread *th)
{
	return likely(th->enc != NULL) ? th->enc : find_enc(th);
}

void rec_restart(void)
{
	me->enc = NULL;
	for (uint32_t i = 1; i < rt.nslots; i++)
		if (encs[i])
			recenc_restart(encs[i]);
}

/* Where the next of a thread's records goes. `n`: bytes, not yet to be seen. */
struct pen {
	struct rec_own *own;
	struct recenc *enc;
	uint64_t n;
	uint32_t slot;
	bool locked;  /* the ring: then it may wait for room */
};

static inline bool has_room(const struct rec_own *o, uint64_t n, uint64_t want)
{
	return n + want - __atomic_load_n(&o->taken, __ATOMIC_ACQUIRE) <= REC_OWN;
}

/* Under the lock: all that is there is told of, and the reader waited for. */
static NOINLINE bool make_room(struct pen *p)
{
	__atomic_store_n(&p->own->n, p->n, __ATOMIC_RELEASE);
	tell(p->slot, p->own, p->n);
	__atomic_store_n(&rec_shm->head, rec_shm->put, __ATOMIC_RELEASE);
	for (unsigned k = 0; rt.recording && !has_room(p->own, p->n, 2 * RECSTREAM_ONE); k++)
		rec_wait_for_reader(k);
	return rt.recording;
}

/* Is there room for a record, in one piece? */
static inline bool pen_ready(struct pen *p)
{
	if (p->locked && unlikely(!has_room(p->own, p->n, 2 * RECSTREAM_ONE)) && !make_room(p))
		return false;
	if (unlikely(p->n % REC_OWN > REC_OWN - RECSTREAM_ONE))
		while (p->n % REC_OWN)
			p->own->bytes[p->n++ % REC_OWN] = RECSTREAM_PAD;
	return true;
}

static inline __attribute__((always_inline)) void pen_put(struct pen *p, unsigned kind,
                                                          unsigned arg, uint64_t addr, uint64_t pc)
{
	if (!pen_ready(p))
		return;
	unsigned char *s = p->own->bytes + p->n % REC_OWN;
	p->n += (uint64_t)(recenc_put(p->enc, s, kind, arg, addr & REC_LOW, pc & REC_LOW) - s);
	p->own->records++;
	if (kind > REC_ATOMIC_WRITE)
		p->own->others++;
	if (unlikely(p->enc->nnews))
		note_pcs(p->enc, kind);
}

/* Functions are left: in front of the thread's next record. */
static inline void pen_leave(struct pen *p, uint64_t keep)
{
	if (!pen_ready(p))
		return;
	unsigned char *s = p->own->bytes + p->n % REC_OWN;
	p->n += (uint64_t)(recenc_leave(s, keep) - s);
	p->own->records++;
	p->own->others++;
}

/* Nothing is told twice: what a thread's last record left is known. */
static inline struct frame *told_below(const struct rt_thread *th)
{
	struct frame *f = th->t.top;
	while (f > th->t.frames && !(f->node & FRAME_TOLD))
		f--;
	return f;
}

static void put_push(struct rt_thread *th, struct frame *f, unsigned left, struct pen *p)
{
	bool inl = f > th->t.frames + 1 && f[0].site == f[-1].site && f[-1].sp - f[0].sp < 16;
	pen_put(p, REC_PUSH, (inl ? REC_INLINED : 0) | left, f->site, f->pc);
}

/* The functions the thread has left and entered since its last record. */
static NOINLINE void put_frames(struct rt_thread *th, struct frame *f, struct pen *p)
{
	uint32_t keep = (uint32_t)(f - th->t.frames);
	unsigned left = 0;
	if (keep < th->told) {
		if (f < th->t.top && keep < REC_KEEP_MAX)
			left = (keep + 1) << 1;
		else
			pen_leave(p, keep);
	}
	while (f < th->t.top) {
		put_push(th, ++f, left, p);
		left = 0;
		f->node |= FRAME_TOLD;
	}
	th->told = (uint32_t)(f - th->t.frames);
}

/* ---- calls under the lock ---- */

static uint32_t holder; /* slot of the thread that has the lock */

bool rec_begin(struct rt_thread *th)
{
	rec_lock();
	if (unlikely(!rt.recording) || (th->t.tid && !enc_of(th))) {
		rec_unlock();
		return false;
	}
	th->t.acc.live = __atomic_load_n(&rt.live, __ATOMIC_RELAXED);
	holder = th->t.tid;
	return true;
}

void rec_end(void)
{
	struct rec_own *o = &rec_shm->own[holder];
	tell(holder, o, o->n);
	if (unlikely(rec_shm->slots != rt.nslots))
		rec_shm->slots = rt.nslots;
	if (unlikely(rec_to_file))
		rec_file_look();
	__atomic_store_n(&rec_shm->head, rec_shm->put, __ATOMIC_RELEASE);
	rec_unlock();
}

/* The thread's own bytes are full: it waits, holding nothing. */
static NOINLINE bool wait_for_own(struct rt_thread *th, struct rec_own *o, uint64_t want)
{
	if (want > REC_OWN / 2 || !rec_begin(th))
		return false;
	rec_end(); /* it tells of what is there */
	for (unsigned n = 0; rt.recording; n++) {
		if (has_room(o, o->n, want))
			return true;
		rec_wait_for_reader(n);
	}
	return false;
}

/* The functions that were left and entered since the thread's last record, with
 * or without the lock; false when that cannot be said without. */
static NOINLINE bool tell_frames(struct rt_thread *th, bool locked)
{
	struct recenc *e = enc_of(th);
	struct frame *f = told_below(th);
	uint64_t want = (uint64_t)(th->t.top - f + 4) * RECSTREAM_ONE;
	if (!e)
		return false;
	struct pen p = { th->own, e, th->own->n, th->t.tid, locked };
	if (f != th->t.top || f != th->t.frames + th->told) {
		if (!locked && unlikely(!has_room(p.own, p.n, want)) && !wait_for_own(th, p.own, want))
			return false;
		put_frames(th, f, &p);
		__atomic_store_n(&p.own->n, p.n, __ATOMIC_RELEASE);
	}
	th->told_top = th->t.top;
	return true;
}

/* From before an object shows what a thread did to it until its note is there. */
static inline void note_begin(struct rec_own *o)
{
	__atomic_store_n(&o->seq, o->seq + 1, __ATOMIC_RELAXED);
	__asm__ volatile("" ::: "memory");
}

static inline void note_end(struct rec_own *o)
{
	__atomic_store_n(&o->seq, o->seq + 1, __ATOMIC_RELEASE);
}

/* Where the thread's next record goes, when there is nothing to wait or to make
 * room for; else NULL. */
static inline unsigned char *quick_at(const struct rt_thread *th)
{
	struct rec_own *o = th->own;
	if (unlikely(!th->enc || o->n % REC_OWN > REC_OWN - RECSTREAM_ONE ||
	             !has_room(o, o->n, 4 * RECSTREAM_ONE)))
		return NULL;
	return o->bytes + o->n % REC_OWN;
}

/* Is it in the same function as the thread's record before? */
static inline bool same_function(const struct rt_thread *th)
{
	return likely(th->t.top == th->told_top && th->t.top->node & FRAME_TOLD);
}

static inline __attribute__((always_inline)) void quick_put(struct rt_thread *th, unsigned char *s,
                                                            unsigned kind, unsigned arg,
                                                            uint64_t addr, uint64_t pc)
{
	struct rec_own *o = th->own;
	struct recenc *e = th->enc;
	unsigned char *end = recenc_put(e, s, kind, arg, addr & REC_LOW, pc & REC_LOW);
	o->records++;
	if (kind > REC_ATOMIC_WRITE)
		o->others++;
	if (unlikely(e->nnews))
		note_pcs(e, kind);
	__atomic_store_n(&o->n, o->n + (uint64_t)(end - s), __ATOMIC_RELEASE);
}

/* The first record of a slot, no room, or the end of the bytes is near. */
static NOINLINE unsigned char *make_quick(struct rt_thread *th, bool locked)
{
	struct recenc *e = enc_of(th);
	if (!e)
		return NULL;
	struct pen p = { th->own, e, th->own->n, th->t.tid, locked };
	if (!locked && !has_room(p.own, p.n, 4 * RECSTREAM_ONE) &&
	    !wait_for_own(th, p.own, 4 * RECSTREAM_ONE))
		return NULL;
	if (!pen_ready(&p))
		return NULL;
	__atomic_store_n(&p.own->n, p.n, __ATOMIC_RELEASE);
	return p.own->bytes + p.n % REC_OWN;
}

/* Where to write without the lock; NULL: it cannot be done. */
static inline unsigned char *note_at(struct rt_thread *th)
{
	if (unlikely(!same_function(th)) && !tell_frames(th, false))
		return NULL;
	unsigned char *s = quick_at(th);
	return likely(s) ? s : make_quick(th, false);
}

void rec_put(struct rt_thread *th, unsigned kind, unsigned arg, uint64_t addr, uint64_t pc)
{
	unsigned char *s = NULL;
	if (!th->t.tid) {
		rec_plain(rec_make(kind, arg, addr, 0, pc));
		return;
	}
	if (th->noting && !(s = note_at(th)))
		rec_alone(&th->t); /* many functions: it waits as often as it has to */
	if (!s && (same_function(th) || tell_frames(th, true)))
		s = quick_at(th);
	if (!s && rt.recording)
		s = make_quick(th, true);
	if (s)
		quick_put(th, s, kind, arg, addr, pc);
}

/* ---- locks ---- */

/*
 * Taking and letting go of a lock that this thread was the last to let go of is
 * nobody else's business until another thread takes it. It finds the slot in
 * `rel_tid` and tells what was noted: all of that was noted before the lock was
 * really free. Findings are everyone's (rec_alone), and so are locks of
 * readers and all that marked blocks ask for.
 */
static inline uint32_t known_id(const struct rt_thread *th, uintptr_t addr)
{
	unsigned i = (unsigned)(addr * 0x9e3779b97f4a7c15ull >> (64 - RED_KNOWN_BITS));
	return th->t.known[i].addr == addr ? th->t.known[i].id : 0;
}

bool rec_begin_lock(struct rt_thread *th, const void *obj, bool acquire, bool shared)
{
	uint32_t id = known_id(th, (uintptr_t)obj), tid = th->t.tid;
	const struct lock *l = &rt_dyn.locks.locks[id];
	if (!shared && id && tid && tid < th->t.clock.n && !th->t.nmarks && !rt_dyn.reach.open &&
	    (acquire ? l->rel_tid == tid && !l->readers.n : th->t.acc.all == th->t.acc.wr)) {
		th->noting = true;
		return true;
	}
	if (!rec_begin(th))
		return false;
	/* Numbers of locks are in reports: they are given in the ring's order. */
	if (!id)
		l = &rt_dyn.locks.locks[lock_id(&rt_dyn.locks, (uintptr_t)obj)];
	uint32_t by = __atomic_load_n(&l->rel_tid, __ATOMIC_ACQUIRE);
	if (by && by != tid)
		tell_of(by);
	return true;
}

void rec_end_lock(struct rt_thread *th)
{
	if (th->noting)
		th->noting = false;
	else
		rec_end();
}

void rec_alone(struct thread *t)
{
	struct rt_thread *th = (struct rt_thread *)((char *)t - offsetof(struct rt_thread, t));
	if (!th->noting)
		return;
	rec_lock();
	th->noting = false;
	holder = t->tid;
}

/* ---- accesses ---- */

/*
 * Data that is always used under locks of which this thread holds the common
 * ones, none of them as a reader: as its own until it lets go. What others did
 * to it they did before they let go of the lock, and that was told before this
 * thread's taking it was. The outcome of red_access, when no lock is learnt.
 */
static inline bool take_shared(struct rt_thread *th, uint64_t *c, unsigned mask, bool write,
                               uintptr_t addr, uintptr_t pc)
{
	struct thread *t = &th->t;
	const struct accessor *a = &t->acc;
	uint64_t w0 = __atomic_load_n(c, __ATOMIC_RELAXED);
	uint64_t need = write ? mask * 0x101 : mask << 8, key = CELL_KEY(a->tid, a->epoch);
	if (w0 >> CELL_TAG != CELL_SHARED || (w0 >> 8 & mask) != mask || a->all != a->wr || !a->tid ||
	    t->nmarks || rt_dyn.reach.open)
		return false;
	uint64_t w1 = __atomic_load_n(c + SHADOW_SECOND, __ATOMIC_RELAXED);
	uint32_t common = (uint32_t)w1, writes = (uint32_t)(w1 >> 32);
	if (!common || lockset_meet(&rt_dyn.sets, a->cache, a->all, common) != common ||
	    (write && lockset_meet(&rt_dyn.sets, a->cache, writes, a->wr) != writes))
		return false;
	if ((w0 & ~0xffffull) == (CELL_SHARED << CELL_TAG | key))
		need |= w0 & 0xffff;
	if (!__atomic_compare_exchange_n(c, &w0, CELL_SHARED << CELL_TAG | key | need, 0,
	                                 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return false;
	if (write && !t->wrote && t->nheld)
		red_wrote(&rt_dyn, t, addr, pc);
	return true;
}

/*
 * Data of another thread's that was handed over, without locks: what that one
 * did to it came before something it told of (letting go of a lock, a post, its
 * end) which this thread's clock knows, and a clock learns only under the ring's
 * lock, behind that. So it has been told of.
 */
static inline bool take_handed(struct rt_thread *th, uint64_t *c, uint64_t need, bool write)
{
	const struct thread *t = &th->t;
	const struct accessor *a = &t->acc;
	uint64_t w0 = __atomic_load_n(c, __ATOMIC_RELAXED);
	uint32_t tid = (uint32_t)(w0 >> 48);
	if (a->all || (write && !t->wrote && t->nmarks) || !a->tid || !tid || tid == a->tid ||
	    rt_dyn.reach.open || tid >= a->nclock || a->clock[tid] < (uint32_t)(w0 >> 16) ||
	    c[SHADOW_SECOND])
		return false;
	return __atomic_compare_exchange_n(c, &w0, CELL_KEY(a->tid, a->epoch) | need, 0,
	                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static NOINLINE bool take_other(struct rt_thread *th, uint64_t *c, unsigned mask, bool write,
                                uintptr_t addr, uintptr_t pc)
{
	return take_handed(th, c, write ? mask * 0x101 : mask << 8, write) ||
	       take_shared(th, c, mask, write, addr, pc);
}

/* A thread's own data, or as good as that, noted in its own bytes. */
static inline bool note_own(struct rt_thread *th, uint64_t *c, unsigned mask, bool write,
                            uintptr_t addr, uintptr_t pc)
{
	unsigned char *s = note_at(th);
	if (unlikely(!s))
		return false;
	/* Each is one locked instruction: what stands before it in the program
	 * is seen by whoever sees the cell changed. */
	note_begin(th->own);
	bool own = rt_own(th, c, write ? mask * 0x101 : mask << 8, write) ||
	           take_other(th, c, mask, write, addr, pc);
	__asm__ volatile("" ::: "memory");
	if (own)
		quick_put(th, s, write ? REC_WRITE : REC_READ, mask, addr, pc);
	note_end(th->own);
	return own;
}

/* The commonest of all, from the hook: signals stay out meanwhile. */
bool rec_note(struct rt_thread *th, uint64_t *c, uintptr_t addr, unsigned mask, bool write,
              uintptr_t pc)
{
	if (th->busy || __atomic_load_n(c, __ATOMIC_RELAXED) >> CELL_TAG > CELL_SHARED)
		return false;
	th->busy = 1;
	__asm__ volatile("" ::: "memory");
	bool own = note_own(th, c, mask, write, addr, pc);
	__asm__ volatile("" ::: "memory");
	th->busy = 0;
	if (unlikely(th->pending))
		rt_deliver(th);
	return own;
}

/* Data that all only read: is there nothing to learn, but that it was read? */
static inline bool known_to_read(const struct rt_thread *th, const uint64_t *c, unsigned mask)
{
	uint64_t w0 = __atomic_load_n(c, __ATOMIC_RELAXED), need = mask << 8;
	if (w0 >> CELL_TAG != CELL_READ || (w0 & need) != need)
		return false;
	uint32_t locks = (uint32_t)__atomic_load_n(c + SHADOW_SECOND, __ATOMIC_RELAXED);
	return !locks || locks == th->t.acc.all;
}

/* This thread's record of data that all only read, in this epoch. */
static void keep_read(struct rt_thread *th, uint64_t need, uintptr_t addr)
{
	uint32_t era = rec_era(th);
	if (unlikely(th->reads_era != era)) {
		for (unsigned i = 0; i < RT_READS; i++)
			th->reads[i] = 0;
		th->reads_era = era;
	}
	th->reads[(addr >> 3) % RT_READS] = rec_read_of(th, need, addr);
}

/*
 * Data that all only read: a reader leaves nothing in the cell, so whoever ends
 * that tells everyone's notes first (take_over). The exchange lets it see this
 * one being made, or this one the cell changed.
 */
static bool note_read(struct rt_thread *th, uint64_t *c, unsigned mask, uintptr_t addr, uintptr_t pc)
{
	unsigned char *s = rt_dyn.reach.open ? NULL : note_at(th);
	if (!s)
		return false;
	__atomic_exchange_n(&th->own->seq, th->own->seq + 1, __ATOMIC_SEQ_CST);
	bool still = known_to_read(th, c, mask);
	if (still) {
		keep_read(th, mask << 8, addr);
		quick_put(th, s, REC_READ, mask, addr, pc);
	}
	note_end(th->own);
	return still;
}

/* A cell that looked like `was` is changed by this thread, under the lock. */
static void take_over(const struct rt_thread *th, uint64_t was, bool write)
{
	uint32_t owner = (uint32_t)(was >> 48) & SHADOW_MAX_TID;
	if (was >> CELL_TAG <= CELL_SHARED && owner && owner != th->t.tid)
		tell_of(owner);
	else if (was >> CELL_TAG == CELL_READ && write)
		rec_tell_all();
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
		if (w0 >> CELL_TAG <= CELL_SHARED) {
			if (note_own(th, c, mask, write, addr, pc))
				return;
		} else if (!write && known_to_read(th, c, mask)) {
			if (rec_read_known(th, need, addr) || note_read(th, c, mask, addr, pc))
				return;
		}
	}
	uint64_t was = 0;
	bool on = rec_begin(th);
	/* As the replay does: the ring may only have been full. */
	if (atomic || !leaf || !rt_own(th, c, need, write))
		red_access(&rt_dyn, &th->t, addr, mask, write, pc, &was);
	if (!on)
		return;
	take_over(th, was, write);
	rec_put(th, kind, mask, addr, pc);
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
	uint64_t *c = shadow_cell(rt_dyn.shadow.dir, at), any = 0;
	if (size > FEW || (end - 1) >> SHADOW_LEAF_BITS != at >> SHADOW_LEAF_BITS || !a->tid ||
	    rt_dyn.reach.open || (rt_dyn.locks.n > 1 && lock_within(&rt_dyn.locks, addr, size)))
		return false;
	size_t n = c && at < end ? (end - at) / 8 : 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t w0 = __atomic_load_n(&c[i], __ATOMIC_RELAXED);
		if (w0 && w0 >> 48 != a->tid)
			return false;
		any |= w0 & 0xffff;
	}
	if (!any)
		return true; /* nothing was known of it */
	/* It is no matter in which function; but blocks end with theirs. */
	unsigned char *s = th->t.nmarks ? note_at(th) : quick_at(th);
	if (unlikely(!s) && !(s = make_quick(th, false)))
		return false;
	note_begin(th->own);
	uint64_t key = CELL_KEY(a->tid, a->epoch);
	for (size_t i = 0; i < n; i++)
		if (c[i]) {
			if (c[SHADOW_SECOND + i] != a->all)
				c[SHADOW_SECOND + i] = a->all;
			__atomic_store_n(&c[i], key, __ATOMIC_RELEASE);
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
		read = w0 >> CELL_TAG == CELL_READ;
		if (!all)
			take_over(th, w0, true);
	}
	if (read) /* who has read it has not read what comes there next */
		__atomic_fetch_add(&rt.reads_gone, 1, __ATOMIC_SEQ_CST);
	if (all)
		rec_tell_all();
	rec_put(th, REC_FORGET, 0, addr, size);
}

void rec_mark(struct rt_thread *th, const char *name, uintptr_t pc)
{
	if (name)
		rec_text(th->t.tid, REC_TEXT_MARK, name);
	rec_put(th, REC_MARK, name ? REC_NAMED : 0, 0, pc);
}

void rec_module(const struct rt_module *m)
{
	rec_text(0, REC_TEXT_PATH, m->path);
	rec_plain(rec_make(REC_MODULE, 0, m->lo, 0, m->hi));
	rec_plain(rec_make(REC_MODULE, 1, m->base, 0, 0));
}
