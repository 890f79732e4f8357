/*
 * forward: from an interposer to the analyses: find the thread, keep signals
 * and errno as they are.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "event/record.h"
#include "runtime/explore/explorer.h"
#include "rt.h"

static const void *degraded_told;

static void tell_degraded(void)
{
	if (rt_dyn.shadow.degraded && !__atomic_exchange_n(&degraded_told, &rt, __ATOMIC_RELAXED))
		rt_say("Intact: out of memory: accesses to further memory of the program may not be analysed\n");
}

static void tell_full(void)
{
	static const void *told;
	if (!__atomic_exchange_n(&told, &rt, __ATOMIC_RELAXED))
		rt_say("Intact: too many locks and atomics to track: accesses that later ones protect may be misjudged\n");
}

/* A finding may be wrong where a lock is not known. */
static inline void check_locks(void)
{
	if (unlikely(__atomic_load_n(&rt_dyn.locks.n, __ATOMIC_RELAXED) >= rt_dyn.locks.max))
		tell_full();
}

/*
 * Does this return address follow a call through a pointer? (FF /2; one relative to
 * the instruction is a call of a library's function.) When the bytes can be read
 * as a direct call, too, it is taken for that.
 */
bool rt_after_pointer(const unsigned char *site)
{
	static const unsigned char with_sib[] = { 3, 4, 7 }, plain[] = { 2, 3, 6, 2 };
	if (site[-5] == 0xe8)
		return false;
	for (unsigned n = 2; n <= 7; n++) {
		unsigned modrm = site[1 - (int)n], mod = modrm >> 6, rm = modrm & 7;
		if (site[-(int)n] != 0xff || (modrm >> 3 & 7) != 2 || (mod == 0 && rm == 5))
			continue;
		if (n == (mod < 3 && rm == 4 ? with_sib[mod] : plain[mod]))
			return true;
	}
	return false;
}

/* Which of the functions the thread is in were called through a pointer; it takes
 * its first lock. */
static NOINLINE void tell_called(struct rt_thread *th)
{
	struct thread *t = &th->t;
	uint32_t set = 0;
	for (struct frame *f = t->frames + 2; f <= t->top && f->pc && f < t->frames + 2 + RED_CALLED_MAX; f++)
		if (t->uid != 1 && f->log <= t->lead && !red_inlined(f) && rt_after_pointer((unsigned char *)f->site))
			set |= 1u << (f - t->frames - 2);
	bool rec = set && rec_try(th);
	red_called(t, set);
	if (rec) {
		rec_put(th, REC_STACK, REC_CALLED, set, 0);
		rec_end();
	}
}

static inline void acquire(const void *obj, bool read, bool tried, uintptr_t pc, uintptr_t sp)
{
	int keep = errno;
	struct rt_thread *th = rt_enter();
	if (th) {
		red_prune(&th->t, sp);
		if (unlikely(!th->t.pointers))
			tell_called(th);
		bool rec = rec_try_lock(th, obj, read ? REC_LOCK_SHARED : REC_LOCK_ACQUIRE);
		bool delayed = th->t.delayed == (uintptr_t)obj; /* it is no more afterwards */
		if (tried)
			th->t.trying = true;
		red_acquire(&rt_dyn, &th->t, (uintptr_t)obj, read, false, pc);
		check_locks();
		if (rec) {
			rec_put(th, REC_ACQUIRE, (read ? REC_SHARED : 0) | (tried ? REC_TRIED : 0) | (delayed ? REC_DELAYED : 0),
			        (uintptr_t)obj, pc);
			rec_end_lock(th);
		}
		rt_leave(th);
	}
	errno = keep;
}

void rt_acquire(const void *obj, bool read, uintptr_t pc, uintptr_t sp)
{
	acquire(obj, read, false, pc, sp);
}

void rt_acquire_tried(const void *obj, bool read, uintptr_t pc, uintptr_t sp)
{
	acquire(obj, read, true, pc, sp);
}

