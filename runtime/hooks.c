/*
 * hooks: what instrumented code calls. They forward, nothing else; but the
 * case that nearly always holds (this thread, this epoch, these bytes are
 * already known) is decided here, in about ten instructions.
 *
 * gcc and clang emit different sets: gcc ranges, clang unaligned accesses;
 * both are here. Function entry and exit come as -finstrument-functions',
 * which inlined functions keep unless they make one access at most
 * (cc/leaf.h), and as __tsan_func_*, for objects compiled without it.
 */
#include "event/record.h"
#include "runtime/explore/explorer.h"
#include "rt.h"

void __tsan_init(void);

HOOK void __tsan_init(void)
{
	rt_init();
}

#define INLINE static inline __attribute__((always_inline))

/* Shared and never written: nothing to learn, unless a lock that all readers
 * held so far is not held now. */
INLINE bool read_as_all(const struct rt_thread *th, const uint64_t *c, uint64_t w0, unsigned mask)
{
	uint64_t need = mask << 8;
	if (w0 >> CELL_TAG != CELL_READ || (w0 & need) != need)
		return false;
	uint32_t locks = (uint32_t)c[SHADOW_SECOND];
	return !locks || locks == th->t.acc.all;
}

static NOINLINE void touch_watched(uintptr_t addr, unsigned mask, bool write, uintptr_t pc)
{
	uint64_t *c = rt_cell(addr);
	if (likely(c)) {
		uint64_t w0 = *c;
		if (!w0)
			rt_fresh(c);
		if (!write && w0 >> CELL_TAG == CELL_READ && (w0 >> 8 & mask) == mask) {
			if (!rt_whole() && (read_as_all(me, c, w0, mask)))
				return;
		} else if (!write && cell_open(w0, mask) && !rt_whole()) {
			return;
		} else if (rt_take_over(me, c, mask, write, addr, pc)) {
			return;
		}
	}
	rt_access(addr, mask, write, pc);
}

/* What the reduction, or a recording, has to do with it. */
static inline void touch_other(uintptr_t addr, unsigned mask, bool write, uintptr_t pc)
{
	if (likely(!rt.recording))
		touch_watched(addr, mask, write, pc);
	else if (write)
		rec_touch_write(addr, mask, pc);
	else
		rec_touch_read(addr, mask, pc);
}

static NOINLINE void touch_slow(uintptr_t addr, unsigned mask, bool write, uintptr_t pc)
{
	if (unlikely(rt.perturb) && write)
		rt_perturb_write(addr, pc);
	if (unlikely(rt_dyn.races.on))
		rt_race(addr, mask, write, pc);
	touch_other(addr, mask, write, pc);
}

/* A read, when not all that is known of it is to be left out: a recording, a marked
 * block is open, or races are asked for. */
static NOINLINE void touch_whole(uintptr_t addr, unsigned mask, uintptr_t pc, uint64_t *c)
{
	if (rt_dyn.reach.whole & REACH_READS) {
		rt_race(addr, mask, false, pc);
		if (!rt_whole()) {
			if (!cell_open(*c, mask) && !read_as_all(me, c, *c, mask))
				touch_other(addr, mask, false, pc);
			return;
		}
	}
	if (rec_read_known(me, mask, addr))
		return;
	if (*c >> CELL_TAG == CELL_READ)
		rec_read(c, addr, mask, pc);
	else if (unlikely(!rt.recording))
		touch_watched(addr, mask, false, pc);
	else if (*c >> CELL_TAG == CELL_SHARED)
		rec_touch_other(addr, mask, false, pc);
	else
		rec_touch_read(addr, mask, pc);
}

/* Within one cell. */
INLINE void touch(uintptr_t addr, unsigned size, bool write, uintptr_t pc)
{
	unsigned mask = (0xffu >> (8 - size)) << (addr & (8 - size));
	uint64_t *c = rt_cell(addr);
	if (likely(c)) {
		uint64_t w0 = *c;
		if (likely(rt_mine(me, w0, mask, write)))
			return;
		if (!write && unlikely(rt_dyn.reach.whole)) {
			touch_whole(addr, mask, pc, c);
			return;
		}
		if (!write && (cell_open(w0, mask) || read_as_all(me, c, w0, mask)))
			return;
	}
	touch_slow(addr, mask, write, pc);
}

