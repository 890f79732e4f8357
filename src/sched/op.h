/*
 * op: the operations of a program under a controlled scheduler, as data, and
 * which of them depend on each other.
 *
 * One thread runs at a time. Before a thread executes an operation it stops at
 * a *point* and says what the operation will be: that is its *pending*
 * operation, a function of the thread's own past (kind, objects, size, place),
 * never of what the others do meanwhile. What the operation turns out to do (a
 * trylock fails, a signal finds no waiter) is its *result* and is reported
 * afterwards (sched_result).
 *
 * Objects are 64-bit ids; an address is the usual id. They must be a function
 * of the trace and not of the interleaving: with a heap shared by the threads,
 * two independent mallocs that are swapped give swapped addresses, and what
 * one run calls A the next calls B. A heap for each thread, or allocation from
 * the order of a thread's own calls, has this property. A violation is noticed
 * (SCHED_STOP_DIVERGED), not believed.
 *
 * DEPENDENCE (sched_op_dependent). Two executions are equivalent when one
 * becomes the other by swapping adjacent independent operations of different
 * threads; a class is a (Mazurkiewicz) trace. The relation is valid: for
 * independent a and b that are both enabled in a state,
 *   (1) neither disables the other, and ab and ba reach the same state with
 *       the same results;
 *   (2) if b is enabled after a but not before, then an *enabling edge* leads
 *       from a to b (below) and they are never adjacent and swapped.
 * By kind, with the reason. Operations on different objects are independent
 * throughout, except where a kind says otherwise.
 *
 *   memory        dependent when the ranges overlap and one of them is not a
 *                 pure read. SCHED_READ, SCHED_LOAD and SCHED_FUTEX_WAIT are
 *                 pure reads; a compare-and-swap counts as a write whether it
 *                 succeeds or not, because whether it will is not known while
 *                 it is pending.
 *   mutex, spin   all operations on one lock are dependent: lock and lock
 *                 disable each other, unlock enables lock, try distinguishes
 *                 held from free. Timed locks are tries: a timed lock that does
 *                 not get the lock times out (virtual time may pass at any
 *                 point), so it is always enabled.
 *   rwlock        readers' operations (rd lock, try, unlock) are independent
 *                 of each other: none changes whether a writer holds it, and
 *                 that is all that a reader's operation looks at. Everything
 *                 else on one rwlock is dependent. (Implementations that let
 *                 a waiting writer keep readers out only remove schedules.)
 *   semaphore     post and post are independent: the sum is the same and
 *                 neither is ever disabled. Post and wait, wait and wait are
 *                 dependent: with the value 0 a post enables the wait, with
 *                 the value 1 a wait disables the other. A try may take the
 *                 last unit: dependent with all. Two getvalues are independent.
 *   condition     SCHED_COND_WAIT (releases the mutex, joins the waiters),
 *                 SCHED_COND_SIGNAL, SCHED_COND_BROADCAST. Wait and signal are
 *                 dependent (who waits before gets it), signals and broadcasts
 *                 are dependent with each other (they share the waiters);
 *                 wait and wait are independent as far as the condition goes,
 *                 because the waiters are a set and the waiter woken is chosen
 *                 by its thread id (sched_choose), not by its place in a
 *                 queue. SCHED_COND_WAKE (reacquires the mutex) has an enabling
 *                 edge from what woke it and depends on nothing else of the
 *                 condition; with SCHED_TIMED it may leave the waiters by
 *                 itself, so it depends on signals and broadcasts. The mutex
 *                 (b) counts in both, as an unlock and as a lock.
 *   barrier       arrive and arrive are dependent: with more threads than the
 *                 barrier's count their order determines which threads pass, and the
 *                 last gets PTHREAD_BARRIER_SERIAL_THREAD. When the user of
 *                 the room knows that neither can matter it sets
 *                 SCHED_COMMUTES on the arrivals; then the last one has a
 *                 LEAVE too. SCHED_BARRIER_LEAVE (all but
 *                 the last arrival) has an enabling edge from the arrival that
 *                 opened the barrier and depends on nothing.
 *   threads       SCHED_START: enabling edge from the create. SCHED_JOIN:
 *                 enabling edge from the exit. SCHED_TRYJOIN depends on the
 *                 exit of its thread. SCHED_CREATE, SCHED_EXIT: nothing else.
 *   once          the first caller runs the initialiser between SCHED_ONCE and
 *                 SCHED_ONCE_END; SCHED_ONCE is enabled unless another thread
 *                 is in between. All dependent, but two calls that found it
 *                 done (SCHED_RES_PASSED) are independent: done is permanent.
 *   futex         SCHED_FUTEX_WAIT reads the word (size 4) and joins the
 *                 waiters if it has the expected value; SCHED_FUTEX_WAKE is to
 *                 it what a signal is to a condition; SCHED_FUTEX_WOKEN is to
 *                 them what COND_WAKE is (without a mutex).
 *   object        SCHED_INIT and SCHED_DESTROY of an object depend on every
 *                 operation on it.
 *   free          depends on every access to a byte of the block and on every
 *                 operation on an object in it: after it they are errors.
 *   process exit  depends on everything: it ends all threads.
 *   yield, fence, sleep, choice, invoke: independent of everything. (What a fence
 *                 means under weaker memory is said by a drain before it.)
 *   store buffers (--memory=tso) belong to agents: threads of the room that
 *                 have no code (sched_agent). SCHED_BUFFER puts a store into the
 *                 buffer of its thread and is local: no other thread sees it.
 *                 SCHED_FLUSH, of the agent, is the write to memory and depends on
 *                 what a write does; an enabling edge leads to it from its
 *                 SCHED_BUFFER. SCHED_DRAIN waits until the buffer has been
 *                 flushed so far; an enabling edge leads to it from the last
 *                 flush that it needs, and it depends on nothing else. With
 *                 SCHED_OWN a read and a flush of the same `order`, which is the
 *                 number of the buffer's owner, are independent: the thread
 *                 reads what it has stored before and after that is flushed.
 *
 *   C11 memory    (--memory=c11) which store a load reads, and where in the modification
 *                 order a store goes, is the step's choice by value: loads commute, all else on a
 *                 location does not, as for memory. SCHED_FENCE_SC is dependent with every
 *                 SCHED_FENCE_SC and every access with SCHED_SEQ_CST, of any address.
 *
 * Enabling edges are monotone: once enabled by its edge an operation is not
 * disabled again by operations of that kind (a wake stays signalled), which is
 * why they need no entry in the relation, only in happens-before.
 *
 * AWAIT. A read (or failed compare-and-swap, or failed try) that repeats what
 * the thread has just done, in a loop without other effects, is an await: see
 * sched_await in sched.h.
 */
