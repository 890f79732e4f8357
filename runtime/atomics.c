/*
 * atomics: __tsan_atomicN_*: the operation itself, and its ordering.
 *
 * A release publishes this thread's clock under the address, an acquire takes
 * it up; relaxed operations order nothing. To the reduction an atomic on
 * shared data is a non-mover, which only marked blocks ask about.
 *
 * If there are marked blocks, or races are asked for, the operation and its report to
 * the analyses happen together, under one of a few locks selected by address: so the
 * analyses see the actual order, and the outcome of a compare-and-swap. For races what
 * it orders is exact then (dynamic/happens.c).
 */
#include "event/record.h"
#include "runtime/explore/explorer.h"
#include "rt.h"

typedef unsigned __int128 u128;

enum { RELAXED, CONSUME, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST };

static inline bool acquires(int mo)
{
	return (mo &= 7) == ACQUIRE || mo == CONSUME || mo >= ACQ_REL;
}

static inline bool releases(int mo)
{
	return (mo & 7) >= RELEASE;
}

enum { STRIPES = 64 };

static struct stripe {
	struct spin spin;
	uint32_t pad[15];
} stripes[STRIPES];

static struct spin *stripe_of(uintptr_t addr)
{
	return &stripes[mix64(addr >> 3) % STRIPES].spin;
}

void rt_atomics_forked(void)
{
	for (unsigned i = 0; i < STRIPES; i++)
		stripes[i].spin.held = 0;
}

/* Does anybody ask about more than the order? */
static inline bool asked(void)
{
	return unlikely(rt.marks != 0) && (rt.uids > 1 || rt.explore);
}

static struct rt_thread *together(volatile const void *p)
{
	struct rt_thread *th = rt_enter();
	if (th)
		spin_lock(stripe_of((uintptr_t)p));
	return th;
}

/* What an operation was: what it found there, and whether it wrote. */
struct done {
	uint64_t was;
	bool write, cas, seen; /* seen: the swap expected what was read before */
};

static void look(struct rt_thread *th, uintptr_t addr, struct done *o, uint64_t expected)
{
	unsigned i = (unsigned)(mix64(addr) % 16);
	bool known = th->looked[i].addr == addr;
	o->seen = o->cas && o->write && known && th->looked[i].value == expected;
	if (!o->write) {
		th->looked[i].addr = addr;
		th->looked[i].value = o->was;
	}
}

static void tell_cas(struct rt_thread *th, uintptr_t addr, bool failed)
{
	bool rec = rec_try(th);
	red_cas(&th->t, addr, failed);
	if (rec) {
		rec_put(th, REC_TRY_FAILED, failed ? REC_CAS_FAILED : REC_CAS_SEEN, addr, 0);
		rec_end();
	}
}

static void tell(struct rt_thread *th, uintptr_t addr, unsigned size, struct done o, uintptr_t pc)
{
	unsigned mask = size >= 8 ? 0xff : ((1u << size) - 1) << (addr & 7) & 0xff;
	if (o.cas && (o.seen || !o.write) && th->t.nmarks)
		tell_cas(th, addr, !o.write);
	th->t.acc.atomic = true;
	if (unlikely(rt.recording))
		rec_access(th, addr, mask, o.write, pc);
	else
		red_access(&rt_dyn, &th->t, addr, mask, o.write, pc, NULL);
	th->t.acc.atomic = false;
}

/* For races: what it orders, and that it was made. */
static void tell_order(struct rt_thread *th, uintptr_t addr, unsigned size, enum atomic_kind kind, int mo, uintptr_t pc)
{
	bool rec = rec_try(th);
	red_atomic(&rt_dyn, &th->t, addr, size, kind, mo, pc);
	if (rec) {
		rec_put(th, REC_ATOMIC, rec_atomic(kind, (unsigned)mo & 7, size), addr, pc);
		rec_end();
	}
}

