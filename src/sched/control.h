/*
 * control: the memory that `intact explore` and the program under exploration share.
 *
 * One block a server process, made by the tool (a memfd), mapped by the runtime
 * when INTACT_OPTIONS has explore=FD. The tool fills in the first part and starts
 * the program; the program explores by itself and fills in the second. What the
 * program writes is not trusted: counts are bounded before use, texts are ended,
 * and a failure is believed only when a fresh process repeats it (cmd_explore.c).
 *
 * Both sides are built from this header; `version` and `size` are compared, so
 * that a program linked against another release is refused with a message.
 */
#ifndef INTACT_SCHED_CONTROL_H
#define INTACT_SCHED_CONTROL_H

#include <stdint.h>

#include "sched/objtest.h"
#include "sched/sched.h"

enum {
	CONTROL_MAGIC = 0x58544e49, /* "INTX" */
	CONTROL_VERSION = 7,
	CONTROL_STEPS = 1 << 17, /* of a run, at most */
	CONTROL_ACCESSES = 4096, /* that are no points, kept of a run in detail */
	CONTROL_BLOCKS = 4096,   /* of memory, likewise */
	CONTROL_PLACES = 4096,   /* places of accesses that are points */
	CONTROL_MODULES = 256,
	CONTROL_PATH = 512,
	CONTROL_TEXT = 1024,
	CONTROL_OUTPUT = 64 << 10, /* of one run's output; the rest is counted */
	CONTROL_THREADS = 256,
	CONTROL_STORES = 8, /* entries of a store buffer */
	CONTROL_AGENT = 4,  /* control_thread.state: a store buffer of `parent`; see sched_agent */
	CONTROL_RACES = 64,
	CONTROL_LINKS = 16, /* of a cycle */
	CONTROL_STACK = 12, /* return addresses of a thread, innermost first */
	CONTROL_GAPS = 64,  /* functions that may not be atomic */
	CONTROL_GAP_FNS = 4,
	CONTROL_GAP_MODULES = 16,
	CONTROL_COUNTERS = 256,  /* ranges */
	CONTROL_SURVEYS = 32,    /* runs that are told in records */
	CONTROL_TEST_ROUNDS = 4, /* of a loop in an object test, after which it is taken to wait */
};

/* What memory does. */
enum control_memory { CONTROL_SC, CONTROL_TSO, CONTROL_C11 };

/* How runs are made. */
enum control_mode { CONTROL_SNAPSHOT, CONTROL_FORK, CONTROL_REAL };

enum control_state {
	CONTROL_NEW, /* the program has not found the block yet */
	CONTROL_RUNNING,
	CONTROL_DONE,     /* all schedules asked for, or stopped at a failure */
	CONTROL_GIVEN_UP, /* `why` says why: the tool may try another way */
	CONTROL_OBJECT,   /* an object test: `object.about` describes it, and the tool chooses scenarios */
};

/* Why a program gave up, or what it says of its way of running. */
enum control_why {
	CONTROL_WHY_NONE,
	CONTROL_WHY_THREADS,    /* more threads than the pool has: `need` of them */
	CONTROL_WHY_RESTORE,    /* did what a restart cannot undo: `text` */
	CONTROL_WHY_INTERNAL,   /* the runtime failed: `text` */
	CONTROL_WHY_UNSUPPORTED /* in no way of running: `text` */
};

/* Asked for by the tool; CONTROL_STOP_NOW comes with SIGXCPU. */
enum control_stop { CONTROL_GO, CONTROL_STOP_AFTER /* this run */, CONTROL_STOP_NOW };

/* What a run ended with. */
enum control_end {
	CONTROL_OK,
	CONTROL_CRASH,  /* a signal: `code`, `addr`, `pc` */
	CONTROL_ASSERT, /* a failed assertion: `text` */
	CONTROL_ABORT,
	CONTROL_EXIT,        /* exit status `code` */
	CONTROL_DEADLOCK,    /* threads wait for each other's locks or ends */
	CONTROL_LOST_WAKEUP, /* all that wait do so for a condition, semaphore, futex or barrier */
	CONTROL_ENDLESS,     /* every thread repeats what it did, nothing changes */
	CONTROL_RACE,
	CONTROL_MISUSE, /* of a lock or thread: `text` */
	CONTROL_NOT_ATOMIC,
	CONTROL_NOT_LINEARIZABLE,     /* an object test: the history has no explanation */
	CONTROL_NOT_OBSTRUCTION_FREE, /* an object test: a call cannot finish alone */
	CONTROL_NOT_LOCK_FREE,        /* nor with others: or a cycle of steps in which none finishes */
	CONTROL_LIMIT,                /* the run was cut: more than max_steps points */
	CONTROL_PRUNED,               /* the strategy ended it, or the time was over */
	CONTROL_DIVERGED,             /* a replay: the schedule could not be followed; `code` is the step */
	CONTROL_ENDS
};