static NOINLINE void misused(const void *obj, uintptr_t pc, bool destroyed)
{
	int keep = errno;
	struct rt_thread *th = rt_dyn.order.edges ? rt_enter() : NULL;
	if (th) {
		bool rec = rec_try(th);
		(destroyed ? lock_order_busy : lock_order_unheld)(&rt_dyn, &th->t, (uintptr_t)obj, pc);
		if (rec) {
			rec_put(th, destroyed ? REC_RENEW : REC_RELEASE, REC_UNHELD, (uintptr_t)obj, pc);
			rec_end();
		}
		rt_leave(th);
	}
	errno = keep;
}

void rt_released(const void *obj, uintptr_t pc)
{
	if (unlikely(me->t.unheld)) {
		me->t.unheld = false;
		misused(obj, pc, false);
	}
}

void rt_destroy_busy(const void *obj, uintptr_t pc)
{
	misused(obj, pc, true);
}

void rt_try_failed(void)
{
	int keep = errno;
	struct rt_thread *th = rt_enter();
	if (th) {
		bool rec = rec_try(th);
		red_try_failed(&th->t);
		if (rec) {
			rec_put(th, REC_TRY_FAILED, 0, 0, 0);
			rec_end();
		}
		rt_leave(th);
	}
	errno = keep;
}

void rt_release(const void *obj, uintptr_t pc, uintptr_t sp)
{
	int keep = errno;
	struct rt_thread *th = rt_enter();
	if (th) {
		red_prune(&th->t, sp);
		bool rec = rec_try_lock(th, obj, REC_LOCK_RELEASE);
		red_release(&rt_dyn, &th->t, (uintptr_t)obj, false, pc);
		if (rec) {
			rec_put(th, REC_RELEASE, 0, (uintptr_t)obj, pc);
			rec_end_lock(th);
		}
		rt_leave(th);
	}
	errno = keep;
}

void rt_wait_release(const void *obj, uintptr_t pc, uintptr_t sp)
{
	struct rt_thread *th = rt_enter();
	if (!th)
		return;
	red_prune(&th->t, sp);
	bool rec = rec_try_lock(th, obj, REC_LOCK_OTHER);
	red_release(&rt_dyn, &th->t, (uintptr_t)obj, true, pc);
	if (rec) {
		rec_put(th, REC_RELEASE, REC_WAIT, (uintptr_t)obj, pc);
		rec_end();
	}
	rt_leave(th);
}

void rt_wait_acquire(const void *obj, uintptr_t pc, uintptr_t sp)
{
	int keep = errno;
	struct rt_thread *th = rt_enter();
	if (th) {
		red_prune(&th->t, sp);
		bool rec = rec_try_lock(th, obj, REC_LOCK_OTHER);
		red_acquire(&rt_dyn, &th->t, (uintptr_t)obj, false, true, pc);
		if (rec) {
			rec_put(th, REC_ACQUIRE, REC_WAIT, (uintptr_t)obj, pc);
			rec_end();
		}
		rt_leave(th);
	}
	errno = keep;
}

static void sync_release(const void *obj, bool signal)
{
	struct rt_thread *th = rt.uids > 1 ? rt_enter() : NULL;
	if (!th)
		return;
	bool rec = rec_try_lock(th, obj, REC_LOCK_OTHER);
	if (signal)
		red_signal(&rt_dyn, &th->t);
	if (!signal || !rt_dyn.races.dir) /* a condition orders nothing by itself: its mutex does */
		red_sync_release(&rt_dyn, &th->t, (uintptr_t)obj);
	if (rec) {
		rec_put(th, REC_SYNC_RELEASE, signal ? REC_WAIT : 0, (uintptr_t)obj, 0);
		rec_end();
	}
	rt_leave(th);
}

void rt_sync_release(const void *obj)
{
	sync_release(obj, false);
}

