/*
 * history: a file with a history, judged: read, understood as calls on an object, decided, and said as text and as a
 * result of a document (docs/json.md). For `intact history` and the library.
 */
#ifndef INTACT_JUDGE_HISTORY_H
#define INTACT_JUDGE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/opts.h"

/* The options as they are given. */
struct history_args {
	int format, object, condition, algorithm, order, nil, failed_cas, pairs, version_order; /* numbers of the names below */
	const char *init, *k, *spec, *level;
	uint64_t jobs, timeout, max_memory;
	bool delta, witness, sessions, realtime, keys;
	uint32_t shard, shards; /* only the parts of shard `shard`, from 0, of so many; shards 0: all */
};

/* The names of choices, each list ended by NULL; the first four are those of history/ and lin/. */
extern const char *const format_names[], *const object_names[], *const condition_names[], *const algorithm_names[];
enum { FORMAT_OF_RECORDED = 2, HISTORY_NIL_VALUE = 1, HISTORY_PAIRS_NO = 2 }; /* "json", "value", "no" */
extern const char *const history_orders[], *const history_nils[], *const history_failed_cas[], *const history_pairs[],
												       *const version_order_names[];

/* Rows of an option table, for `intact history` and the library. `a`: a struct history_args *. */
/* clang-format off */
#define HISTORY_QUESTION_OPTIONS(a) \
	{ OPT_CHOICE, "object", 'o', "NAME", &(a)->object, "type of the object", 0, 0, object_names }, \
	{ OPT_STR, "spec", 0, "FILE.atm", &(a)->spec, "sequential specification of a user-defined object", 0, 0, NULL }, \
	{ OPT_STR, "init", 0, "VALUE", &(a)->init, "initial value: 0, nil, \"text\", [1 2]", 0, 0, NULL }, \
	{ OPT_CHOICE, "condition", 'c', "NAME", &(a)->condition, "condition to check", 0, 0, condition_names }, \
	{ OPT_STR, "k", 0, "N|min", &(a)->k, "allow reads of the last N values; min: find the smallest N", 0, 0, NULL }, \
	{ OPT_FLAG, "delta", 0, NULL, &(a)->delta, "also find the smallest staleness of reads that makes it atomic", 0, 0, NULL }, \
	{ OPT_CHOICE, "algorithm", 'a', "NAME", &(a)->algorithm, "algorithm; the default selects one and reports why", 0, 0, algorithm_names }
#define HISTORY_LEVEL_OPTIONS(a) \
	{ OPT_STR, "level", 'l', "NAME,...", &(a)->level, "isolation levels to check; default: all", 0, 0, NULL }, \
	{ OPT_FLAG, "sessions", 0, NULL, &(a)->sessions, "use the definitions of Biswas and Enea: session order counts", 0, 0, NULL }, \
	{ OPT_FLAG, "realtime", 0, NULL, &(a)->realtime, "real time counts: serializable means strict-serializable", 0, 0, NULL }, \
	{ OPT_FLAG, "keys", 0, NULL, &(a)->keys, "also check that each key alone is linearizable", 0, 0, NULL }, \
	{ OPT_CHOICE, "version-order", 0, "WHAT", &(a)->version_order, "assume that writes of a key are in this order", 0, 0, version_order_names }
/* clang-format on */
/* clang-format off */
#define HISTORY_READING_OPTIONS(a) \
	{ OPT_CHOICE, "format", 'f', "NAME", &(a)->format, "the format; guessed from the content by default", 0, 0, format_names }, \
	{ OPT_CHOICE, "order", 0, "WHAT", &(a)->order, "if times and line order disagree: report an error, or use one of them", 0, 0, history_orders }, \
	{ OPT_CHOICE, "nil", 0, "WHAT", &(a)->nil, "a read of nil: an ordinary value, or no information", 0, 0, history_nils }, \
	{ OPT_CHOICE, "failed-cas", 0, "WHAT", &(a)->failed_cas, "a failed cas: did not happen, or found another value", 0, 0, history_failed_cas }, \
	{ OPT_CHOICE, "pairs", 0, "WHAT", &(a)->pairs, "values are [key value] pairs", 0, 0, history_pairs }
/* clang-format on */
/* clang-format off */
#define HISTORY_LIMIT_OPTIONS(a) \
	{ OPT_UINT, "jobs", 'j', "N", &(a)->jobs, "number of threads (keys are checked in parallel)", 1, 64, NULL }, \
	{ OPT_UINT, "timeout", 0, "SECONDS", &(a)->timeout, "time limit; when reached, the verdict is unknown (exit code 3)", 0, 1000000000, NULL }, \
	{ OPT_SIZE, "max-memory", 0, "SIZE", &(a)->max_memory, "memory limit; default: four fifths of the machine's memory", 0, 0, NULL }, \
	{ OPT_FLAG, "witness", 'w', NULL, &(a)->witness, "show the linearization that was found", 0, 0, NULL }
/* clang-format on */

struct history;
struct check;

/* Where it goes. */
struct history_sink {
	struct buf *text;    /* the report; NULL: none is wanted */
	struct buf *results; /* JSON, commas between them; NULL: none is wanted */
	struct buf *err;     /* what is wrong with the input */
	bool color, color_err;
	bool quiet;    /* of what is decided no text */
	bool bad_only; /* results of histories that hold are left out */
	/* Called with what was decided; or NULL. */
	void (*judged)(void *arg, const struct history *h, const struct check *c);
	void *judged_arg;
	void (*tick)(void *arg, size_t used); /* called now and then by any thread of the run; or NULL */
	void *tick_arg;
};

struct history_run;
struct claim_list;

/* What is wrong with the options together, or NULL; `why` keeps a sentence that is composed. */
const char *history_args_wrong(const struct history_args *a, struct why *why);
/* ... and when the history is followed while it is being written (history_follow). */
const char *history_follow_wrong(const struct history_args *a);

/* Both are kept. NULL: the specification cannot be read (to->err says why), or there is no memory. */
struct history_run *history_run_new(const struct history_args *a, const struct history_sink *to);
void history_run_free(struct history_run *run);
/* Does the specification choose (any, either)? It cannot be followed then. */
bool history_run_chooses(const struct history_run *run);

/* Each judges one history and returns an exit code (base/console.h). */
int history_judge(struct history_run *run, const char *path);
int history_judge_text(struct history_run *run, const char *name, const char *text, size_t len);
/* `make` puts the operations into the history, as a reader would; false: it cannot (EXIT_USAGE, without a message). */
int history_judge_made(struct history_run *run, const char *name, bool (*make)(void *arg, struct history *h), void *arg);
int history_follow(struct history_run *run, const char *path);
/* The report `report` (a file) checked against the history; the answer goes to the claim_list, too. */
int history_hold(struct history_run *run, const char *path, const char *report, struct claim_list *l);
/* The history in another format (EDN, JSON, CSV, log). */
int history_convert(struct history_run *run, const char *path, int to, struct buf *out, bool (*flush)(void *arg, struct buf *b),
                    void *arg);
/* A history of transactions by parameters ("n=100,anomaly=long-fork"; docs/transactions.md), through `flush` a part at a time. EXIT_USAGE: `why` says what
 * is wrong with them. */
int history_generate(const char *workload, struct buf *out, bool (*flush)(void *arg, struct buf *b), void *arg, struct why *why);
/* Is this a format that history_convert writes? */
bool history_writes(int format);

#endif
