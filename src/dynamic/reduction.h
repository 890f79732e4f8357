/*
 * reduction: Lipton's reduction on a running program (Atomizer 2.2), and the
 * findings it leads to.
 *
 * Blocks are of two kinds.
 *
 * Marked blocks (annotate.h, --atomic) run the automaton literally: right- movers
 * (acquires), then at most one non-mover, then left-movers (releases). The first release
 * or non-mover commits; an acquire or non-mover after it is the violation. Waiting on a
 * condition restarts a block that has written nothing, because what it read is read
 * again; so does backing off: sections that wrote nothing, given up because a try for a
 * further lock failed.
 *
 * An atomic read that a compare-and-swap makes good is a right-mover: what was
 * read is there again, so it might as well be read now. When the swap fails
 * the read counts no more, and the failed swap is a read in its place. So a
 * loop of load and compare-and-swap is one non-mover, its last. (An item that
 * is taken out and put in again in between has the swap find the same bits:
 * what was read *through* them is another access, judged as such.)
 *
 * Every function is a candidate block without being marked, so functions have no state of
 * their own. Each thread keeps one log of the sections it left (and of its racing
 * accesses); a frame stores the position of the log when it was entered. When a lock is
 * taken again, the entry of the section before says which frame contains both: the
 * innermost block at fault is the deepest frame that was entered before that entry was
 * written. A frame costs nothing until then.
 *
 * A pair (section left, lock taken again) becomes a finding with evidence: another thread
 * that writes under the lock, holding none of the locks held across the gap (the
 * "protected acquire" refinement). What a thread did before it made the other, or after
 * it waited for it, is no evidence. Threads of which one was made after the other had
 * ended are: a test that calls one after the other is meant to represent two concurrent
 * calls; but the report says so. The evidence may come first or later, so the verdict
 * does not depend on the schedule. It is *confirmed* when in this run a cycle of
 * conflicts led from the block through other threads back into it; otherwise it is
 * *predicted*. For marked blocks reach.h decides that exactly, and a cycle is reported
 * even if the automaton accepts. For functions the cycle through the gap itself counts:
 * another thread had the lock between the release and the acquire, or wrote the racing
 * data between the read and the write.
 */
#ifndef INTACT_DYNAMIC_REDUCTION_H
#define INTACT_DYNAMIC_REDUCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "dynamic/hazards.h"
#include "dynamic/lock.h"
#include "dynamic/lock_order.h"
#include "dynamic/lockset.h"
#include "dynamic/races.h"
#include "dynamic/reach.h"
#include "dynamic/shadow.h"
#include "dynamic/stack.h"
#include "dynamic/trail.h"

enum {
	RED_UIDS = 1 << 16,
	RED_SLOTS = 1 << 14,
	RED_LOG = 256,
	RED_HELD = 128,
	RED_MARKS = 32,
	RED_MAX_FINDINGS = 16384,
	RED_NAME = 255 /* letters of a mark's */,
	RED_FUNCTIONS = 1 << 14 /* counted */,
	RED_KNOWN_BITS = 9,
	RED_WATCHED = 1 << 16 /* counters of words that findings are about */,
	RED_OUTER = 16,      /* gaps of a thread's first function that it knows */
	RED_OUTER_BACK = 32, /* log entries in which such a function looks for a read */
	RED_FIRST_READS = 4096
};

/* An active function. Inlined ones share `site` and nearly `sp`. */
struct frame {
	uintptr_t pc;   /* inside the function; 0: a signal came in here */
	uintptr_t site; /* where it returns to */
	uintptr_t sp;   /* about the top of its frame */
	uintptr_t fn;   /* its address; 0: not told */
	uint32_t node;  /* its stack, when known; FRAME_TOLD: in the recording */
	uint32_t log;   /* entries in the log when it was entered */
};

#define RED_CALLED (1u << 31)
enum { RED_CALLED_MAX = 24 };   /* functions looked at */
#define FRAME_NO_FN UINTPTR_MAX /* `fn` of what is no function's */
#define FRAME_TOLD  (1u << 31)
#define FRAME_NODE  (~FRAME_TOLD)

enum log_kind { LOG_SECTION, LOG_READ, LOG_WRITE, LOG_ACQUIRE };

struct log_entry {
	uint64_t key;    /* lock id, or address of racing data */
	uintptr_t first; /* of a section: the data it wrote first; 0: it only read */
	uint32_t stack, acquire;
	uint32_t held;  /* locks still held then */
	uint32_t seq;   /* the lock's, or the record's, count then */
	uint32_t epoch; /* the thread's */
	uint8_t kind, wrote, read;
	uint8_t back; /* of a section: so many entries before this one it was entered; UINT8_MAX: more, or it was not traced */
};

