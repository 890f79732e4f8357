/*
 * shadow: what is known of every eight bytes the program touched.
 *
 * A cell of two words per eight bytes, in leaves of four megabytes found
 * through one directory over the 47-bit address space: no assumption on
 * where things are mapped, memory grows with what is touched. A leaf holds
 * all first words, then all second words: the fast path reads the first
 * alone, and data that is never shared or locked never touches the second.
 *
 * Word 0, the last access (all zero: never touched):
 *   63..62 tag   61..48 thread   47..16 epoch   15..8 bytes read   7..0 written
 * A write also sets its bytes' read bits, so `this thread, this epoch, these
 * bytes, already seen` is one masked comparison: the fast path of the hooks.
 * With the tags READ and OTHER nothing counts as written; there 7..0 are the
 * open bytes: shared, only read, no lock in common. Reading them teaches
 * nothing: the other masked comparison of the fast path (cell_open).
 * Word 1, by tag:
 *   EXCL    locks held at that access (32 low)         one thread so far;
 *           high bit: it was an atomic operation
 *   SHARED  locks of all accesses (low), of writes (high)  always some in common
 *   READ    locks of all accesses (low)                shared, read only;
 *           high bit (CELL_MET): the thread of word 0 read it when nothing
 *           had ordered it after the reader before
 *   OTHER   no lock in common, or bytes that differ:
 *           CELL_EXT    eight cells, one a byte (index low)
 *           CELL_PART   the same eight, where three kinds suffice: all only
 *                       read, without locks. Open ones, last by the thread and
 *                       epoch of word 0; those of that thread alone (15..8 of
 *                       word 0); those of another alone (7..0 here, its epoch
 *                       39..8, thread 53..40)
 *           neither     the index of a race record; word 0 has no thread
 * CELL_BUSY in word 0: another thread is changing the cell (and, if there are,
 * its eight). Zero in word 0 implies zero in word 1.
 *
 * Transitions are Eraser's (Atomizer 2.1) with two changes that avoid false
 * alarms: data handed over (the last access happened before this one, and no
 * lock covers both) goes to the new thread as its own; and the locks of the
 * last access of an owner count, not of its first, so that initialising
 * without a lock costs nothing.
 */
#ifndef INTACT_DYNAMIC_SHADOW_H
#define INTACT_DYNAMIC_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dynamic/lockset.h"
#include "dynamic/reach.h"
#include "event/finding.h"

struct cell {
	uint64_t w0, w1;
};

enum {
	SHADOW_LEAF_BITS = 22,
	SHADOW_DIR_BITS = 47 - SHADOW_LEAF_BITS,
	SHADOW_MAX_TID = (1 << 14) - 1,
};

#define CELL_TAG             62
#define CELL_EXCL            0ull
#define CELL_SHARED          1ull
#define CELL_READ            2ull
#define CELL_OTHER           3ull
#define CELL_BUSY            (~0xffull)   /* no byte is open */
#define CELL_SHUT            (1ull << 63) /* READ or OTHER: 7..0 are open bytes */
#define CELL_EXT             (1ull << 63)
#define CELL_PART            (1ull << 62)
#define CELL_ATOMIC          (1ull << 63)
#define CELL_MET             (1ull << 63)
/* Everything the fast path compares: not the EXCL/SHARED bit, not the masks. */
#define CELL_KEY_MASK        (~(1ull << CELL_TAG | 0xffffull))
#define CELL_KEY(tid, epoch) ((uint64_t)(tid) << 48 | (uint64_t)(epoch) << 16)

/* Who last touched racing data; [1] is the latest by another thread. Who made
 * it race may be known by its slot only: RACE_SOMEONE. */
struct race_access {
	uint32_t uid, stack;
	uint32_t tid, epoch; /* its slot, and when */
	uint32_t held;       /* all its locks then */
};
struct race {
	struct race_access w[2], r[2];
	uint32_t wlocks;     /* locks common to all writes */
	uint32_t wseq;       /* counts writes seen */
	uint32_t tid, epoch; /* of RACE_SOMEONE: its slot, and when */
	uint32_t finding;    /* that lacks a writer, or the writer's place; 0: none */
};

