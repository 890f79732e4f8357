/*
 * history: operations with their invocations and responses.
 *
 * Representation: one record of 32 bytes per operation, in the order of
 * invocation. Times are ranks: the place of the event among all events of the
 * history, so two events never tie; equal clock values are ranked invocations
 * first, which makes operations that only touch concurrent. An operation that
 * never returned has the rank RANK_INF.
 *
 * A history is read raw (`a` is what was passed, `b` what came back) and then
 * understood once as calls on an object by history_interpret: values are
 * split, operations that say nothing (failed ones, reads without answer) are
 * dropped, keys become dense ids. After that:
 *
 *   read get peek    b = what was seen       write put append add ...  a
 *   cas              a = from, b = to        deq pop poll   b, nil = empty
 *   res              whether it said true or false, when it said
 */
#ifndef INTACT_HISTORY_HISTORY_H
#define INTACT_HISTORY_HISTORY_H

#include <stdatomic.h>

#include "base/diag.h"
#include "base/map.h"
#include "history/object.h"
#include "history/value.h"

#define RANK_INF        UINT32_MAX
#define VAL_NONE        UINT32_MAX /* no value was recorded */
#define HISTORY_MAX_OPS (1u << 30)

enum { RES_NONE, RES_TRUE, RES_FALSE };
enum { HF_FAILED = 1 }; /* flags: it answered that it did not happen */

struct seqspec;

struct hop {
	uint32_t call, ret; /* ranks */
	val a, b;
	uint32_t proc, key; /* dense ids */
	uint32_t line;      /* of the invocation; 0 = none */
	uint8_t fn, res, flags, pad;
};

/* What bounds a run; shared by the threads of it. */
struct limits {
	size_t max_memory;   /* bytes; 0 = no bound */
	int64_t deadline_ns; /* CLOCK_MONOTONIC; 0 = none */
	atomic_size_t used;
	atomic_int spent;                     /* enum limit: the first one that was */
	void (*tick)(void *arg, size_t used); /* called by lim_spent, from any thread; or NULL */
	void *tick_arg;
};
enum limit { LIMIT_NONE, LIMIT_MEMORY, LIMIT_TIME };

struct history {
	struct arena *arena; /* values, names */
	const char *name;
	struct values vals;
	struct hop *ops;
	uint32_t n, cap;
	uint32_t nevents;      /* ranks are below */
	AVEC(val) procs, keys; /* names by dense id */
	struct map procmap, keymap;
	int64_t *tcall, *tret; /* clock times, when the format has them */
	bool timed;
	struct limits *lim;
	const struct seqspec *user; /* --spec: what it is checked against, or NULL */
	/* One line of its file, for a message; NULL: it was not read from one. (Who
	 * records and checks in memory need not link what reads files.) */
	struct source *(*show_line)(struct history *h, uint32_t line);
	struct buf text; /* of standard input: its beginning, for such messages */
	/* for the report */
	const char *format;
	enum object declared; /* the file says which object */
	uint32_t nfailed, npending, nskipped, nreads_open;
};

void history_init(struct history *h, struct arena *a, struct limits *lim);
void history_free(struct history *h);
/* A new operation, zeroed; NULL when out of memory. The pointer lives until
 * the next call. */
struct hop *history_push(struct history *h);
/* Clock times to ranks: sorts the operations by invocation. False: memory. */
bool history_rank(struct history *h);
/* Frees the clock times. */
void history_drop_times(struct history *h);

struct interpretation {
	enum object object; /* OBJ_GUESS: from the names of the operations */
	val init;           /* VAL_NONE: guess */
	int nil_reads;      /* 0 guess, 1 nil is a value, 2 nil says nothing */
	int failed_cas;     /* 0 did not happen, 1 compared unequal */
	int pairs;          /* 0 guess, 1 values are [key value], 2 they are not */
	/* filled in: how the guesses went, for the report */
	bool object_guessed, init_guessed, nil_any, paired;
};

/* Understands the raw operations; false after an error in d. */
bool history_interpret(struct history *h, struct interpretation *in, struct diags *d);
/* None is given, and the object has no usual one: an error in d. */
bool init_missing(const struct history *h, const struct interpretation *in, struct diags *d);
/* Can the object start as the user says? Else an error in d. */
bool init_fits(struct history *h, struct interpretation *in, struct diags *d);
/* The guesses alone, on what has been read so far (for --follow). */
enum object history_guess_object(const struct history *h, bool *paired);
/* One operation of a known interpretation: 1 kept, 0 says nothing, -1 wrong
 * (then *why says so). Keys are interned into h. */
int hop_interpret(struct history *h, const struct interpretation *in, struct hop *op, struct why *why);

/* The function code of a name: of the user's specification when there is one
 * (FN_COUNT and above, see user.h), else fn_by_name. */
uint32_t history_fn(const struct history *h, const char *s, size_t len);
/* What the history is checked as, in a word. */
const char *history_object(const struct history *h, enum object o);

/* What the function is given and answers, as far as is known before the object is. */
static inline enum op_shape history_shape(const struct history *h, uint32_t fn)
{
	return h->user && fn >= FN_COUNT ? OP_METHOD : fn_shape(fn);
}
/* The initial value an object has unless told otherwise. */
val object_default_init(enum object o, struct values *vs);

/* "write 3 by process 0 (line 12)", "read -> 3 ...". */
void hop_print(const struct history *h, const struct hop *op, enum object o, struct buf *out);
/* The same without the process and line. */
void hop_print_short(const struct history *h, const struct hop *op, enum object o, struct buf *out);

/* realloc under the limits; NULL (and the limit marked as reached) when over.
 * The old block stays valid then. */
void *lim_realloc(struct limits *lim, void *p, size_t old_bytes, size_t new_bytes);
void lim_free(struct limits *lim, void *p, size_t bytes);
/* True when time is up or a limit was reached before; cheap enough for every
 * few thousand steps. */
bool lim_spent(struct limits *lim);

/* Dense ids of process and key names. */
uint32_t proc_intern(struct history *h, val name);
uint32_t key_intern(struct history *h, val name);

#endif
