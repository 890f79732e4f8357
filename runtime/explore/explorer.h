/*
 * explorer: a program under `intact explore`: its threads are fibers of one kernel
 * thread, and a scheduler chooses at every point which of them continues.
 *
 * Where things live. All that must outlast a run is in `struct x` at a fixed
 * address, a mapping of its own that the snapshot leaves out; so are the saved
 * pages, the controller's stack and the stacks of the fibers. Static variables of
 * the runtime lie in the program's data segment and go back to what they were at
 * every restart: they may hold only what is set before the snapshot.
 *
 * A run (start.c): the controller restores memory (snapshot.c) and enters main;
 * hooks and interposers come here (points.c and one file a kind of object) with
 * `x_point`, which makes the choice and returns when the caller was chosen; the
 * operation is then executed immediately, because no other thread runs; x_end_run
 * goes back to the controller. System calls of the program trap (syscalls.c).
 *
 * Tables that are per run carry the run's number and so need no clearing.
 *
 * Memory is sequentially consistent: a load sees the last store of the schedule; or,
 * with X.tso, threads have store buffers (store_buffer.c), with X.c11, it may see older ones (views.c). Happens-before follows
 * the C11 orders, so that relaxed atomics do not hide data races.
 */
#ifndef INTACT_RUNTIME_EXPLORE_EXPLORER_H
#define INTACT_RUNTIME_EXPLORE_EXPLORER_H

#include <malloc.h>
#include <sys/types.h>
#include <time.h>

#include "base/invariant.h"
#include "runtime/explore/views.h"
#include "runtime/rt.h"
#include "sched/control.h"
#include "sched/minimize.h"
#include "sched/sched.h"

#pragma GCC visibility push(hidden)

enum {
	X_THREADS = CONTROL_THREADS,
	X_WORDS = X_THREADS / 64,
	X_OBJECTS = 1 << 16, /* a run; a power of two */
	X_PLACES = 1 << 15,
	X_CELLS = 1 << 20,
	X_MORE = 1 << 20,   /* further entries of cells, a run */
	X_CLOCKS = 8 << 20, /* words of objects' clocks, per run */
	X_REGIONS = 1024,
	X_PAGES = 1 << 18, /* of 4 KiB that can be restored: 1 GiB */
	X_KEYS = 1024,
	X_FDS = 1024,
	X_MAPS = 4096,
	X_CLASSES = 128,
	X_LOG = 1 << 20,  /* events of a run while blocks are open */
	X_SPIN = 16,      /* what a thread did since its last effect */
	X_FORCED = 20000, /* accesses without a point: then a yield */
	X_SEEN = 1 << 18, /* traces that were judged */
	X_GAP_ATS = 2048, /* addresses that gaps are known by */
	X_BEATS = 1024,   /* steps in which a cycle is looked for */
};
enum { X_STORES = CONTROL_STORES }; /* in a store buffer */

/* Below 2 GiB, so that instructions hold it: above a program that is linked at a fixed
 * address, in a place where the kernel puts nothing unasked. */
#define X_AT         0x60000000ull
#define X_SAVED      0x110000000000ull
#define X_HEAP       0x120000000000ull
#define X_LARGE      0x130000000000ull
#define X_MAPPED     0x140000000000ull
#define X_SCRATCH_AT 0x118000000000ull
#define X_SCRATCH    (1ull << 30)
#define X_HEAP_EACH  (1ull << 30) /* of small blocks, a thread */
#define X_LARGE_EACH (1ull << 32) /* of large ones */
#define X_MAP_SIZE   (1ull << 38)

/* Vector clocks of objects: `n` entries, the rest is zero. */
struct x_clock {
	uint32_t *at;
	uint16_t n;
	uint16_t last; /* who wrote all of it, knowing all that was there before; X_THREADS: several */
	uint32_t last_clock;
	uint64_t now; /* virtual time goes along */
};

enum x_object_kind { XO_NONE, XO_MUTEX, XO_RWLOCK, XO_COND, XO_SEM, XO_BARRIER, XO_ONCE, XO_ATOMIC, XO_FUTEX, XO_SPIN };
enum { XO_DESTROYED = 1, XO_FREED = 2, XO_DEAD_OWNER = 4, XO_LOST = 8 };

struct x_object {
	uintptr_t at;
	uint32_t run;
	uint8_t kind, flags;
	int16_t owner;  /* -1: none */
	uint32_t count; /* depth, readers, value, or members of a barrier */
	uint32_t need;  /* barrier */
	struct x_clock clock;
	struct x_cell *cell; /* of an atomic within one cell; NULL: not asked for yet */
	uintptr_t pc;        /* the last access to an atomic, and its place */
	uint32_t place;
	uint64_t pend[X_WORDS];  /* threads whose pending operation it makes possible or not */
	uint64_t sleep[X_WORDS]; /* threads that wait for a wake-up */
	uint32_t nsleep;
	uint16_t gone_thread;
	uintptr_t gone_pc; /* where it was destroyed or freed */
};