struct shadow {
	uint64_t **dir; /* leaves of first words, NULL where none is */
	struct race *races;
	struct cell (*exts)[8];
	uint32_t nraces, nexts; /* index 0 unused */
	uint32_t ext_free;      /* list through the first words */
	struct spin ext_lock;
	uint32_t *used, nused; /* entries of dir with a leaf */
	struct lockset_table *sets;
	bool no_parts;       /* for comparison: CELL_EXT in place of CELL_PART */
	struct reach *reach; /* told of memory that is forgotten; or NULL */
	bool degraded;       /* out of memory: some addresses are not watched */
	struct spin grow;
};

/* The thread that accesses, as the transitions see it. */
struct accessor {
	uint32_t tid, epoch;
	uint32_t first;        /* epoch it began with: older ones were another's */
	uint32_t all, wr;      /* locks held; those held for writing */
	const uint32_t *clock; /* epochs of others that happened before now */
	uint32_t nclock;
	uint32_t live; /* threads alive; 1: no thread can interfere */
	bool atomic;   /* the access is an atomic operation */
	bool unread;   /* out: data that was only read, under a lock, is written: who read it is not known */
	struct lockset_cache *cache;
};

/* What an access is to the theory of reduction. */
enum mover {
	MOVE_LOCAL,     /* both-mover: only this thread */
	MOVE_PROTECTED, /* both-mover: some lock always held */
	MOVE_READ,      /* both-mover: no thread writes */
	MOVE_RACY,      /* non-mover */
};

bool shadow_init(struct shadow *s, struct lockset_table *sets);
void shadow_free(struct shadow *s);
/* The leaf for an address, made when missing; NULL when memory has ended. */
uint64_t *shadow_leaf(struct shadow *s, uintptr_t addr);
/* Forgets [addr, addr + size): freed, unmapped or reused memory. */
void shadow_reset(struct shadow *s, uintptr_t addr, size_t size);

/* One access to bytes `mask` of a cell. When racy, `*race` is its record.
 * `*was` (unless NULL) gets the first word that was found, 0 when it was not
 * looked at for change. */
enum mover shadow_access(struct shadow *s, struct accessor *a, uint64_t *c, unsigned mask, bool write, uint32_t *race,
                         uint64_t *was);
/* Has the thread read or written one of these bytes in its present epoch? (Not
 * known of racing data: no.) */
bool shadow_read_now(const struct shadow *s, const struct accessor *a, const uint64_t *c, unsigned mask);
/* Has it made this access in its present epoch? Asked of bytes that have a cell each, for
 * which the fast path does not answer; else no. */
bool shadow_known_now(const struct shadow *s, const struct accessor *a, const uint64_t *c, unsigned mask, bool write);
/* Keeps who accessed racing data. */
void race_note(struct race *r, struct race_access by, bool write);

/* Bytes `mask` of a cell may be read, and nothing would be learnt. */
static inline bool cell_open(uint64_t w0, uint64_t mask)
{
	return (w0 & (CELL_SHUT | mask)) == (CELL_SHUT | mask);
}

/*
 * A cell of CELL_PART whose bytes `mask` this thread has read in this epoch, or
 * that are open. `key` is its CELL_KEY. The second word is taken for what goes
 * with the first: the thread that takes bytes away changes that one.
 */
static inline bool cell_part_known(const uint64_t *c, uint64_t key, unsigned mask)
{
	uint64_t w0 = __atomic_load_n(c, __ATOMIC_ACQUIRE), second = 0;
	if (w0 >> CELL_TAG != CELL_OTHER || !key)
		return false;
	if (((w0 ^ key) & (CELL_KEY_MASK ^ CELL_SHUT)) == 0) {
		second = w0 >> 8;
	} else {
		uint64_t w1 = __atomic_load_n(c + ((size_t)1 << (SHADOW_LEAF_BITS - 3)), __ATOMIC_ACQUIRE);
		if ((w1 & ~0xffull) == (CELL_PART | key >> 8) && __atomic_load_n(c, __ATOMIC_RELAXED) == w0)
			second = w1;
	}
	return ((w0 | second) & mask) == mask && second;
}

/* The first word of an address's cell; the second is SHADOW_SECOND on. */
#define SHADOW_SECOND ((size_t)1 << (SHADOW_LEAF_BITS - 3))

static inline uint64_t *shadow_cell(uint64_t *const *dir, uintptr_t addr)
{
	uint64_t *leaf = dir[addr >> SHADOW_LEAF_BITS & ((1u << SHADOW_DIR_BITS) - 1)];
	if (!leaf)
		return NULL;
	return leaf + ((addr & ((1u << SHADOW_LEAF_BITS) - 1)) >> 3);
}

#endif
