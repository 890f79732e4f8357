#include "explore/key_code.h"

#include <string.h>

#include "base/invariant.h"
#include "base/varint.h"
#include "explore/state_run.h"

static unsigned char *write_one(unsigned char *out, const uint64_t *keys, uint64_t n)
{
	uint64_t before = 0;
	for (uint64_t i = 0; i < n; i++) {
		assert(keys[i] > before);
		out = put_varint(out, keys[i] - before);
		before = keys[i];
	}
	return out;
}

/* The difference of two numbers of so many words. */
static void subtract(uint64_t *d, const uint64_t *a, const uint64_t *b, uint32_t words)
{
	unsigned borrow = 0;
	for (uint32_t i = 0; i < words; i++) {
		uint64_t t = a[i] - b[i], u = t - borrow;
		borrow = (a[i] < b[i]) | (t < borrow);
		d[i] = u;
	}
	assert(!borrow);
}

static bool add(uint64_t *to, const uint64_t *d, uint32_t words)
{
	unsigned carry = 0;
	for (uint32_t i = 0; i < words; i++) {
		uint64_t t = to[i] + d[i], u = t + carry;
		carry = (t < d[i]) | (u < t);
		to[i] = u;
	}
	return !carry;
}

/* Significant bytes of a number. */
static uint32_t size_of(const uint64_t *d, uint32_t words)
{
	while (words && !d[words - 1])
		words--;
	assert(!words || d[words - 1]);
	return words ? 8 * words - (uint32_t)__builtin_clzll(d[words - 1]) / 8 : 0;
}

#define CODE_WORDS 16u /* of a difference that is worked out at once */

static unsigned char *write_wide(unsigned char *out, const uint64_t *keys, uint64_t n, uint32_t words)
{
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t *key = keys + i * words;
		uint64_t d[CODE_WORDS];
		assert(words <= CODE_WORDS && (!i || state_run_compare(key - words, key, words) < 0));
		memcpy(d, key, words * sizeof *d);
		if (i)
			subtract(d, key, key - words, words);
		uint32_t bytes = size_of(d, words);
		assert(bytes);
		*out++ = (unsigned char)bytes;
		for (uint32_t b = 0; b < bytes; b++)
			*out++ = (unsigned char)(d[b / 8] >> b % 8 * 8);
	}
	return out;
}

uint64_t key_code_distinct(uint64_t *keys, uint64_t n, uint32_t words)
{
	uint64_t to = n ? 1 : 0;
	for (uint64_t i = 1; i < n; i++) {
		const uint64_t *key = keys + i * words, *last = keys + (to - 1) * words;
		bool same = true;
		for (uint32_t k = 0; k < words; k++)
			same &= key[k] == last[k];
		if (same)
			continue;
		for (uint32_t k = 0; k < words; k++)
			keys[to * words + k] = key[k];
		to++;
	}
	assert(to <= n);
	return to;
}

unsigned char *key_code_write(unsigned char *out, const uint64_t *keys, uint64_t n, uint32_t words)
{
	assert(words);
	if (words == 1)
		return write_one(out, keys, n);
	if (words <= CODE_WORDS)
		return write_wide(out, keys, n, words);
	memcpy(out, keys, n * words * sizeof *keys); /* wider than that: each as it is */
	return out + n * words * sizeof *keys;
}

static uint64_t read_one(const unsigned char *in, const unsigned char *end, uint64_t *keys, uint64_t room)
{
	struct cursor c = { in, end, false };
	uint64_t n = 0, key = 0;
	while (c.p < c.end && n < room) {
		uint64_t d = get_varint(&c);
		if (c.bad || !d || key + d < key)
			return UINT64_MAX;
		keys[n++] = key += d;
	}
	return c.p == c.end ? n : UINT64_MAX;
}

static uint64_t read_wide(const unsigned char *in, const unsigned char *end, uint32_t words, uint64_t *keys, uint64_t room)
{
	uint64_t n = 0;
	while (in < end && n < room) {
		uint32_t bytes = *in++;
		uint64_t d[CODE_WORDS] = { 0 }, *key = keys + n * words;
		if (!bytes || bytes > 8 * words || bytes > (uint64_t)(end - in))
			return UINT64_MAX;
		for (uint32_t b = 0; b < bytes; b++)
			d[b / 8] |= (uint64_t)*in++ << b % 8 * 8;
		if (n)
			memcpy(key, key - words, words * sizeof *key);
		else
			memset(key, 0, words * sizeof *key);
		if (!add(key, d, words))
			return UINT64_MAX;
		n++;
	}
	return in == end ? n : UINT64_MAX;
}

uint64_t key_code_read(const unsigned char *in, size_t length, uint32_t words, uint64_t *keys, uint64_t room)
{
	assert(words);
	if (words == 1)
		return read_one(in, in + length, keys, room);
	if (words <= CODE_WORDS)
		return read_wide(in, in + length, words, keys, room);
	if (length % (words * 8ull) || length / 8 / words > room)
		return UINT64_MAX;
	memcpy(keys, in, length);
	return length / 8 / words;
}
