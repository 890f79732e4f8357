/*
 * key_run: a sorted sequence of keys in a scratch file, for searches on disk.
 *
 * A key is a number of `words` 64-bit words, the lowest first; keys increase strictly. They are stored in blocks of up to
 * KEY_BLOCK: for each key but the first the difference to the one before, in 1, 2, 4 or 8 bytes (keys of several words: 2,
 * 4, 8 or all), four codes for the lengths in a byte before the differences. Decoding has no branch that depends on them:
 * 1 to 2 ns for a key of one word. The index stays in memory: of each block its first key, place, length and checksum, 40 bytes
 * for one word, so that blocks without anything of interest are not read.
 *
 * A writer takes keys in order and ends in a run. A reader gives a run, or an array in memory, block by block; with a
 * layout other than the run's it converts them: the order of states is the same in all layouts (state_run.h).
 */
#ifndef INTACT_EXPLORE_KEY_RUN_H
#define INTACT_EXPLORE_KEY_RUN_H

#include "explore/scratch.h"
#include "explore/store.h"

#define KEY_BLOCK 2048u

struct key_layout { /* what a key is */
	struct store_layout at;
	uint32_t low, high; /* words before and behind those of the state */
};

struct key_block {
	uint64_t offset;
	uint32_t bytes, n, crc;
};

struct key_run {
	struct scratch_file file;
	const struct key_layout *layout;
	uint32_t words; /* of a key */
	uint64_t n;     /* keys */
	struct key_block *block;
	uint64_t nblocks, cap_block;
	uint64_t *first; /* keys, by block */
	uint64_t cap_first;
};

void key_run_free(struct scratch *s, struct key_run *r);
uint64_t key_run_bytes(const struct key_run *r); /* in memory */
static inline uint32_t key_layout_words(const struct key_layout *l)
{
	return l->at.words + l->low + l->high;
}

struct key_writer {
	struct scratch *s;
	struct key_run run;
	uint64_t *keys; /* of the block to come */
	uint32_t n;
	unsigned char *out; /* coded, to be written */
	size_t nout;
};

/* False when out of memory, which is the scratch's trouble; then and after key_writer_end there is nothing to free. */
bool key_writer_init(struct key_writer *w, struct scratch *s, const struct key_layout *layout);
bool key_writer_put(struct key_writer *w, const uint64_t *keys, uint64_t n);
bool key_writer_end(struct key_writer *w, struct key_run *run);
void key_writer_cancel(struct key_writer *w);
uint64_t key_writer_bytes(uint32_t words);

struct key_reader {
	struct scratch *s;
	const struct key_run *run;   /* or NULL: an array */
	const struct key_layout *as; /* what the keys are given as */
	uint32_t words;
	uint64_t next;        /* block, or key of the array */
	const uint64_t *keys; /* the present block */
	uint64_t n, at;
	/* room */
	uint64_t *decoded, *converted;
	unsigned char *raw;
	uint32_t *ids;
	const uint64_t *array;
	uint64_t narray;
};

bool key_reader_init(struct key_reader *r, struct scratch *s, const struct key_run *run, const struct key_layout *as);
void key_reader_array(struct key_reader *r, const uint64_t *keys, uint64_t n, const struct key_layout *as);
void key_reader_free(struct key_reader *r);
/* The next block becomes the present one; false: there is none, or trouble. */
bool key_reader_next(struct key_reader *r);
/* The block with number b, for runs in the reader's own layout. */
bool key_reader_block(struct key_reader *r, uint64_t b);
/* Blocks all of whose keys are below `key` are skipped; false when that is all of them, or trouble. A key that is asked
 * for is never below the one before. */
bool key_reader_seek(struct key_reader *r, const uint64_t *key);
uint64_t key_reader_bytes(uint32_t words);

#endif
