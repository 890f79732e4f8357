/*
 * key_sort: keys of one or two words by radix, the lowest digit first, digits that all have in common left out, with all
 * digits counted in one pass; wider ones by merging, whose cost does not grow with the number of digits.
 */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "explore/key_merge.h"
#include "explore/state_run.h"

#define KEY_RADIX_BITS 11u
#define KEY_RADIX      (1u << KEY_RADIX_BITS)
#define DIGITS         6u  /* of a word */
#define KEY_FEW        64u /* keys; fewer are inserted one by one */

static void insertion_sort(uint64_t *a, uint64_t n, uint32_t words)
{
	uint64_t key[STORE_INLINE + 1];
	assert(words <= STORE_INLINE + 1);
	for (uint64_t i = 1; i < n; i++) {
		uint64_t k = i;
		memcpy(key, a + i * words, words * sizeof *a);
		for (; k && state_run_compare(a + (k - 1) * words, key, words) > 0; k--)
			memcpy(a + k * words, a + (k - 1) * words, words * sizeof *a);
		memcpy(a + k * words, key, words * sizeof *a);
	}
}

static inline void copy_key(uint64_t *to, const uint64_t *from, uint32_t words)
{
	for (uint32_t k = 0; k < words; k++)
		to[k] = from[k];
}

/* By the digits of one of the words. */
static uint64_t *radix_word(uint64_t *from, uint64_t *to, uint64_t n, uint32_t words, uint32_t word)
{
	uint32_t at[DIGITS][KEY_RADIX];
	uint64_t all = UINT64_MAX, any = 0;
	assert(n <= UINT32_MAX);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t v = from[i * words + word];
		all &= v;
		any |= v;
	}
	uint64_t differ = all ^ any;
	uint32_t todo[DIGITS], ntodo = 0;
	for (uint32_t d = 0; d < DIGITS; d++)
		if (differ >> d * KEY_RADIX_BITS & (KEY_RADIX - 1)) {
			memset(at[ntodo], 0, sizeof at[ntodo]);
			todo[ntodo++] = d * KEY_RADIX_BITS;
		}
	for (uint64_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < ntodo; k++)
			at[k][from[i * words + word] >> todo[k] & (KEY_RADIX - 1)]++;
	for (uint32_t k = 0; k < ntodo; k++) {
		uint32_t sum = 0;
		for (uint32_t d = 0; d < KEY_RADIX; d++) {
			uint32_t here = at[k][d];
			at[k][d] = sum;
			sum += here;
		}
		assert(sum == n);
		if (words == 1)
			for (uint64_t i = 0; i < n; i++)
				to[at[k][from[i] >> todo[k] & (KEY_RADIX - 1)]++] = from[i];
		else
			for (uint64_t i = 0; i < n; i++)
				copy_key(to + (uint64_t)at[k][from[i * words + word] >> todo[k] & (KEY_RADIX - 1)]++ * words,
				         from + i * words, words);
		uint64_t *t = from;
		from = to;
		to = t;
	}
	return from;
}

static uint64_t *merge_sort(uint64_t *from, uint64_t *to, uint64_t n, uint32_t words)
{
	size_t size = words * sizeof *from;
	for (uint64_t run = 1; run < n; run *= 2) {
		for (uint64_t i = 0; i < n; i += 2 * run) {
			uint64_t a = i, b = i + run < n ? i + run : n, enda = b, endb = b + run < n ? b + run : n, o = i;
			while (a < enda && b < endb) {
				bool second = state_run_compare(from + b * words, from + a * words, words) < 0;
				memcpy(to + o++ * words, from + (second ? b : a) * words, size);
				a += !second;
				b += second;
			}
			memcpy(to + o * words, from + a * words, (enda - a) * size);
			o += enda - a;
			memcpy(to + o * words, from + b * words, (endb - b) * size);
		}
		uint64_t *t = from;
		from = to;
		to = t;
	}
	return from;
}

uint64_t *key_sort(uint64_t *keys, uint64_t *room, uint64_t n, uint32_t words)
{
	assert(words);
	if (words > STORE_INLINE + 1)
		return merge_sort(keys, room, n, words);
	if (n <= KEY_FEW) {
		insertion_sort(keys, n, words);
		return keys;
	}
	if (n > UINT32_MAX)
		return merge_sort(keys, room, n, words);
	for (uint32_t w = 0; w < words; w++) {
		uint64_t *at = radix_word(keys, room, n, words, w);
		room = at == keys ? room : keys;
		keys = at;
	}
	return keys;
}