struct held {
	uintptr_t addr;
	uintptr_t first; /* the data written first; 0: none yet */
	uint32_t lock, depth, acquire, seq, write, finding;
	uint32_t log, block;    /* entries in the log; and when the finding's block began */
	uint32_t all, wr;       /* the sets of before */
	bool read, first_wrote; /* first_wrote: the section before the gap did */
	bool stale;             /* a lock taken earlier went: all and wr have it */
	bool blind, signalled;  /* token.h: it wrote what it had not read; it signalled */
	bool monitor;           /* token.h: the lock is used with conditions */
	bool came;              /* another thread had the lock in the finding's gap */
	bool traced;            /* this lock or one below it is: accesses go to the trail */
	uint32_t origin;        /* where it was entered first: a wait comes back elsewhere */
	uint32_t gap;           /* of the finding: the log entry before its gap */
	uint32_t word;          /* token.h: all it wrote; TOKEN_MANY: more than one */
};

enum mark_state { MARK_RIGHT, MARK_LEFT, MARK_DONE };

struct mark {
	const char *name;
	uintptr_t pc;
	uintptr_t address; /* of the data it committed at */
	uint32_t stack, nframes, commit, lock, held;
	uint32_t epoch;   /* of the commit */
	uint32_t log;     /* entries in the log when it began */
	uint32_t column;  /* of reach.h, + 1; 0: none */
	uint32_t finding; /* about this very block; 0: none yet */
	struct {          /* what that finding says of this block */
		uintptr_t address;
		uint32_t stack, lock, lock2, life, life2, held, to, made, made2;
		uint8_t op;
	} violated;
	uint8_t state, commit_kind;
	bool wrote;
	bool cycle;  /* it lies on one */
	bool looked; /* at `address`, by an atomic read; it had not committed
	                     * before, and has done nothing since that must follow
	                     * it */
	bool tried;  /* that read was a compare-and-swap that failed */
};

/* Kinds and operations: event/finding.h. */

struct finding {
	uint64_t key;
	const char *name;  /* of the mark */
	uint64_t address;  /* of the lock or data */
	uint64_t address2; /* of the data of the commit, when there is no lock2 */
	uint32_t uid, count;
	uint32_t tid, from, to;                       /* the gap, in epochs of the thread in this slot */
	uint32_t entered, section, commit, violation; /* stacks */
	uint32_t lock, lock2, across, commit_held, held;
	uint32_t life, life2; /* of the locks: see lock.h */
	uint32_t other, other_acquire, other_write, other_held;
	uint8_t other_op; /* of other_write: OP_WRITE unless told */
	uint8_t kind, commit_op, violation_op;
	uint8_t uses;
	bool loop;                /* the same section again: the next turn of a loop */
	bool wrote;               /* the block wrote before and after the gap */
	bool cycle;               /* a cycle happened: confirmed, if it is reported at all */
	bool delayed;             /* ... because the thread was delayed: `came` does not count it */
	bool apart;               /* the two threads were never there at the same time */
	uint32_t made, made2;     /* of the locks: lock.h, `created` */
	struct finding *happened; /* while it waits: the occurrence with a cycle; or NULL */
	uint32_t unsettled;       /* token.h: the thread after the gap may be giving back; it
	                       * would be ready if the program ended now: `settled` */
	bool settled;
	uint32_t taken; /* token.h: by the section before the gap; 0: nothing */
	uint32_t token; /* token.h: taken and given back; sections on it are no evidence */
	bool confirmed, ready;
	bool sent; /* as it is; `told`: so often counted then */
	uint32_t told;
	uint32_t came;       /* so often another thread had the lock in the gap */
	uint32_t skipped;    /* executions before this one that were not looked at */
	bool inherited;      /* the lock was held when the block was entered */
	bool crossed;        /* in the gap the thread was ordered with others by more than locks, or waited before it */
	bool bare;           /* FIND_LOCK: what is before the gap is a read without the lock */
	bool wrong;          /* FIND_RACE: both sides hold locks, and none in common */
	bool told_known;     /* facts_known when it was sent */
	struct facts *facts; /* about variables (facts.h); or NULL */
};

/* A gap of a thread's first function. */
struct outer_gap {
	uint32_t commit, violation, n, came;
};

