/*
 * record: what the runtime sends about a program, sixteen bytes at a time, and the
 * memory it shares with `intact run` to do so.
 *
 * A record is one call of the analyses (src/dynamic): the same calls in the same
 * order lead to the same findings (dynamic/replay.c). What the hooks settle alone
 * (this thread has touched these bytes since its last synchronisation, and no other
 * thread did meanwhile) leaves no record: it says nothing new to any analysis.
 *
 *   a: 63..56 kind   55..48 arg   47..0 address
 *   b: 63..48 slot of the thread  47..0 program counter, or as the kind says
 *
 * Slots are used again: CREATE says which thread has one from here on. The
 * functions a thread is in come as differences, in front of the record that needs
 * them: POP leaves so many, PUSH enters one (and leaves before, when it says so).
 * TEXT is followed by its letters, in records of sixteen.
 *
 * Streams. Each slot has a ring of bytes of its own, in which its threads write
 * their records packed (record_stream.h), by themselves, without a lock. SPAN, in the
 * common ring, says that so many bytes of a slot's come here: the common ring is
 * the order of all. The few records that belong to no slot, and texts, are stored
 * in it as they are.
 *
 * Order. A call of the analyses that needs more than the thread's own is made under
 * the lock of the common ring, and its SPAN is put before the lock is released.
 * What concerns no other thread now is noted in the thread's bytes alone: a SPAN
 * for it is sent before the thread's next call under the lock, and before that of a
 * thread which takes the object over. `seq` is odd while such a note is made, from
 * before the object shows it until it can be read.
 *
 * With the SPANs' bytes in their places the ring's order is one that can have
 * happened: a thread's records keep its order (spans of a slot are sent in its
 * order), and for every object so do the operations on it. For let f, of thread B,
 * follow e, of thread A, on object x. Was e made under the ring's lock, its SPAN
 * was put before B could see it done, and B's comes later. Else x shows whose it
 * was: a cell its last thread (forgotten memory, too), a lock the thread that
 * released it last, and up to which of its bytes that is. B finds A there and
 *   - takes the ring's lock and sends A's bytes, waiting while `seq` is odd, before
 *     its own; or
 *   - knows that they are sent: `told` is beyond the lock's release; or B's clock
 *     covers e, and clocks are updated only from what was sent; or B holds the
 *     locks that all users of x hold, and sent A's release of them before its own
 *     acquisition.
 * Data that is only read shows no thread: a thread that writes to it sends all
 * threads' bytes. So does a thread that acquires a lock that readers held; readers
 * have no order among each other. A lock's notes are made before it is actually
 * released, so need no `seq`. Threads begin, end and are joined, and findings
 * change, under the lock.
 *
 * All of it is shared memory: when the program is killed, what was noted is
 * there to be read. Files: see itr.h (blocks of type RECORDS).
 */
#ifndef INTACT_EVENT_RECORD_H
#define INTACT_EVENT_RECORD_H

#include <stddef.h>
#include <stdint.h>

/* Stable numbers: they stand in trace files. */
enum rec_kind {
	REC_READ, /* arg: bytes of the eight at `address` */
	REC_WRITE,
	REC_ATOMIC_READ,
	REC_ATOMIC_WRITE,
	REC_ACQUIRE,      /* arg: REC_SHARED | REC_WAIT */
	REC_RELEASE,      /* arg: REC_WAIT */
	REC_TRY_FAILED,   /* arg 0: for a lock. REC_CAS_*: of the next access, an
	                   atomic one to `address` */
	REC_SYNC_RELEASE, /* arg: REC_WAIT: a condition is signalled */
	REC_SYNC_ACQUIRE,
	REC_RENEW,  /* an object is initialised (pc: where) or destroyed (0) */
	REC_FORGET, /* memory is gone; pc: bytes */
	REC_CREATE, /* address: slot << 32 | number of the new thread; the
	                   record's own slot is its parent's, 0: unknown */
	REC_STACK,  /* the thread's stack: from address up to pc. arg REC_CALLED:
	                   address: which of the functions it is in were called
	                   through a pointer, a bit each, from the second on */
	REC_END,    /* the thread is over */
	REC_JOIN,   /* address: slot of the one that was waited for; pc: where,
	                   0: not told */
	REC_POP,    /* address: functions that stay */
	REC_PUSH,   /* address: where it returns to, or, of one that is inlined,
	                   1 after the first byte of the function, if that is
	                   known; arg: REC_INLINED, and twice (functions that
	                   stay, before it, + 1), or 0 */
	REC_MARK,   /* a block begins; arg: REC_NAMED, the TEXT before */
	REC_MARK_END,
	REC_TEXT,   /* address: length; arg: what it is */
	REC_MODULE, /* arg 0: from address up to pc, arg 1: based at address;
	                   the TEXT before is its path. arg 2: the one at
	                   address is gone, what was told of it is known by
	                   addresses from REC_MOVED + 4096 pc on */
	REC_FORK,   /* the process forks, for the address'th time */
	REC_FORKED, /* first of a child: what its parent (pc: pid) told up to
	                   its address'th fork came before */
	REC_ATOMIC, /* when races are asked for: an atomic operation, and what it orders; arg: rec_atomic */
	REC_FREE,   /* ... what the next FORGET is about was given back at pc */
	REC_KINDS,
	/* In shared memory only: so many (address) of this slot's own bytes. */
	REC_SPAN = REC_KINDS,
};