/* Bytes in two cells, `mask` from the first of the first on. */
static NOINLINE void touch_both(uintptr_t addr, unsigned mask, bool write, uintptr_t pc)
{
	uintptr_t next = (addr & ~(uintptr_t)7) + 8;
	const uint64_t *c = rt_cell(addr);
	if (!c || !rt_known(me, *c, mask & 0xff, write))
		touch_slow(addr, mask & 0xff, write, pc);
	c = rt_cell(next);
	if (!c || !rt_known(me, *c, mask >> 8, write))
		touch_slow(next, mask >> 8, write, pc);
}

/* Up to eight bytes in one cell or two. */
INLINE void touch_any(uintptr_t addr, unsigned size, bool write, uintptr_t pc)
{
	unsigned mask = (0xffu >> (8 - size)) << (addr & 7);
	uint64_t *c = rt_cell(addr);
	if (mask <= 0xff) {
		if (unlikely(!c || !rt_known(me, *c, mask, write)))
			touch_slow(addr, mask, write, pc);
	} else if (unlikely(!c || (addr + 8) >> SHADOW_LEAF_BITS != addr >> SHADOW_LEAF_BITS ||
	                    !rt_known(me, c[0], mask & 0xff, write) || !rt_known(me, c[1], mask >> 8, write))) {
		touch_both(addr, mask, write, pc);
	}
}

/* Sixteen bytes in two cells or three. */
INLINE void touch_wide(uintptr_t addr, unsigned size, bool write, uintptr_t pc)
{
	unsigned mask = (1u << (addr & 7)) - 1; /* of the third */
	uint64_t *c = rt_cell(addr);
	if (unlikely(!c || (addr + size) >> SHADOW_LEAF_BITS != addr >> SHADOW_LEAF_BITS ||
	             !rt_known(me, c[0], ~mask & 0xff, write) || !rt_known(me, c[1], 0xff, write) ||
	             (mask && !rt_known(me, c[2], mask, write))))
		rt_range(addr, size, write, pc);
}

#define ACCESS(name, size, write)                         \
	void name(void *p);                               \
	HOOK void name(void *p)                           \
	{                                                 \
		touch((uintptr_t)p, size, write, CALLER); \
	}
#define ACCESS_ANY(name, size, write)                         \
	void name(void *p);                                   \
	HOOK void name(void *p)                               \
	{                                                     \
		touch_any((uintptr_t)p, size, write, CALLER); \
	}
#define ACCESS_WIDE(name, write)                             \
	void name(void *p);                                  \
	HOOK void name(void *p)                              \
	{                                                    \
		touch_wide((uintptr_t)p, 16, write, CALLER); \
	}
#define BOTH(name, size, kind)                           \
	void name(void *p);                              \
	HOOK void name(void *p)                          \
	{                                                \
		kind((uintptr_t)p, size, false, CALLER); \
		kind((uintptr_t)p, size, true, CALLER);  \
	}
