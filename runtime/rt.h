/*
 * rt: the library inside the program under test, its shared declarations.
 *
 * Layers, each forwarding to the next: hooks (what compilers call) and
 * interposers (libc functions, one module per kind of object) -> rt_* below
 * (find the thread, keep signals out) -> src/dynamic (the analyses).
 *
 * On these paths nothing calls malloc, stdio or a lock of the program's.
 * `busy` marks a thread inside the runtime: a hook that finds it set (a
 * signal handler that interrupted us, or our own use of libc) returns at
 * once, and signals that come meanwhile are delivered on the way out.
 */
#ifndef INTACT_RUNTIME_RT_H
#define INTACT_RUNTIME_RT_H

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Everything here is the archive's own: no detour through tables of the
 * dynamic linker. */
#pragma GCC visibility push(hidden)

#include "base/invariant.h"
#include "dynamic/message.h"
#include "dynamic/reduction.h"

/*
 * Two kinds of names are the linker's to see; all others are hidden and become
 * local when the runtime's objects are made one (meson.build). A hook is ours
 * alone. An interposer is weak: a program's own function of that name wins, so
 * nothing here may call one and rely on it being ours.
 */
#define HOOK        __attribute__((visibility("default"), used))
#define EXPORT      __attribute__((visibility("default"), used, weak))
#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define CALLER      ((uintptr_t)__builtin_return_address(0))
#define FRAME       ((uintptr_t)__builtin_frame_address(0) + 16)
#define NOINLINE    __attribute__((noinline))

enum { RT_RACED = 512 };
struct rt_thread {
	uint64_t key;       /* CELL_KEY of this thread now, all bytes set: rt_known */
	struct frame *room; /* its t.limit; NULL: each function entered is looked at */
	struct thread t;
	int busy;    /* inside the runtime, or not to be watched */
	int pending; /* signals were put off */
	int state;   /* RT_LIVE ... */
	bool detached;
	pthread_t self;
	struct rt_thread *next; /* in the list of free ones */
	int iterations;         /* of the key's destructor */
	void *(*start)(void *);
	void *arg;
	uint32_t told;          /* functions the recording knows of */
	struct frame *told_top; /* the innermost of them, or where it was */
	struct {
		uintptr_t addr;
		uint64_t value; /* what was there; of 16 bytes a digest */
	} looked[16];           /* at atomics, the last time */
	uint64_t pending_set[2];
	siginfo_t pending_info[65];
	struct recenc *enc; /* its slot's, and its bytes; NULL: not asked for yet */
	struct rec_own *own;
	uint64_t own_end;      /* below it there is room for a record, in one piece */
	bool noting;           /* a lock event that no other thread has to do with */
	struct lock *released; /* by it; or NULL */
	struct {
		uint64_t bytes; /* address and mask */
		uint32_t stamp;
	} raced[RT_RACED];    /* reads of shared data that were entered for races, the last ones */
	uint64_t reads_era;   /* of `reads`; 0: they count no more */
	uint32_t reads_from;  /* the epoch they begin with */
	uint64_t reads[1024]; /* of data that is only read: recorded in this epoch */
};
enum { RT_FREE, RT_LIVE, RT_ENDED };
enum { RT_READS = 1024, READ_EPOCH = 17 };

struct rt_options {
	bool all, atexit_report, gen_suppressions, halt_on_error, help, print_suppressions, locks, races, report_loops, strict;
	long exitcode, history_size, perturb, perturb_ms, top, verbosity;
	const char *explore, *color, *only, *log_path, *socket, *spec, *strip_path_prefix, *suppressions, *tool, *record;
};

struct rt_module {
	uintptr_t base, lo, hi;
	const char *path;
	bool there; /* seen, while they are looked for */
	bool gone;  /* unloaded */
	bool moved; /* unloaded; the addresses are those of its stacks now (report.c) */
	bool told;  /* `intact run` has heard of it as it is */
};

struct rt {
	bool on;        /* the analyses run */
	bool recording; /* and their input is recorded */
	int pid;
	uint32_t live;      /* threads */
	uint32_t uids;      /* threads ever */
	uint32_t inherited; /* of them, before the fork that made this process */
	uint32_t nslots;
	uint32_t nready;    /* findings told of */
	uint8_t marks;      /* RT_BLOCKS, RT_ORDER: atomics matter */
	uint64_t reads_era; /* grows when data that was only read is so no longer */
	struct rt_options opt;
	struct spin threads_lock;
	struct rt_thread *free;
	struct rt_thread **threads; /* by slot */
	uint32_t *slot_epoch;
	uint32_t *created, *parent; /* by uid: stack and parent */
	struct rt_module *modules;
	uint32_t nmodules, nmoved;
	struct spin modules_lock;
	const char *exe;       /* this program's file */
	uintptr_t *atomic_fns; /* hash of functions given by --atomic; NULL: none */
	bool perturb;          /* places are known where threads are delayed (perturb.c) */
	bool explore;          /* `intact explore`: a scheduler decides, the analyses do not run */
};