/* One thread, as the analyses see it. Owned by that thread. */
struct thread {
	struct accessor acc; /* clock points into `clock` */
	struct clock clock;
	/* What came before by creation and join alone: an order that no other
	 * schedule changes. `joined`: when it last grew; `since`: or the thread
	 * made another. */
	struct clock fixed;
	uint32_t joined, since;
	uint32_t learned; /* the epoch in which `clock` last got to know of others */
	/* races.h. `stamp`: the epoch after the last release. What was known at the last release
	 * fence (`fenced`: there was one), and what an acquire fence will take up. */
	uint32_t stamp;
	struct clock fence_released, fence_acquired;
	bool fenced;
	bool trying;       /* the next lock it takes was only tried for (lock_order.h) */
	uintptr_t delayed; /* in the gap before it takes this lock others came because it was delayed (runtime/perturb.c); or 0 */
	bool unheld;       /* the last lock it released was not held by it */
	bool foreign;      /* nothing is known of who made it */
	uint32_t uid, parent, created, tid;
	uint32_t nheld, nlog, nmarks, lost;    /* lost: locks beyond RED_HELD */
	uint32_t ncolumns;                     /* marks with a column, or without need of one */
	uint32_t fork_tid, fork_epoch;         /* who made it, before its first event */
	struct reach *reach;                   /* the process's; NULL: not asked */
	bool wrote;                            /* all held locks know of a write */
	bool traced;                           /* accesses go to the trail: under a lock that is traced */
	bool backing_off;                      /* a try failed since the last acquire */
	bool cas_failed;                       /* the access is a compare-and-swap that did */
	uint32_t wait_lock, wait_origin;       /* waiting: the section's lock, and its origin */
	uint32_t giving;                       /* token.h: finding that a signal excuses; 0: none */
	uint32_t monitors;                     /* locks held that are used with conditions */
	struct trail *trail;                   /* its slot's */
	uint32_t signalled;                    /* the lock it released before it signalled */
	uint32_t synced;                       /* its epoch when something other than a lock ordered it after others */
	uint32_t looked, looked_race;          /* the entry of its last read without locks of data that is written under one,
	                                     * + 1 (0: none, or used), and the data's record */
	uint32_t first_from, first_to, nfirst; /* the last entries that are first reads (reduction.c); so many in all */
	uint32_t lead;                         /* entries at the beginning that are no doing of a function that is judged */
	struct outer_gap outer[RED_OUTER];
	/* Functions called through a pointer before the thread had done anything: a bit
	 * for each, from the second on. RED_CALLED: told. */
	uint32_t pointers;
	uintptr_t stack_lo, stack_hi;
	struct frame *frames, *top, *limit; /* top: the newest; limit: last usable */
	struct lockset_cache cache;
	struct {
		uintptr_t addr;
		uint32_t id, last;
	} known[1 << RED_KNOWN_BITS]; /* locks by address: ids never change; the entry of its last section */
	struct {
		uint64_t pc;
		uint32_t parent, id;
	} seen[64]; /* stacks */
	struct held held[RED_HELD];
	struct log_entry log[RED_LOG];
	uint64_t log_key[RED_LOG];
	uint32_t log_taken[RED_LOG]; /* token.h: by a section; 0: nothing */
	uint32_t log_trail[RED_LOG]; /* where the trail was; not of sections (log.h) */
	struct mark marks[RED_MARKS];
};

struct dynamic {
	struct lockset_table sets;
	struct stack_tree stacks;
	struct shadow shadow;
	struct lock_table locks;
	struct bump bump;
	struct reach reach;
	struct races races;
	struct hazards hazards;
	struct lock_order order;
	uint32_t *parents;        /* of threads, by number */
	struct finding *findings; /* 1 .. nfindings - 1 */
	uint32_t nfindings;
	uint32_t nlost; /* occurrences of findings beyond RED_MAX_FINDINGS */
	/* Whose a slot of threads is, since when, and whose it was before. */
	struct {
		uint32_t uid, first, past, past_first;
	} * slot;
	uint32_t *slots;
	struct spin lock;
	uint32_t history;     /* log entries a thread looks back on */
	uintptr_t *functions; /* met with locks or racing data below them: a hash */
	uint32_t nfunctions;
	uint32_t ready;              /* findings with evidence: someone should look */
	struct trail **trails;       /* by slot, as they are first used */
	struct trail *spare;         /* of all threads for which there was no memory */
	uint8_t *watched;            /* facts.h: words that findings are about, counted */
	struct kept_sections **kept; /* facts.h: by lock and place among its evidence */
	uint32_t nwatched, nmatched;
	uintptr_t static_lo, static_hi; /* the program's own file: its variables are never given back */
	bool dropped;                   /* facts.h: data of one thread that was not kept */
	/* Asked before a lock event changes findings, which are everyone's; it
	 * may wait. NULL: not needed (see runtime/record.c). */
	void (*alone)(struct thread *t);
};