#ifndef INTACT_SCHED_OP_H
#define INTACT_SCHED_OP_H

#include <stdbool.h>
#include <stdint.h>

enum sched_kind {
	SCHED_NONE,
	/* threads; a = the other thread's id (create, join) */
	SCHED_START,
	SCHED_CREATE,
	SCHED_JOIN,
	SCHED_TRYJOIN, /* also timed joins */
	SCHED_EXIT,    /* the thread's end; a = its own id */
	SCHED_PROCESS_EXIT,
	/* memory; a = address, size in bytes */
	SCHED_READ,
	SCHED_WRITE,
	SCHED_LOAD, /* atomics, with their order */
	SCHED_STORE,
	SCHED_FLUSH, /* of an agent: a buffered store reaches memory */
	SCHED_RMW,
	SCHED_FENCE,
	SCHED_FENCE_SC, /* a seq_cst fence that later seq_cst operations see (--memory=c11) */
	SCHED_BUFFER,   /* a store into the thread's store buffer */
	SCHED_DRAIN,    /* waits for flushes; a = the agent */
	/* mutexes and spin locks; a = the lock */
	SCHED_LOCK,
	SCHED_TRYLOCK, /* try and timed */
	SCHED_UNLOCK,
	/* rwlocks; a = the lock */
	SCHED_RDLOCK,
	SCHED_WRLOCK,
	SCHED_TRYRD,
	SCHED_TRYWR,
	SCHED_RDUNLOCK,
	SCHED_WRUNLOCK,
	/* conditions; a = the condition, b = the mutex of wait and wake */
	SCHED_COND_WAIT,
	SCHED_COND_WAKE,
	SCHED_COND_SIGNAL,
	SCHED_COND_BROADCAST,
	/* semaphores; a = the semaphore */
	SCHED_SEM_WAIT,
	SCHED_SEM_TRY, /* try and timed */
	SCHED_SEM_POST,
	SCHED_SEM_VALUE,
	/* barriers; a = the barrier */
	SCHED_BARRIER_ARRIVE,
	SCHED_BARRIER_LEAVE,
	/* once and static initialisers; a = the flag */
	SCHED_ONCE,
	SCHED_ONCE_END,
	/* futexes; a = the word, size = 4 */
	SCHED_FUTEX_WAIT,
	SCHED_FUTEX_WOKEN,
	SCHED_FUTEX_WAKE,
	/* any object */
	SCHED_INIT, /* for a semaphore, sched_result gives the value */
	SCHED_DESTROY,
	SCHED_FREE, /* memory is given back; a = address, size in bytes */
	/* local */
	SCHED_YIELD,
	SCHED_SLEEP,  /* virtual time passes: a yield that is no sign of a spin */
	SCHED_CHOICE, /* a choice by value of its own (sched_choose follows) */
	SCHED_INVOKE, /* of an object test: a call that has no other point */
	SCHED_KINDS
};

