/*
 * intact/txn.h: record the transactions that sessions run against a database, then ask which isolation level they had.
 *
 *     struct intact_txns *h = intact_txns_new();
 *     // in each thread or connection:
 *     struct intact_session *s = intact_txns_session(h);
 *     intact_txn_begin(s);
 *     ... select ...;  intact_txn_read(s, key, value);       // or intact_txn_read_none: there was nothing
 *     ... update ...;  intact_txn_write(s, key, value);
 *     ... commit ...;  intact_txn_commit(s);                 // or _abort, or _unknown: no answer came
 *     // when all are done:
 *     assert(intact_txns_check(h, "snapshot-isolation") == INTACT_HOLDS);
 *
 * Call intact_txn_begin before the database is asked for the first time, and intact_txn_commit after it has answered: real time is
 * taken from these calls. Values that are written to a key must differ, or who wrote what was read is not known (INTACT_UNKNOWN).
 * A key is a register (write) or a list (append; reads return all of it), never both. A session belongs to one thread at a time, and
 * recording takes no lock. Link with -lintact. Since version 3 (INTACT_API_VERSION of intact.h).
 */
#ifndef INTACT_TXN_H
#define INTACT_TXN_H

#include <stddef.h>
#include <stdint.h>

#include <intact/history.h>

#ifdef __cplusplus
extern "C" {
#endif

struct intact_txns;
struct intact_session;

/* NULL when out of memory. */
struct intact_txns *intact_txns_new(void);
/* Frees the history and its sessions. */
void intact_txns_free(struct intact_txns *h);
/* A new session, owned by the history; any thread may ask for one. */
struct intact_session *intact_txns_session(struct intact_txns *h);

void intact_txn_begin(struct intact_session *s);
void intact_txn_read(struct intact_session *s, int64_t key, int64_t value);
/* The initial state: there was no such row, the value was null. */
void intact_txn_read_none(struct intact_session *s, int64_t key);
/* A list, oldest element first. */
void intact_txn_read_list(struct intact_session *s, int64_t key, const int64_t *values, size_t n);
void intact_txn_write(struct intact_session *s, int64_t key, int64_t value);
void intact_txn_append(struct intact_session *s, int64_t key, int64_t value);
void intact_txn_commit(struct intact_session *s);
void intact_txn_abort(struct intact_session *s);
/* It may have been committed or not: the connection broke. A transaction that is open in the end is the same. */
void intact_txn_unknown(struct intact_session *s);

/* After the sessions are done. `level`: names as in docs/transactions.md, separated by commas; NULL: all of them, and INTACT_VIOLATED when one
 * is. INTACT_MISUSED: a session was misused, there is no such level, or no transaction. */
enum intact_verdict intact_txns_check(struct intact_txns *h, const char *level);
/* The report of the last check; owned by the history. */
const char *intact_txns_report(const struct intact_txns *h);
/* The history as JSON lines, which `intact history` reads, ended by a NUL and owned by the history; *len (unless NULL) is its length. NULL: a session was
 * misused, or out of memory; intact_txns_report says which. */
const char *intact_txns_text(struct intact_txns *h, size_t *len);
/* The same into a file; 0 on success. */
int intact_txns_save(struct intact_txns *h, const char *path);

#ifdef __cplusplus
}
#endif
#endif