enum { XT_FREE, XT_LIVE, XT_ENDED, XT_JOINED, XT_AGENT = CONTROL_AGENT /* of a store buffer */ };

struct x_tls_dtor {
	void (*fn)(void *);
	void *arg;
	struct x_tls_dtor *next;
};

struct x_thread {
	void *sp; /* of the fiber while it does not run */
	uintptr_t fs;
	struct sched_op *op; /* pending: what it does when it is chosen; the scheduler's own */
	struct x_object *pends;
	uint32_t spins;                 /* entries of its X.spin: what it did since its last effect */
	uint32_t spin_rounds, spin_pos; /* pos: what comes next, if rounds */
	uint8_t state;
	bool detached, signalled, timed, recursive, fenced;
	bool cancel_off, cancel_async;
	bool backing_off;   /* a try failed since it last took a lock */
	bool in_call;       /* object.c: of the part in which the threads call */
	uint8_t column;     /* object.c: of a scenario's table, from 1 */
	uint8_t invokes;    /* object.c: a call from 1 on that has made no step yet; 0: none */
	uint32_t cancelled; /* pthread_cancel was called for it */
	bool waits_io;      /* for a descriptor, until another thread does something with one */
	uint16_t slot, parent;
	uint16_t call;   /* the last system call that was passed on */
	uint16_t joiner; /* X_THREADS: no thread waits for its end */
	uintptr_t created_pc;
	uint64_t now;      /* virtual ns */
	uint64_t deadline; /* of a timed wait */
	void *(*fn)(void *);
	void *arg, *value;
	void *cleanup; /* the innermost buffer of pthread_cleanup_push */
	struct x_tls_dtor *dtors;
	uint32_t blocks; /* marked ones it is in */
	const char *block_name;
	uintptr_t block_pc;
	bool block_wrote;
	uint32_t nkeys; /* of its keys' values: those below are set */
	uint64_t sigmask, nrandom;
	uint32_t top;          /* frames of functions it is in */
	uint64_t gaps, in_gap; /* gap.c: those whose block it is in; and is between the places of */
	uint64_t judged;       /* by level of blocks: is it one that is judged? */
	uint32_t levels;
};

/* The larger part of a thread; apart, so that the first stays in few cache lines. */
struct x_thread_more {
	uint32_t fence_rel[X_THREADS], fence_acq[X_THREADS];
	uintptr_t trap_at;  /* of the last system call: where its return address was put, below the red zone */
	uintptr_t waits_at; /* for a descriptor */
	void *keys[X_KEYS];
	struct {
		uintptr_t fn, pc, sp, site;
		uint64_t gaps;
		bool marked;
	} frame[512];  /* gaps: before it */
	uint32_t told; /* survey.c: of these frames; `popped`: there were more */
	bool popped, called;
};

/* A store in a buffer. Its value is in memory while its thread runs. */
struct x_store {
	uintptr_t addr, pc;
	uint64_t value, under; /* under: what the bytes are without it, while it is in memory */
	uint32_t size, event;  /* event: of the schedule, when it was buffered */
	/* of an atomic: what is known to those who acquire from it; nclock 0: nothing */
	bool atomic, releases;
	uint32_t nclock, clock[X_THREADS];
};

/* Stores are counted from the run's beginning; those from `flushed` to `stored` are in the buffer. */
struct x_buffer {
	uint32_t agent;
	uint32_t stored, flushed;
	uint32_t drained;       /* stores before the last drain */
	uint32_t until;         /* a pending SCHED_DRAIN: so many must be flushed */
	struct x_store *atomic; /* made just now, by a hook that has not come to its end */
	uint32_t flush_event[X_STORES];
	struct x_store store[X_STORES];
};

struct x_slot {
	pthread_t id;
	uintptr_t fs;
	char *lo, *hi; /* its stack's mapping */
	char *start;   /* where a fiber's frames begin; above: libc's */
	char *data;    /* thread-local data and descriptor, up to `hi`, are saved in `image` */
	char *image;
	uint32_t go, ready;
	uint32_t mxcsr, fpcw; /* of the creator, for a real thread */
	uint16_t thread;      /* whose it is in this run */
};

/* One earlier access to some bytes of a cell. */
struct x_past {
	uint32_t clock;
	uint16_t thread;
	uint8_t bytes, kind; /* XA_ */
	uint32_t place;
};
enum { XA_WRITE = 1, XA_ATOMIC = 2, XA_FREE = 4 };
struct x_cell {
	uint64_t key; /* address / 8 and run */
	struct x_past past[4];
	uint32_t n, more; /* more: index of a further cell in X.more */
};

/* What happened while a block was open: enum event_kind, or what follows; `addr` is a cell, a thread, a
 * block's name, or a set of gaps. */
enum {
	XL_INNER_BEGIN = 16,
	XL_INNER_END, /* of a block in another */
	XL_GAPS,      /* of the block that has just begun */
	XL_IN_GAP,
	XL_SWAPS,      /* a compare-and-swap comes next: it will find what it expects, `value`; */
	XL_SWAP_FAILS, /* or not */
	XL_KINDS
};
struct x_logged {
	uintptr_t addr, pc;
	uint64_t value; /* of an atomic read: the cell */
	uint16_t thread;
	uint8_t kind, bytes;
	bool atomic;
	bool dropped;  /* a read that counts no more: see judge_tries */
	uint32_t step; /* steps of the schedule by then */
};

