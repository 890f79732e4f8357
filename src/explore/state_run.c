#include "explore/state_run.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/invariant.h"
#include "base/varint.h"

#define RADIX_BITS 11u
#define RADIX      (1u << RADIX_BITS)
#define RADIX_FROM 512u /* states; fewer are compared */
#define RUN_MAGIC  0x726c6b31u
#define RUN_WORDS  (1u << 20) /* of a packed state, at most */

/* ---- sorting ------------------------------------------------------------ */

static int compare_states(const void *a, const void *b, void *words)
{
	return state_run_compare(a, b, *(const uint32_t *)words);
}

/* Numbers by radix, the lowest digit first; digits that all have in common are left out. */
static void radix_sort(uint64_t *states, uint64_t *room, uint64_t n)
{
	uint64_t all = ~(uint64_t)0, any = 0, *from = states, *to = room;
	for (uint64_t i = 0; i < n; i++) {
		all &= states[i];
		any |= states[i];
	}
	for (uint32_t shift = 0; shift < 64; shift += RADIX_BITS) {
		if (!((all ^ any) >> shift & (RADIX - 1)))
			continue;
		uint64_t at[RADIX] = { 0 }, sum = 0;
		for (uint64_t i = 0; i < n; i++)
			at[from[i] >> shift & (RADIX - 1)]++;
		for (uint32_t d = 0; d < RADIX; d++) {
			uint64_t k = at[d];
			at[d] = sum;
			sum += k;
		}
		assert(sum == n);
		for (uint64_t i = 0; i < n; i++)
			to[at[from[i] >> shift & (RADIX - 1)]++] = from[i];
		uint64_t *t = from;
		from = to;
		to = t;
	}
	if (from != states)
		memcpy(states, from, n * sizeof *states);
}

void state_run_sort(uint64_t *states, uint64_t *room, uint64_t n, uint32_t words)
{
	assert(words);
	if (words == 1 && n >= RADIX_FROM)
		radix_sort(states, room, n);
	else if (n)
		qsort_r(states, n, words * sizeof *states, compare_states, &words);
}

/* ---- writing ------------------------------------------------------------ */

/* The number a - b (a is larger), seven bits at a time; `room` is for the difference. */
static unsigned char *put_difference(unsigned char *s, const uint64_t *a, const uint64_t *b, uint32_t words, uint64_t *room)
{
	uint64_t borrow = 0;
	uint32_t top = 0;
	for (uint32_t i = 0; i < words; i++) {
		uint64_t d = a[i] - b[i], e = d - borrow;
		borrow = (a[i] < b[i]) | (d < borrow);
		room[i] = e;
		if (e)
			top = i;
	}
	assert(!borrow);
	while (top) {
		*s++ = (unsigned char)(room[0] | 0x80);
		for (uint32_t i = 0; i < top; i++)
			room[i] = room[i] >> 7 | room[i + 1] << 57;
		room[top] >>= 7;
		top -= !room[top];
	}
	return put_varint(s, room[0]);
}

static void put32(unsigned char *s, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		s[i] = (unsigned char)(v >> 8 * i);
}

static uint32_t get32(const unsigned char *s)
{
	return (uint32_t)s[0] | (uint32_t)s[1] << 8 | (uint32_t)s[2] << 16 | (uint32_t)s[3] << 24;
}

static uint32_t checksum(const unsigned char *s, size_t n)
{
	return (uint32_t)crc32_z(0, s, n);
}

/* The differences of all states; how many bytes they are, in *len. */
static unsigned char *differences(const uint64_t *states, uint64_t n, uint32_t words, size_t *len)
{
	unsigned char *text = malloc(n * words * 10 + 16), *s = text;
	uint64_t *room = calloc(2ull * words, sizeof *room);
	const uint64_t *last = room ? room + words : NULL;
	for (uint64_t i = 0; text && room && i < n; i++) {
		assert(!i || state_run_compare(last, states + i * words, words) < 0);
		s = put_difference(s, states + i * words, last, words, room);
		last = states + i * words;
	}
	if (!room) {
		free(text);
		return NULL;
	}
	*len = (size_t)(s - text);
	free(room);
	return text;
}

