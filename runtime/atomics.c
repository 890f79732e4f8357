/*
 * atomics: __tsan_atomicN_*: the operation itself, and its ordering.
 *
 * A release publishes this thread's clock under the address, an acquire takes
 * it up; relaxed operations order nothing. To the reduction an atomic on
 * shared data is a non-mover, which only marked blocks ask about.
 */
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

static NOINLINE void judge(uintptr_t addr, unsigned size, bool write, uintptr_t pc)
{
	struct rt_thread *th = rt_enter();
	if (!th)
		return;
	th->t.acc.atomic = true;
	unsigned mask = size >= 8 ? 0xff : ((1u << size) - 1) << (addr & 7) & 0xff;
	if (unlikely(rt.recording))
		rec_access(th, addr, mask, write, pc);
	else
		red_access(&rt_dyn, &th->t, addr, mask, write, pc, NULL);
	th->t.acc.atomic = false;
	rt_leave(th);
}

static inline void ahead(volatile void *p, unsigned size, bool write, int mo, uintptr_t pc)
{
	if (rt.uids <= 1)
		return;
	if (rt.marks)
		judge((uintptr_t)p, size, write, pc);
	if (write && releases(mo))
		rt_sync_release((const void *)p);
}

/* A compare-and-swap that is going to fail only reads. It is looked at just
 * before: when another thread comes in between, a success is made good after
 * it, and a failure is taken for a write. */
static inline bool will_write(bool equal)
{
	return !rt.marks || equal;
}

static inline void behind(volatile void *p, int mo)
{
	if (rt.uids > 1 && acquires(mo))
		rt_sync_acquire((const void *)p);
}

#define RMW(bits, T, name, call)                                               \
	T __tsan_atomic##bits##_##name(volatile T *p, T v, int mo);            \
	EXPORT T __tsan_atomic##bits##_##name(volatile T *p, T v, int mo)      \
	{                                                                      \
		ahead(p, sizeof(T), true, mo, CALLER);                         \
		T r = call(p, v, __ATOMIC_SEQ_CST);                            \
		behind(p, mo);                                                 \
		return r;                                                      \
	}
#define CAS(bits, T, name)                                                     \
	int __tsan_atomic##bits##_##name(volatile T *p, T *e, T v, int mo, int fmo); \
	EXPORT int __tsan_atomic##bits##_##name(volatile T *p, T *e, T v, int mo, \
	                                        int fmo)                       \
	{                                                                      \
		bool w = will_write(__atomic_load_n(p, __ATOMIC_RELAXED) == *e); \
		ahead(p, sizeof(T), w, mo, CALLER);                            \
		bool ok = __atomic_compare_exchange_n(p, e, v, 0, __ATOMIC_SEQ_CST, \
		                                      __ATOMIC_SEQ_CST);       \
		if (unlikely(ok && !w))                                        \
			ahead(p, sizeof(T), true, mo, CALLER);                 \
		behind(p, ok ? mo : fmo);                                      \
		return ok;                                                     \
	}
#define ALL(bits, T)                                                           \
	T __tsan_atomic##bits##_load(const volatile T *p, int mo);             \
	EXPORT T __tsan_atomic##bits##_load(const volatile T *p, int mo)       \
	{                                                                      \
		ahead((volatile void *)(uintptr_t)p, sizeof(T), false, mo, CALLER); \
		T r = __atomic_load_n(p, __ATOMIC_SEQ_CST);                    \
		behind((volatile void *)(uintptr_t)p, mo);                     \
		return r;                                                      \
	}                                                                      \
	void __tsan_atomic##bits##_store(volatile T *p, T v, int mo);          \
	EXPORT void __tsan_atomic##bits##_store(volatile T *p, T v, int mo)    \
	{                                                                      \
		ahead(p, sizeof(T), true, mo, CALLER);                         \
		if ((mo & 7) == SEQ_CST)                                       \
			__atomic_store_n(p, v, __ATOMIC_SEQ_CST);              \
		else                                                           \
			__atomic_store_n(p, v, __ATOMIC_RELEASE);              \
	}                                                                      \
	RMW(bits, T, exchange, __atomic_exchange_n)                            \
	RMW(bits, T, fetch_add, __atomic_fetch_add)                            \
	RMW(bits, T, fetch_sub, __atomic_fetch_sub)                            \
	RMW(bits, T, fetch_and, __atomic_fetch_and)                            \
	RMW(bits, T, fetch_or, __atomic_fetch_or)                              \
	RMW(bits, T, fetch_xor, __atomic_fetch_xor)                            \
	RMW(bits, T, fetch_nand, __atomic_fetch_nand)                          \
	CAS(bits, T, compare_exchange_strong)                                  \
	CAS(bits, T, compare_exchange_weak)                                    \
	T __tsan_atomic##bits##_compare_exchange_val(volatile T *p, T e, T v,  \
	                                             int mo, int fmo);         \
	EXPORT T __tsan_atomic##bits##_compare_exchange_val(volatile T *p, T e, \
	                                                    T v, int mo, int fmo) \
	{                                                                      \
		bool w = will_write(__atomic_load_n(p, __ATOMIC_RELAXED) == e); \
		ahead(p, sizeof(T), w, mo, CALLER);                            \
		bool ok = __atomic_compare_exchange_n(p, &e, v, 0, __ATOMIC_SEQ_CST, \
		                                      __ATOMIC_SEQ_CST);       \
		if (unlikely(ok && !w))                                        \
			ahead(p, sizeof(T), true, mo, CALLER);                 \
		behind(p, ok ? mo : fmo);                                      \
		return e;                                                      \
	}