struct x_spun {
	uintptr_t a, pc;
	uint64_t value; /* that was read there */
	uint32_t size;
	bool op; /* a point, not only a read on the way */
	bool yields;
};

/* progress.c: a step, with what it found at its address. */
struct x_beat {
	uintptr_t pc, a;
	uint64_t value;
	uint16_t thread;
	uint8_t kind;
};

/* What an address is to which gaps. */
struct x_gap_at {
	uintptr_t at;
	uint64_t block, commit, violation, until;
};

struct x_place {
	uintptr_t pc;
	uint32_t flags;
};
enum { XP_POINT = 1, XP_NEXT = 2 /* a point from the next run on */ };

/* The heap of one thread. */
struct x_heap {
	char *top, *large;
	struct x_chunk *free[X_CLASSES]; /* only when `top` has gone far */
	bool full;
};

struct x {
	struct control *ctl;
	bool ready;                        /* the snapshot is taken */
	bool active;                       /* a run is under way: operations are simulated */
	bool alone;                        /* no other thread was ever made in this run */
	bool weak;                         /* memory is not sequentially consistent: one of */
	bool tso;                          /* threads have store buffers */
	bool c11;                          /* loads choose what they read */
	bool drains_returns;               /* and a call of an object test drains when it returns */
	bool unjudged;                     /* and the results of its calls are compared with nothing */
	bool traps;                        /* the kernel sends the program's system calls to us */
	char selector;                     /* of those traps */
	bool ending;                       /* exit: handlers run */
	uint32_t run;                      /* number of this run in this process, from 1 */
	uint32_t probed_run, probed_steps; /* where the tool's last signal found it */
	uint64_t index;                    /* number of the schedule */
	uint32_t nthreads, live, current;  /* nthreads: the largest id and one */
	uint32_t step;
	struct sched *sched;
	uintptr_t sched_at; /* its mapping */
	size_t sched_size;
	bool tests;        /* an object test: the scenario is executed in place of main */
	uint32_t progress; /* enum objtest_progress: what the test asks for */
	/* progress.c: the current thread runs alone; the period of steps that are repeated, 0: none */
	bool solo;
	uint32_t solo_steps, forced, forced_steps, nbeats;
	struct minimize *minimiser;
	uint64_t switches;
	bool detail, new_places;
	bool fences; /* in this process: fences or relaxed loads of released data */
	uint32_t nplaces;
	/* the end of the run */
	uint32_t end, end_thread;
	int code;
	uintptr_t end_pc, end_addr, gone_pc;
	uint32_t gone_thread;
	char text[CONTROL_TEXT];
	/* snapshot */
	void *main_sp, *controller_sp;
	char *stack_hi, *stack_saved;
	size_t stack_size;
	uint32_t nregions;
	struct {
		uintptr_t lo, hi;
	} region[X_REGIONS];
	uint32_t npages;
	struct x_heap heap[X_THREADS], heap0; /* heap0: main's, at the snapshot */
	uint32_t nclocks, nmore;
	uint32_t nobjects, nobjects0;
	uint32_t atexits, atexits0;
	int argc;
	char **argv, **envp;
	/* descriptors and mappings of this run */
	uint8_t fd_made[X_FDS / 8], fd_moved[X_FDS / 8];
	off_t fd_offset[X_FDS];
	bool fds_dirty;
	uint32_t nmaps;
	struct {
		uintptr_t at;
		size_t size;
	} map[X_MAPS];
	uintptr_t map_top;
	struct {
		uint64_t fn, flags;
	} sig[65], sig0[65];
	bool sigs_dirty;
	void (*key_dtor[X_KEYS])(void *);
	uint8_t key_used[X_KEYS], key_used0[X_KEYS];
	uint32_t ntraps, nout;
	bool outside;  /* something that is not of the program may make a descriptor ready */
	uint32_t call; /* the last system call that was passed on, and its place */
	uintptr_t call_pc;
	/* marked blocks */
	uint8_t logging; /* X_LOG_...: who wants to know of accesses */
	bool log_full;
	uint32_t open_blocks, blocks, nlog;
	bool hooked; /* gaps are known, or a survey is made: gap.c is told of every operation */
	uint32_t ngaps;
	uint64_t gap_now, gap_hit; /* this run is steered into; that another thread came in between of */
	uint64_t gap_any;          /* every cycle through their blocks counts */
	bool marks;                /* of this process: blocks that are marked were entered */
	bool cycle;                /* of this run: x_judge found one, closed at: */
	uintptr_t cycle_pc;
	bool raced, race_kept;        /* in this run; the run that is told is one with a race */
	bool race_points, race_shown; /* both accesses are points in this run; in the one that is told */
	bool race_unseen;             /* in this run accesses race that were no points of it */
	uintptr_t race_pc;            /* where the later access was */
	bool kept;                    /* a function that is not atomic was found: the search goes on for what fails by itself */
	uint32_t kept_until;          /* that run */
	struct rec *survey;           /* survey.c: shared memory; NULL: none is made */
	bool surveying;               /* of this run */
	uintptr_t survey_atomic;      /* the accesses that come next are atomic, and of this */
	uint32_t unpointed;           /* accesses since the last point */
	size_t scratch_used;
	uint32_t pending_write; /* in detail: number of the event of a write that is being made, from 1 */
	bool pending_plain;     /* in detail: the last of ctl->access is a write that is being made */
	bool finished;          /* a run's process has told all */
	bool keys_dirty;
	uintptr_t text_lo, text_hi; /* of the program's own file */
	uint32_t width;             /* entries of clocks that are kept; grows with the largest id so far */
	bool fs_instruction;        /* the processor has wrfsbase, and the kernel lets us */
	bool avx2;
	bool real;               /* threads of the kernel, for debuggers */
	uint64_t slots[X_WORDS]; /* those that are lent now */
	struct {
		pthread_t id;
		uint16_t slot;
	} slot_of[2 * X_THREADS]; /* by id, open addressing */
	struct sched_op no_op;    /* before there is a scheduler */
	struct x_thread thread[X_THREADS];
	uint32_t held[X_THREADS]; /* mutexes, by thread */
	uint32_t clock[X_THREADS][X_THREADS];
	struct x_thread_more thread_more[X_THREADS];
	struct x_spun spin[X_THREADS][X_SPIN];
	struct x_slot slot[X_THREADS];
	struct x_buffer buffer[X_THREADS];
	struct x_object object0[256]; /* those that were made before main */
	struct x_place place[X_PLACES];
	uintptr_t page[X_PAGES];
	struct x_object object[X_OBJECTS];
	struct x_logged log[X_LOG];
	uint64_t seen[X_SEEN];
	uint64_t object_memo[OBJTEST_MEMO][2]; /* object.c: hashes of histories that are explained; 0: free */
	struct {
		uint64_t results[2]; /* a hash; 0: free */
		uint64_t ordered, before[OBJTEST_CALLS];
	} object_order[OBJTEST_ORDERS]; /* orders that explain these results */
	struct x_gap_at gap_at[X_GAP_ATS];
	struct x_beat beat[X_BEATS];
	struct x_cell cell[X_CELLS];
	struct x_cell more[X_MORE];
	uint32_t clocks[X_CLOCKS];
	struct x_views views;
};