static NOINLINE void tell_all(struct rt_thread *th, uintptr_t addr, unsigned size, unsigned kind, struct done o, uint64_t expected,
                              int mo, uintptr_t pc)
{
	if (rt.marks & RT_ORDER)
		tell_order(th, addr, size, !o.write ? ATOMIC_LOAD : kind == SCHED_STORE ? ATOMIC_STORE : ATOMIC_RMW, mo, pc);
	if (rt.marks & RT_BLOCKS) {
		look(th, addr, &o, expected);
		tell(th, addr, size, o, pc);
	}
}

static void apart(struct rt_thread *th, volatile const void *p)
{
	spin_unlock(stripe_of((uintptr_t)p));
	rt_leave(th);
}

static inline void ahead(volatile void *p, int mo)
{
	if (rt.uids > 1 && releases(mo) && !(rt.marks & RT_ORDER))
		rt_sync_release((const void *)p);
}

static inline void behind(volatile const void *p, int mo)
{
	if (rt.uids > 1 && acquires(mo) && !(rt.marks & RT_ORDER))
		rt_sync_acquire((const void *)p);
}

/*
 * Writes nothing, and faults where the operation would: not while the lock is
 * held, as the program's handler may jump away.
 */
#define PROBE_READ(p)  (void)__atomic_load_n(p, __ATOMIC_RELAXED)
#define PROBE_WRITE(p) (void)__atomic_fetch_or(p, 0, __ATOMIC_RELAXED)

/* `op`: the operation, which sets `o`. Under `intact explore` the choice comes before
 * it; no other thread runs between that and the end of the operation, so `plain`
 * suffices. `early`: the order as it is known before. */
#define TOGETHER(p, kind, probe, plain, op, expected, mo, early, pc)                                              \
	do {                                                                                                      \
		struct done o = { 0, true, false, false };                                                        \
		struct rt_thread *th = NULL;                                                                      \
		if (asked()) {                                                                                    \
			if (rt.explore) {                                                                         \
				x_atomic((uintptr_t)(p), sizeof *(p), kind, early, pc);                           \
				plain;                                                                            \
				x_atomic_done((uintptr_t)(p), sizeof *(p), kind != SCHED_STORE, o.write, mo, pc); \
				break;                                                                            \
			}                                                                                         \
			probe;                                                                                    \
			th = together(p);                                                                         \
		}                                                                                                 \
		op;                                                                                               \
		if (th) {                                                                                         \
			tell_all(th, (uintptr_t)(p), sizeof *(p), kind, o, (uint64_t)(expected), mo, pc);         \
			apart(th, p);                                                                             \
		}                                                                                                 \
	} while (0)

/* Explored, right before the swap. */
#define SWAP_FINDS(p, ok, pc)                                                                          \
	do {                                                                                           \
		if (unlikely(X.logging))                                                               \
			x_log_swap((uintptr_t)(p), (const void *)(uintptr_t)(p), sizeof *(p), ok, pc); \
	} while (0)

#define RMW(bits, T, name, call, new)                                                         \
	T __tsan_atomic##bits##_##name(volatile T *p, T v, int mo);                           \
	HOOK T __tsan_atomic##bits##_##name(volatile T *p, T v, int mo)                       \
	{                                                                                     \
		T r;                                                                          \
		ahead(p, mo);                                                                 \
		TOGETHER(p, SCHED_RMW, PROBE_WRITE(p), r = *p;                                \
		         *p = (T)(new), r = call(p, v, __ATOMIC_SEQ_CST), 0, mo, mo, CALLER); \
		behind(p, mo);                                                                \
		return r;                                                                     \
	}
#define CAS(bits, T, name)                                                               \
	int __tsan_atomic##bits##_##name(volatile T *p, T *e, T v, int mo, int fmo);     \
	HOOK int __tsan_atomic##bits##_##name(volatile T *p, T *e, T v, int mo, int fmo) \
	{                                                                                \
		bool ok = cas##bits(p, e, v, mo, fmo, CALLER);                           \
		behind(p, ok ? mo : fmo);                                                \
		return ok;                                                               \
	}