enum {
	SCHED_TIMED = 1,    /* COND_WAKE, FUTEX_WOKEN: enabled without a signal (time-out);
	                      * tries: it is a timed operation (sampling lets it wait, mostly) */
	SCHED_COMMUTES = 2, /* BARRIER_ARRIVE: see above */
	SCHED_SPURIOUS = 4, /* COND_WAKE, FUTEX_WOKEN: may also wake for no reason; as SCHED_TIMED */
	/* set by the room */
	SCHED_PASSED = 8,  /* ONCE, executed: from SCHED_RES_PASSED */
	SCHED_AWAITS = 16, /* an await: sched_await */
	SCHED_MANY = 32,   /* an await on more than its own object: depends on all but the
	                      * local and the thread's kinds */
	/* set by the user: the places of the bias this run is steered by (sched_steer) */
	SCHED_AT_BEFORE = 64,
	SCHED_AT_UNTIL = 128,
	SCHED_SEQ_CST = 512, /* a seq_cst access or fence of --memory=c11 */
	SCHED_OWN = 256,     /* reads and flushes: `order` is the owner of the buffer */
};

/* What an operation turned out to be. */
enum {
	SCHED_RES_FAILED = 1,  /* a try that did not get it; it changed nothing */
	SCHED_RES_SAME = 2,    /* a write or RMW that left the value as it was */
	SCHED_RES_PASSED = 4,  /* ONCE that found it done */
	SCHED_RES_TIMEOUT = 8, /* woke without a signal */
	SCHED_RES_OPENED = 16, /* BARRIER_ARRIVE that let the others through */
	SCHED_RES_WAITS = 32,  /* FUTEX_WAIT that joined the waiters */
};

struct sched_op {
	uint64_t a, b; /* objects; b = 0: none */
	uint64_t pc;   /* the place */
	uint32_t size;
	uint8_t kind;  /* enum sched_kind */
	uint8_t order; /* with SCHED_OWN: the thread, or the owner of the buffer */
	uint16_t flags;
};
_Static_assert(sizeof(struct sched_op) == 32, "one load and store each half");

/* Are a and b, operations of different threads, dependent? See above;
 * symmetric. */
bool sched_op_dependent(const struct sched_op *a, const struct sched_op *b);

/* The kind's name ("lock", "sem-post"), as schedule files write it. */
const char *sched_kind_name(uint8_t kind);
/* The kind of that name, SCHED_NONE if there is none. */
uint8_t sched_kind_of(const char *name, uint32_t len);

#endif