/* Of `marks`: marked blocks exist; races are asked for. */
enum { RT_BLOCKS = 1, RT_ORDER = 2 };

extern struct rt rt;
extern struct dynamic rt_dyn;
extern uint64_t **rt_dir;
extern uintptr_t rt_dir_mask;
extern __thread struct rt_thread *me __attribute__((tls_model("local-exec")));
extern struct rt_thread rt_nobody;

/* init.c, thread.c */
void rt_init(void);
void rt_coverage_init(void);       /* coverage.c: `make coverage` only */
struct rt_thread *rt_attach(void); /* a thread we did not create */
/* Behind the interposers, for <threads.h>: `pc` is the call's return address,
 * `sp` its frame. */
int rt_create(pthread_t *id, const pthread_attr_t *attr, void *(*start)(void *), void *arg, uintptr_t pc, uintptr_t sp);
int rt_join(pthread_t id, void **value, uintptr_t pc, uintptr_t sp);
int rt_detach(pthread_t id);
int rt_once(pthread_once_t *o, void (*fn)(void));
enum { RT_UIDS = 1 << 16, RT_MODULES = 1 << 16 };

static inline void rt_set_key(struct rt_thread *th)
{
	th->key = CELL_KEY(th->t.acc.tid, th->t.acc.epoch) | 0xffff;
}

/* Into the runtime and out again; NULL when there is nothing to do. */
void rt_deliver(struct rt_thread *th);
void rt_told(void);
static inline struct rt_thread *rt_enter(void)
{
	struct rt_thread *th = me;
	if (unlikely(th->busy)) {
		if (th != &rt_nobody || !rt.on || !(th = rt_attach()))
			return NULL;
	}
	th->busy = 1;
	__asm__ volatile("" ::: "memory");
	th->t.acc.live = __atomic_load_n(&rt.live, __ATOMIC_RELAXED);
	return th;
}
static inline void rt_leave(struct rt_thread *th)
{
	assert(th->busy && th != &rt_nobody);
	rt_set_key(th);
	__asm__ volatile("" ::: "memory");
	th->busy = 0;
	if (unlikely(rt_dyn.ready != rt.nready))
		rt_told();
	if (unlikely(th->pending))
		rt_deliver(th);
}

static inline bool rt_own(struct rt_thread *th, uint64_t *c, uint64_t need, bool write, uintptr_t addr, uintptr_t pc)
{
	return red_own(&th->t, th->key & ~0xffffull, c, need, write, addr, pc);
}

/* An address's cell; NULL: there is none yet. */
static inline uint64_t *rt_cell(uintptr_t addr)
{
	uint64_t *leaf = rt_dir[addr >> SHADOW_LEAF_BITS & rt_dir_mask];
	if (unlikely(!leaf))
		return NULL;
	return (uint64_t *)((char *)leaf + (addr & ((1u << SHADOW_LEAF_BITS) - 8)));
}

/* Nothing is learnt from this access: the thread has made it in this epoch, or
 * all only read these bytes and no lock could be a common one. */
static inline __attribute__((always_inline)) bool rt_mine(const struct rt_thread *th, uint64_t w0, unsigned mask, bool write)
{
	uint64_t need = write ? mask * 0x101 : mask << 8;
	return !((w0 ^ th->key) & (CELL_KEY_MASK | need));
}
static inline __attribute__((always_inline)) bool rt_known(const struct rt_thread *th, uint64_t w0, unsigned mask, bool write)
{
	if (likely(rt_mine(th, w0, mask, write)))
		return true;
	return !write && cell_open(w0, mask) && likely(!rt_dyn.reach.whole);
}

/* Must the reduction hear of reads that teach it nothing? */
static inline bool rt_whole(void)
{
	return unlikely(rt_dyn.reach.whole & ~(uint32_t)REACH_READS);
}

/* The cases that at most one compare-and-swap settles; nothing is recorded. */
static inline bool rt_take_over(struct rt_thread *th, uint64_t *c, unsigned mask, bool write, uintptr_t addr, uintptr_t pc)
{
	uint64_t need = write ? mask * 0x101 : mask << 8, key = th->key & ~0xffffull;
	if (*c >> CELL_TAG == CELL_OTHER)
		return !write && cell_part_known(c, key, mask) && !rt_whole();
	return rt_own(th, c, need, write, addr, pc) || red_handed(&th->t, key, c, need, write);
}

