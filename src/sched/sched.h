/*
 * sched: which thread runs next. The strategies, the exhaustive search and the
 * bookkeeping (coverage, recorded schedule, statistics) for exploring the
 * schedules of a program; what runs the program is the user's affair (fibers
 * in the guest, or a model twin in the tests).
 *
 * The room calls nothing (memcpy, memset and memmove at most, which compilers
 * emit), keeps no global state and lives in the memory it is given. That
 * memory must survive the runs: outside the snapshot; shared, at one address,
 * when each run is a fork.
 *
 *   s = sched_begin(memory, bytes, &options);
 *   do {
 *           sched_run_begin(s);                  thread 0 (main) exists, running
 *           ...at each point of the running thread t:
 *             next = sched_point(s, t, &op, enabled);
 *             ...switch to next if it is not t; the picked thread executes its
 *             pending operation, says what came of it, if anything:
 *             sched_result / sched_choose / sched_caused / sched_enable /
 *             sched_disable, and runs on to its next point.
 *           ...when a thread has executed SCHED_EXIT:
 *             next = sched_gone(s, t);
 *   } while (sched_run_end(s, outcome) == SCHED_GO_ON);
 *   sched_stats(s, &stats);
 *
 * ENABLED is exact: whether the pending operation could be executed now, were
 * its thread picked. The user keeps it so: sched_disable(u) for the others that
 * pend on a lock when it is taken, sched_enable(u) when it is released. That is
 * between the picked thread's execution and its next point. Threads are disabled
 * without a scan if the user lists them by object.
 *
 * DETERMINISM. Given the same picks and choices the program must do the same.
 * The systematic strategies and replay compare and stop a run that does not
 * (SCHED_STOP_DIVERGED, sched_divergence).
 *
 * COST (bench/sched_point). A point is a copy of the operation, a draw or a
 * comparison, and a record of 48 bytes; with many threads priorities are
 * compared four at a time and only when the highest is not known; nothing else
 * looks at all threads, except while some yield, await or are steered. Coverage
 * is computed at the end of a run and adds about half of its cost.
 * Exhaustive search works at the end of a run.
 */
#ifndef INTACT_SCHED_SCHED_H
#define INTACT_SCHED_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sched/op.h"

enum sched_strategy {
	SCHED_MIX,     /* the default: POS and PCT with d = 1..5, now and then a random walk */
	SCHED_RANDOM,  /* uniform among the enabled threads */
	SCHED_PCT,     /* probabilistic concurrency testing, depth d */
	SCHED_POS,     /* partial-order sampling */
	SCHED_DELAY,   /* all schedules with 0, 1, 2... delays from round-robin; a thread that
	                * yields five times while no other thread runs gives way */
	SCHED_PREEMPT, /* all schedules with 0, 1, 2... preemptions; likewise */
	SCHED_ALL,     /* every schedule, depth first: for small programs and tests */
	SCHED_DPOR,    /* every trace once: optimal dynamic partial-order reduction */
	SCHED_REPLAY,  /* one recorded schedule, exactly */
	SCHED_GUIDE,   /* a list of segments, followed where possible: minimize.h */
};

enum {
	SCHED_THREADS_MAX = 4096,
	SCHED_CHOICES_MAX = 255, /* alternatives of one choice */
	SCHED_BIAS_MAX = 256,
	SCHED_AWAIT_MAX = 8, /* ranges of one await */
	/* what sched_point returns instead of a thread */
	SCHED_NOBODY = 0xffffffffu, /* no thread is enabled: deadlock, or all have ended */
	SCHED_STOP = 0xfffffffeu,   /* end this run: sched_stop_reason says why */
};

enum sched_stop {
	SCHED_STOP_NOT,
	SCHED_STOP_STEPS,    /* max_steps reached: the run is cut */
	SCHED_STOP_DIVERGED, /* the program did not do what it did before */
	SCHED_STOP_BOUND,    /* would exceed max_preemptions (SCHED_DPOR) */
	SCHED_STOP_BLOCKED,  /* all enabled threads sleep: an equivalent run exists */
	SCHED_STOP_SHARD,    /* another shard's part of the search */
	SCHED_STOP_MEMORY,   /* a table is full */
	SCHED_STOP_END,      /* replay: the schedule has ended, and option stop_at_end */
};

