/*
 * intact/history.h: record what threads do to an object, then ask whether it
 * was atomic.
 *
 *     struct intact_history *h = intact_history_new(INTACT_QUEUE, 0);
 *     // in each thread:
 *     struct intact_recorder *r = intact_history_recorder(h);
 *     intact_invoke(r, INTACT_ENQUEUE, v);  my_enqueue(q, v);  intact_return(r, 0);
 *     // when all threads are done:
 *     assert(intact_history_check(h) == INTACT_HOLDS);
 *
 * Recording costs two atomic increments per operation and no lock: events go to
 * memory of the recorder's own. A recorder belongs to one thread at a time and has
 * at most one operation open. Link with -lintact.
 */
#ifndef INTACT_HISTORY_H
#define INTACT_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum intact_object {
	INTACT_REGISTER = 1,   /* read, write, cas */
	INTACT_COUNTER,        /* read, add */
	INTACT_MUTEX,          /* acquire, release */
	INTACT_SET,            /* add, remove, contains: answers 0 or 1 */
	INTACT_QUEUE,          /* enqueue, dequeue */
	INTACT_STACK,          /* push, pop */
	INTACT_PRIORITY_QUEUE, /* insert, poll: the least first */
};

enum intact_op {
	INTACT_READ = 1,
	INTACT_WRITE,
	INTACT_CAS,
	INTACT_ADD,
	INTACT_REMOVE,
	INTACT_CONTAINS,
	INTACT_ENQUEUE,
	INTACT_DEQUEUE,
	INTACT_PUSH,
	INTACT_POP,
	INTACT_INSERT,
	INTACT_POLL,
	INTACT_ACQUIRE,
	INTACT_RELEASE,
};

enum intact_verdict {
	INTACT_HOLDS = 0,
	INTACT_VIOLATED = 1,
	INTACT_MISUSED = 2, /* an operation the object does not have, an open one twice */
	INTACT_UNKNOWN = 3, /* out of memory */
};

struct intact_history;
struct intact_recorder;

/* `initial` matters to registers and counters. NULL when out of memory. */
struct intact_history *intact_history_new(enum intact_object object, int64_t initial);
/* Frees the history and its recorders. */
void intact_history_free(struct intact_history *h);
/* A new recorder, owned by the history; any thread may ask for one. */
struct intact_recorder *intact_history_recorder(struct intact_history *h);

/* Just before and just after the operation. For several objects of one kind,
 * `key` says which. */
void intact_invoke(struct intact_recorder *r, enum intact_op op, int64_t arg);
void intact_invoke_key(struct intact_recorder *r, int64_t key, enum intact_op op, int64_t arg);
void intact_invoke_cas(struct intact_recorder *r, int64_t from, int64_t to);
/* The answer: what was read or taken; 0 or 1 from cas, add, remove, contains
 * of a set; otherwise ignored. */
void intact_return(struct intact_recorder *r, int64_t answer);
/* There was nothing to take. */
void intact_return_empty(struct intact_recorder *r);
/* It did not happen after all (the queue was full, the lock was not got). */
void intact_cancel(struct intact_recorder *r);

/* After the recording threads are done. Operations without a return may or
 * may not have happened. */
enum intact_verdict intact_history_check(struct intact_history *h);
/* Description of the result of the last check; owned by the history. */
const char *intact_history_report(const struct intact_history *h);
/* The history as JSON lines, which `intact history` reads; 0 on success. Safe
 * to call before a check that might not end. */
int intact_history_save(struct intact_history *h, const char *path);

/* Since version 2 (INTACT_API_VERSION of intact.h). The same as a text, ended by a NUL and owned by the history; *len (unless
 * NULL) is its length. NULL: a recorder was misused, or out of memory; intact_history_report says which. */
const char *intact_history_text(struct intact_history *h, size_t *len);
/* What it was made with. */
enum intact_object intact_history_object(const struct intact_history *h);
int64_t intact_history_initial(const struct intact_history *h);

#ifdef __cplusplus
}
#endif
#endif
