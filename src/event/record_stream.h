/*
 * record_stream: a slot's records (record.h) in few bytes, written by the program.
 *
 * What a program does at one place it mostly does again at the next address,
 * and mostly the same place comes next. So writer and reader keep a table of
 * places (kind and program counter), each with the address and argument used
 * there last, the step from the one before that there, and from the record before
 * (other parts of one object), and the place that came next. A
 * record that is as expected is one byte, the same one each time; runs of it
 * cost next to nothing after zstd.
 *
 *   u8 head of a record at the expected place: 0x80; 0x40 the expected address,
 *   or 0x10 that of the record before, or 0x08 as far from that as the last time
 *   at this place; 0x20 the argument used there last; the lowest two bits: how
 *   many bytes the address takes, 1, 2, 3 or 7, in eighths with 0x04. Of one at
 *   another place: 0x40, 0x20, and its kind.
 *   Then: varint number of the place, or 0 and zigzag varint of a new counter
 *   minus the last new one (unless expected); the address minus the place's
 *   last, zigzag, so many bytes or a varint (unless expected or as before); u8
 *   argument (unless used last).
 *   Heads that are no records: 29 leaves functions, varint how many stay (as
 *   POP does); 30 all is forgotten; 31 nothing.
 *
 * A block of a file (itr.h, encoding STREAMS) is a row of
 *   varint slot << 1, varint length, so many bytes of that slot's, or
 *   varint 1, varint count, so many records as they are, 16 bytes each;
 * in their order there. The tables continue from block to block of a process: a
 * file is read from its beginning.
 *
 * The writing half is here, because the runtime has no library: no allocation, no
 * loops but over the bytes of a number. 60 to 150 instructions per record,
 * including the rest of the note. Memory of a writer: up to 300 KB per slot,
 * depending on the places in use.
 */
#ifndef INTACT_EVENT_RECORD_STREAM_H
#define INTACT_EVENT_RECORD_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/invariant.h"
#include "event/record.h"
#include "base/varint.h"

enum {
	RECORD_STREAM_NEXT = 0x80,
	RECORD_STREAM_ADDRESS = 0x40,
	RECORD_STREAM_ARG = 0x20,
	RECORD_STREAM_SAME = 0x10,
	RECORD_STREAM_GAP = 0x08,
	RECORD_STREAM_EIGHTH = 0x04,
	RECORD_STREAM_SIZE = 0x03,
	RECORD_STREAM_KIND = 0x1f,
	RECORD_STREAM_LEAVE = 29,
	RECORD_STREAM_RESTART = 30,
	RECORD_STREAM_PAD = 31,
	RECORD_STREAM_PLACES = 1 << 13,
	RECORD_STREAM_ONE = 32,        /* no record is longer */
	RECORD_STREAM_BLOCK = 1 << 20, /* nor a block's payload */
};

struct rec_place {
	uint64_t key; /* kind << 48 | counter */
	uint64_t addr, step;
	uint16_t next; /* place that came after it; 0: unknown */
	uint8_t arg;
	int32_t gap; /* from the address of the record before it, when it fits */
};

/* All zero but `mask`: recenc_restart makes it so. */
struct recenc {
	struct rec_place *last;
	uint32_t n;           /* places; [0] precedes the first */
	uint32_t mask;        /* of the buckets in use */
	uint64_t addr, fresh; /* last of any place; last new counter */
	uint32_t nnews;
	uint64_t news[2];   /* counters and return addresses not seen before here */
	uint64_t sites[64]; /* return addresses, the last of each number */
	uint16_t buckets[2 * RECORD_STREAM_PLACES];
	struct rec_place places[RECORD_STREAM_PLACES];
};

static inline uint32_t recenc_hash(uint64_t key)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 40);
}

static inline void recenc_restart(struct recenc *e)
{
	e->mask = 255;
	for (uint32_t i = 0; i <= e->mask; i++)
		e->buckets[i] = 0;
	e->places[0] = (struct rec_place){ .key = UINT64_MAX };
	e->last = e->places;
	e->n = 1;
	e->addr = e->fresh = 0;
	e->nnews = 0;
}

static inline void recenc_grow(struct recenc *e)
{
	e->mask = e->mask * 2 + 1;
	for (uint32_t i = 0; i <= e->mask; i++)
		e->buckets[i] = 0;
	assert(e->n <= e->mask && e->mask < 2 * RECORD_STREAM_PLACES);
	for (uint32_t id = 1; id < e->n; id++) {
		uint32_t b = recenc_hash(e->places[id].key) & e->mask;
		while (e->buckets[b])
			b = (b + 1) & e->mask;
		e->buckets[b] = (uint16_t)id;
	}
}

