/*
 * explore: what `intact explore` found, as data for its renderers.
 *
 * A failure is one executed schedule: its threads, its steps in order with their
 * places, and how it ended. The command fills this in (src/program/explore_story.c);
 * explore_text.c and explore_json.c write it. Strings are the arena's.
 */
#ifndef INTACT_REPORT_EXPLORE_H
#define INTACT_REPORT_EXPLORE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

struct explore_place {
	const char *function; /* NULL: unknown */
	const char *file;     /* NULL: unknown */
	uint32_t line;
	const char *module; /* with offset, when the file is unknown */
	uint64_t offset;
};

struct explore_step {
	uint32_t thread;
	const char *op;   /* the operation's kind, as schedule files call it */
	const char *text; /* "lock m", "count = 1" */
	struct explore_place at;
	uint32_t enabled;            /* how many threads could have been chosen */
	bool preempts;               /* another thread could have gone on, and had been running */
	struct explore_place *stack; /* callers, innermost first */
	uint32_t nstack;
};

/* A plain access that is no step: to data that several threads use. */
struct explore_access {
	uint32_t step; /* it comes after this one, from 1, and before the next */
	uint32_t thread;
	const char *text; /* "read count -> 0", "count = 1" */
	struct explore_place at;
};

/* What has no name but lies in a block of memory. */
struct explore_block {
	const char *name;      /* "D1", as in the steps */
	uint64_t offset, size; /* in the block, and of it */
	uint32_t thread;       /* that allocated it */
	struct explore_place at;
};

struct explore_thread {
	const char *name; /* "main", or the function of the thread */
	uint32_t parent;
	struct explore_place created;
	const char *state; /* at the end: "ended", "runs", "waits" */
	const char *waits; /* for what, as text; NULL: it does not wait */
	struct explore_place at;
};

struct explore_race {
	const char *what; /* the variable, or its address's name */
	uint32_t thread[2];
	bool write[2], atomic[2];
	uint32_t size;
	uint64_t schedule;
	struct explore_place at[2];
};

struct explore_link {        /* of a cycle of conflicts: from an event to a later one */
	const char *what[2]; /* "T1 reads count" */
	struct explore_place at[2];
	uint32_t step[2]; /* from 1: its own step, or the last before it; 0: not known */
};

struct explore_failure {
	const char *kind;     /* "assertion", "deadlock", ...: explore_kinds */
	const char *title;    /* "failed assertion" */
	const char *sentence; /* what went wrong, in one sentence */
	const char *cause;    /* of another failure than that: a block that is not atomic in this schedule; or NULL */
	struct explore_place at;
	uint64_t schedule; /* which one it was, from 1 */
	uint32_t preemptions, switches;
	uint32_t step; /* of a data race: the last step before it, from 1; 0: not known */
	AVEC(struct explore_thread) threads;
	AVEC(struct explore_step) steps;
	AVEC(struct explore_access) accesses; /* in order */
	AVEC(struct explore_block) blocks;
	AVEC(struct explore_place) stack; /* where it ended */
	AVEC(struct explore_link) cycle;  /* of a block that is not atomic: the failure, or `cause` */
	const char *gone;                 /* of a misuse: where the object went, as text; or NULL */
	const char *output;
	uint64_t output_bytes; /* in all: more than `output` when it was cut */
};

/* An object test: what was called, and what came of it. */
struct explore_call {
	const char *text, *result; /* "push(1)", "done"; result NULL: it did not return */
	uint32_t thread;           /* 0: main */
	uint32_t called, returned; /* numbers of events in the history, from 1; 0: it was not, or did not */
	bool waits;                /* it has not returned when no thread can go on */
};
enum { EXPLORE_TEST_ROUNDS = 4 }; /* of a loop, after which it is taken to wait */
struct explore_object {
	const char *name, *against, *condition; /* against: "the object itself, ..." */
	const char *progress;                   /* "lock-free", "obstruction-free", or NULL */
	bool progress_left_out;                 /* it was asked for, but is not judged under TSO */
	const char *scope;                      /* which scenarios: "2x2, 3x1", or "drawn from seed 1" */
	uint64_t scenarios, exhausted;          /* explored; of which every trace was */
	uint64_t histories, unknown, orders;    /* that were judged; not decided; executions one call at a time */
	bool enumerated;                        /* there are no others of these shapes, up to symmetry */
	bool early;                             /* a limit was reached before all were explored */
	/* of the failure */
	const char *scenario, *reason; /* as --scenario takes it; why there is no explanation, or NULL */
	uint64_t number, tried;        /* which it was; smaller ones that were tried */
	uint32_t threads;
	AVEC(struct explore_call) before, calls, after;
};

/* As `enum control_memory`. */
enum explore_memory { EXPLORE_SC, EXPLORE_TSO, EXPLORE_C11 };
extern const char *const explore_memories[]; /* "sc", "tso", "c11", NULL */

