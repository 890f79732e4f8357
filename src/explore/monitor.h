/*
 * monitor: what must be remembered of a history to decide whether it can
 * still meet its specification, as one small interned value.
 *
 * A history comes as events: a client invokes an operation, a client gets its
 * answer. monitor_step turns the monitor's state before an event into the one
 * after it, or into MONITOR_DEAD when no future can make the history right.
 * States are dense ids, equal states have equal ids, and a transition is
 * computed once: (state, event) -> state is a table. No clock is kept, and
 * nothing of an operation that can no longer matter, so endless runs of a
 * finite program have finitely many monitor states.
 *
 *   MONITOR_ATOMIC   the set of all configurations the object can be in: its
 *                    abstract state, which open operations have taken effect
 *                    (and with which result), and for each open observer (an
 *                    operation that changes nothing) what it may answer.
 *                    Operations take effect as late as an answer allows,
 *                    and a configuration that can do no more than another
 *                    one is dropped: with one writer exactly one is left.
 *   MONITOR_REGULAR  the writes not yet overwritten, and what each open read
 *                    may answer.
 *   MONITOR_SAFE     the same, and a read that overlaps a write may answer
 *                    anything.
 *   MONITOR_RECORD   everything: the history itself, judged by a function of
 *                    the caller at each answer of an observer, as the SOAR
 *                    paper's model checking does.
 */
#ifndef INTACT_EXPLORE_MONITOR_H
#define INTACT_EXPLORE_MONITOR_H

#include "base/map.h"
#include "base/seqtab.h"
#include "explore/vector_table.h"
#include "ir/ir.h"

#define MONITOR_DEAD        (UINT32_MAX - 1)
#define MONITOR_FAILED      UINT32_MAX /* out of memory */
#define MONITOR_MAX_CLIENTS 64u

enum monitor_kind { MONITOR_ATOMIC, MONITOR_REGULAR, MONITOR_SAFE, MONITOR_RECORD };
enum monitor_event { MONITOR_READ, MONITOR_WRITE, MONITOR_RETURN };

/* One operation of a recorded history. Times are places among its events. */
struct monitor_op {
	uint32_t client;
	bool is_write, open;
	int32_t value;      /* written, or returned */
	uint32_t call, ret; /* ret: UINT32_MAX while it is open */
};

/* Is this history right? Open reads are in it and say nothing. */
typedef bool monitor_judge(void *arg, const struct monitor_op *ops, uint32_t n, uint32_t nevents);

struct monitor {
	enum monitor_kind kind;
	uint32_t nclients;
	int32_t init;         /* the register's value */
	monitor_judge *judge; /* MONITOR_RECORD */
	void *judge_arg;
	struct vector_table events; /* (client, what, value) */
	struct seqtab states;
	struct seqtab sets;       /* of values, ascending */
	struct map memo;          /* (state, event) -> state */
	struct vector_table work; /* configurations being worked on */
	int32_t *buf;             /* a state being built */
	uint32_t nbuf, cap_buf;
	uint64_t judged; /* calls of judge */
	bool failed;
};

/* At most MONITOR_MAX_CLIENTS clients. */
bool monitor_open(struct monitor *m, enum monitor_kind kind, uint32_t nclients, int32_t init);
void monitor_close(struct monitor *m);
/* The state before anything has happened. */
uint32_t monitor_initial(struct monitor *m);
/* The id of an event; `value` is what is written, or what a read returned
 * (0 for the return of a write). */
uint32_t monitor_event(struct monitor *m, uint32_t client, enum monitor_event what, int32_t value);
uint32_t monitor_step_slow(struct monitor *m, uint32_t state, uint32_t event);
static inline uint32_t monitor_step(struct monitor *m, uint32_t state, uint32_t event)
{
	uint32_t to = map_get(&m->memo, (uint64_t)state << 32 | event);
	return to != MAP_NONE ? to : monitor_step_slow(m, state, event);
}
/*
 * The same state with the clients renamed: client c becomes to[c]. Used for
 * threads that are interchangeable. Not for MONITOR_RECORD.
 */
uint32_t monitor_rename(struct monitor *m, uint32_t state, const uint32_t *to);
/* A number for what the state knows of a client: equal for clients that may
 * be exchanged, mostly different for others. */
uint32_t monitor_client_hash(struct monitor *m, uint32_t state, uint32_t client);
uint64_t monitor_bytes(const struct monitor *m);

/* Private: shared by the files of the monitor. */
bool monitor_push(struct monitor *m, int32_t word);
bool monitor_push_all(struct monitor *m, const int32_t *words, uint32_t n);
uint32_t monitor_set_add(struct monitor *m, uint32_t set, int32_t value);
bool monitor_set_has(const struct monitor *m, uint32_t set, int32_t value);
bool monitor_set_within(const struct monitor *m, uint32_t a, uint32_t b);
uint32_t monitor_atomic(struct monitor *m, uint32_t state, const int32_t *ev);
uint32_t monitor_weak(struct monitor *m, uint32_t state, const int32_t *ev);
uint32_t monitor_atomic_initial(struct monitor *m);
uint32_t monitor_weak_initial(struct monitor *m);
void monitor_weak_rename(struct monitor *m, uint32_t state, const uint32_t *to);
void monitor_atomic_rename(struct monitor *m, uint32_t state, const uint32_t *to);

#endif
