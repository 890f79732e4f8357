/*
 * history_text: the verdict about a history for a terminal.
 *
 * The text is written from what is to be told (struct history_told), which is
 * made of a judged history, or of a result of a document: both print the same.
 */
#ifndef INTACT_REPORT_HISTORY_TEXT_H
#define INTACT_REPORT_HISTORY_TEXT_H

#include "base/arena.h"
#include "history/judged.h"

enum { HISTORY_PARTS_TOLD = 5, HISTORY_CONFLICT_TOLD = 12 };

struct history_told_part { /* a part that is violated */
	const char *label; /* "key 3"; NULL: it is the only one */
	const char *sentence;
	const char *culprit; /* with whose answer it was certain; NULL: not known */
	uint32_t line;       /* of the culprit; 0: none */
	bool open;           /* ... or with an earlier one */
	uint32_t ended;      /* operations that had completed before */
	uint32_t from;       /* the first line of the failing window; 0: not known */
	const char *conflict[HISTORY_CONFLICT_TOLD];
	uint32_t nconflict, more_conflict;
};

struct history_told_algorithm {
	uint32_t parts; /* that it judged */
	const char *why;
};

struct history_told { /* strings are the arena's, the history's or the document's, and safe to print */
	const char *file, *format, *object, *init, *spec; /* spec NULL: an object of ours, starting with init */
	uint32_t operations, processes, pending, failed, keys;
	bool object_guessed, init_guessed, paired, nil_any;
	enum lin_verdict verdict;
	const char *condition, *limit;
	uint32_t k; /* k-atomicity, or the least k */
	bool least_k, has_delta;
	int64_t delta;
	uint32_t parts, violated;
	uint32_t shard, shards, all_parts; /* which of so many shards it is, and the parts of all; 0: it is all */
	const char *missing;               /* merged: shards that are not there, "2, 5"; NULL: none */
	bool undecided;                    /* parts were left undecided, as others settled it */
	struct history_told_part shown[HISTORY_PARTS_TOLD];
	struct history_told_algorithm algorithms[ALG_BRUTE + 1];
};

void history_told_make(struct history_told *t, struct arena *a, const struct history *h, const struct interpretation *in,
                       const struct lin_check_options *o, const struct check *c);
void history_text(const struct history_told *t, bool color, struct buf *out);
/* The orders that were found, an operation a line. */
void history_orders_text(const struct history *h, const struct interpretation *in, const struct lin_check_options *o,
                         const struct check *c, struct buf *out);

/* What following a history came to. */
struct history_followed {
	const char *object, *init; /* init NULL: of a specification */
	bool object_guessed, init_guessed;
	enum lin_verdict verdict;
	const char *culprit, *sentence, *limit; /* or NULL */
	uint32_t line, open, configurations;
	uint64_t operations, completed;
};
void history_followed_text(const struct history_followed *f, struct buf *out);

/* "key 3", "element x of key 3", in the arena; NULL: the history has one object. */
const char *history_part_label(const struct history *h, const struct part *p, struct arena *a);
/* "time", "memory": the limit that was reached. */
const char *history_limit(const struct limits *lim);
/* "holds", "violated", ... */
extern const char *const history_verdicts[]; /* of enum lin_verdict, NULL behind the last */

/* ---- history_proof.c: why a history is violated, in words ---- */

/* One or two sentences. */
proof_text history_proof_text;

#endif
