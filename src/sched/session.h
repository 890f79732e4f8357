/*
 * session: what the files of this room share. No other room includes it.
 *
 * READY. A thread is ready when the user says enabled, it does not await and
 * it is not parked. `ready` is a bitmap; `dense` lists the same threads in no
 * order, for uniform draws; `rank` is the thread's priority when it is ready,
 * else 0, for the strategies that take the highest: found by looking at four at
 * a time, only when `top`, the one known, is no longer good. Priorities are
 * whole numbers below 2^24, which a float holds exactly.
 *
 * GRANULE. For partial-order sampling `granule` has a hash of the object of
 * each thread's pending operation: those that may depend on an operation have
 * its value, or GRANULE_WIDE.
 *
 * PARKED. Fairness and steering take a thread out of `ready` although it is
 * enabled; it comes back when its reason ends, or when no other thread is
 * ready.
 */
#ifndef INTACT_SCHED_SESSION_H
#define INTACT_SCHED_SESSION_H

#include "sched/sched.h"

#define SCHED_ASSERT(x)                   \
	do {                              \
		if (!(x))                 \
			__builtin_trap(); \
	} while (0)
#define LIKELY(x)      __builtin_expect(!!(x), 1)
#define SCHED_NOINLINE __attribute__((noinline))
#define UNLIKELY(x)    __builtin_expect(!!(x), 0)

enum { NONE = 0xffffffffu };

enum park {
	PARK_YIELD = 1, /* until another thread has executed something */
	PARK_LATE = 2,  /* a time-out: until no other thread is ready */
	PARK_STEER = 4, /* until the place was executed, or no other thread is ready */
	PARK_EXIT = 8,  /* exit_last: until no other thread is ready */
};

enum life { LIFE_NONE, LIFE_LIVE, LIFE_GONE };

struct sched_thread {
	struct sched_op op; /* pending */
	uint8_t life, enabled, awaits, parked;
	uint8_t passed;     /* steering: has executed `after` */
	uint8_t await_call; /* sched_await was called for the next point */
	uint8_t pends;      /* op is pending, not the one executed last */
	uint8_t agent;      /* of a store buffer */
	uint32_t place;     /* in dense, NONE if not ready */
	uint32_t steps;     /* operations executed in this run */
	uint32_t last;      /* its last event, NONE */
	uint32_t cause;     /* event with an enabling edge to the pending operation, NONE */
	/* origins: kept over runs */
	uint32_t parent, ordinal, first_child, sibling;
	uint32_t yields, yield_switch; /* yields while no other thread ran */
	uint32_t cursor, children;     /* of this run: the child created last, how many */
};

/* What a thread awaits: apart, to keep the others small. */
struct awaited {
	uint32_t n;
	struct sched_range range[SCHED_AWAIT_MAX];
	uint32_t since[SCHED_AWAIT_MAX]; /* events: changes after them end the await */
};

struct bounded;
struct dpor;
struct coverage;

struct sched_replay {
	const struct sched_event *e;
	uint32_t n;
	struct sched_divergence diff;
};

/* minimize.c */
struct segment {
	uint32_t thread, until; /* until its `until`-th operation is done */
};
struct guide_choice {
	uint32_t thread, step; /* the thread's operation, from 0 */
	uint8_t choice;
};
struct sched_guide {
	const struct segment *seg;
	const struct guide_choice *choice;
	uint32_t n, n_choice, at;
};

struct steer {
	struct sched_bias b[SCHED_BIAS_MAX];
	uint64_t hits[SCHED_BIAS_MAX];
	uint32_t n, now; /* now: of this run, NONE */
	bool held, hit;
};

enum { CHANGES_MAX = 16, GRANULE_WIDE = 1, GRANULE_NONE = 2 };

struct sched {
	struct sched_options o;
	/* hot */
	uint64_t rng;
	struct sched_thread *th;
	struct sched_event *ev;
	uint32_t n, current;        /* events; the thread picked last */
	uint32_t n_ready, strategy; /* of this run: never MIX */
	uint32_t row, switches, preemptions;
	uint32_t n_awaiting, n_parked, n_yielded;
	uint32_t settled; /* events before this one have been looked at */
	bool settles;     /* someone wants to look at events: slow path */
	bool ranked;      /* PCT, POS */
	enum sched_stop stop;
	uint64_t *ready;
	float *rank, *priority; /* padded to whole groups of four */
	uint32_t *granule;
	uint32_t top; /* the highest rank, NONE: look */
	uint32_t *dense, *awaiting, *yielded;
	uint32_t n_ids; /* threads ever */
	uint32_t n_live;
	uint32_t words; /* of ready */
	/* PCT */
	uint32_t change[CHANGES_MAX], n_changes, next_change, estimate;
	float lowest;
	/* the rest */
	struct awaited *awaited; /* by thread */
	struct sched_replay replay;
	struct sched_guide guide;
	struct steer *steer;
	struct bounded *bounded;
	struct dpor *dpor;
	struct coverage *cov;
	bool choice_made, in_run, exhausted;
	uint64_t prefix; /* shards: hash of the first split_depth picks */
	bool patient;    /* of this run: a thread yields several times before it gives way */
	bool has_many;   /* an await on several objects was seen */
	struct sched_stats st;
};