void rt_signal(const void *cond)
{
	sync_release(cond, true);
}

void rt_sync_acquire(const void *obj)
{
	int keep = errno;
	struct rt_thread *th = rt.uids > 1 ? rt_enter() : NULL;
	if (th) {
		bool rec = rec_try_lock(th, obj, REC_LOCK_OTHER);
		red_sync_acquire(&rt_dyn, &th->t, (uintptr_t)obj);
		check_locks();
		if (rec) {
			rec_put(th, REC_SYNC_ACQUIRE, 0, (uintptr_t)obj, 0);
			rec_end();
		}
		rt_leave(th);
	}
	errno = keep;
}

/* An object is initialised or destroyed here. One that is still held keeps its
 * entry in the holder's list until the thread releases it. pc: where it is
 * initialised, 0: it is destroyed. */
void rt_renew(const void *obj, uintptr_t pc, uintptr_t sp)
{
	struct rt_thread *th = rt_enter();
	if (!th)
		return;
	if (pc)
		red_prune(&th->t, sp);
	bool rec = rec_try_lock(th, obj, REC_LOCK_OTHER);
	uint32_t id = lock_id(&rt_dyn.locks, (uintptr_t)obj);
	if (id)
		red_renew(&rt_dyn, &th->t, id, pc);
	if (rec) {
		rec_put(th, REC_RENEW, 0, (uintptr_t)obj, pc);
		rec_end();
	}
	rt_leave(th);
}

NOINLINE void rt_access(uintptr_t addr, unsigned mask, bool write, uintptr_t pc)
{
	struct rt_thread *th = rt_enter();
	if (unlikely(!th)) {
		if (rt.explore)
			x_access(addr, mask, write, pc);
		return;
	}
	if (unlikely(rt.recording))
		rec_access(th, addr, mask, write, pc);
	else
		red_access(&rt_dyn, &th->t, addr, mask, write, pc, NULL);
	if (unlikely(rt_dyn.shadow.degraded))
		tell_degraded();
	rt_leave(th);
}

static inline bool raced(struct rt_thread *th, uintptr_t addr, unsigned mask, bool enter)
{
	uint64_t bytes = (uint64_t)mask << 48 | addr >> 3;
	unsigned i = (unsigned)(addr >> 3) % RT_RACED;
	bool known = th->raced[i].bytes == bytes && th->raced[i].stamp == th->t.stamp;
	if (enter) {
		th->raced[i].bytes = bytes;
		th->raced[i].stamp = th->t.stamp;
	}
	return known;
}

static inline void race(struct rt_thread *th, uintptr_t addr, unsigned mask, bool write, uintptr_t pc)
{
	races_access(&rt_dyn, &th->t, addr, mask, write ? RACE_WRITE : 0, pc);
	if (!write)
		raced(th, addr, mask, true);
}

NOINLINE void rt_race(uintptr_t addr, unsigned mask, bool write, uintptr_t pc)
{
	struct rt_thread *th = me;
	if (!write && raced(th, addr, mask, false))
		return;
	if ((th = rt_enter())) {
		race(th, addr, mask, write, pc);
		rt_leave(th);
	}
}

/* Memory that a thread gives back: what it has read there is entered again when it is new. */
static void unraced(struct rt_thread *th, uintptr_t addr, size_t size)
{
	for (unsigned i = 0; i < RT_RACED; i++)
		if (((th->raced[i].bytes & ((UINT64_C(1) << 48) - 1)) << 3) - addr < size)
			th->raced[i].bytes = 0;
}

/* The end of a range, or of the shadow's leaf that `addr` is the next cell of. */
static inline uintptr_t same_leaf(uintptr_t addr, uintptr_t end)
{
	uintptr_t stop = ((addr - 1) | (((uintptr_t)1 << SHADOW_LEAF_BITS) - 1)) + 1;
	return stop < end ? stop : end;
}