#define HOOK_SIZES(prefix)                          \
	ACCESS(__tsan_##prefix##read1, 1, false)    \
	ACCESS(__tsan_##prefix##read2, 2, false)    \
	ACCESS(__tsan_##prefix##read4, 4, false)    \
	ACCESS(__tsan_##prefix##read8, 8, false)    \
	ACCESS_WIDE(__tsan_##prefix##read16, false) \
	ACCESS(__tsan_##prefix##write1, 1, true)    \
	ACCESS(__tsan_##prefix##write2, 2, true)    \
	ACCESS(__tsan_##prefix##write4, 4, true)    \
	ACCESS(__tsan_##prefix##write8, 8, true)    \
	ACCESS_WIDE(__tsan_##prefix##write16, true)
#define UNALIGNED(prefix)                                      \
	ACCESS_ANY(__tsan_unaligned_##prefix##read2, 2, false) \
	ACCESS_ANY(__tsan_unaligned_##prefix##read4, 4, false) \
	ACCESS_ANY(__tsan_unaligned_##prefix##read8, 8, false) \
	ACCESS_WIDE(__tsan_unaligned_##prefix##read16, false)  \
	ACCESS_ANY(__tsan_unaligned_##prefix##write2, 2, true) \
	ACCESS_ANY(__tsan_unaligned_##prefix##write4, 4, true) \
	ACCESS_ANY(__tsan_unaligned_##prefix##write8, 8, true) \
	ACCESS_WIDE(__tsan_unaligned_##prefix##write16, true)

HOOK_SIZES()
HOOK_SIZES(volatile_)
UNALIGNED()
UNALIGNED(volatile_)
BOTH(__tsan_read_write1, 1, touch)
BOTH(__tsan_read_write2, 2, touch)
BOTH(__tsan_read_write4, 4, touch)
BOTH(__tsan_read_write8, 8, touch)
BOTH(__tsan_read_write16, 16, touch_wide)
BOTH(__tsan_unaligned_read_write2, 2, touch_any)
BOTH(__tsan_unaligned_read_write4, 4, touch_any)
BOTH(__tsan_unaligned_read_write8, 8, touch_any)
BOTH(__tsan_unaligned_read_write16, 16, touch_wide)

void __tsan_read_range(void *p, size_t n);
void __tsan_write_range(void *p, size_t n);
void __tsan_vptr_update(void **p, void *value);
void __tsan_vptr_read(void **p);

HOOK void __tsan_read_range(void *p, size_t n)
{
	rt_range((uintptr_t)p, n, false, CALLER);
}

HOOK void __tsan_write_range(void *p, size_t n)
{
	rt_range((uintptr_t)p, n, true, CALLER);
}

/* Constructors and destructors set the same pointer again: no change. */
HOOK void __tsan_vptr_update(void **p, void *value)
{
	if (*p != value)
		touch((uintptr_t)p, 8, true, CALLER);
}

HOOK void __tsan_vptr_read(void **p)
{
	touch((uintptr_t)p, 8, false, CALLER);
}

/* ---- functions ---- */

/* Where the caller's stack ended when it called the hook. gcc knows it whatever the hook itself pushes; clang's builtin would
 * cost each hook a frame pointer, and in what it makes of these hooks nothing is pushed before the mov. */
#ifdef __clang__
#define STACK_POINTER                                          \
	({                                                     \
		uintptr_t sp_;                                 \
		__asm__ volatile("mov %%rsp, %0" : "=r"(sp_)); \
		sp_;                                           \
	})
#else
#define STACK_POINTER ((uintptr_t)__builtin_dwarf_cfa() - 8)
#endif

static inline void push(struct thread *t, uintptr_t fn, uintptr_t site, uintptr_t pc, uintptr_t sp)
{
	struct frame *f = t->top + 1;
	t->top = f; /* first, so that a signal handler goes on above */
	__asm__ volatile("" ::: "memory");
	f->pc = pc;
	f->site = site;
	f->sp = sp;
	f->fn = fn;
	*(uint64_t *)&f->node = (uint64_t)t->nlog << 32; /* node 0, log */
}

static void mark(struct rt_thread *th, const char *name, uintptr_t pc)
{
	bool rec = rec_try(th);
	red_mark_begin(&rt_dyn, &th->t, name, pc);
	if (rec) {
		__atomic_fetch_add(&rt.reads_era, 1, __ATOMIC_SEQ_CST);
		rec_mark(th, name, pc);
		rec_end();
	}
}

bool rt_is_atomic(uintptr_t fn)
{
	uint32_t i = (uint32_t)mix64(fn) % 4096;
	while (rt.atomic_fns[i] && rt.atomic_fns[i] != fn)
		i = (i + 1) % 4096;
	return rt.atomic_fns[i] || rt_in_section(fn);
}

/* Left by longjmp or an exception, first call of a thread, or no room. */
static NOINLINE void enter_slow(uintptr_t fn, uintptr_t site, uintptr_t pc, uintptr_t sp)
{
	struct rt_thread *th = me;
	if (th == &rt_nobody) {
		if (rt.explore)
			x_enter(fn, site, pc, sp);
		if (!rt.on || !(th = rt_attach()))
			return;
	}
	struct thread *t = &th->t;
	if (t->top >= t->limit) {
		int busy = th->busy;
		th->busy = 1;
		rt_grow_frames(th);
		th->busy = busy;
		if (t->top >= t->limit)
			return;
	}
	red_prune(t, sp);
	push(t, fn, site, pc, sp);
	if (rt.atomic_fns) {
		if (rt_is_atomic(fn) && !th->busy) {
			th->busy = 1;
			mark(th, NULL, pc);
			rt_leave(th);
		}
	}
}

INLINE void enter(uintptr_t fn, uintptr_t site, uintptr_t pc, uintptr_t sp)
{
	struct rt_thread *th = me;
	struct thread *t = &th->t;
	if (unlikely(t->top >= th->room || t->top->sp + 8 < sp))
		enter_slow(fn, site, pc, sp);
	else
		push(t, fn, site, pc, sp);
}

/* Functions that ended without an exit hook lie above the one that ends. */
static NOINLINE void leave_slow(uintptr_t fn, uintptr_t sp)
{
	struct thread *t = &me->t;
	if (unlikely(rt.explore)) {
		x_leave(fn);
		return;
	}
	struct frame *f = t->top, *own = NULL;
	/* A hook that is jumped to, not called, finds its function's frame gone: what
	 * ends then is the outermost call of it below the stack pointer. */
	for (; f > t->frames && f->pc && f->sp + 8 < sp; f--)
		own = f->fn == fn ? f : own;
	for (; !own; f--)
		if (f == t->frames || !f->pc || f->fn == fn)
			own = f;
	if (own > t->frames && own->pc)
		t->top = own - 1;
	while (t->nmarks && t->marks[t->nmarks - 1].nframes > (uint32_t)(t->top - t->frames))
		t->nmarks--;
	if (t->ncolumns <= t->nmarks || me->busy)
		return;
	me->busy = 1;
	bool rec = rec_try(me);
	reach_trim(t);
	if (rec) { /* so that the block ends in the recording, too */
		rec_put(me, REC_STACK, 0, t->stack_lo, t->stack_hi);
		rec_end();
	}
	rt_leave(me);
}

INLINE void leave(uintptr_t fn)
{
	struct thread *t = &me->t;
	if (likely(t->top->fn == fn && !t->nmarks))
		t->top--;
	else
		leave_slow(fn, STACK_POINTER);
}

void __cyg_profile_func_enter(void *fn, void *site);
void __cyg_profile_func_exit(void *fn, void *site);
void __tsan_func_entry(void *site);
void __tsan_func_exit(void);

HOOK void __cyg_profile_func_enter(void *fn, void *site)
{
	enter((uintptr_t)fn, (uintptr_t)site, CALLER, STACK_POINTER);
}

HOOK void __cyg_profile_func_exit(void *fn, void *site)
{
	(void)site;
	leave((uintptr_t)fn);
}

HOOK void __tsan_func_entry(void *site)
{
	enter(0, (uintptr_t)site, CALLER, STACK_POINTER);
}

HOOK void __tsan_func_exit(void)
{
	leave(0);
}

/* clang's entry hooks take the address of functions that are always inlined;
 * these libstdc++ declares as instantiated elsewhere and does not export. The
 * addresses only name the functions. */
#define NAMED(symbol)                                                                                                    \
	__asm__(".pushsection .rodata\n.weak " symbol "\n.type " symbol ", @object\n" symbol ":\n.byte 0\n.size " symbol \
	        ", 1\n.popsection")
NAMED("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE17_M_use_local_dataEv");
NAMED("_ZNSt7__cxx1112basic_stringIwSt11char_traitsIwESaIwEE17_M_use_local_dataEv");
NAMED("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE17_M_init_local_bufEv");
NAMED("_ZNSt7__cxx1112basic_stringIwSt11char_traitsIwESaIwEE17_M_init_local_bufEv");

/* ---- marks (intact/annotate.h) ---- */

void __intact_begin(const char *name);
void __intact_end(void);

HOOK void __intact_begin(const char *name)
{
	struct rt_thread *th = rt_enter();
	rt.marks |= RT_BLOCKS;
	if (!th) {
		if (rt.explore)
			x_block_begin(name, CALLER);
		return;
	}
	red_prune(&th->t, FRAME);
	mark(th, name, CALLER);
	rt_leave(th);
}

HOOK void __intact_end(void)
{
	struct rt_thread *th = rt_enter();
	if (!th) {
		if (rt.explore)
			x_block_end(CALLER);
		return;
	}
	bool rec = rec_try(th);
	if (rec) {
		rec_put(th, REC_MARK_END, 0, 0, 0);
		rec_end();
	}
	red_mark_end(&th->t);
	rt_leave(th);
}