/* False: there is not enough address space, and none is kept. */
bool dynamic_init(struct dynamic *d);
void dynamic_free(struct dynamic *d);
/* Code and data at lo to hi are gone: their addresses in stacks, locks and
 * findings are shifted by `delta` (stack_move). False: nothing did. The threads
 * then forget what they remember of the tables (red_moved). */
bool dynamic_move(struct dynamic *d, uintptr_t lo, uintptr_t hi, uintptr_t delta);
void red_moved(struct thread *t);

/*
 * Thread `uid` begins in slot `tid` with epoch `first`; its frames are there.
 * `parent` (or NULL) made it at `pc`.
 */
void red_thread_begin(struct dynamic *d, struct thread *t, struct thread *parent, uint32_t tid, uint32_t uid, uint32_t first,
                      uintptr_t pc);
/* The ring of a slot (trail.h); d->spare when there is no memory for it. */
struct trail *red_ring(struct dynamic *d, uint32_t tid);
/* Thread t waited for the end of `other`, at `pc` (0: unknown). */
void red_join(struct dynamic *d, struct thread *t, const struct thread *other, uintptr_t pc);

/* Whether the function of frame f (not the outermost) is inlined in that below. */
bool red_inlined(const struct frame *f);
/* The stack of the block that frame f is: f's entry innermost, marked unless f
 * is inlined; then its name (STACK_NAME) if the compiler tells the function. */
uint32_t red_entered(struct dynamic *d, struct thread *t, struct frame *f);
uint32_t red_stack(struct dynamic *d, struct thread *t, uintptr_t pc);
/* Drops frames that a jump or an exception has left: below `sp`. */
void red_prune(struct thread *t, uintptr_t sp);

/* Lock events. `wait`: part of waiting on a condition. */
void red_acquire(struct dynamic *d, struct thread *t, uintptr_t addr, bool read, bool wait, uintptr_t pc);
void red_release(struct dynamic *d, struct thread *t, uintptr_t addr, bool wait, uintptr_t pc);
/* An object is initialised at `pc`, or (0) destroyed. */
void red_renew(struct dynamic *d, struct thread *t, uint32_t lock, uintptr_t pc);
/* A try for a lock did not get it. */
void red_try_failed(struct thread *t);
/* The thread's next access, an atomic one to `addr`, is a compare-and-swap that
 * failed, or one that found there what the thread had seen before. */
void red_cas(struct thread *t, uintptr_t addr, bool failed);
/* Edges of happens-before without mutual exclusion. */
void red_sync_release(struct dynamic *d, struct thread *t, uintptr_t addr);
void red_sync_acquire(struct dynamic *d, struct thread *t, uintptr_t addr);
/* A condition is signalled; the edge is distinguished from that. */
void red_signal(struct dynamic *d, struct thread *t);
/* `pointers` of the thread (above) are these; before it takes its first lock. */
void red_called(struct thread *t, uint32_t pointers);
void red_tick(struct thread *t);
/* The clock has grown: who accesses knows. */
static inline void red_clock(struct thread *t)
{
	t->acc.clock = t->clock.e;
	t->acc.nclock = t->clock.n;
}
/* It has got to know what others did. */
static inline void red_learned(struct thread *t)
{
	t->learned = t->acc.epoch;
	red_clock(t);
}
/* The id of the lock or atomic at this address; 0: the table is full. */
uint32_t red_lock_id(struct dynamic *d, struct thread *t, uintptr_t addr);

/* The place of a lock in `known`. */
static inline unsigned red_known(uintptr_t addr)
{
	return (unsigned)(addr * 0x9e3779b97f4a7c15ull >> (64 - RED_KNOWN_BITS));
}

/* Where the newest section that is open began in the trail. */
static inline uint32_t red_floor(const struct thread *t)
{
	return t->log_trail[t->held[t->nheld - 1].log % RED_LOG];
}

/* An access of a thread that is traced, other than red_own's, to data of several
 * threads (`shared`), whose cell looked like `was`. Part of red_access. */
static inline __attribute__((always_inline)) void red_trail(struct thread *t, uintptr_t addr, unsigned mask, bool write,
                                                            bool shared, uint64_t was, uintptr_t pc)
{
	trail_push(t->trail, addr, mask | (unsigned)write << 8 | (unsigned)shared << 9, was, pc, red_floor(t));
}

