/*
 * record_pack: records (record.h) of all threads in few bytes, a block by itself.
 *
 * What a program does at one place it mostly does again at the next address,
 * and mostly the same place comes next. So a block has a table of places
 * (kind and program counter), each with the address and bytes used there
 * last, the step it took to get there, and the place that came next. A record
 * that is as expected is one byte; runs of those cost next to nothing after
 * zstd.
 *
 *   u8 kind | 0x20 same thread | 0x40 expected place | 0x80 expected address
 *   varint slot (unless same); varint place + 1, or 0 and zigzag varint of a
 *   new counter minus the last new one; zigzag varint of the address minus
 *   the place's last, u8 arg (unless expected). Letters of a TEXT follow as
 *   they are.
 *
 * The tables restart with every block. Memory: 40 bytes per record of the
 * largest block, kept between blocks.
 */
#ifndef INTACT_EVENT_RECORD_PACK_H
#define INTACT_EVENT_RECORD_PACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "event/record.h"

#define RECORD_PACK_MAX 262144 /* records of one block */

struct record_pack;
struct record_pack *record_pack_new(void);
void record_pack_free(struct record_pack *p);
/*
 * Appends n records (n <= RECORD_PACK_MAX), but not a TEXT at the end whose letters
 * have not all come: how many went in.
 */
size_t record_pack_put(struct record_pack *p, const struct rec *r, size_t n, struct buf *out);
/* Reads n records into `out`. NULL, or what is wrong. */
const char *record_pack_get(struct record_pack *p, const unsigned char *s, size_t len, size_t n, struct rec *out);
/* Are n records, as stored in a file, valid by themselves? */
const char *rec_check(const struct rec *r, size_t n);

#endif