ALL(8, uint8_t)
ALL(16, uint16_t)
ALL(32, uint32_t)
ALL(64, uint64_t)

/* ---- 16 bytes: one instruction, without libatomic ---- */

static bool cas16(volatile u128 *p, u128 *expected, u128 desired)
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

#define RMW16(name, expr)                                                      \
	u128 __tsan_atomic128_##name(volatile u128 *p, u128 v, int mo);        \
	EXPORT u128 __tsan_atomic128_##name(volatile u128 *p, u128 v, int mo)  \
	{                                                                      \
		u128 old = 0;                                                  \
		ahead(p, 16, true, mo, CALLER);                                \
		while (!cas16(p, &old, (expr)))                                \
			;                                                      \
		behind(p, mo);                                                 \
		return old;                                                    \
	}
RMW16(exchange, v)
RMW16(fetch_add, old + v)
RMW16(fetch_sub, old - v)
RMW16(fetch_and, old & v)
RMW16(fetch_or, old | v)
RMW16(fetch_xor, old ^ v)
RMW16(fetch_nand, ~(old & v))

u128 __tsan_atomic128_load(const volatile u128 *p, int mo);
EXPORT u128 __tsan_atomic128_load(const volatile u128 *p, int mo)
{
	u128 old = 0;
	volatile u128 *q = (volatile u128 *)(uintptr_t)p;
	ahead(q, 16, false, mo, CALLER);
	cas16(q, &old, old);
	behind(q, mo);
	return old;
}

void __tsan_atomic128_store(volatile u128 *p, u128 v, int mo);
EXPORT void __tsan_atomic128_store(volatile u128 *p, u128 v, int mo)
{
	u128 old = 0;
	ahead(p, 16, true, mo, CALLER);
	while (!cas16(p, &old, v))
		;
}

#define CAS16(name)                                                            \
	int __tsan_atomic128_##name(volatile u128 *p, u128 *e, u128 v, int mo, int fmo); \
	EXPORT int __tsan_atomic128_##name(volatile u128 *p, u128 *e, u128 v, int mo, \
	                                   int fmo)                            \
	{                                                                      \
		ahead(p, 16, true, mo, CALLER);                                \
		bool ok = cas16(p, e, v);                                      \
		behind(p, ok ? mo : fmo);                                      \
		return ok;                                                     \
	}
CAS16(compare_exchange_strong)
CAS16(compare_exchange_weak)

u128 __tsan_atomic128_compare_exchange_val(volatile u128 *p, u128 e, u128 v, int mo,
                                           int fmo);
EXPORT u128 __tsan_atomic128_compare_exchange_val(volatile u128 *p, u128 e, u128 v,
                                                  int mo, int fmo)
{
	ahead(p, 16, true, mo, CALLER);
	bool ok = cas16(p, &e, v);
	behind(p, ok ? mo : fmo);
	return e;
}

/* ---- fences: order everything through one object ---- */

static char fence;

void __tsan_atomic_thread_fence(int mo);
void __tsan_atomic_signal_fence(int mo);

EXPORT void __tsan_atomic_thread_fence(int mo)
{
	if (rt.uids > 1 && releases(mo))
		rt_sync_release(&fence);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (rt.uids > 1 && acquires(mo))
		rt_sync_acquire(&fence);
}

EXPORT void __tsan_atomic_signal_fence(int mo)
{
	(void)mo;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}
