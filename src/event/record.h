/*
 * record: what the runtime tells of a program, sixteen bytes at a time, and
 * the memory it shares with `intact run` to do so.
 *
 * A record is one call of the analyses (src/dynamic): whoever makes the same
 * calls in the same order comes to the same findings (dynamic/replay.c). What
 * the hooks settle alone (this thread has touched these bytes since its last
 * synchronisation, and nobody else did meanwhile) leaves no record: it says
 * nothing new to any analysis.
 *
 *   a: 63..56 kind   55..48 arg   47..0 address
 *   b: 63..48 slot of the thread  47..0 program counter, or as the kind says
 *
 * Slots are used again: CREATE says who has one from here on. The functions
 * a thread is in come as differences, in front of the record that needs them:
 * POP leaves so many, PUSH enters one. TEXT is followed by its letters, in
 * records of sixteen.
 *
 * Order. The ring has one writer at a time (its lock), and the calls it tells
 * of are made under that lock, so its order is theirs. Only an access to data
 * of the thread's own is noted without it, in the thread's own buffer. That
 * is emptied into the ring before the thread's next record there, and before
 * that of a thread which takes the data over: whoever sees the cell of
 * another thread empties that thread's buffer first. So the order is one in
 * which all accesses to a cell stand as they were made.
 *
 * Both parts are shared memory: when the program is killed, what was noted is
 * there to be read. Files: see itr.h (blocks of type RECORDS).
 */
#ifndef INTACT_EVENT_RECORD_H
#define INTACT_EVENT_RECORD_H

#include <stdint.h>

/* Stable numbers: they stand in trace files. */
enum rec_kind {
	REC_READ,       /* arg: bytes of the eight at `address` */
	REC_WRITE,
	REC_ATOMIC_READ,
	REC_ATOMIC_WRITE,
	REC_ACQUIRE,    /* arg: REC_SHARED | REC_WAIT */
	REC_RELEASE,    /* arg: REC_WAIT */
	REC_TRY_FAILED,
	REC_SYNC_RELEASE,
	REC_SYNC_ACQUIRE,
	REC_RENEW,      /* an object is initialised or destroyed */
	REC_FORGET,     /* memory is gone; pc: bytes */
	REC_CREATE,     /* address: slot << 32 | number of the new thread; the
	                   record's own slot is its parent's, 0: unknown */
	REC_STACK,      /* the thread's stack: from address up to pc */
	REC_END,        /* the thread is over */
	REC_JOIN,       /* address: slot of the one that was waited for */
	REC_POP,        /* address: functions that stay */
	REC_PUSH,       /* address: where it returns to; arg: REC_INLINED */
	REC_MARK,       /* a block begins; arg: REC_NAMED, the TEXT before */
	REC_MARK_END,
	REC_TEXT,       /* address: length; arg: what it is */
	REC_MODULE,     /* arg 0: from address up to pc, arg 1: based at address;
	                   the TEXT before is its path */
	REC_FORK,       /* the process forks, for the address'th time */
	REC_FORKED,     /* first of a child: what its parent (pc: pid) told up to
	                   its address'th fork came before */
	REC_KINDS,
};

enum { REC_SHARED = 1, REC_WAIT = 2, REC_INLINED = 1, REC_NAMED = 1 };
enum { REC_TEXT_MARK, REC_TEXT_PATH, REC_TEXT_OPTIONS };
enum { REC_TEXT_MAX = 4096 };

struct rec {
	uint64_t a, b;
};

#define REC_LOW UINT64_C(0xffffffffffff)

static inline struct rec rec_make(unsigned kind, unsigned arg, uint64_t addr,
                                  unsigned slot, uint64_t pc)
{
	return (struct rec){ (uint64_t)kind << 56 | (uint64_t)(arg & 0xff) << 48 | (addr & REC_LOW),
		             (uint64_t)slot << 48 | (pc & REC_LOW) };
}
static inline unsigned rec_kind(struct rec r) { return (unsigned)(r.a >> 56); }
static inline unsigned rec_arg(struct rec r) { return (unsigned)(r.a >> 48) & 0xff; }
static inline uint64_t rec_addr(struct rec r) { return r.a & REC_LOW; }
static inline unsigned rec_slot(struct rec r) { return (unsigned)(r.b >> 48); }
static inline uint64_t rec_pc(struct rec r) { return r.b & REC_LOW; }
/* Records of letters behind a TEXT. */
static inline uint64_t rec_letters(struct rec r) { return (rec_addr(r) + 15) / 16; }

/* ---- shared memory ------------------------------------------------------ */

#define REC_MAGIC UINT64_C(0x3143455254434e49)
enum {
	REC_RING = 1 << 20,  /* records, a power of two */
	REC_OWN = 1024,      /* records of a thread's own buffer */
	REC_SLOTS = 1 << 14,
};

/* A thread's own buffer: `n` records behind it. The lock is its thread's, and
 * that of whoever empties it; 64 bytes. */
struct rec_own {
	uint32_t lock, n;
	uint64_t pad[7];
	struct rec list[REC_OWN - 4];
};

struct rec_shm {
	uint64_t magic;
	uint32_t pid, parent;  /* parent: the process it was forked from, or 0 */
	uint32_t slots, pad;   /* those below have been used */
	uint64_t pad0[5];
	uint64_t head;         /* written by the program: records put, ever */
	uint64_t pad1[7];
	uint64_t tail;         /* written by the reader: records taken, ever */
	uint64_t pad2[7];
	struct rec ring[REC_RING];
	struct rec_own own[REC_SLOTS];
};

#endif