/* --- rng: wyrand --- */
static inline uint64_t rnd(struct sched *s)
{
	s->rng += 0xa0761d6478bd642fu;
	__uint128_t m = (__uint128_t)s->rng * (s->rng ^ 0xe7037ed1a0b428dbu);
	return (uint64_t)(m >> 64) ^ (uint64_t)m;
}
static inline uint32_t rnd_below(struct sched *s, uint32_t n)
{
	return (uint32_t)(((rnd(s) >> 32) * (uint64_t)n) >> 32);
}
static inline uint64_t sched_mix64(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static inline bool is_ready(const struct sched *s, uint32_t t)
{
	return t < s->n_ids && (s->ready[t >> 6] >> (t & 63) & 1);
}

/* Is event e thread t's own? A store of t that reaches memory changes nothing of what t reads. */
static inline bool is_own(const struct sched *s, const struct sched_event *e, uint32_t t)
{
	return e->thread == t || (s->th[e->thread].agent && s->th[e->thread].parent == t);
}

/* --- point.c --- */
void thread_ready(struct sched *s, uint32_t t); /* recomputes from enabled, awaits, parked */
void thread_park(struct sched *s, uint32_t t, uint8_t why);
void thread_unpark(struct sched *s, uint32_t t, uint8_t why);
void set_priority(struct sched *s, uint32_t t, float priority);
void settle(struct sched *s); /* look at what was executed since */
/* The ready thread at or after t, cyclically; NONE. */
uint32_t ready_from(const struct sched *s, uint32_t t);
uint32_t stop_run(struct sched *s, enum sched_stop why);
/* PCT's change points, and priorities of a new thread */
void sample_begin(struct sched *s);
void sample_thread(struct sched *s, uint32_t t);
float lower_than_all(struct sched *s);

/* memory: a bump of the arena while sched_begin lays it out */
struct layout {
	char *at, *end;
	bool zeroed, fits;
	bool dry; /* only adds up: not backed by memory */
};
void *layout_take(struct layout *l, size_t count, size_t each, bool clear);
size_t layout_left(const struct layout *l);

/* --- fair.c: parking, awaits, steering --- */
void fair_arrive(struct sched *s, uint32_t t); /* before the pick */
void fair_release(struct sched *s);            /* no thread is ready: let the parked go */
void fair_executed(struct sched *s, const struct sched_event *e);
void fair_begin(struct sched *s);
void await_arrive(struct sched *s, uint32_t t);
void await_settle(struct sched *s, const struct sched_event *e);
/* Does e change what r covers? */
bool await_changes(const struct sched_event *e, const struct sched_range *r);

/* --- bounded.c: delay, preemption bounding, all --- */
void bounded_layout(struct sched *s, struct layout *l);
void bounded_begin(struct sched *s);
uint32_t bounded_pick(struct sched *s);
uint32_t bounded_choose(struct sched *s, uint32_t n);
enum sched_verdict bounded_next(struct sched *s);
void bounded_restart(struct sched *s);
bool bounded_short(const struct sched *s); /* fewer choices than split_depth in this run */
double bounded_seen(const struct sched *s);

/* --- dpor.c --- */
void dpor_layout(struct sched *s, struct layout *l);
uint32_t dpor_pick(struct sched *s);
uint32_t dpor_choose(struct sched *s, uint32_t n);
void dpor_settle(struct sched *s, uint32_t event);
enum sched_verdict dpor_next(struct sched *s, enum sched_outcome outcome);
void dpor_lost(struct sched *s);
void dpor_restart(struct sched *s);
double dpor_seen(const struct sched *s);

/* --- replay.c: replay and guide --- */
uint32_t replay_pick(struct sched *s);
uint32_t replay_choose(struct sched *s, uint32_t n);
void replay_end(struct sched *s);
uint32_t guide_pick(struct sched *s);
uint32_t guide_choose(struct sched *s, uint32_t n);
void sched_guide(struct sched *s, const struct segment *seg, uint32_t n, const struct guide_choice *c, uint32_t n_choice);

/* --- coverage.c --- */
void coverage_layout(struct sched *s, struct layout *l, size_t room);
void coverage_run(struct sched *s, bool complete);
void coverage_forget(struct sched *s);

#endif