/*
 * A cell is used for the first time, or for new data. Now and then, see whether
 * all of the large page around it is in use: then small ones would only cost
 * walks through the processor's tables.
 */
void rt_fresh(uint64_t *c)
{
	static uint32_t used[4096];
	uint32_t *n = &used[(uintptr_t)c / PAGES_LARGE % 4096];
	uint32_t now = __atomic_load_n(n, __ATOMIC_RELAXED) + 1;
	__atomic_store_n(n, now, __ATOMIC_RELAXED);
	if (unlikely(now % (PAGES_LARGE / 8 / 8) == 0))
		pages_dense(c);
}

NOINLINE void rt_range(uintptr_t addr, size_t size, bool write, uintptr_t pc)
{
	struct rt_thread *th;
	if (!size || size >> 47)
		return;
	if (!(th = rt_enter())) {
		if (rt.explore)
			x_range(addr, size, write, pc);
		return;
	}
	uintptr_t end = addr + size;
	while (addr < end) {
		unsigned off = addr & 7, n = 8 - off;
		if (n > end - addr)
			n = (unsigned)(end - addr);
		unsigned mask = (0xffu >> (8 - n)) << off;
		uint64_t *c = rt_cell(addr);
		if (c && rt_known(th, *c, mask, write)) {
			addr += n;
			for (uintptr_t stop = same_leaf(addr, end); addr + 8 <= stop; addr += 8)
				if (!rt_known(th, *++c, 0xff, write))
					break;
			continue;
		}
		if (c && !*c)
			rt_fresh(c);
		if (unlikely(rt_dyn.races.on) && (write || !raced(th, addr, mask, false)))
			race(th, addr, mask, write, pc);
		if (unlikely(rt.recording))
			rec_access(th, addr, mask, write, pc);
		else if (!c || !rt_take_over(th, c, mask, write, addr, pc))
			red_access(&rt_dyn, &th->t, addr, mask, write, pc, NULL);
		rt_set_key(th); /* marked blocks: it may have begun an epoch */
		addr += n;
	}
	if (unlikely(rt_dyn.shadow.degraded))
		tell_degraded();
	rt_leave(th);
}

void rt_forget(uintptr_t addr, size_t size, uintptr_t pc)
{
	struct rt_thread *th = rt_enter();
	if (!th)
		return;
	if (unlikely(rt_dyn.races.on)) {
		if (races_forget(&rt_dyn, &th->t, addr, size, pc) && rec_try(th)) {
			rec_put(th, REC_FREE, 0, addr, pc);
			rec_end();
		}
		unraced(th, addr, size);
	}
	if (unlikely(rt.recording) && rec_forget_own(th, addr, size)) {
		red_forget(&rt_dyn, &th->t, addr, size);
		rt_leave(th);
		return;
	}
	bool rec = rec_try(th);
	if (rec)
		rec_forget(th, addr, size);
	red_forget(&rt_dyn, &th->t, addr, size);
	shadow_reset(&rt_dyn.shadow, addr, size);
	if (rt_dyn.locks.n > 1)
		lock_forget(&rt_dyn.locks, addr, size);
	if (rec)
		rec_end();
	rt_leave(th);
}

/* The call stack doubles; when memory has ended the newest frames are lost. */
NOINLINE void rt_grow_frames(struct rt_thread *th)
{
	struct thread *t = &th->t;
	size_t used = (size_t)(t->top - t->frames), cap = (size_t)(t->limit - t->frames) + 2;
	long p = syscall(SYS_mremap, t->frames, cap * sizeof *t->frames, cap * 2 * sizeof *t->frames, MREMAP_MAYMOVE);
	if (p == -1)
		return;
	t->frames = (struct frame *)p;
	t->top = t->frames + used;
	t->limit = t->frames + cap * 2 - 2;
	th->room = rt.atomic_fns ? NULL : t->limit;
}