/* Forwarders used by the interposers; errno is kept. */
void rt_acquire(const void *obj, bool read, uintptr_t pc, uintptr_t sp);
/* The same, of a lock that was tried for. */
void rt_acquire_tried(const void *obj, bool read, uintptr_t pc, uintptr_t sp);
/* After a release that the library let pass; after a destruction that it refused. */
void rt_released(const void *obj, uintptr_t pc);
void rt_destroy_busy(const void *obj, uintptr_t pc);
void rt_try_failed(void);
void rt_release(const void *obj, uintptr_t pc, uintptr_t sp);
void rt_wait_release(const void *obj, uintptr_t pc, uintptr_t sp);
void rt_wait_acquire(const void *obj, uintptr_t pc, uintptr_t sp);
void rt_sync_release(const void *obj);
void rt_signal(const void *cond); /* the same, of a condition */
void rt_sync_acquire(const void *obj);
void rt_renew(const void *obj, uintptr_t pc, uintptr_t sp);
void rt_access(uintptr_t addr, unsigned mask, bool write, uintptr_t pc);
void rt_fresh(uint64_t *c);
/* An access, for races (dynamic/races.h); before the others hear of it. */
void rt_race(uintptr_t addr, unsigned mask, bool write, uintptr_t pc);
void rt_range(uintptr_t addr, size_t size, bool write, uintptr_t pc);
void rt_forget(uintptr_t addr, size_t size, uintptr_t pc);
void rt_grow_frames(struct rt_thread *th);
void rt_load_atomic_fns(void);
bool rt_after_pointer(const unsigned char *site); /* forward.c */
bool rt_is_atomic(uintptr_t fn);                  /* given by --atomic, or marked; rt.atomic_fns is not NULL */
bool rt_in_section(uintptr_t fn);                 /* marked INTACT_ATOMIC_FUNCTION */

/* alloc.c: the functions that malloc and related functions call from now on */
void rt_use_heap(void *(*m)(size_t), void *(*c)(size_t, size_t), void *(*r)(void *, size_t), void *(*a)(size_t, size_t));
void rt_give_back(void *p); /* as free, but no event of the program's */

/* atomics.c */
void rt_atomics_forked(void);

/* memory.c: libc's memcpy, memmove and memset, or plain loops before they are known */
typedef void *rt_copier(void *, const void *, size_t);
typedef void *rt_setter(void *, int, size_t);
extern rt_copier *rt_copy_fn, *rt_move_fn;
extern rt_setter *rt_set_fn;

/* process.c, init.c */
void rt_process_init(void);

/* report.c */
void rt_report_forked(void);           /* in the child: no thread is reporting */
void rt_flush(bool final);             /* tell of all findings */
uint32_t rt_shown(void);               /* how many were shown */
void rt_modules(void);                 /* look again at what is loaded */
void rt_before_load(const char *path); /* a library will be, perhaps where another was */

/* perturb.c. The findings that are ready by now: their places are delayed from here on. */
void rt_perturb_learn(void);
void rt_perturb_forked(void);
/* How many delays there were, and into how many another thread came. */
uint32_t rt_perturbed(uint32_t *others);
void rt_perturb_released(const void *obj);
void rt_perturb_acquire(const void *obj, uintptr_t pc, uintptr_t sp);
void rt_perturb_write(uintptr_t addr, uintptr_t pc);
/* A lock has been released, and the library has released it; is about to be taken. */
static inline void rt_gap_begins(const void *obj)
{
	if (unlikely(rt.perturb))
		rt_perturb_released(obj);
}
static inline void rt_gap_ends(const void *obj, uintptr_t pc, uintptr_t sp)
{
	if (unlikely(rt.perturb))
		rt_perturb_acquire(obj, pc, sp);
}

/* run_status.c. To `intact run`, when there is one: false when it could not be sent. */
bool rt_send(const char *text, size_t n);
void rt_status_begin(bool watched);
void rt_status_end(void);    /* what was watched */
void rt_status_halted(void); /* a finding was printed and is the end */

/* record.c, record_out.c. A call of the analyses is enclosed by rec_begin and rec_end, with
 * one rec_put for it; rec_begin is false when nothing is recorded (any more). */
bool rec_begin(struct rt_thread *th);
void rec_end(void);
void rec_put(struct rt_thread *th, unsigned kind, unsigned arg, uint64_t addr, uint64_t pc);
void rec_mark(struct rt_thread *th, const char *name, uintptr_t pc);
void rec_forget(struct rt_thread *th, uintptr_t addr, size_t size);
/* All of giving memory back, when it was this thread's alone; else false. */
bool rec_forget_own(struct rt_thread *th, uintptr_t addr, size_t size);
/* As rec_begin and rec_end, about a lock: without the ring's lock when no other
 * thread has to do with it now. */
