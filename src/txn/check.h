/*
 * check: which levels a history satisfies: those that are asked for, or all of them by as few decisions as their order allows.
 */
#ifndef INTACT_TXN_CHECK_H
#define INTACT_TXN_CHECK_H

#include "txn/decide.h"

struct txn_question {
	struct isolation levels[(unsigned)LEVEL_COUNT * (unsigned)ORDER_COUNT];
	uint32_t nlevels;        /* 0: all that the history can be asked about */
	bool prove;              /* violations with a proof */
	bool sessions, realtime; /* names without an order mean session order, real time */
};

/* "serializable,snapshot-isolation". False: *bad and *len are the name that no level has. */
bool txn_question_parse(struct txn_question *q, const char *list, const char **bad, size_t *len);

struct txn_answer {
	struct decision d;
	bool asked;
	bool decided;   /* by itself, not by another level */
	int implied_by; /* index of the answer that implies this one, or -1 */
};

struct txn_keys;

struct txn_check {
	const struct deps *deps;
	struct txn_answer answers[LEVEL_COUNT][ORDER_COUNT];
	enum txn_verdict verdict; /* of all that was asked: the worst */
	bool all;                 /* no level was named */
	enum txn_order most;      /* the strongest order that the history tells of */
	struct arena *arena;
	bool prove;
	const struct txn_keys *keys; /* each key alone (keys.h), when that was asked, too; or NULL */
	uint32_t followed;           /* the line with which it became violated, when it is being written; or 0 */
};

/* False: the question cannot be asked of this history: *why says what is missing. */
bool txn_check(struct txn_check *c, const struct deps *d, const struct txn_question *q, struct arena *keep, struct limits *lim,
               struct why *why);

/* The answer with the fewest assumptions that tells why `i` is violated: a weakest level that is and that it implies. */
const struct txn_answer *txn_check_reason(const struct txn_check *c, struct isolation i);
/* Is it among the strongest that hold (weakest that are violated)? */
bool txn_check_strongest(const struct txn_check *c, struct isolation i);
bool txn_check_weakest(const struct txn_check *c, struct isolation i);

#endif