#define X (*(struct x *)X_AT)
_Static_assert(X_AT + sizeof(struct x) <= X_SAVED && X_SAVED + (uint64_t)X_PAGES * 4096 <= X_SCRATCH_AT &&
                       X_SCRATCH_AT + X_SCRATCH <= X_HEAP,
               "the explorer's mappings do not overlap");
_Static_assert(X_HEAP + X_THREADS * X_HEAP_EACH <= X_LARGE && X_LARGE + X_THREADS * X_LARGE_EACH <= X_MAPPED, "nor do the heaps");
_Static_assert(!(X_OBJECTS & (X_OBJECTS - 1)) && !(X_PLACES & (X_PLACES - 1)) && !(X_CELLS & (X_CELLS - 1)) &&
                       !(X_SEEN & (X_SEEN - 1)),
               "hash tables are powers of two");
_Static_assert(X_THREADS % 64 == 0 && X_THREADS % 4 == 0, "sets of threads are words, clocks are joined by fours");

static inline struct x_thread *x_me(void)
{
	assert(X.current < X_THREADS);
	return &X.thread[X.current];
}

static inline void x_bit_set(uint64_t *set, unsigned i)
{
	assert(i < X_THREADS);
	set[i / 64] |= 1ull << i % 64;
}
static inline void x_bit_clear(uint64_t *set, unsigned i)
{
	assert(i < X_THREADS);
	set[i / 64] &= ~(1ull << i % 64);
}
static inline bool x_bit(const uint64_t *set, unsigned i)
{
	assert(i < X_THREADS);
	return set[i / 64] >> i % 64 & 1;
}
static inline uint32_t x_slot_hash(pthread_t id)
{
	return (uint32_t)((uint64_t)id * 0x9e3779b97f4a7c15ull >> 32) % (2 * X_THREADS);
}
/* start.c */
void x_begin(long fd);          /* INTACT_OPTIONS has explore=FD */
_Noreturn void x_end_run(void); /* X.end says how */
void x_failed(void);            /* does nothing: debuggers stop here */
_Noreturn void x_give_up(unsigned why, const char *fmt, ...);
_Noreturn void x_fail(unsigned end, const char *fmt, ...); /* the run ends with this */