struct sched_options {
	enum sched_strategy strategy;
	uint64_t seed;
	uint32_t depth;          /* PCT's d; 0: 3 */
	uint32_t max_threads;    /* ids in a session; 0: 256 */
	uint32_t max_steps;      /* points in a run; 0: 100,000 */
	uint64_t max_runs;       /* 0: no limit */
	uint32_t max_bound;      /* DELAY, PREEMPT: last bound tried; 0: 1,000,000 */
	int32_t max_preemptions; /* DPOR: bound, -1: none */
	bool exit_last;          /* PROCESS_EXIT only when no other thread is enabled */
	bool no_coverage;        /* no trace hashes and no pairs of places */
	bool stop_at_end;        /* REPLAY: stop where the schedule ends */
	/* Shard k of n (n = 0: one): sampling strategies use seeds of their own;
	 * systematic ones take the subtrees that belong to k: every branch of the
	 * first split_depth points is one (0: 4, when n > 1). */
	uint32_t shard, shards, split_depth;
	uint32_t fair_steps; /* sampling: steps in a row before a thread loses priority; 0: 200 */
};

/* The smallest memory for these options, and a good amount. */
size_t sched_memory(const struct sched_options *o, size_t *good);

struct sched;

/* NULL when memory is too small or an option is out of range. memory must be
 * aligned to 64; contents do not matter. Cost: proportional to what is used,
 * not to bytes (zero pages stay untouched if `zeroed`: fresh from mmap). */
struct sched *sched_begin(void *memory, size_t bytes, bool zeroed, const struct sched_options *o);

/* --- a run ------------------------------------------------------------- */

/* Thread 0 exists and runs; every other thread of the run before is gone. */
void sched_run_begin(struct sched *s);

/* A new thread: the parent has just executed SCHED_CREATE. The id is the same
 * in every run for the same parent and ordinal (parent's first, second...
 * child), whatever the interleaving, so ids may have gaps within one run.
 * The child has SCHED_START pending and is enabled. SCHED_NOBODY: too many.
 * `pc`: a place for the child's start, for reports. The room fills `a` of the
 * create's record. */
uint32_t sched_thread(struct sched *s, uint32_t parent, uint64_t pc);
/* Parent and ordinal of an id that was given in this session. */
void sched_thread_origin(const struct sched *s, uint32_t t, uint32_t *parent, uint32_t *ordinal);
uint32_t sched_thread_count(const struct sched *s); /* ids given in this session */

/* Thread t stops before op. Returns who runs next (it may be t), or
 * SCHED_NOBODY or SCHED_STOP. The operation of the thread that is returned is
 * recorded as executed. */
uint32_t sched_point(struct sched *s, uint32_t t, const struct sched_op *op, bool enabled);

/* Where the pending operation of t is kept, for the session: a caller that writes it there
 * and passes this to sched_point saves a copy. Between two points of t it is the one
 * executed last. t is below max_threads. */
struct sched_op *sched_op_at(struct sched *s, uint32_t t);

/* The same for SCHED_DRAIN when it need not wait: event `cause` has an enabling edge to it. */
uint32_t sched_point_after(struct sched *s, uint32_t t, const struct sched_op *op, uint32_t cause);

/* A store buffer's agent: a thread of the session without code, which is never gone. `owner` exists; ids are
 * as for its children. It has no operation until sched_agent_pend gives it one: the oldest entry of the buffer,
 * enabled, with an enabling edge from event `cause`. When sched_point and the like return an agent, the
 * caller executes the operation, gives the next one if there is one, and calls sched_agent_point, which
 * returns who runs next. SCHED_NOBODY: too many. */
uint32_t sched_agent(struct sched *s, uint32_t owner);
void sched_agent_pend(struct sched *s, uint32_t agent, const struct sched_op *op, uint32_t cause);
uint32_t sched_agent_point(struct sched *s, uint32_t agent);

/* Thread t has executed SCHED_EXIT (a point like all others) and is no more. */
uint32_t sched_gone(struct sched *s, uint32_t t);

/* The pending operation of u can now (not) be executed. No-ops when it is so
 * already. Not for awaits: the room wakes those. */
void sched_enable(struct sched *s, uint32_t u);
void sched_disable(struct sched *s, uint32_t u);

