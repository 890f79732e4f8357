/*
 * members: sets and counters as registers, one for each element and each increment.
 *
 * Additions to a set, and increments, commute: no order of them can be read off, and none is asked for. So each element of a set is
 * a key of its own that the transaction writes which adds it; a read of the set reads all of them: "added", or nil when the element was not there.
 * An increment is an element without a name; a read of a counter saw increments whose sum it is. Levels are then those of registers (level.h).
 *
 * Which increments a read saw:
 *   certain:  only one choice has the sum (all, none, or found by counting), or no choice has: then it is an anomaly (garbage-read);
 *   guessed:  several have. One is taken: the first ones by time. A level that holds with it holds; one that is violated without such reads is
 *             violated; else it is unknown ("counter-reads");
 *   open:     none was found though there may be one: then nothing holds for certain.
 *
 * Representation: keys from `first` on are members; their names are those of the set or counter. Expanded micro-operations replace the ones that were read,
 * which stay as `told`. Each read of a set begins with a read of the set's own key that says nothing. Cost: reads times elements of the set.
 */
#ifndef INTACT_TXN_MEMBERS_H
#define INTACT_TXN_MEMBERS_H

#include "txn/txn.h"

/* The limit that an undecided level names. */
#define COUNTER_READS "counter-reads"

struct txn_member {
	uint32_t key;  /* the set or counter */
	uint32_t next; /* another member of it + 1 */
	val v;         /* the element, or by how much */
	bool counter;
};

enum odd_kind { ODD_GARBAGE, ODD_DUPLICATE };

/* A read that no choice explains: it saw v, which no transaction added or no increments sum up to, or saw it twice. */
struct odd_read {
	uint32_t txn, op; /* of the expanded micro-operations */
	val v;
	uint8_t kind;
};

struct txn_members {
	uint32_t first;                  /* keys from here on */
	AVEC(struct txn_member) members; /* by key - first */
	uint32_t *head;                  /* by set or counter: its last member + 1 */
	struct mop *told;                /* what was read, in the order of transactions */
	uint32_t ntold, told_cap;        /* told_cap is 0 when `told` is of another history */
	uint32_t *told_of;               /* by micro-operation */
	uint64_t *guessed;               /* by micro-operation: a bit, or NULL: none */
	uint32_t nguessed, nopen;
	AVEC(struct odd_read) odd;
};

/* Makes registers of sets and counters, where there are any. False: an error (in d), or a limit. */
bool members_expand(struct txn_history *th, struct diags *d);
void members_free(struct txn_history *th);
/* Of a report: is every read of a set and counter expanded to what it saw? NULL, or what is wrong. */
const char *members_wrong(const struct txn_history *th);
/* "1" of [:add x 1], of a micro-operation that stands alone. */
void members_print(const struct txn_history *th, const struct txn_member *e, const struct mop *m, struct buf *out);

static inline const struct txn_member *members_of(const struct txn_history *th, uint32_t key)
{
	return th->members && key >= th->members->first ? &th->members->members.data[key - th->members->first] : NULL;
}

static inline bool members_counter(const struct txn_history *th, uint32_t key)
{
	const struct txn_members *s = th->members;
	return s && key < s->first && s->head[key] && s->members.data[s->head[key] - 1].counter;
}

/* The micro-operation as it was read. m may be of another history (keys.h): then it is itself. */
static inline const struct mop *members_told(const struct txn_history *th, const struct mop *m)
{
	const struct txn_members *s = th->members;
	return s && s->told && m >= th->ops && m < th->ops + th->nops ? &s->told[s->told_of[m - th->ops]] : m;
}

/* Are both micro-operations, by number, parts of one that was read? */
static inline bool members_same(const struct txn_history *th, uint32_t a, uint32_t b)
{
	const struct txn_members *s = th->members;
	return s && s->told ? s->told_of[a] == s->told_of[b] : a == b;
}

static inline bool members_guessed(const struct txn_history *th, uint32_t op)
{
	const struct txn_members *s = th->members;
	return s && s->guessed && (s->guessed[op / 64] >> (op % 64) & 1);
}

#endif
