/*
 * itr: Intact's own trace file, and the coding of its blocks.
 *
 * All numbers are little-endian. A file is a header and blocks:
 *
 *   header   "INTACTTR", u32 version (4; 2 had no GAP and EIGHTH in STREAMS, 1 no
 *            STREAMS; a version has one bit, so that a wrong one makes none), u32 zero
 *   block    40 bytes of head, then `stored` bytes of payload:
 *     u32 magic "IBLK"   u8 type   u8 encoding   u8 compression   u8 zero
 *     u32 stored         u32 raw (bytes after decompression)
 *     u64 first          (number of the first event; END: how many there are)
 *     u32 count          (events, or names)
 *     u32 crc of the payload   u32 process   u32 crc of the 36 bytes before
 *
 * Types: NAMES (1) adds to the tables, in front of the events that use them; EVENTS (2); META (3),
 * lines "key=value"; END (4), the file is whole; RECORDS (5), what a program under `intact run
 * --record` sent (record.h), FIXED, PACKED (record_pack.h) or STREAMS (2, record_stream.h: `first` and
 * `count` are then of blocks, count 1), of the process with that number (0 unless several ran; the
 * highest bit: an opening, record_state.h); SYMBOLS (6), text: names for the addresses in them. CRC is
 * CRC-32 (IEEE). Compression: none (0), zstd (1).
 *
 * NAMES: count times: u8 name space | 0x80 for an address; then varint length
 *   and bytes, or varint address. Ids follow from the order.
 * EVENTS, encoding FIXED (0), what a recorder writes without effort: 16 bytes
 *   per event: u8 kind, u8 zero, u16 thread, u32 place (UINT32_MAX: none),
 *   u64 target, an address or number of the program's own, given an id here.
 * EVENTS, encoding PACKED (1): u8 kind | 0x10 same thread as before | 0x20 no
 *   target | 0x40 no place | 0x80 place as before; then varint thread, zigzag
 *   varint target minus the last of its space, zigzag varint place minus the
 *   thread's last.  About 3 bytes, 1 to 2 after zstd.
 *
 * Every block is self-contained (the deltas restart; but those of STREAMS continue), is written with
 * one write, and carries its checksum: a recorder that dies loses what it had not written; a reader
 * stops at the first block that is short or wrong. Names and events need only memory copies and a
 * table of 256 words for the CRC, so a recorder needs no library.
 */
#ifndef INTACT_EVENT_ITR_H
#define INTACT_EVENT_ITR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "event/event.h"
#include "event/names.h"

#define ITR_MAGIC       "INTACTTR"
#define ITR_VERSION     4
#define ITR_HEADER      16
#define ITR_HEAD        40
#define ITR_BLOCK_MAGIC UINT32_C(0x4B4C4249)
#define ITR_MAX_RAW     (UINT32_C(16) << 20)
#define ITR_MAX_STORED  (ITR_MAX_RAW + (UINT32_C(1) << 17))

enum itr_type { ITR_NAMES = 1, ITR_EVENTS, ITR_META, ITR_END, ITR_RECORDS, ITR_SYMBOLS };
#define ITR_OPENING UINT32_C(0x80000000) /* of the process */
enum itr_encoding { ITR_FIXED, ITR_PACKED, ITR_STREAMS };
enum itr_compression { ITR_RAW, ITR_ZSTD };

struct itr_head {
	uint8_t type, encoding, compression;
	uint32_t stored, raw, count;
	uint64_t first;
	uint32_t crc, process;
};

void itr_put_header(unsigned char out[ITR_HEADER]);
/* NULL when it is a header this version reads, else why not. */
const char *itr_get_header(const unsigned char in[ITR_HEADER]);
void itr_put_head(const struct itr_head *h, unsigned char out[ITR_HEAD]);
/* False when it is not a sound head. */
bool itr_get_head(const unsigned char in[ITR_HEAD], struct itr_head *h);
uint32_t itr_crc(const void *data, size_t len);

/* Appends the packed form of n events. */
void itr_pack(const struct event *ev, size_t n, struct buf *out);
/* Appends the entries of all tables from `from` on; returns how many. */
uint32_t itr_pack_names(const struct trace_names *t, uint32_t from[NS_COUNT], struct buf *out);

/* Reads a block's events; `out` has room for count. NULL, or what is wrong. */
const char *itr_unpack(const struct itr_head *h, const unsigned char *p, struct trace_names *t, struct event *out);
const char *itr_unpack_names(const struct itr_head *h, const unsigned char *p, struct trace_names *t);

#endif