/* Before sched_point(t, op, true): op repeats what t did `ops` of its own
 * operations ago, in a loop that has read only these ranges since, each of them,
 * with the same values as in the iteration before (n <= SCHED_AWAIT_MAX), and
 * had no effect. Unless another thread (or its store buffer's agent, but not t's own)
 * has changed a range since t has last looked at it, t is kept disabled until one does: overlapping memory that is
 * written (SCHED_RES_SAME does not count), an operation on an object of that id
 * that does not fail. So an endless loop that waits is a thread that waits. The
 * user need not compare with what others did: the room looks. Whether to call
 * must depend on the thread's own past alone. A loop with more ranges, or with
 * effects: no call; then fairness helps (sampling) or max_steps cuts the run
 * (systematic). When all threads wait and some await, sched_point returns
 * SCHED_NOBODY; sched_awaiting tells a livelock from a deadlock. */
struct sched_range {
	uint64_t a;
	uint32_t size; /* 0: an object */
};
void sched_await(struct sched *s, uint32_t t, const struct sched_range *r, uint32_t n, uint32_t ops);
bool sched_awaiting(const struct sched *s, uint32_t t);

/* What the operation just executed (by the picked thread) turned out to be:
 * SCHED_RES_*. `value`: of a semaphore *before* the operation (needed for every
 * semaphore operation; for SCHED_INIT, after: a semaphore whose first operation
 * in a run is an INIT is taken to be 0 before), else 0. Needed for: tries, RMWs
 * and writes that changed nothing, once, semaphores, barriers, timed wakes,
 * FUTEX_WAIT. Otherwise: executed, with the flags 0. */
void sched_result(struct sched *s, uint32_t flags, uint32_t value);

/* A choice by value while the operation is executed: 0..n-1 (n >= 1, at most
 * SCHED_CHOICES_MAX). At most one for an operation: a second one needs a
 * SCHED_CHOICE point of its own. Alternatives must be numbered by what they
 * are, not by the interleaving: waiters in the order of their thread ids. 0 is
 * the usual case (a weak compare-and-swap succeeds). */
uint32_t sched_choose(struct sched *s, uint32_t n);

/* The operation just executed enables thread u's pending operation by an
 * enabling edge (op.h): a signal wakes u, an arrival opens the barrier for u,
 * a futex wake. (Create to start and exit to join are the room's.) Call it
 * also when u stays disabled because its mutex is taken. After it, the usual
 * sched_enable, unless the mutex is taken. */
void sched_caused(struct sched *s, uint32_t u);

enum sched_stop sched_stop_reason(const struct sched *s);

enum sched_outcome {
	SCHED_FINE, /* the run ended, nothing found */
	SCHED_BUG,  /* ended with a finding */
	SCHED_CUT,  /* SCHED_STOP, or the user cut it: its end was not seen */
	SCHED_LOST, /* worthless (the process died on the user's account): forget it */
};
enum sched_verdict {
	SCHED_GO_ON,
	SCHED_EXHAUSTED,        /* a systematic strategy has seen everything it can */
	SCHED_LIMIT,            /* max_runs, or max_bound */
	SCHED_FULL,             /* memory: what follows cannot be complete; sampling goes on */
	SCHED_NONDETERMINISTIC, /* a systematic strategy met a divergence */
};
enum sched_verdict sched_run_end(struct sched *s, enum sched_outcome outcome);

/* Between runs: the set of points has grown (a place was found to race), so
 * systematic strategies start again. Sampling strategies go on; trace hashes
 * are forgotten (they are not comparable). */
void sched_restart(struct sched *s);

/* --- the recorded schedule ---------------------------------------------- */

struct sched_event {
	struct sched_op op;
	uint32_t thread;
	uint32_t value;          /* semaphores: the value before; else the event with an enabling
	                          * edge to this one, 0xffffffff: none */
	uint8_t choice, choices; /* choices = 0: none was made */
	uint16_t result;         /* SCHED_RES_* */
	uint32_t enabled;        /* how many threads were enabled */
};
_Static_assert(sizeof(struct sched_event) == 48, "three quarters of a line");

/* The run that is going on or has just ended; valid until sched_run_begin. */
const struct sched_event *sched_events(const struct sched *s, uint32_t *n);
/* Happens-before of the run, before sched_run_end. False: it is not known (only SCHED_DPOR keeps it), or out of
 * memory. Then sched_happens_before(i, j): is event i before event j in every equivalent run, or the same? */
