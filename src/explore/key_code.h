/*
 * key_code: a batch of states in few bytes, for other ranks.
 *
 * The states, as packed words (store.h), are sorted and each is written as its difference to the one before, the first as it
 * is: as a varint when states have one word, else the number of bytes that the difference has and those bytes. About two
 * bytes for a state of one word in batches of some thousands; 3 to 5 ns to write or to read one, sorting aside.
 */
#ifndef INTACT_EXPLORE_KEY_CODE_H
#define INTACT_EXPLORE_KEY_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that n keys of so many words take at most. */
static inline size_t key_code_room(uint64_t n, uint32_t words)
{
	return 10 + n * (words == 1 ? 10 : 8 * (size_t)words + 2);
}
/* Sorted keys: those that are equal become one; how many there are then. */
uint64_t key_code_distinct(uint64_t *keys, uint64_t n, uint32_t words);
/* Writes sorted keys, no two equal; where it ends. */
unsigned char *key_code_write(unsigned char *out, const uint64_t *keys, uint64_t n, uint32_t words);
/* Reads all bytes into `keys`, which has room for `room`; how many there are, or UINT64_MAX when the bytes are not what
 * key_code_write makes. */
uint64_t key_code_read(const unsigned char *in, size_t length, uint32_t words, uint64_t *keys, uint64_t room);

#endif