enum {
	STEP_VALUES = 1,
	STEP_PREEMPTS = 2 /* the thread of the step before could have gone on */,
	STEP_OLDER = 4 /* C11: not the newest store is read, or the store is not the newest */,
	STEP_CALL = 8 /* a system call: its number */,
	STEP_CALL_SHIFT = 16
};

struct control_step {           /* what a replay in detail adds to an event */
	uint64_t before, after; /* values, if STEP_VALUES */
	uint32_t flags;
	uint32_t nstack;
	uint64_t stack[CONTROL_STACK];
};

/* A plain access that was no point, of a run in detail. */
struct control_access {
	uint64_t addr, pc; /* of the first byte */
	uint64_t value;    /* that was read, or is there afterwards; if `known` */
	uint32_t step;     /* steps of the schedule before it */
	uint16_t thread;
	uint8_t size, write, known, pad[7];
};

/* A block of memory that was given out, of a run in detail. */
struct control_block {
	uint64_t addr, size, pc;
	uint16_t thread, pad[3];
};

struct control_module {
	uint64_t lo, hi, base;
	char path[CONTROL_PATH];
};

struct control_thread {
	uint64_t created_pc, fn;
	uint16_t parent, state; /* state: 1 live, 2 ended, CONTROL_AGENT */
	uint8_t op, flags;
	uint16_t holder; /* of what it waits for; 0xffff: none */
	uint32_t nstack;
	uint64_t pc, obj, obj2;
	uint64_t stack[CONTROL_STACK];
};

struct control_race {
	uint64_t pc[2], addr, run;
	uint16_t thread[2];
	uint8_t write[2], atomic[2], size, pad[3];
	uint32_t step; /* events of the run before it */
};

/* A cycle of conflicts: each link leads from an event to a later one of another thread. */
struct control_end_of_link {
	uint64_t pc, addr;
	uint16_t thread;
	uint8_t kind;  /* enum event_kind */
	uint32_t step; /* steps of the schedule by then */
};
struct control_link {
	struct control_end_of_link end[2];
};

/* A function or marked block that may not be atomic: between two places in it another thread can come in.
 * Places by module and offset, as reports have them: of a call, its last byte or the one behind it.
 * Offset 0: none. */
struct control_gap_place {
	uint32_t module;
	uint64_t offset;
};
struct control_gap {
	struct control_gap_place fn[CONTROL_GAP_FNS]; /* the function's beginnings */
	struct control_gap_place entered;             /* or a place where the block is entered */
	struct control_gap_place commit, violation;   /* the gap is between these */
	struct control_gap_place until;               /* what the other thread does in it */
	uint32_t any_cycle;                           /* also one that does not go through the gap */
};

struct control {
	uint32_t magic, version, size, state;

	/* ---- from the tool ---- */
	uint32_t mode;
	uint32_t threads; /* in the pool */
	struct sched_options sched;
	uint32_t stop;        /* enum control_stop, set while it runs */
	uint32_t detail;      /* one run, with values and stacks */
	uint32_t races;       /* 0: data races are not reported */
	uint32_t goal;        /* enum control_end: minimise `replay`, which ends so, with SCHED_GUIDE; 0: do not */
	uint64_t goal_pc;     /* and there; 0: anywhere */
	uint32_t no_await;    /* loops that wait spin: to see whether they ever end */
	uint32_t memory;      /* enum control_memory */
	uint32_t spurious;    /* simulate spurious wake-ups of condition variables */
	uint32_t show_output; /* not captured */
	int32_t survey_fd;    /* tell what happens in records (event/record.h) into this; 0: do not */
	uint64_t survey_room; /* records */
	uint32_t ngaps;       /* the search is steered into these, and their blocks are judged */
	uint32_t lock_order;  /* of these the order in which locks were taken counts as a conflict, too */
	uint32_t only_gaps;   /* no others, and a failure counts only when such a gap was entered in its run */
	struct control_gap gap[CONTROL_GAPS];
	char gap_module[CONTROL_GAP_MODULES][CONTROL_PATH];
	uint32_t ncounters; /* what a compiler counts, in the program's file: races on it do not count */
	struct {
		uint64_t lo, hi;
	} counter[CONTROL_COUNTERS];
	struct control_objtest object; /* both ways */