/* TRIED: it was not waited for. DELAYED: another thread came in front of it because this one was delayed (runtime/perturb.c).
 * UNHELD: no release, or renewal: that of a lock the thread does not hold, of one that is held. */
enum { REC_TRIED = 4, REC_UNHELD = 8, REC_DELAYED = 16 };
enum { REC_SHARED = 1, REC_WAIT = 2, REC_INLINED = 1, REC_NAMED = 1, REC_CALLED = 1 };
enum { REC_CAS_FAILED = 1, REC_CAS_SEEN = 2 }; /* SEEN: it found what was read before */
enum { REC_TEXT_MARK, REC_TEXT_PATH, REC_TEXT_OPTIONS };
enum { REC_TEXT_MAX = 4096 };

struct rec {
	uint64_t a, b;
};

/* The argument of REC_ATOMIC: kind (enum atomic_kind, dynamic/races.h), order, bytes. */
static inline unsigned rec_atomic(unsigned kind, unsigned order, unsigned size)
{
	unsigned log = size > 8 ? 4 : size > 4 ? 3 : size > 2 ? 2 : size > 1;
	return kind | order << 2 | log << 5;
}

#define REC_MOVED (UINT64_C(1) << 48) /* above what the processor can address */
/* Where a module at `lo` is moved to. */
static inline uint64_t rec_moved_to(uint64_t lo, uint64_t page)
{
	return REC_MOVED + page * 4096 + lo % 4096;
}
#define REC_LOW UINT64_C(0xffffffffffff)

static inline struct rec rec_make(unsigned kind, unsigned arg, uint64_t addr, unsigned slot, uint64_t pc)
{
	return (struct rec){ (uint64_t)kind << 56 | (uint64_t)(arg & 0xff) << 48 | (addr & REC_LOW),
		             (uint64_t)slot << 48 | (pc & REC_LOW) };
}
static inline unsigned rec_kind(struct rec r)
{
	return (unsigned)(r.a >> 56);
}
static inline unsigned rec_arg(struct rec r)
{
	return (unsigned)(r.a >> 48) & 0xff;
}
static inline uint64_t rec_addr(struct rec r)
{
	return r.a & REC_LOW;
}
static inline unsigned rec_slot(struct rec r)
{
	return (unsigned)(r.b >> 48);
}
static inline uint64_t rec_pc(struct rec r)
{
	return r.b & REC_LOW;
}
/* Functions that stay when PUSH is sent, UINT64_MAX: all. */
static inline uint64_t rec_keep(struct rec r)
{
	unsigned k = rec_arg(r) >> 1;
	return k ? k - 1 : UINT64_MAX;
}
enum { REC_KEEP_MAX = 126 };
/* Records of characters after a TEXT. */
static inline uint64_t rec_letters(struct rec r)
{
	return (rec_addr(r) + 15) / 16;
}

/* ---- shared memory ------------------------------------------------------ */

#define REC_MAGIC UINT64_C(0x3443455254434e49)
enum {
	REC_RING = 1 << 17, /* records, a power of two: they fit the caches */
	REC_OWN = 1 << 17,  /* bytes of a slot's own ring, a power of two */
	REC_SLOTS = 1 << 14,
	REC_PCS = 1 << 20, /* program counters that are kept for their names */
};

/* A slot's own ring. `n`, `told` and `taken` are bytes, and never wrap. */
struct rec_own {
	uint32_t seq, pad;
	uint64_t n;                /* written by the thread */
	uint64_t accesses, others; /* records of either sort */
	uint64_t pad1[4];
	uint64_t told; /* of these, those that a SPAN speaks of */
	uint64_t pad2[7];
	uint64_t taken; /* by the reader */
	uint64_t pad3[7];
	unsigned char bytes[REC_OWN];
};

struct rec_shm {
	uint64_t magic;
	uint32_t pid, parent; /* parent: the process it was forked from, or 0 */
	uint64_t pad0[6];
	/* All that a writer of the ring changes, on one line. */
	uint32_t lock, slots; /* slots: those below have been used */
	uint64_t put;         /* records put, ever; head: those that can be read */
	uint64_t head, room;  /* put may go up to `room` without looking */
	uint64_t pad1[4];
	uint64_t tail; /* written by the reader: records taken, ever */
	uint64_t pad2[7];
	uint64_t npcs; /* program counters used, each about once */
	uint64_t pad3[7];
	uint64_t pcs[REC_PCS];
	struct rec ring[REC_RING];
	struct rec_own own[REC_SLOTS];
};
/* Program and tool are two builds: the layout is fixed, and what different threads write is on different lines. */
_Static_assert(sizeof(struct rec) == 16 && REC_KINDS < 0x100 && REC_SLOTS <= 0x10000, "a record's fields");
_Static_assert(offsetof(struct rec_own, told) == 64 && offsetof(struct rec_own, taken) == 128 &&
                       offsetof(struct rec_own, bytes) == 192,
               "a line each");
_Static_assert(offsetof(struct rec_shm, lock) == 64 && offsetof(struct rec_shm, tail) == 128 &&
                       offsetof(struct rec_shm, npcs) == 192,
               "a line each");
_Static_assert(!(REC_RING & (REC_RING - 1)) && !(REC_OWN & (REC_OWN - 1)), "rings are powers of two");

#endif