/* fiber.c */
void x_switch(void **save, void *to);
void x_set_fs_call(uintptr_t fs);
static inline void x_set_fs(uintptr_t fs)
{
	if (likely(X.fs_instruction))
		__asm__ volatile("wrfsbase %0" : : "r"(fs) : "memory");
	else
		x_set_fs_call(fs);
}
bool x_pool(uint32_t n);
void *x_fiber_frame(char *top, void (*fn)(void)); /* a stack to switch to, which begins with fn */
void x_fiber_prepare(struct x_thread *t);
void x_fiber_go_real(struct x_thread *from, struct x_thread *to);
/* Never returns when `from` has ended. */
static inline void x_fiber_go(struct x_thread *from, struct x_thread *to)
{
	X.switches++;
	X.current = (uint32_t)(to - X.thread);
	if (unlikely(X.real)) {
		x_fiber_go_real(from, to);
		return;
	}
	x_set_fs(to->fs);
	x_switch(&from->sp, to->sp);
}

/* snapshot.c */
bool x_snapshot_take(void);
void x_snapshot_restore(void);
bool x_snapshot_fault(uintptr_t addr);           /* was it a page of ours that is saved at its first write? */
void x_snapshot_touch(uintptr_t addr, size_t n); /* before the kernel writes there */

/* points.c. A point stops the current thread before an operation and returns when it is
 * chosen; then the operation is done at once. `o`: what decides whether it is
 * possible; NULL: it always is. */
void x_point(unsigned kind, struct x_object *o, uintptr_t a, uintptr_t b, unsigned size, unsigned flags, uintptr_t pc);
/* The same for memory: kinds from SCHED_READ to SCHED_RMW, and SCHED_BUFFER. */
void x_point_memory(unsigned kind, uintptr_t addr, unsigned size, uintptr_t pc);
void x_pends(struct x_thread *t, struct x_object *o); /* it waits for another object from now on */
bool x_can_go_on(const struct x_thread *t);
bool x_possible(const struct x_thread *t); /* can its pending operation be done now? */
void x_changed(struct x_object *o);        /* whose pending operation is possible now? */
static inline void x_result(unsigned result, uint32_t value)
{
	if (!X.alone && !X.solo && !X.forced)
		sched_result(X.sched, result, value);
}
_Noreturn void x_thread_over(void); /* the current thread has ended: another goes on */
/* Waits until so many of the current thread's buffered stores are flushed. */
void x_point_drain(uint32_t until, uintptr_t pc);

/* store_buffer.c. Call these only if X.tso. */
void x_buffer_begin(uint32_t thread);                             /* the thread is known to the scheduler */
void x_buffer_undo(uint32_t thread);                              /* memory is as all others see it; */
void x_buffer_redo(uint32_t thread);                              /* as the thread does */
uint32_t x_buffer_step(uint32_t agent);                           /* executes its flush; who is next */
bool x_buffer_takes(uintptr_t addr, size_t size);                 /* does a store there go into the buffer? */
bool x_buffer_holds(uintptr_t addr, size_t size);                 /* is one of these bytes in the current thread's? */
bool x_buffer_since_drain(uintptr_t addr, size_t size);           /* or was since its last drain? */
void x_buffer_store(uintptr_t addr, unsigned size, uintptr_t pc); /* the store comes right behind */
void x_drain(uintptr_t pc);                                       /* of the current thread; nothing if it has stored nothing */
static inline void x_drain_if_tso(uintptr_t pc)
{
	if (unlikely(X.tso))
		x_drain(pc);
}

/* views.c. Call these only if X.c11. `order` of a compare-and-swap: that of success, of failure << 4, and X_CAS. */
enum { X_CAS = 256 };
bool x_views_seq_cst(unsigned kind, int order);
void x_views_choose(uintptr_t addr, unsigned size, unsigned kind, int order, uintptr_t pc);
void x_views_done(uintptr_t addr, unsigned size, bool read, bool wrote, int order, uintptr_t pc);
void x_views_fence(void);
void x_views_forget(uintptr_t addr, size_t size);   /* of an atomic there, what was before a plain write */
bool x_views_last(uintptr_t addr, uint64_t *value); /* what the thread has read there just now */
void x_views_no_calls(void);
void x_views_call(uint32_t call, bool returned);
uint64_t x_views_calls_before(uint32_t call); /* the calls whose return happened before its first step */
static inline void x_expects(uint64_t value)  /* the compare-and-swap that comes */
{
	if (unlikely(rt.explore) && X.c11)
		X.views.last[X.current].expected = value;
}

/* objects.c */
struct x_object *x_object_look(uintptr_t at, unsigned kind, uintptr_t pc);
static inline uint32_t x_object_hash(uintptr_t at)
{
	return (uint32_t)((at >> 2) * 0x9e3779b97f4a7c15ull >> 40) & (X_OBJECTS - 1);
}
static inline struct x_object *x_object(uintptr_t at, unsigned kind, uintptr_t pc)
{
	struct x_object *o = &X.object[x_object_hash(at)];
	bool usual = o->at == at && o->run == X.run && !(o->flags & (XO_DESTROYED | XO_FREED)) && o->kind != XO_NONE;
	return likely(usual) ? o : x_object_look(at, kind, pc);
}
struct x_object *x_object_find(uintptr_t at);
void x_object_renew(uintptr_t at, unsigned kind);
void x_object_destroy(uintptr_t at, uintptr_t pc); /* a point */
void x_object_destroyed(uintptr_t at, uintptr_t pc);
bool x_objects_freed(uintptr_t at, size_t n, uintptr_t pc); /* true: one that was not destroyed */
void x_objects_save(void);
void x_objects_restore(void);
void x_sleep_in(struct x_object *o);                       /* the current thread waits for a wake-up */
struct x_thread *x_wake(struct x_object *o, uint32_t nth); /* of the sleepers by thread */
void x_leave_sleep(struct x_object *o, uint32_t thread);

