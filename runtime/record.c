/*
 * record: sends `intact run` the input of the analyses (event/record.h) in its
 * order.
 *
 * Every thread packs its records into its slot's own bytes (record_stream.h); the
 * common ring has their order. A call of the analyses that is not about data of
 * the thread's own is made between rec_begin and rec_end, which hold the ring's
 * lock. It is held for tens of nanoseconds, except when a ring is full: then
 * threads that need it sleep.
 */
#include "record_int.h"

#include "base/relax.h"

/* ---- the ring ---- */

NOINLINE void rec_lock_wait(void)
{
	for (unsigned n = 0;; n++) {
		uint32_t want = 0;
		if (!__atomic_load_n(&rec_shm->lock, __ATOMIC_RELAXED) &&
		    __atomic_compare_exchange_n(&rec_shm->lock, &want, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return;
		if (n < 100)
			cpu_relax();
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
	__atomic_store_n(&o->told, n, __ATOMIC_RELEASE);
}

void rec_tell_of(uint32_t slot)
{
	struct rec_own *o = &rec_shm->own[slot];
	uint32_t seq = __atomic_load_n(&o->seq, __ATOMIC_ACQUIRE);
	for (unsigned k = 0; seq & 1 && __atomic_load_n(&o->seq, __ATOMIC_ACQUIRE) == seq; k++)
		if (k < 100)
			cpu_relax();
		else
			rec_doze(20000);
	tell(slot, o, __atomic_load_n(&o->n, __ATOMIC_ACQUIRE));
}

void rec_tell_all(void)
{
	for (uint32_t i = 1; i < rt.nslots; i++)
		rec_tell_of(i);
}

/* ---- the program counters that were used ---- */

#define PC_SET (1u << 17)
static uint64_t *pc_set;

static bool first_time(uint64_t pc)
{
	uint32_t at = (uint32_t)(mix64(pc) % PC_SET);
	for (unsigned k = 0; k < 16; k++, at = (at + 1) % PC_SET) {
		uint64_t was = __atomic_load_n(&pc_set[at], __ATOMIC_RELAXED);
		if (!was && __atomic_compare_exchange_n(&pc_set[at], &was, pc, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
		if (was == pc)
			return false;
	}
	return true;
}

/* For their names, which the writer of the file looks up at the end. */
NOINLINE void rec_note_pcs(struct recenc *e, unsigned kind)
{
	bool named = kind <= REC_RELEASE || kind == REC_CREATE || kind == REC_PUSH || kind == REC_MARK || kind == REC_JOIN ||
	             kind == REC_RENEW || kind == REC_ATOMIC || kind == REC_FREE;
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
		if (set && !__atomic_compare_exchange_n(&pc_set, &none, set, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			pages_unmap(set, PC_SET * sizeof *set);
	}
	if (!*e && rt.recording)
		rec_stop("out of memory");
	th->own = &rec_shm->own[th->t.tid];
	th->own_end = 0;
	return th->enc = *e;
}

static inline struct recenc *enc_of(struct rt_thread *th)
{
	return likely(th->enc != NULL) ? th->enc : find_enc(th);
}

void rec_restart(void)
{
	me->enc = NULL;
	me->own_end = 0;
	for (uint32_t i = 1; i < rt.nslots; i++)
		if (encs[i])
			recenc_restart(encs[i]);
	for (uint32_t i = 1; i < rt_dyn.locks.n; i++)
		rt_dyn.locks.locks[i].rel_note = 0;
}

/* Where the next of a thread's records goes. `n`: bytes, not yet to be seen. */
struct pen {
	struct rec_own *own;
	struct recenc *enc;
	uint64_t n;
	uint32_t slot;
	bool locked; /* the ring: then it may wait for room */
};

/* Under the lock: everything present is sent, and the reader is waited for. */
static NOINLINE bool make_room(struct pen *p)
{
	__atomic_store_n(&p->own->n, p->n, __ATOMIC_RELEASE);
	tell(p->slot, p->own, p->n);
	__atomic_store_n(&rec_shm->head, rec_shm->put, __ATOMIC_RELEASE);
	for (unsigned k = 0; rt.recording && !has_room(p->own, p->n, 2 * RECORD_STREAM_ONE); k++)
		rec_wait_for_reader(k);
	return rt.recording;
}

/* Is there room for a record, in one piece? */
static inline bool pen_ready(struct pen *p)
{
	if (p->locked && unlikely(!has_room(p->own, p->n, 2 * RECORD_STREAM_ONE)) && !make_room(p))
		return false;
	if (unlikely(p->n % REC_OWN > REC_OWN - RECORD_STREAM_ONE))
		while (p->n % REC_OWN)
			p->own->bytes[p->n++ % REC_OWN] = RECORD_STREAM_PAD;
	return true;
}

static inline __attribute__((always_inline)) void pen_put(struct pen *p, unsigned kind, unsigned arg, uint64_t addr, uint64_t pc)
{
	if (!pen_ready(p))
		return;
	unsigned char *s = p->own->bytes + p->n % REC_OWN;
	p->n += (uint64_t)(recenc_put(p->enc, s, kind, arg, addr & REC_LOW, pc & REC_LOW) - s);
	rec_count(p->own, kind);
	if (unlikely(p->enc->nnews))
		rec_note_pcs(p->enc, kind);
}

/* Functions are left: in front of the thread's next record. */
static inline void pen_leave(struct pen *p, uint64_t keep)
{
	if (!pen_ready(p))
		return;
	unsigned char *s = p->own->bytes + p->n % REC_OWN;
	p->n += (uint64_t)(recenc_leave(s, keep) - s);
	p->own->others++;
}

/* Nothing is sent twice: what a thread's last record left is known. */
static inline struct frame *told_below(const struct rt_thread *th)
{
	struct frame *f = th->t.top;
	while (f > th->t.frames && !(f->node & FRAME_TOLD))
		f--;
	return f;
}

/* Where it returns to; what is inlined returns nowhere, and says which function it is. */
static inline uintptr_t push_address(const struct frame *f, bool inl)
{
	return inl && f->fn && f->fn != FRAME_NO_FN ? f->fn + 1 : f->site;
}

static void put_push(struct rt_thread *th, struct frame *f, unsigned left, struct pen *p)
{
	bool inl = f > th->t.frames + 1 && red_inlined(f);
	pen_put(p, REC_PUSH, (inl ? REC_INLINED : 0) | left, push_address(f, inl), f->pc);
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
NOINLINE bool rec_tell_frames(struct rt_thread *th, bool locked)
{
	struct recenc *e = enc_of(th);
	struct frame *f = told_below(th);
	uint64_t want = (uint64_t)(th->t.top - f + 4) * RECORD_STREAM_ONE;
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

/* The first record of a slot, no room, or the end of the bytes is near. */
NOINLINE unsigned char *rec_make_quick(struct rt_thread *th, bool locked)
{
	struct recenc *e = enc_of(th);
	if (!e)
		return NULL;
	struct pen p = { th->own, e, th->own->n, th->t.tid, locked };
	if (!locked && !has_room(p.own, p.n, 4 * RECORD_STREAM_ONE) && !wait_for_own(th, p.own, 4 * RECORD_STREAM_ONE))
		return NULL;
	if (!pen_ready(&p))
		return NULL;
	__atomic_store_n(&p.own->n, p.n, __ATOMIC_RELEASE);
	uint64_t room = __atomic_load_n(&p.own->taken, __ATOMIC_ACQUIRE) + REC_OWN - 4 * RECORD_STREAM_ONE + 1;
	uint64_t piece = (p.n | (REC_OWN - 1)) + 1 - RECORD_STREAM_ONE + 1;
	th->own_end = room < piece ? room : piece;
	return p.own->bytes + p.n % REC_OWN;
}

/* One function was entered in addition to what was sent: with those left before it. */
static inline bool tell_push(struct rt_thread *th, unsigned char *s, uint32_t keep)
{
	struct frame *f = th->t.top;
	bool inl = keep && unlikely(f->site == f[-1].site) && red_inlined(f);
	unsigned left = keep < th->told ? (keep + 1) << 1 : 0;
	if (unlikely(keep >= REC_KEEP_MAX))
		return false;
	quick_put(th, s, REC_PUSH, (inl ? REC_INLINED : 0) | left, push_address(f, inl), f->pc);
	f->node |= FRAME_TOLD;
	th->told = keep + 1;
	th->told_top = f;
	return true;
}

NOINLINE bool rec_tell_frame(struct rt_thread *th)
{
	struct frame *f = th->t.top;
	uint32_t depth = (uint32_t)(f - th->t.frames);
	unsigned char *s = quick_at(th);
	if (likely(s && depth && !(f->node & FRAME_TOLD)) && (depth == 1 || f[-1].node & FRAME_TOLD) && tell_push(th, s, depth - 1))
		return true;
	return rec_tell_frames(th, false);
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
	if (!s && (same_function(th) || rec_tell_frames(th, true)))
		s = quick_at(th);
	if (!s && rt.recording)
		s = rec_make_quick(th, true);
	if (s)
		quick_put(th, s, kind, arg, addr, pc);
}

/* ---- locks ---- */

/*
 * Acquiring and releasing a lock that this thread released last, or one whose last
 * release was sent (`rel_note`: the bytes of its slot up to there), concerns no
 * other thread until another thread acquires it. It finds the slot in `rel_tid`
 * and tells what was noted: all of that was noted before the lock was really free.
 * Findings are everyone's (rec_alone), and so is all that marked blocks ask for.
 *
 * Readers need no order among each other, only after the preceding writer and
 * before the following one. So they note the same way; the writer finds that there
 * were some (`readers`) and tells everyone's notes. What they do to the lock comes
 * to the same in any order: clocks are joined, and `seq` counts them; unless their
 * evidence is new, which is then sent under the ring's lock (sections.c).
 */
static inline uint32_t known_id(const struct rt_thread *th, uintptr_t addr)
{
	unsigned i = (unsigned)(addr * 0x9e3779b97f4a7c15ull >> (64 - RED_KNOWN_BITS));
	return th->t.known[i].addr == addr ? th->t.known[i].id : 0;
}

/* Is the lock's last release in the ring, or this thread's own? Without one, what
 * was done to it last was done under the ring's lock. */
static inline bool release_told(const struct lock *l, uint32_t tid)
{
	uint32_t by = __atomic_load_n(&l->rel_tid, __ATOMIC_ACQUIRE);
	return !by || by == tid || __atomic_load_n(&rec_shm->own[by].told, __ATOMIC_ACQUIRE) >= l->rel_note;
}

bool rec_begin_lock(struct rt_thread *th, const void *obj, enum rec_lock_op op)
{
	uint32_t id = known_id(th, (uintptr_t)obj), tid = th->t.tid;
	struct lock *l = &rt_dyn.locks.locks[id];
	rec_look_at_reads(th);
	th->released = op == REC_LOCK_RELEASE ? l : NULL;
	if (op != REC_LOCK_OTHER && id && tid && tid < th->t.clock.n && !th->t.nmarks && !rt_dyn.reach.open &&
	    (op == REC_LOCK_RELEASE || (release_told(l, tid) && (op == REC_LOCK_SHARED || !l->readers.n)))) {
		th->noting = true;
		return true;
	}
	if (!rec_begin(th))
		return false;
	/* Numbers of locks are in reports: they are given in the ring's order. */
	if (!id)
		l = &rt_dyn.locks.locks[lock_id(&rt_dyn.locks, (uintptr_t)obj)];
	uint32_t by = __atomic_load_n(&l->rel_tid, __ATOMIC_ACQUIRE);
	if (op != REC_LOCK_SHARED && op != REC_LOCK_RELEASE && l->readers.n)
		rec_tell_all();
	else if (by && by != tid)
		rec_tell_of(by);
	return true;
}

void rec_end_lock(struct rt_thread *th)
{
	struct lock *l = th->released;
	/* Not of a reader: readers may ask for it now. */
	if (l && l->rel_tid == th->t.tid && l->rel_epoch + 1 == th->t.acc.epoch && th->own)
		l->rel_note = th->own->n;
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

void rec_moved(uintptr_t lo, uint64_t page)
{
	rec_plain(rec_make(REC_MODULE, 2, lo, 0, page));
}