bool state_run_write(struct buf *out, uint32_t what, uint32_t nfields, const uint8_t *bits, uint32_t words, const uint64_t *states,
                     uint64_t n)
{
	assert(n && n <= STATE_RUN_MAX);
	size_t len = 0, bound;
	unsigned char *text = differences(states, n, words, &len), head[STATE_RUN_HEAD] = { 0 };
	if (!text)
		return false;
	bound = ZSTD_compressBound(len);
	unsigned char *rest = malloc(nfields + 8 + bound);
	size_t packed = rest ? ZSTD_compress(rest + nfields + 8, bound, text, len, 1) : 0;
	free(text);
	if (!rest || ZSTD_isError(packed)) {
		free(rest);
		return false;
	}
	memcpy(rest, bits, nfields);
	put32(rest + nfields, (uint32_t)len);
	put32(rest + nfields + 4, (uint32_t)((uint64_t)len >> 32));
	packed += nfields + 8;
	put32(head, RUN_MAGIC);
	put32(head + 4, what);
	put32(head + 8, nfields);
	put32(head + 12, words);
	put32(head + 16, (uint32_t)n);
	put32(head + 20, (uint32_t)packed);
	put32(head + 24, checksum(rest, packed));
	put32(head + 28, checksum(head, 28));
	bool ok = packed <= UINT32_MAX;
	if (ok) {
		buf_add(out, (const char *)head, sizeof head);
		buf_add(out, (const char *)rest, packed);
	}
	free(rest);
	return ok && !out->failed;
}

/* ---- reading ------------------------------------------------------------ */

bool state_run_read_head(const unsigned char *bytes, struct state_run_head *h)
{
	*h = (struct state_run_head){ .what = get32(bytes + 4),
		                      .nfields = get32(bytes + 8),
		                      .words = get32(bytes + 12),
		                      .n = get32(bytes + 16),
		                      .bytes = get32(bytes + 20),
		                      .crc = get32(bytes + 24) };
	return get32(bytes) == RUN_MAGIC && get32(bytes + 28) == checksum(bytes, 28) && h->n && h->n <= STATE_RUN_MAX && h->words &&
	       h->words <= RUN_WORDS && h->nfields && h->bytes >= h->nfields + 8ull;
}

/* Adds the number at the cursor to `state`; false when it is 0, too large or ends early. */
static bool add_difference(struct cursor *c, uint64_t *state, uint32_t words, uint64_t *room)
{
	uint64_t any = 0, carry = 0;
	memset(room, 0, words * sizeof *room);
	for (uint32_t bit = 0;; bit += 7) {
		unsigned byte = get_byte(c);
		uint64_t v = byte & 0x7f;
		uint32_t at = bit / 64, shift = bit % 64;
		if (c->bad || (v && (at >= words || (shift > 57 && v >> (64 - shift) && at + 1 >= words))))
			return false;
		if (v) {
			room[at] |= v << shift;
			if (shift > 57 && at + 1 < words)
				room[at + 1] |= v >> (64 - shift);
		}
		any |= v;
		if (!(byte & 0x80))
			break;
		if (bit > words * 64)
			return false;
	}
	for (uint32_t i = 0; i < words; i++) {
		uint64_t a = state[i] + room[i], b = a + carry;
		carry = (a < room[i]) | (b < carry);
		state[i] = b;
	}
	return any && !carry;
}

static bool add_all(struct cursor c, const struct state_run_head *h, uint64_t *states)
{
	uint64_t *room = calloc(2ull * h->words, sizeof *room), *last = room ? room + h->words : NULL;
	bool ok = room != NULL;
	for (uint64_t i = 0; ok && i < h->n; i++) {
		if (h->words == 1) {
			uint64_t d = get_varint(&c);
			ok = !c.bad && d && last[0] <= UINT64_MAX - d;
			last[0] += d;
		} else {
			ok = add_difference(&c, last, h->words, room);
		}
		memcpy(states + i * h->words, last, h->words * sizeof *states);
	}
	free(room);
	return ok && c.p == c.end;
}

bool state_run_whole(const struct state_run_head *h, const unsigned char *rest)
{
	return checksum(rest, h->bytes) == h->crc;
}

bool state_run_read(const struct state_run_head *h, const unsigned char *rest, const uint8_t **bits, uint64_t **states)
{
	if (!state_run_whole(h, rest))
		return false;
	uint64_t len = get32(rest + h->nfields) | (uint64_t)get32(rest + h->nfields + 4) << 32;
	if (len > h->n * h->words * 10)
		return false;
	unsigned char *text = malloc(len + 1);
	*states = malloc(h->n * h->words * sizeof **states);
	size_t got = text ? ZSTD_decompress(text, len, rest + h->nfields + 8, h->bytes - h->nfields - 8) : 0;
	bool ok = text && *states && !ZSTD_isError(got) && got == len &&
	          add_all((struct cursor){ text, text + len, false }, h, *states);
	free(text);
	if (!ok) {
		free(*states);
		*states = NULL;
	}
	*bits = rest;
	return ok;
}