bool sched_order(struct sched *s);
bool sched_happens_before(const struct sched *s, uint32_t i, uint32_t j);
/* Preemptions (a switch away from an enabled thread that did not yield) and switches. */
uint32_t sched_preemptions(const struct sched *s, uint32_t *switches);

/* --- replay ------------------------------------------------------------- */

/* SCHED_REPLAY: the schedule; the array stays the caller's and must live. With
 * `origins` (n_threads pairs of parent and ordinal, [0] unused) the ids in it
 * are given the meaning they had. Each entry's thread, kind, choice count and,
 * when nonzero, place must match. After the end: no preemptions. */
struct sched_origin {
	uint32_t parent, ordinal;
};
bool sched_replay(struct sched *s, const struct sched_event *e, uint32_t n, const struct sched_origin *origins, uint32_t n_threads);

enum sched_differs {
	SCHED_SAME,
	SCHED_DIFF_DISABLED, /* the thread exists but cannot run */
	SCHED_DIFF_ABSENT,   /* the thread does not exist */
	SCHED_DIFF_KIND,
	SCHED_DIFF_PLACE,
	SCHED_DIFF_OBJECT, /* systematic search only: within one session addresses repeat */
	SCHED_DIFF_CHOICES,
	SCHED_DIFF_SHORT, /* the run ended before the schedule */
};
struct sched_divergence {
	enum sched_differs what;
	uint32_t step, thread;
	struct sched_op expected, found;
};
const struct sched_divergence *sched_divergence(const struct sched *s);

/* --- steering ----------------------------------------------------------- */

/* For the sampling strategies: try to put an operation at `until` of another
 * thread between a thread's `after` and its `before`. A thread that has passed
 * `after` (0: always) and stops before `before` is held back, with probability
 * 3/4, until another thread has executed an operation at `until` or no other
 * thread can run. Each run uses one of the entries, drawn at random (or none,
 * one run in eight). Places are pcs; of an entry whose `before` is 0 the user
 * tells them by SCHED_AT_BEFORE and SCHED_AT_UNTIL in the operations. False: too
 * many. */
struct sched_bias {
	uint64_t after, before, until;
};
bool sched_steer(struct sched *s, const struct sched_bias *b, uint32_t n);
/* The entry of this run; SCHED_NOBODY: none. */
uint32_t sched_steering(const struct sched *s);
/* Runs in which entry i was hit: held, and `until` executed meanwhile. */
uint64_t sched_steered(const struct sched *s, uint32_t i);

/* --- coverage and statistics --------------------------------------------- */

struct sched_stats {
	uint64_t runs, complete, cut, bugs, points, switches, preemptions;
	uint64_t max_points;
	uint32_t max_threads;
	uint64_t blocked;         /* DPOR: runs that turned out equivalent to an earlier one (with shards) */
	uint64_t left_out;        /* DPOR with a bound: branches not taken */
	uint64_t elsewhere;       /* prefixes that belong to other shards */
	uint32_t restarts, bound; /* bound: DELAY, PREEMPT: the one being searched */
	/* distinct traces of complete runs, by a 64-bit hash of happens-before;
	 * full: the table is full, the number is a lower bound */
	uint64_t traces, seen_once, seen_twice;
	bool traces_full;
	/* the estimate: of distinct traces in all, and of the part seen (0..1).
	 * Sampling: Chao1 and Good-Turing. Systematic: weighted by the branches
	 * known so far; exact (1.0) when exhausted. known = false: too little seen. */
	bool estimate_known;
	double estimate_total, estimate_seen;
	/* unordered pairs of conflicting places; those seen in both orders */
	uint64_t pairs, pairs_both;
	bool pairs_full;
	size_t memory_used, memory_given;
};
void sched_stats(const struct sched *s, struct sched_stats *out);
/* The trace hash of the run that has just ended (0 without coverage). A caller that asks for one gets one for every later run;
 * otherwise not all of many sampled runs are hashed (coverage.c). */
uint64_t sched_trace_hash(const struct sched *s);
/* Pair i of stats.pairs: orders bit 0: first before second seen, bit 1: the reverse. */
void sched_pair(const struct sched *s, uint64_t i, uint64_t *first, uint64_t *second, uint32_t *orders);

#endif