	/* ---- from the program ---- */
	uint32_t why, need;
	char text[CONTROL_TEXT];
	uint64_t beat;         /* grows while it lives: runs, and signals that came while a run made progress */
	uint64_t runs_done;    /* that came to their end, whatever it was */
	uint32_t late;         /* the last run was cut off: CONTROL_STOP_NOW */
	uint32_t most_threads; /* of a run */
	struct sched_stats stats;
	uint64_t pages; /* restored at each restart */
	uint64_t cut;   /* runs with more than max_steps points */
	uint64_t cpu_ns;
	uint32_t verdict; /* enum sched_verdict of the last run */
	struct sched_divergence divergence;
	uint32_t nplaces;
	uint64_t places[CONTROL_PLACES]; /* return addresses; also from the tool for a replay */
	uint32_t nmodules;
	struct control_module modules[CONTROL_MODULES];
	uint32_t nraces;
	struct control_race race[CONTROL_RACES];

	/* The run that failed, or the last. */
	uint64_t run;
	uint32_t end, end_thread, nthreads;
	int32_t code;
	uint64_t pc, addr;
	uint64_t gone_pc; /* MISUSE: where the object was destroyed or freed */
	uint32_t gone_thread;
	uint64_t buffered,
		buffers_full; /* TSO: stores that were buffered; that found their buffer full. C11: steps that did not choose the newest store; choices that were left out */
	uint64_t awaits;      /* times that a loop was taken to wait */
	uint64_t cancels;     /* threads that pthread_cancel has ended */
	uint64_t judged, unjudged;                     /* traces whose marked blocks were judged, or could not be */
	uint64_t nblocks;                              /* marked blocks that were entered, in all runs */
	uint32_t nsurveys, survey_full;                /* runs that were told; memory for them has ended */
	uint64_t nsurvey, survey_end[CONTROL_SURVEYS]; /* records; behind the last of each run */
	uint64_t kept_run;                             /* the number of the run that is told, when it is not the last; 0: it is */
	uint32_t kept_places;                          /* of `places`, those that were points in it */
	uint64_t aside;                                /* only_gaps: runs that failed without having entered a gap */
	uint64_t gaps;                                 /* NOT_ATOMIC: of which the block is one; else those that were entered */
	uint32_t nlinks, block_thread;                 /* nlinks 0: no block is known not to be atomic */
	struct control_link link[CONTROL_LINKS];       /* NOT_ATOMIC, or of a run in detail that failed otherwise */
	char block_name[128];
	uint64_t block_pc;
	uint64_t block_fn; /* a function is the block: its address, if the compiler tells; else 0 */
	uint32_t nout;
	uint64_t out_total;
	struct control_thread thread[CONTROL_THREADS];
	char out[CONTROL_OUTPUT];
	struct sched_origin origins[CONTROL_THREADS]; /* also from the tool for a replay */
	uint32_t norigins, nevents;
	struct sched_event events[CONTROL_STEPS];
	uint64_t naccesses; /* in all: the last of them are kept, as in a ring */
	struct control_access access[CONTROL_ACCESSES];
	uint64_t nblocks_given; /* likewise */
	struct control_block block[CONTROL_BLOCKS];
	uint32_t nend_stack;
	uint64_t end_stack[CONTROL_STACK];
	struct control_step steps[CONTROL_STEPS];
	uint32_t nreplay; /* from the tool: the schedule to follow or to minimise */
	uint32_t ngiven;  /* what its places are relative to; 0: as they are */
	struct control_module given[CONTROL_MODULES];
	uint32_t tried; /* by the minimiser */
	struct sched_event replay[CONTROL_STEPS];
};

#endif