/* Memory is given back that findings may be about (facts.c). */
void facts_forget(struct dynamic *d, uintptr_t addr, size_t size);
/* The thread (or NULL: none) gives memory back. */
static inline void red_forget(struct dynamic *d, struct thread *t, uintptr_t addr, size_t size)
{
	/* Only a block that has left a section asks for it. */
	if (t && t->nlog && t->trail && (t->nheld || (t->top > t->frames + 1 && t->frames[2].log != t->nlog)))
		trail_push(t->trail, addr, TRAIL_FORGET, 0, (uintptr_t)size, trail_now(t->trail));
	if (__builtin_expect(__atomic_load_n(&d->nwatched, __ATOMIC_RELAXED) != 0, 0))
		facts_forget(d, addr, size);
}

/*
 * Data that is this thread's own, and new or known only from an earlier epoch
 * or for other bytes: one compare-and-swap of the cell's first word, when the
 * second already says what it should. False: red_access must look. `key` is
 * the CELL_KEY of the thread now; `need` the bits of the first word: of `addr`, `pc`.
 */
static inline bool red_own(struct thread *t, uint64_t key, uint64_t *c, uint64_t need, bool write, uintptr_t addr, uintptr_t pc)
{
	const struct accessor *a = &t->acc;
	uint64_t w0 = __atomic_load_n(c, __ATOMIC_RELAXED), next;
	if (a->all != a->wr || (write && !t->wrote && (t->nheld | t->nmarks)) || !a->tid || (t->reach && t->reach->open))
		return false;
	if ((w0 & ~0xffffull) == key)
		next = w0 | need;
	else if (!w0 ? !a->all : w0 >> 48 == a->tid && (uint32_t)(w0 >> 16) >= a->first && c[SHADOW_SECOND] == a->all)
		next = key | need;
	else
		return false;
	if (!__atomic_compare_exchange_n(c, &w0, next, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return false;
	if (t->traced)
		trail_push(t->trail, addr, (uint32_t)(need >> 8 & 0xff) | (write ? TRAIL_WRITE : 0), 0, pc, red_floor(t));
	return true;
}

/*
 * Data that was another thread's alone, all of whose accesses happened before
 * now, and no lock then or now: it is this thread's from here on, by one
 * compare-and-swap. False: red_access must look. Where what the owner did must
 * be told of first (a recording) this is not for use.
 */
static inline bool red_handed(struct thread *t, uint64_t key, uint64_t *c, uint64_t need, bool write)
{
	const struct accessor *a = &t->acc;
	uint64_t w0 = __atomic_load_n(c, __ATOMIC_RELAXED);
	uint32_t tid = (uint32_t)(w0 >> 48);
	if (a->all || a->wr || (write && !t->wrote && (t->nheld | t->nmarks)) || !a->tid || !tid || (t->reach && t->reach->open))
		return false;
	if (tid >= a->nclock || tid == a->tid || a->clock[tid] < (uint32_t)(w0 >> 16) || c[SHADOW_SECOND])
		return false;
	return __atomic_compare_exchange_n(c, &w0, key | need, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Was it this thread itself that accessed racing data? */
static inline bool red_same(const struct thread *t, const struct race *r, const struct race_access *a)
{
	return a->uid == t->uid || (a->uid == RACE_SOMEONE && r->tid == t->acc.tid && r->epoch >= t->acc.first);
}

/* Who that was. One known by its slot only has no name any more when the slot is
 * another's by now. */
static inline uint32_t red_who(const struct dynamic *d, const struct race_access *a)
{
	if (a->uid != RACE_SOMEONE || a->tid >= RED_SLOTS)
		return a->uid;
	if (a->epoch >= d->slot[a->tid].first)
		return d->slot[a->tid].uid;
	return a->epoch >= d->slot[a->tid].past_first && d->slot[a->tid].past ? d->slot[a->tid].past : RACE_SOMEONE;
}

/* One access that the fast path did not settle. `was` (or NULL) gets the
 * cell's first word as it was found. */
void red_access(struct dynamic *d, struct thread *t, uintptr_t addr, unsigned mask, bool write, uintptr_t pc, uint64_t *was);

/* The thread writes, for the first time since it took its newest lock, or not yet
 * to two places: its sections and marked blocks are sent. `update`: it has read
 * what it writes. Part of red_access. */
void red_wrote(struct dynamic *d, struct thread *t, uintptr_t addr, unsigned mask, bool update, uintptr_t pc);

/* Marked blocks. */
void red_mark_begin(struct dynamic *d, struct thread *t, const char *name, uintptr_t pc);
void red_mark_end(struct thread *t);
/* Marks of functions that are no longer active end. */
void red_mark_drop(struct thread *t);
/* The thread is over. */
void red_thread_end(struct thread *t);

#endif
