/*
 * read: histories of transactions from text (docs/transactions.md).
 *
 *   edn    {:process 0, :type :ok, :f :txn, :value [[:r x 1] [:w y 2] [:append z 3]]}, a map a line or all in one
 *          vector (Jepsen, Elle); :type is :invoke, :ok, :fail or :info
 *   json   the same as JSON (elle-cli)
 *   dbcop  bincode or JSON (dbcop, PolySI); cobra: a directory of logs (read_binary.c, read_dbcop_json.c)
 *   txn-csv  session,txn,op,key,value,status,call,return (read_csv.c)
 *   plume  r(key,value,session,transaction) and w(...), a line each (Plume, PolySI, AWDIT); transaction -1: aborted
 *
 * The answer to a transaction repeats its micro-operations with what the reads saw. Reads of a transaction that did not
 * commit for certain say nothing.
 */
#ifndef INTACT_TXN_READ_H
#define INTACT_TXN_READ_H

#include "history/read.h"
#include "txn/txn.h"

/* Does the text that the reader has opened look like transactions? Its format may become one of those of transactions alone. */
bool txn_sniff(struct reader *r);

/* The whole history, with the open reader `r` (the caller closes it); th is initialised. False after an error in r->d
 * or when a limit is reached. */
bool txn_read(struct txn_history *th, struct reader *r);

/* ---- inside the room -------------------------------------------------------------- */

struct txn_rec {
	enum read_kind kind;
	bool has_proc, client, has_ops;
	val proc;
	uint32_t line;
	const char *start; /* in the reader's window */
	size_t len;
};

/* One record of an EDN or JSON history; its micro-operations are put behind those of th and stay there unless the caller takes
 * them back. REC_SKIP at the end. */
enum form_status txn_rec_form(struct txn_history *th, struct reader *r, struct txn_rec *rec, size_t *used, uint32_t *newlines);
/* A line of the reader's window, ended by a zero until txn_line_end goes behind it. */
struct txn_line {
	char *start, *end;
	bool last; /* no line end follows */
};
/* False at the end, and after an error: then *ok is false, too. */
bool txn_line_begin(struct reader *r, struct txn_line *l, bool *ok);
void txn_line_end(struct reader *r, const struct txn_line *l);
bool txn_looks_like_dbcop(const struct input *in);
bool txn_looks_like_dbcop_json(const char *p);
bool txn_looks_like_csv(const char *p);
bool txn_read_dbcop(struct txn_history *th, struct reader *r);
bool txn_read_dbcop_json(struct txn_history *th, struct reader *r);
bool txn_read_cobra(struct txn_history *th, struct reader *r);
bool txn_read_csv(struct txn_history *th, struct reader *r);
bool txn_read_plume(struct txn_history *th, struct reader *r);
/* The process's session: a dense number. */
uint32_t txn_session(struct txn_history *th, val proc);

#endif