/* A place that was not expected: its number, or all of it. */
static __attribute__((noinline)) unsigned char *recenc_place(struct recenc *e, unsigned char *s, uint64_t key,
                                                             struct rec_place **at)
{
	unsigned char *head = s - 1;
	uint32_t b = recenc_hash(key) & e->mask, id;
	while ((id = e->buckets[b]) && e->places[id].key != key)
		b = (b + 1) & e->mask;
	if (!id && e->n == RECORD_STREAM_PLACES) {
		recenc_restart(e);
		*head = RECORD_STREAM_RESTART;
		head = s++;
		b = recenc_hash(key) & e->mask;
	}
	*head = (unsigned char)(key >> 48);
	if (id) {
		s = put_varint(s, id);
	} else {
		*s++ = 0;
		s = put_varint(s, zigzag(key & REC_LOW, e->fresh));
		e->fresh = key & REC_LOW;
		e->news[e->nnews++ & 1] = e->fresh;
		id = e->n++;
		e->places[id] = (struct rec_place){ .key = key, .addr = e->addr };
		e->buckets[b] = (uint16_t)id;
		if (e->n * 2 > e->mask && e->mask < 2 * RECORD_STREAM_PLACES - 1)
			recenc_grow(e);
	}
	e->last->next = (uint16_t)id;
	*at = &e->places[id];
	return s;
}

/* An address of the expected place, little-endian; its size's number. */
static inline unsigned recenc_size(uint64_t z)
{
	return z < 1 << 8 ? 0 : z < 1 << 16 ? 1 : z < 1 << 24 ? 2 : 3;
}

static inline unsigned recenc_length(unsigned size)
{
	assert(size <= 3);
	return size < 3 ? size + 1 : 7;
}

/* Functions are left, so many stay: at `s`, before the next record. */
static inline unsigned char *recenc_leave(unsigned char *s, uint64_t keep)
{
	*s++ = RECORD_STREAM_LEAVE;
	return put_varint(s, keep);
}

/* The address of a record at the expected place, which is not the expected one. */
static inline __attribute__((always_inline)) unsigned char *recenc_address(const struct recenc *e, unsigned char *s,
                                                                           unsigned *flags, struct rec_place *at, uint64_t addr)
{
	uint64_t z = zigzag(addr, at->addr);
	at->step = addr - at->addr;
	if (addr - e->addr == (uint64_t)(int64_t)at->gap) {
		*flags |= RECORD_STREAM_GAP;
		return s;
	}
	if (addr == e->addr) {
		*flags |= RECORD_STREAM_SAME;
		return s;
	}
	if (!(at->step & 7)) {
		*flags |= RECORD_STREAM_EIGHTH;
		z >>= 3;
	}
	unsigned size = recenc_size(z);
	*flags |= size;
	__builtin_memcpy(s, &z, 8);
	return s + recenc_length(size);
}

/* Writes a record at `s`, where RECORD_STREAM_ONE bytes are free; its end. The
 * caller empties `news`. */
static inline __attribute__((always_inline)) unsigned char *recenc_put(struct recenc *e, unsigned char *s, unsigned kind,
                                                                       unsigned arg, uint64_t addr, uint64_t pc)
{
	uint64_t key = (uint64_t)kind << 48 | pc;
	struct rec_place *at = &e->places[e->last->next];
	unsigned char *start = s++;
	unsigned flags = RECORD_STREAM_NEXT;
	if (__builtin_expect(at->key != key, 0)) {
		s = recenc_place(e, s, key, &at);
		start += *start == RECORD_STREAM_RESTART;
		flags = kind;
	}
	uint64_t step = addr - at->addr;
	if (step == at->step) {
		flags |= RECORD_STREAM_ADDRESS;
	} else if (flags & RECORD_STREAM_NEXT) {
		s = recenc_address(e, s, &flags, at, addr);
	} else {
		at->step = step;
		s = put_varint(s, zigzag(addr, at->addr));
	}
	if (kind == REC_PUSH && step && e->sites[addr % 64] != addr)
		e->news[e->nnews++ & 1] = e->sites[addr % 64] = addr;
	if (at->arg == arg) {
		flags |= RECORD_STREAM_ARG;
	} else {
		*s++ = (unsigned char)arg;
		at->arg = (uint8_t)arg;
	}
	*start = (unsigned char)flags;
	at->gap = (int32_t)(addr - e->addr);
	at->addr = e->addr = addr;
	e->last = at;
	return s;
}

/* ---- reading ------------------------------------------------------------ */

struct recdec; /* of one process */

struct recdec *recdec_new(void);
void recdec_free(struct recdec *d);
/*
 * The records of `len` bytes of a slot, or of a whole block, appended to `out`,
 * which has room for `len` of them. NULL, or what is wrong.
 */
const char *recdec_span(struct recdec *d, unsigned slot, const unsigned char *p, size_t len, struct rec *out, size_t *n);
const char *recdec_block(struct recdec *d, const unsigned char *p, size_t len, struct rec *out, size_t *n);

#endif
