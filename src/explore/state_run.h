/*
 * state_run: sorted runs of states in few bytes, for files.
 *
 * A state is given as its packed words (store.h). The order is that of the fields from the
 * last to the first, which is the numeric order of the words read as one number, the first
 * word lowest: it does not depend on the widths of the fields, so runs of different layouts
 * are in one order.
 *
 * A run is a head and a payload. The payload has, for each state, the difference to the one
 * before as a number of as many groups of seven bits as it needs; then it is compressed
 * (zstd, its fastest level). The head names the widths of the fields, how many states there
 * are, how long the payload is, and a checksum of both. A run that is read is checked: sizes
 * before anything is allocated, the checksum, and that states increase.
 *
 * Sorting: by radix for states of one word, else by comparison. Cost: one to three bytes per
 * state; see docs/scale.md.
 */
#ifndef INTACT_EXPLORE_STATE_RUN_H
#define INTACT_EXPLORE_STATE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define STATE_RUN_MAX  ((uint64_t)1 << 21) /* states of one run */
#define STATE_RUN_HEAD 32u                 /* bytes, before the widths */

struct state_run_head {
	uint32_t what;    /* the caller's: which list of states it belongs to */
	uint32_t nfields; /* of a state */
	uint32_t words;   /* of a packed state */
	uint64_t n;       /* states */
	uint64_t bytes;   /* of what follows the head: widths and payload */
	uint32_t crc;     /* of what follows */
};

/* The order of states. */
static inline int state_run_compare(const uint64_t *a, const uint64_t *b, uint32_t words)
{
	for (uint32_t i = words; i-- > 0;)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

/* Sorts n states of so many words each. `room` is for as many. */
void state_run_sort(uint64_t *states, uint64_t *room, uint64_t n, uint32_t words);
/* Appends the run of n sorted states, no two equal, with fields of these widths; false when out of memory. */
bool state_run_write(struct buf *out, uint32_t what, uint32_t nfields, const uint8_t *bits, uint32_t words, const uint64_t *states,
                     uint64_t n);

/* The head in the first STATE_RUN_HEAD bytes; false when it is none. */
bool state_run_read_head(const unsigned char *bytes, struct state_run_head *h);
/* Does the checksum of what follows the head fit? */
bool state_run_whole(const struct state_run_head *h, const unsigned char *rest);
/*
 * The states of a run: `rest` is what follows the head, h->bytes of it. *bits points into it, *states is malloc'ed. False
 * when the run is damaged or memory has ended.
 */
bool state_run_read(const struct state_run_head *h, const unsigned char *rest, const uint8_t **bits, uint64_t **states);

#endif