/* clocks.c */
void x_clock_room(struct x_clock *c);
void x_release_join(struct x_clock *c);
void x_join_clock_many(uint32_t *to, const uint32_t *from, unsigned n);
void x_copy_clock_many(uint32_t *to, const uint32_t *from, unsigned n);

/* Four entries at a time: all clocks have room for a multiple of four, and stay below 2^31. */
typedef int32_t x_four __attribute__((vector_size(16), aligned(4), may_alias));

static inline void x_join_four(uint32_t *to, const uint32_t *from)
{
	x_four a = *(x_four *)to, b = *(const x_four *)from, greater = a > b;
	*(x_four *)to = (a & greater) | (b & ~greater);
}
static inline void x_join_clock(uint32_t *to, const uint32_t *from, unsigned n)
{
	if (likely(n <= 8)) {
		x_join_four(to, from);
		if (n > 4)
			x_join_four(to + 4, from + 4);
	} else {
		x_join_clock_many(to, from, n);
	}
}
static inline void x_acquire(const struct x_clock *c)
{
	struct x_thread *t = x_me();
	uint32_t *mine = X.clock[X.current];
	if (c->now > t->now)
		t->now = c->now;
	if (c->n && c->n <= 4) /* quicker than to ask who was the last, which is a matter of chance */
		x_join_four(mine, c->at);
	else if (c->n && (c->last >= X_THREADS || mine[c->last] < c->last_clock))
		x_join_clock(mine, c->at, c->n);
}
/* All that is there is replaced. */
static inline void x_release(struct x_clock *c)
{
	uint32_t i = X.current, n = X.nthreads, *mine = X.clock[i];
	if (unlikely(c->n < n))
		x_clock_room(c);
	c->now = X.thread[i].now;
	c->last = (uint16_t)i;
	c->last_clock = mine[i];
	*(x_four *)c->at = *(const x_four *)mine;
	if (n > 4)
		x_copy_clock_many(c->at + 4, mine + 4, n - 4);
	mine[i]++;
}

/* access.c */
void x_access(uintptr_t addr, unsigned mask, bool write, uintptr_t pc);
void x_range(uintptr_t addr, size_t size, bool write, uintptr_t pc);
/* The usual case of the next one: the last access to these bytes was a write of the same kind and happened before. */
static inline bool x_atomic_follows(struct x_object *o, unsigned mask, uintptr_t pc)
{
	struct x_cell *c = o->cell;
	if (!c || X.logging || o->pc != pc)
		return false;
	struct x_past *p = c->past;
	uint32_t i = X.current, *mine = X.clock[i];
	bool usual = (c->n == 1) & !c->more & (p->bytes == mask) & (p->kind == (XA_ATOMIC | XA_WRITE)) &
	             ((p->thread == i) | (p->clock <= mine[p->thread]));
	if (!usual)
		return false;
	p->clock = mine[i];
	p->thread = (uint16_t)i;
	p->place = o->place;
	return true;
}
void x_accessed_atomic(struct x_object *o, uintptr_t addr, unsigned size, bool write, uintptr_t pc);
void x_forget(uintptr_t addr, size_t size);
void x_flush_freed(const struct x_store *e);                  /* fails if its memory was freed meanwhile */
void x_free_point(uintptr_t addr, size_t size, uintptr_t pc); /* memory will be freed: a point, if something in it may come later */
void x_freed(uintptr_t addr, size_t size, bool objects, uintptr_t pc);
bool x_was_freed(uintptr_t addr, uintptr_t *pc, uint16_t *thread);
uint32_t x_place_look(uintptr_t pc);
static inline uint32_t x_place_hash(uintptr_t pc)
{
	return (uint32_t)(pc * 0x9e3779b97f4a7c15ull >> 44) & (X_PLACES - 1);
}
static inline uint32_t x_place(uintptr_t pc)
{
	pc += !pc; /* an unknown place is one, too: slots with 0 are free */
	uint32_t h = x_place_hash(pc);
	return likely(X.place[h].pc == pc) ? h : x_place_look(pc);
}
void x_places_next(void);

/* await.c */
void x_spin(uintptr_t a, uint32_t size, uintptr_t pc, bool yields);
void x_spin_failed(uintptr_t addr, unsigned size, uintptr_t pc);
void x_spin_write(uintptr_t addr);
void x_spin_read(uintptr_t addr, unsigned size, uintptr_t pc);
/* Has the current thread repeated the same reads, and nothing else, often enough to be taken for waiting? */
bool x_spinning(void);
static inline void x_effect(void) /* of the current thread */
{
	x_me()->spins = 0;
}

