/* transactions: a history of transactions, judged: its isolation levels. For judge/history.c. */
#ifndef INTACT_JUDGE_TRANSACTIONS_H
#define INTACT_JUDGE_TRANSACTIONS_H

#include "judge/history.h"
#include "txn/read.h"

struct transactions_job {
	const struct history_args *a;
	const struct history_sink *sink;
	struct limits *lim;
	struct history *h;
	struct diags *d;
	val init;          /* --init, or VAL_NONE */
	bool following;    /* it is being written, and must have invocations */
	bool beginning;    /* and more is to come: nothing is reported of this part */
	uint32_t followed; /* ... this line, its last one, made it violated; or 0 */
	bool said;         /* the report tells what is unknown */
};

/* What is wrong with --level (the text in `why`), or NULL. */
const char *transactions_args_wrong(const struct history_args *a, struct why *why);
/* An option among `a` that is about transactions; NULL: none. */
const char *transactions_option(const struct history_args *a);
/* `r` is open; returns an exit code. EXIT_UNKNOWN without `said`: a limit was reached before anything could be said. */
int transactions_judge(struct transactions_job *j, struct reader *r);

#endif