enum rec_lock_op { REC_LOCK_ACQUIRE, REC_LOCK_SHARED, REC_LOCK_RELEASE, REC_LOCK_OTHER };
bool rec_begin_lock(struct rt_thread *th, const void *obj, enum rec_lock_op op);
void rec_end_lock(struct rt_thread *th);
void rec_module(const struct rt_module *m);
void rec_moved(uintptr_t lo, uint64_t page); /* REC_MODULE, 2 */
/* All of an access, the call included. */
void rec_access(struct rt_thread *th, uintptr_t addr, unsigned mask, bool write, uintptr_t pc);
/* All of what a hook has to do with an access that it cannot settle. _other: when it
 * is likely not to new data or the thread's own; rec_read: of data that all only
 * read, in cell `c`. */
void rec_touch_other(uintptr_t addr, unsigned mask, bool write, uintptr_t pc);
void rec_touch_read(uintptr_t addr, unsigned mask, uintptr_t pc);
void rec_touch_write(uintptr_t addr, unsigned mask, uintptr_t pc);
void rec_read(uint64_t *c, uintptr_t addr, unsigned mask, uintptr_t pc);
/*
 * Data that all only read: one record of a thread's between two of its
 * synchronisations. Has this thread had its own? `reads` has those of its epoch
 * (address and, where the place in the table says it again, bytes; the epoch's low
 * bits), as long as nothing that was only read was written to or given back since,
 * and no marked block was begun (`reads_era`). So the cell need not be looked at.
 * No analysis can tell the read that is left out from the one that was recorded:
 * same thread, locks and epoch, and no write to these bytes in between. While a
 * marked block is open somewhere every read counts, because a read after an
 * acquire can be part of a cycle that does not contain the one before it.
 */
static inline uint64_t rec_read_of(const struct rt_thread *th, unsigned mask, uintptr_t addr)
{
	return th->key << (48 - READ_EPOCH) ^ addr ^ mask << 3;
}
/* Before the low bits of an epoch come again. */
static inline void rec_look_at_reads(struct rt_thread *th)
{
	if (unlikely(th->t.acc.epoch - th->reads_from >= 1u << (READ_EPOCH - 1)))
		th->reads_era = 0;
}
static inline __attribute__((always_inline)) bool rec_read_known(const struct rt_thread *th, unsigned mask, uintptr_t addr)
{
	return th->reads[(addr >> 3) % RT_READS] == rec_read_of(th, mask, addr) &&
	       th->reads_era == __atomic_load_n(&rt.reads_era, __ATOMIC_RELAXED);
}
void rec_init(void);
bool rec_before_fork(struct rt_thread *th);
void rec_after_fork(bool child, int parent);
void rec_finish(void);
static inline bool rec_try(struct rt_thread *th)
{
	return unlikely(rt.recording) && rec_begin(th);
}
static inline bool rec_try_lock(struct rt_thread *th, const void *obj, enum rec_lock_op op)
{
	return unlikely(rt.recording) && rec_begin_lock(th, obj, op);
}

/* sys.c */
void rt_say(const char *text); /* to stderr */
void rt_sayf(const char *fmt, ...);
void rt_print(char *out, size_t max, const char *fmt, ...);
void rt_copy(void *dst, const void *src, size_t n);
size_t rt_length(const char *s);
bool rt_same(const char *a, const char *b);
char *rt_strdup(const char *s, size_t n);
void *rt_real(const char *name, const char *version);
void rt_real_all(void);
const char *rt_env(const char *name);
extern char **rt_environ;

/*
 * The libc function that an interposer replaces. All of them are looked up when
 * the program starts (rt_real_all): later, dlsym could wait for a thread that
 * loads a library, and that thread for us. Before that, each at its first use.
 */
struct rt_lazy {
	const char *name, *version;
	void **slot;
	void *at; /* what the program calls by that name */
};
/* All of them, *end after the last. */
struct rt_lazy **rt_lazy_table(struct rt_lazy ***end);
#define REALV(fn_, version_)                                                                       \
	({                                                                                         \
		static __typeof__(&fn_) real_;                                                     \
		static struct rt_lazy lazy_ = { #fn_, version_, (void **)&real_, (void *)&fn_ };   \
		static struct rt_lazy *at_ __attribute__((section("intact_real"), used)) = &lazy_; \
		if (unlikely(!real_))                                                              \
			real_ = (__typeof__(&fn_))rt_real(lazy_.name, lazy_.version);              \
		real_;                                                                             \
	})
#define REAL(fn_) REALV(fn_, NULL)
/* An interposed function that is not reached by REAL. */
#define RT_STANDS(fn_)                                                         \
	static struct rt_lazy lazy_##fn_ = { #fn_, NULL, NULL, (void *)&fn_ }; \
	static struct rt_lazy *at_##fn_ __attribute__((section("intact_real"), used)) = &lazy_##fn_

#pragma GCC visibility pop

#endif