/* atomicity.c. Call the log's functions only while X.logging. */
enum { X_LOG_BLOCKS = 1 /* for what is judged */, X_LOG_DETAIL = 2 /* plain_values.c */ };
/* On the current thread's own stack: private to it, most often. */
bool x_own_stack(uintptr_t addr);
void x_log_access(uintptr_t addr, unsigned bytes, bool write, bool atomic, uintptr_t pc);
/* A compare-and-swap of the current thread is done next; `found`: what it finds there. */
void x_log_swap(uintptr_t addr, const void *found, unsigned size, bool ok, uintptr_t pc);
void x_log_thread(bool join, uint32_t thread, uintptr_t pc);
void x_log_gap(unsigned kind, uint64_t gaps);
void x_log_lock(uintptr_t lock, bool acquire, bool shared);
void x_block_waits(void);
void x_block_begin(const char *name, uintptr_t pc);
void x_function_begin(uint64_t gaps, uintptr_t fn,
                      uintptr_t pc); /* a function that is a block, of these gaps; fn as the entry hook tells it, or 0 */
void x_block_end(uintptr_t pc);
void x_judge(void); /* X.cycle: a block is not atomic */
bool x_trace_is_new(uint64_t hash);

/* gap.c. Call those with an address only if X.ngaps. */
void x_gaps_begin(void);
void x_gaps_run(void);                             /* a run begins */
uint64_t x_gap_blocks(uintptr_t fn, uintptr_t pc); /* whose block is the function that is entered? */
unsigned x_gap_flags(uintptr_t pc);                /* of the operation that comes next */
void x_gap_passed(uintptr_t pc);                   /* it is done now */

/* object.c: object tests (intact/test.h). Call those below the first three only if X.tests. */
bool x_object_is_test(void);
_Noreturn void x_object_describe(void);
void x_object_begin(void);
int x_object_main(void);     /* in place of the program's */
void x_object_invoked(void); /* the current thread has made the first step of a call */
bool x_object_reorder(void); /* the events of the run, as the tool said */
bool x_object_waits(void);
void x_object_judge(void);
void x_object_order(void);
void x_object_call_text(char *to, size_t room); /* "take() of T1": of the current thread */
bool x_object_next(void);

/* progress.c: obstruction- and lock-freedom. Call all but the first only if X.progress. */
bool x_must_not_wait(void); /* the current call */
_Noreturn void x_progress_waits(void);
void x_progress_awaits(void);   /* it has repeated its reads */
void x_progress_solo(bool can); /* a step of it, made alone */
void x_progress_returned(void); /* a call has */
void x_progress_chosen(void);
uint32_t x_progress_next(void);

/* survey.c. Call all but the first two only while X.surveying. */
void x_survey_map(void);
void x_survey_run(void); /* a run begins */
void x_survey_end(void);
void x_survey_left(uint32_t stay); /* functions of the current thread are left */
void x_survey_event(unsigned kind, unsigned bytes, uintptr_t addr, uintptr_t pc);
void x_survey_op(const struct sched_op *op);
void x_survey_forget(uintptr_t addr, size_t size);

/* sync.c */
int x_mutex_lock(pthread_mutex_t *m, uintptr_t pc);
int x_mutex_trylock(pthread_mutex_t *m, uintptr_t pc);
int x_mutex_timedlock(pthread_mutex_t *m, clockid_t clock, const struct timespec *ts, uintptr_t pc);
int x_mutex_unlock(pthread_mutex_t *m, uintptr_t pc);
int x_spin_lock(const void *s, uintptr_t pc);
int x_spin_trylock(const void *s, uintptr_t pc);
int x_spin_unlock(const void *s, uintptr_t pc);
int x_rwlock_take(pthread_rwlock_t *l, bool read, bool try, const struct timespec *ts, clockid_t clock, uintptr_t pc);
int x_rwlock_unlock(pthread_rwlock_t *l, uintptr_t pc);
int x_cond_wait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *ts, uintptr_t pc);
int x_cond_wake(pthread_cond_t *c, bool all, uintptr_t pc);
int x_sem_wait(void *s, bool try, clockid_t clock, const struct timespec *ts, uintptr_t pc);
int x_sem_post(void *s, uintptr_t pc);
int x_sem_value(void *s, int *value, uintptr_t pc);
int x_barrier_wait(pthread_barrier_t *b, uintptr_t pc);
int x_guard_acquire(void *guard, uintptr_t pc);
void x_guard_release(void *guard, bool done, uintptr_t pc);
int x_once(pthread_once_t *o, void (*fn)(void), uintptr_t pc);
long x_futex(uint32_t *word, int op, uint32_t value, const struct timespec *ts, uint32_t *word2, uint32_t value3, uintptr_t pc);
int x_mutex_destroy(pthread_mutex_t *m, uintptr_t pc);
int x_cond_init(pthread_cond_t *c, const pthread_condattr_t *a);
clockid_t x_cond_clock(const pthread_cond_t *c);
int x_cond_destroy(pthread_cond_t *c, uintptr_t pc);
int x_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *a, unsigned n);
int x_sem_init(void *s, int shared, unsigned value);
int x_mutex_consistent(pthread_mutex_t *m, uintptr_t pc);
void x_owner_died(uint32_t thread);
void x_clock_read(clockid_t clock, struct timespec *ts);
void x_yield(uintptr_t pc);
void x_sleep(uint64_t ns, uintptr_t pc);
uint64_t x_deadline(clockid_t clock, const struct timespec *ts); /* absolute, as virtual ns */

