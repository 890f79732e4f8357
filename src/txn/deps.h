/*
 * deps: what a history of transactions says for certain: who wrote which version of a key, which version each read saw, what is known
 * of the order of versions, and what is wrong with single reads whatever the order (direct anomalies).
 *
 * Representation: only transactions that took effect are kept, under dense numbers: those that committed, and those of unknown fate
 * of which a write was seen (one that was not seen can be left out: what remains satisfies a level when the whole does, and the
 * other way round it may have aborted). A version is a key's last value of one transaction; each key has its initial version first. Slices:
 * the versions of key k are key_first[k]..key_first[k+1]; the reads and versions of transaction t, and the readers of version v, likewise.
 *
 * A read is external when its transaction had not written the key before. All arrays are the arena's.
 */
#ifndef INTACT_TXN_DEPS_H
#define INTACT_TXN_DEPS_H

#include "txn/level.h"
#include "txn/txn.h"

#define DEPS_NONE UINT32_MAX

enum anomaly_kind {
	ANOMALY_NONE,
	/* direct: found by looking at reads one by one */
	ANOMALY_INTERNAL,
	ANOMALY_G1A,
	ANOMALY_G1B,
	ANOMALY_GARBAGE,
	ANOMALY_FUTURE,
	ANOMALY_DIRTY_UPDATE,
	ANOMALY_DUPLICATE,
	ANOMALY_INCOMPATIBLE,
	/* cycles */
	ANOMALY_G0,
	ANOMALY_G1C,
	ANOMALY_LOST_UPDATE,
	ANOMALY_FRACTURED_READ,
	ANOMALY_LONG_FORK,
	ANOMALY_WRITE_SKEW,
	ANOMALY_G_SINGLE,
	ANOMALY_G_NONADJACENT,
	ANOMALY_G2_ITEM,
	ANOMALY_G_CURSOR,
	ANOMALY_G_MONOTONIC,
	ANOMALY_NO_ORDER,
	ANOMALY_COUNT
};
/* "G1a", "internal", "lost-update", ... as Elle spells them. */
extern const char *const anomaly_names[];

struct anomaly {
	uint8_t kind;
	uint32_t txn, op;  /* of the history: the transaction and its micro-operation */
	uint32_t other;    /* the transaction it is about, or DEPS_NONE */
	uint32_t other_op; /* ... and its micro-operation (for INCOMPATIBLE: another read), or DEPS_NONE */
	val v;             /* the value it is about (an element of a list), or VAL_NONE */
};

struct dversion {
	uint32_t key;
	uint32_t t;            /* DEPS_NONE: the initial version */
	uint32_t first_po, po; /* places of the first and the last write in their transaction */
	val v;                 /* the value of the last write */
};

struct dread {
	uint32_t version;
	uint32_t
		po; /* its place in the transaction; of all reads of one set or counter that of the first (members.h): they are at once */
	bool then_written; /* the last read of the key before the transaction wrote it */
};

struct dpair {
	uint32_t a, b; /* versions of one key, of different transactions: a before b */
};

struct deps {
	const struct txn_history *th;
	struct arena *arena;
	uint32_t n;
	uint32_t *txn;       /* number in the history */
	uint32_t *dense;     /* by number in the history, or DEPS_NONE */
	uint32_t *prev;      /* the transaction before it in its session, or DEPS_NONE */
	uint32_t *key_first; /* nkeys + 1 */
	uint32_t nkeys, nversions;
	struct dversion *versions;
	uint32_t *read_first, *write_first; /* n + 1 */
	struct dread *reads;
	uint32_t *writes;                 /* versions by transaction */
	uint32_t *reader_first, *readers; /* by version: transactions, ascending, each once */
	AVEC(struct dpair) known;         /* order of versions that lists show */
	AVEC(struct anomaly) anomalies;
	uint32_t nanomalies[ANOMALY_COUNT]; /* all of them; only the first few are in the list */
	val init;                           /* what registers were at first, besides nil */
	bool init_guessed;
	uint32_t nunseen; /* appends of which the place is not known */
	/* Without the reads of counters of which it is guessed what they saw (members.h): what violates a level here does so for certain. NULL: there are none. */
	struct deps *certain;
	bool no_clocks; /* graphs do without clocks, as they do when there are too many chains (for tests) */
	/* Values that were read and may come from several writes (or were there at first, too): who wrote what was read is not known. */
	uint32_t nambiguous, nambiguous_lists;
	struct anomaly ambiguous; /* the first of them; other is DEPS_NONE when it may be the initial value */
};

/* Fills d. `init`: what registers are at first; VAL_NONE: nil, or 0 when reads saw 0, no transaction wrote it and no read saw nil. False after an
 * error in `diags` (a key that is both written and appended to). */
bool deps_build(struct deps *d, const struct txn_history *th, val init, struct arena *arena, struct diags *diags);
/* Do the direct anomalies alone violate the level? *which: one that does. */
bool deps_violate(const struct deps *d, enum txn_level l, const struct anomaly **which);

/* Is read i of t the last one at its place? */
static inline bool deps_moment_ends(const struct deps *d, uint32_t t, uint32_t i)
{
	return i + 1 == d->read_first[t + 1] || d->reads[i + 1].po != d->reads[i].po;
}

static inline uint32_t deps_init_version(const struct deps *d, uint32_t key)
{
	return d->key_first[key];
}

#endif