#define ALL(bits, T)                                                                                                              \
	T __tsan_atomic##bits##_load(const volatile T *p, int mo);                                                                \
	HOOK T __tsan_atomic##bits##_load(const volatile T *p, int mo)                                                            \
	{                                                                                                                         \
		T r;                                                                                                              \
		TOGETHER(p, SCHED_LOAD, PROBE_READ(p), r = *p; o.write = false, r = __atomic_load_n(p, __ATOMIC_SEQ_CST);         \
		         o.was = r; o.write = false, 0, mo, mo, CALLER);                                                          \
		behind(p, mo);                                                                                                    \
		return r;                                                                                                         \
	}                                                                                                                         \
	void __tsan_atomic##bits##_store(volatile T *p, T v, int mo);                                                             \
	HOOK void __tsan_atomic##bits##_store(volatile T *p, T v, int mo)                                                         \
	{                                                                                                                         \
		ahead(p, mo);                                                                                                     \
		TOGETHER(p, SCHED_STORE, PROBE_WRITE(p), *p = v,                                                                  \
		         if ((mo & 7) == SEQ_CST) __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                       \
		         else __atomic_store_n(p, v, __ATOMIC_RELEASE), 0, mo, mo, CALLER);                                       \
	}                                                                                                                         \
	RMW(bits, T, exchange, __atomic_exchange_n, v)                                                                            \
	RMW(bits, T, fetch_add, __atomic_fetch_add, r + v)                                                                        \
	RMW(bits, T, fetch_sub, __atomic_fetch_sub, r - v)                                                                        \
	RMW(bits, T, fetch_and, __atomic_fetch_and, r &v)                                                                         \
	RMW(bits, T, fetch_or, __atomic_fetch_or, r | v)                                                                          \
	RMW(bits, T, fetch_xor, __atomic_fetch_xor, r ^ v)                                                                        \
	RMW(bits, T, fetch_nand, __atomic_fetch_nand, ~(r & v))                                                                   \
	static inline bool cas##bits(volatile T *p, T *e, T v, int mo, int fmo, uintptr_t pc)                                     \
	{                                                                                                                         \
		T expected = *e;                                                                                                  \
		bool ok;                                                                                                          \
		x_expects(expected);                                                                                              \
		ahead(p, mo);                                                                                                     \
		TOGETHER(p, SCHED_RMW, PROBE_WRITE(p), o.write = ok = *p == expected; SWAP_FINDS(p, ok, pc);                      \
		         *(ok ? p : e) = ok ? v : *p,                                                                             \
		         ok = __atomic_compare_exchange_n(p, e, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                        \
		         o.cas = true; o.write = ok; o.was = *e, expected, ok ? mo : fmo, (mo & 7) | (fmo & 7) << 4 | X_CAS, pc); \
		return ok;                                                                                                        \
	}                                                                                                                         \
	CAS(bits, T, compare_exchange_strong)                                                                                     \
	CAS(bits, T, compare_exchange_weak)                                                                                       \
	T __tsan_atomic##bits##_compare_exchange_val(volatile T *p, T e, T v, int mo, int fmo);                                   \
	HOOK T __tsan_atomic##bits##_compare_exchange_val(volatile T *p, T e, T v, int mo, int fmo)                               \
	{                                                                                                                         \
		bool ok = cas##bits(p, &e, v, mo, fmo, CALLER);                                                                   \
		behind(p, ok ? mo : fmo);                                                                                         \
		return e;                                                                                                         \
	}

ALL(8, uint8_t)
ALL(16, uint16_t)
ALL(32, uint32_t)
ALL(64, uint64_t)

/* ---- 16 bytes: one instruction, without libatomic ---- */

static bool swap16(volatile u128 *p, u128 *expected, u128 desired)
{
	bool ok;
	uint64_t lo = (uint64_t)*expected, hi = (uint64_t)(*expected >> 64);
	__asm__ volatile("lock cmpxchg16b %1\n\tsete %0"
	                 : "=q"(ok), "+m"(*p), "+a"(lo), "+d"(hi)
	                 : "b"((uint64_t)desired), "c"((uint64_t)(desired >> 64))
	                 : "memory", "cc");
	*expected = (u128)hi << 64 | lo;
	return ok;
}

static void probe16(volatile u128 *p)
{
	u128 zero = 0;
	swap16(p, &zero, 0);
}

static uint64_t digest(u128 v)
{
	return mix64((uint64_t)v) ^ (uint64_t)(v >> 64);
}

#define RMW16(name, expr)                                                                                                       \
	u128 __tsan_atomic128_##name(volatile u128 *p, u128 v, int mo);                                                         \
	HOOK u128 __tsan_atomic128_##name(volatile u128 *p, u128 v, int mo)                                                     \
	{                                                                                                                       \
		u128 old = 0;                                                                                                   \
		ahead(p, mo);                                                                                                   \
		TOGETHER(p, SCHED_RMW, probe16(p), old = *p; *p = (expr), while (!swap16(p, &old, (expr))), 0, mo, mo, CALLER); \
		behind(p, mo);                                                                                                  \
		return old;                                                                                                     \
	}
RMW16(exchange, v)
RMW16(fetch_add, old + v)
RMW16(fetch_sub, old - v)
RMW16(fetch_and, old &v)
RMW16(fetch_or, old | v)
RMW16(fetch_xor, old ^ v)
RMW16(fetch_nand, ~(old &v))

u128 __tsan_atomic128_load(const volatile u128 *p, int mo);
HOOK u128 __tsan_atomic128_load(const volatile u128 *p, int mo)
{
	u128 old = 0;
	volatile u128 *q = (volatile u128 *)(uintptr_t)p;
	TOGETHER(q, SCHED_LOAD, probe16(q), old = *q; o.write = false, swap16(q, &old, old); o.was = digest(old);
	         o.write = false, 0, mo, mo, CALLER);
	behind(q, mo);
	return old;
}

void __tsan_atomic128_store(volatile u128 *p, u128 v, int mo);
HOOK void __tsan_atomic128_store(volatile u128 *p, u128 v, int mo)
{
	u128 old = 0;
	ahead(p, mo);
	TOGETHER(p, SCHED_STORE, probe16(p), *p = v, while (!swap16(p, &old, v)), 0, mo, mo, CALLER);
}

static inline bool cas128(volatile u128 *p, u128 *e, u128 v, int mo, int fmo, uintptr_t pc)
{
	uint64_t expected = digest(*e);
	bool ok;
	ahead(p, mo);
	TOGETHER(p, SCHED_RMW, probe16(p), SWAP_FINDS(p, *p == *e, pc); ok = swap16(p, e, v); o.write = ok, ok = swap16(p, e, v);
	         o.cas = true; o.write = ok; o.was = digest(*e), expected, ok ? mo : fmo, (mo & 7) | (fmo & 7) << 4 | X_CAS, pc);
	return ok;
}
CAS(128, u128, compare_exchange_strong)
CAS(128, u128, compare_exchange_weak)

u128 __tsan_atomic128_compare_exchange_val(volatile u128 *p, u128 e, u128 v, int mo, int fmo);
HOOK u128 __tsan_atomic128_compare_exchange_val(volatile u128 *p, u128 e, u128 v, int mo, int fmo)
{
	bool ok = cas128(p, &e, v, mo, fmo, CALLER);
	behind(p, ok ? mo : fmo);
	return e;
}

/* ---- fences: order everything through one object ---- */

static char fence;

void __tsan_atomic_thread_fence(int mo);
void __tsan_atomic_signal_fence(int mo);

HOOK void __tsan_atomic_thread_fence(int mo)
{
	if (unlikely(rt.explore)) {
		x_fence(mo, CALLER);
		return;
	}
	if (rt.marks & RT_ORDER) {
		struct rt_thread *th = rt.uids > 1 ? rt_enter() : NULL;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (th) {
			tell_order(th, 0, 0, ATOMIC_FENCE, mo, CALLER);
			rt_leave(th);
		}
		return;
	}
	if (rt.uids > 1 && releases(mo))
		rt_sync_release(&fence);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (rt.uids > 1 && acquires(mo))
		rt_sync_acquire(&fence);
}

HOOK void __tsan_atomic_signal_fence(int mo)
{
	(void)mo;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}
