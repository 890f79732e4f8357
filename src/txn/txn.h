/*
 * txn: histories of transactions.
 *
 * A transaction is a list of micro-operations on keys: reads, writes of a register, appends to a list, elements added to a set, increments of a
 * counter (members.h makes registers of the latter two). It committed
 * (the database said so), aborted (it said so), or unknown (no answer, or :info).
 *
 * Representation: one array of transactions in the order of invocation, one of micro-operations; a transaction owns a
 * slice of it. Names of processes and keys are dense numbers of the `struct history` that the values live in. Times are
 * ranks as in history.h: the place of the event among all events, so that two never tie.
 */
#ifndef INTACT_TXN_TXN_H
#define INTACT_TXN_TXN_H

#include "history/history.h"

enum txn_status { TXN_COMMITTED, TXN_ABORTED, TXN_UNKNOWN };
enum mop_kind { MOP_READ, MOP_WRITE, MOP_APPEND, MOP_ADD, MOP_INC };
/* What is assumed of the order of a key's writes, besides what lists show: nothing; they are in the order of their session (Elle's
 * sequential keys), of real time (linearizable keys), or of the records of their commits. */
enum version_order { VERSIONS_ANY, VERSIONS_SESSION, VERSIONS_REALTIME, VERSIONS_RECORDED };
extern const char *const version_order_names[]; /* NULL-terminated */

struct mop {
	uint32_t key;
	val v;        /* what was written, or seen; VAL_NONE: a read whose answer is not known */
	uint8_t kind; /* enum mop_kind */
};

struct txn {
	uint32_t first, nops; /* its slice of the micro-operations */
	uint32_t session;     /* a process, or a number of its own when the history names none */
	uint32_t call, ret;   /* ranks; ret is RANK_INF when it never answered or may still take effect */
	uint32_t line;        /* where it was invoked; 0: no line */
	uint8_t status;       /* enum txn_status */
};

struct txn_members;

struct txn_history {
	struct history *h; /* values, names of sessions (procs) and keys, limits */
	struct txn *txns;
	uint32_t n, cap;
	struct mop *ops;
	uint32_t nops, ops_cap;
	uint32_t nsessions;
	bool sessions; /* some session has several transactions, or is named */
	bool realtime; /* the ranks are real time: every transaction has its invocation */
	uint32_t appends, writes, reads, adds, incs;
	uint32_t ncommitted, naborted, nunknown;
	uint8_t version_order;       /* enum version_order */
	val init;                    /* what registers are at first by the format's definition, or VAL_NONE */
	struct txn_members *members; /* sets and counters, of which registers were made; NULL: there are none */
};

void txn_history_init(struct txn_history *th, struct history *h);
void txn_history_free(struct txn_history *th);
/* A new transaction, zeroed, with ret RANK_INF; NULL when out of memory. Lives until the next call. */
struct txn *txn_push(struct txn_history *th);
/* A micro-operation behind the last one; false when out of memory. */
bool txn_push_op(struct txn_history *th, enum mop_kind kind, uint32_t key, val v);

/* "T12", as reports call it: its number from 1 in the order of invocation. */
void txn_name(const struct txn_history *th, uint32_t t, struct buf *out);
/* "T12 by process 3 (line 40)". */
void txn_print(const struct txn_history *th, uint32_t t, struct buf *out);
/* "[:r x 3] ..." of one micro-operation, and of all of them. */
void mop_print(const struct txn_history *th, const struct mop *m, struct buf *out);
void txn_print_ops(const struct txn_history *th, uint32_t t, struct buf *out);

#endif