/* atomic.c */
void x_atomic(uintptr_t addr, unsigned size, unsigned kind, int order, uintptr_t pc); /* order: see views.c */
bool x_fences(void);                                                                  /* what fences need is kept; true */
void x_atomic_done_sc(struct x_object *o, uintptr_t addr, unsigned size, bool read, bool wrote, int order, uintptr_t pc);
void x_atomic_done(uintptr_t addr, unsigned size, bool read, bool wrote, int order, uintptr_t pc);
void x_fence(int order, uintptr_t pc);
void x_flushes(struct x_store *e); /* it reaches memory now; the current thread is its own */

/* thread.c */
void x_agent_begin(uint32_t id, uint32_t owner);
void x_clock_begin(uint32_t *c, const uint32_t *from);
int x_create(pthread_t *id, const pthread_attr_t *attr, void *(*fn)(void *), void *arg, uintptr_t pc);
int x_join(pthread_t id, void **value, bool try, const struct timespec *ts, clockid_t clock, uintptr_t pc);
int x_detach(pthread_t id, uintptr_t pc);
_Noreturn void x_thread_exit(void *value);
_Noreturn void x_thread_main(void);
void x_run_dtors(struct x_thread *t);
/* unwind.c */
void x_unwind_init(void);
_Noreturn void x_leave_all(void *value); /* the frames of the thread, then the thread */
/* cancel.c */
void x_cancelled(struct x_thread *t);
static inline void x_cancel_point(void)
{
	if (unlikely(x_me()->cancelled))
		x_cancelled(x_me());
}
struct x_thread *x_thread_of(pthread_t id);

/* heap.c */
void *x_malloc(size_t n);
void *x_calloc(size_t n, size_t size);
void *x_realloc(void *p, size_t n);
void *x_memalign(size_t align, size_t n);
void x_free(void *p, uintptr_t pc);
bool x_owns(const void *p);
bool x_heap_init(void);
void x_heap_begin(unsigned thread); /* an empty one */
void x_heap_save(void);
void x_heap_restore(void);

/* syscalls.c */
long x_sys(long nr, long a, long b, long c, long d, long e, long f); /* of our own: never traps */
extern long x_server_pid, x_child_pid;
bool x_traps(void);
bool x_traps_here(void); /* of the kernel thread that calls */
void x_signal_stack(void);
/* identity.c: a call about the program's process or one of its threads. True: it is answered, *r. Otherwise ids in
 * `a` are the kernel's from now on. */
bool x_identity(long nr, long a[6], long *r);
bool x_own_process(long id);
long x_syscall(long nr, const long a[6], uintptr_t pc);
#define X_IO 16 /* the address of all that system calls on files and descriptors change: io.c */
/* multiplex.c: a call that waits for one of several descriptors. True: it has been made, *r. */
bool x_multiplex(long nr, const long a[6], uintptr_t pc, long *r);
/* The point of a system call, if it is one; waits until the call need not. */
void x_io_point(long nr, const long a[6], uintptr_t pc);
void x_io_wait(uintptr_t pc); /* its next look is after a change; not while X.alone */
void x_offsets_note(void);    /* see fork_runs */
void x_offsets_restore(void);
void x_syscalls_restore(void);
void x_output(int fd, const void *p, size_t n);
void x_signals(void);
_Noreturn void x_exit(int status, uintptr_t pc);

/* run_report.c: frames */
void x_enter(uintptr_t fn, uintptr_t site, uintptr_t pc, uintptr_t sp);
void x_leave(uintptr_t fn);

/* run_report.c */
void x_report_run(void);
void x_report_step(void);
void x_report_written(void); /* the last write has been made */
uint64_t x_value_at(uintptr_t addr, uint32_t size);

/* plain_values.c. In detail: a plain access that is no point; the last of them, a write, has been made. */
void x_tell_access(uintptr_t addr, unsigned mask, bool write, uintptr_t pc);
void x_tell_range(uintptr_t addr, unsigned mask, bool write, uintptr_t pc); /* the same of a word of a longer one */
void x_tell_written(void);
void x_tell_block(uintptr_t p, size_t size, uintptr_t pc);
void x_report_race(const struct x_past *was, uintptr_t addr, unsigned bytes, unsigned kind, uint32_t place);
void x_report_modules(void);
uintptr_t x_program_place(uintptr_t pc); /* who of the program called the library that is at pc */

#pragma GCC visibility pop

#endif