enum { EXPLORE_STORES = 8 }; /* entries of a store buffer */
struct explore_report {
	const char *program;
	const char **arguments;
	uint32_t narguments;
	const char *strategy, *mode;
	uint64_t seed, schedules, cut, traces, points;
	uint32_t shard, shards;            /* the part of the search, from 1; 0: it is all of it */
	const char *build_id, *asked;      /* of a part: what the others must agree on; or NULL */
	uint64_t blocks, judged, unjudged; /* marked blocks entered; traces judged, or not */
	bool traces_full, exhausted, bounded;
	bool replayed; /* one saved schedule was followed */
	bool awaits;   /* loops that repeat the same reads were taken to wait */
	bool cancels;  /* threads were ended by pthread_cancel */
	enum explore_memory memory;
	/* TSO: stores that went into a store buffer; that found it full. C11: steps that did not choose the newest store; choices left out */
	uint64_t buffered, buffers_full;
	bool estimate_known;
	double estimate_seen, estimate_total;
	uint64_t pairs, pairs_both;
	uint32_t threads; /* the most that a schedule had, with main; 0: not known */
	double seconds, cpu;
	const char *stopped;             /* what ended the search, as text */
	const char *why_fork;            /* why each run has a process of its own; NULL: it has not */
	struct explore_failure *failure; /* NULL: none */
	AVEC(struct explore_race) races;
	const char *replay;            /* the command that repeats the failure, or NULL */
	struct explore_object *object; /* NULL: it is no object test */
};

/* What the memory does not show, as the end of a sentence; NULL for EXPLORE_SC. */
extern const char *const explore_memory_not_covered[];

/* A finding of `intact run` that was explored. */
enum explore_status { EXPLORE_CONFIRMED, EXPLORE_NOT_REACHED, EXPLORE_CUT_SHORT };
struct explore_finding {
	uint32_t index;       /* among the results of the report */
	const char *block;    /* the function, or "block 'name' in f" */
	const char *sentence; /* what `intact run` said of it */
	struct explore_place at;
	enum explore_status status;
	const char *why;                 /* EXPLORE_CUT_SHORT: by what */
	const char *told;                /* of a document: explore_status_text; else NULL */
	uint64_t schedules, aside;       /* tried; that failed for another reason */
	bool exhausted;                  /* they were all there are */
	struct explore_failure *failure; /* EXPLORE_CONFIRMED */
	const char *file, *replay;       /* the saved schedule, and the command that follows it; NULL: not saved */
};

struct explore_confirmation {
	const char *report; /* the file they come from */
	const char *program;
	const char **arguments;
	uint32_t narguments;
	const char *strategy, *mode, *why_fork;
	uint64_t seed;
	AVEC(struct explore_finding) findings;
};

/* The test cases of a program, each explored by itself. */
struct explore_case {
	const char *name;
	struct explore_report *report; /* NULL: it could not be explored, and `why` says why */
	const char *why;
};
struct explore_cases {
	const char *program;
	const char **arguments; /* of all cases */
	uint32_t narguments;
	const char *framework; /* NULL: none that is known */
	uint32_t disabled;     /* cases that were left out: the framework does not run them */
	uint64_t seed;
	AVEC(struct explore_case) cases;
};
enum explore_outcome { EXPLORE_VIOLATED, EXPLORE_NOT_EXPLORED, EXPLORE_UNKNOWN, EXPLORE_ALONE, EXPLORE_FINE, EXPLORE_OUTCOMES };
enum explore_outcome explore_case_outcome(const struct explore_case *c);
/* "failed assertion in schedule 3", "2000 schedules, 35 distinct", ... in the arena. */
const char *explore_case_text(const struct explore_case *c, struct arena *a);
void explore_cases_text(const struct explore_cases *c, struct arena *a, struct buf *out, bool color, unsigned columns);
void explore_cases_json(const struct explore_cases *c, struct arena *a, struct buf *out);
/* Is the document one of these? Then *c is made of it. */
bool explore_cases_read(const json_t *doc, struct arena *a, struct explore_cases *c);

/* "confirmed in schedule 3", "not reached in 10000 schedules", ... in the arena. */
const char *explore_status_text(const struct explore_finding *f, struct arena *a);
void explore_confirmation_text(const struct explore_confirmation *c, struct arena *a, struct buf *out, bool color);
void explore_confirmation_json(const struct explore_confirmation *c, struct arena *a, struct buf *out);
/* Is the document one of these? Then *c is made of it. */
bool explore_confirmation_read(const json_t *doc, struct arena *a, struct explore_confirmation *c);
/* The member "exploration" of a result of `intact run`. */
struct json_out;
void explore_finding_json(struct json_out *j, const struct explore_finding *f, struct arena *a);
/* ... and the failure in it, from a document. */
void explore_failure_read(const json_t *o, struct arena *a, struct explore_failure *f);
/* One failing schedule: title, table, threads that wait, output. */
void explore_failure_text(const struct explore_failure *f, struct buf *out, bool color);

/* "violated", "holds" or "unknown". */
const char *explore_verdict(const struct explore_report *r);
void explore_text(const struct explore_report *r, struct buf *out, bool color, unsigned columns);
void explore_json(const struct explore_report *r, struct buf *out);
/* The same from a document; strings are the document's or the arena's. */
void explore_read(const json_t *doc, struct arena *a, struct explore_report *r);

#endif
