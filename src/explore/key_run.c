#include "explore/key_run.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "explore/state_run.h"

#define OUT_BYTES ((size_t)64 << 10) /* coded bytes that are written at a time */

_Static_assert(KEY_BLOCK % 4 == 0, "codes are four to a byte");

/* Bytes of a coded block, at most; reading looks up to a word further. */
static size_t coded_max(uint32_t words)
{
	return KEY_BLOCK / 4 + (size_t)KEY_BLOCK * words * 8 + 8;
}

void key_run_free(struct scratch *s, struct key_run *r)
{
	scratch_drop(s, &r->file);
	free(r->block);
	free(r->first);
	*r = (struct key_run){ .file = { .fd = -1 } };
}

uint64_t key_run_bytes(const struct key_run *r)
{
	return r->cap_block * sizeof *r->block + r->cap_first * sizeof *r->first;
}

/* ---- writing ------------------------------------------------------------ */

uint64_t key_writer_bytes(uint32_t words)
{
	return KEY_BLOCK * words * 8 + coded_max(words) + OUT_BYTES;
}

bool key_writer_init(struct key_writer *w, struct scratch *s, const struct key_layout *layout)
{
	uint32_t words = key_layout_words(layout);
	*w = (struct key_writer){ .s = s, .run = { .file = { .fd = -1 }, .layout = layout, .words = words } };
	w->keys = malloc((size_t)KEY_BLOCK * words * sizeof *w->keys);
	w->out = malloc(OUT_BYTES + coded_max(words));
	if (w->keys && w->out)
		return true;
	key_writer_cancel(w);
	return scratch_fail(s, SCRATCH_MEMORY, 0);
}

void key_writer_cancel(struct key_writer *w)
{
	key_run_free(w->s, &w->run);
	free(w->keys);
	free(w->out);
	w->keys = NULL;
	w->out = NULL;
}

static inline void store64(unsigned char *s, uint64_t v)
{
	memcpy(s, &v, sizeof v); /* of this machine, for this process */
}

static size_t code1(const uint64_t *keys, uint32_t n, unsigned char *out)
{
	unsigned char *codes = out, *s = out + (n + 2) / 4;
	memset(codes, 0, (size_t)(s - codes));
	for (uint32_t i = 1; i < n; i++) {
		assert(keys[i] > keys[i - 1]);
		uint64_t d = keys[i] - keys[i - 1];
		unsigned code = (unsigned)(d > 0xff) + (d > 0xffff) + (d > 0xffffffff);
		codes[(i - 1) / 4] |= (unsigned char)(code << (i - 1) % 4 * 2);
		store64(s, d);
		s += (size_t)1 << code;
	}
	return (size_t)(s - out);
}

static size_t code_wide(const uint64_t *keys, uint32_t n, uint32_t words, unsigned char *out)
{
	unsigned char *codes = out, *s = out + (n + 2) / 4;
	memset(codes, 0, (size_t)(s - codes));
	for (uint32_t i = 1; i < n; i++) {
		const uint64_t *a = keys + (size_t)i * words, *b = a - words;
		uint64_t borrow = 0, rest = 0, low = a[0] - b[0];
		assert(state_run_compare(b, a, words) < 0);
		for (uint32_t k = 0; k < words; k++) {
			uint64_t d = a[k] - b[k], e = d - borrow;
			borrow = (a[k] < b[k]) | (d < borrow);
			rest |= k ? e : 0;
			store64(s + (size_t)k * 8, e);
		}
		unsigned code = rest ? 3 : (unsigned)(low > 0xffff) + (low > 0xffffffff);
		codes[(i - 1) / 4] |= (unsigned char)(code << (i - 1) % 4 * 2);
		s += code == 3 ? (size_t)words * 8 : (size_t)2 << code;
	}
	return (size_t)(s - out);
}

static bool write_block(struct key_writer *w)
{
	struct key_run *r = &w->run;
	if (!w->n)
		return true;
	if (!GROW_RAW(r->block, r->cap_block, r->nblocks + 1) || !GROW_RAW(r->first, r->cap_first, (r->nblocks + 1) * r->words))
		return scratch_fail(w->s, SCRATCH_MEMORY, 0);
	unsigned char *out = w->out + w->nout;
	size_t len = r->words == 1 ? code1(w->keys, w->n, out) : code_wide(w->keys, w->n, r->words, out);
	assert(len <= coded_max(r->words));
	memcpy(r->first + r->nblocks * r->words, w->keys, r->words * sizeof *w->keys);
	r->block[r->nblocks++] = (struct key_block){ r->file.length + w->nout, (uint32_t)len, w->n,
		                                     (uint32_t)crc32_z(0, out, len) };
	w->nout += len;
	r->n += w->n;
	w->n = 0;
	if (w->nout < OUT_BYTES)
		return true;
	size_t all = w->nout;
	w->nout = 0;
	return scratch_write(w->s, &r->file, w->out, all);
}

bool key_writer_put(struct key_writer *w, const uint64_t *keys, uint64_t n)
{
	uint32_t words = w->run.words;
	assert(w->keys && w->n < KEY_BLOCK);
	while (n) {
		uint64_t k = KEY_BLOCK - w->n < n ? KEY_BLOCK - w->n : n;
		memcpy(w->keys + (size_t)w->n * words, keys, k * words * sizeof *keys);
		w->n += (uint32_t)k;
		keys += k * words;
		n -= k;
		if (w->n == KEY_BLOCK && !write_block(w))
			return false;
	}
	return true;
}

bool key_writer_end(struct key_writer *w, struct key_run *run)
{
	assert(w->keys && w->run.words);
	bool ok = write_block(w) && (!w->nout || scratch_write(w->s, &w->run.file, w->out, w->nout));
	*run = w->run;
	w->run = (struct key_run){ .file = { .fd = -1 } };
	key_writer_cancel(w);
	if (!ok)
		key_run_free(w->s, run);
	return ok;
}

/* ---- reading ------------------------------------------------------------ */

uint64_t key_reader_bytes(uint32_t words)
{
	return KEY_BLOCK * words * 8 + coded_max(words);
}

bool key_reader_init(struct key_reader *r, struct scratch *s, const struct key_run *run, const struct key_layout *as)
{
	bool other = run->layout != as;
	*r = (struct key_reader){ .s = s, .run = run, .as = as, .words = key_layout_words(as) };
	assert(run->layout->low == as->low && run->layout->high == as->high && run->words == key_layout_words(run->layout));
	r->decoded = malloc((size_t)KEY_BLOCK * run->words * 8);
	r->raw = malloc(coded_max(run->words));
	r->converted = other ? malloc((size_t)KEY_BLOCK * r->words * 8) : NULL;
	r->ids = other ? malloc(sizeof *r->ids * as->at.nfields) : NULL;
	if (r->decoded && r->raw && (!other || (r->converted && r->ids)))
		return true;
	key_reader_free(r);
	return scratch_fail(s, SCRATCH_MEMORY, 0);
}

void key_reader_array(struct key_reader *r, const uint64_t *keys, uint64_t n, const struct key_layout *as)
{
	*r = (struct key_reader){ .as = as, .words = key_layout_words(as), .array = keys, .narray = n };
}

void key_reader_free(struct key_reader *r)
{
	free(r->decoded);
	free(r->converted);
	free(r->raw);
	free(r->ids);
	r->decoded = r->converted = NULL;
	r->raw = NULL;
	r->ids = NULL;
	r->n = r->at = 0;
}

static inline uint64_t load64(const unsigned char *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

static const unsigned char *decode1(const unsigned char *codes, uint32_t n, uint64_t *keys)
{
	static const uint64_t mask[4] = { 0xff, 0xffff, 0xffffffff, UINT64_MAX };
	const unsigned char *p = codes + (n + 2) / 4;
	uint64_t key = keys[0];
	for (uint32_t i = 1; i < n; codes++) {
		unsigned c = *codes;
		for (uint32_t end = n - i < 4 ? n : i + 4; i < end; i++, c >>= 2) {
			key += load64(p) & mask[c & 3];
			p += 1u << (c & 3);
			keys[i] = key;
		}
	}
	return p;
}

static const unsigned char *decode_wide(const unsigned char *codes, uint32_t n, uint32_t words, uint64_t *keys)
{
	static const uint64_t mask[3] = { 0xffff, 0xffffffff, UINT64_MAX };
	const unsigned char *p = codes + (n + 2) / 4;
	for (uint32_t i = 1; i < n; i++) {
		unsigned c = codes[(i - 1) / 4] >> (i - 1) % 4 * 2 & 3;
		const uint64_t *a = keys + (size_t)(i - 1) * words;
		uint64_t *b = keys + (size_t)i * words, carry = 0;
		for (uint32_t k = 0; k < words; k++) {
			uint64_t d = c == 3 ? load64(p + (size_t)k * 8) : k ? 0 : load64(p) & mask[c];
			uint64_t e = a[k] + d, f = e + carry;
			carry = (e < d) | (f < carry);
			b[k] = f;
		}
		p += c == 3 ? (size_t)words * 8 : (size_t)2 << c;
	}
	return p;
}

/* Fields wider than before, or in other words; the words before and after them stay. */
static void convert(struct key_reader *r, uint64_t n)
{
	const struct key_layout *from = r->run->layout, *to = r->as;
	assert(n <= KEY_BLOCK && from->at.nfields == to->at.nfields);
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t *a = r->decoded + i * r->run->words;
		uint64_t *b = r->converted + i * r->words;
		store_unpack_by(&from->at, a + from->low, r->ids);
		store_pack_by(&to->at, r->ids, b + to->low);
		memcpy(b, a, from->low * sizeof *a);
		memcpy(b + to->low + to->at.words, a + from->low + from->at.words, from->high * sizeof *a);
	}
	r->keys = r->converted;
}

bool key_reader_block(struct key_reader *r, uint64_t b)
{
	const struct key_run *run = r->run;
	assert(b < run->nblocks);
	const struct key_block *k = &run->block[b];
	assert(k->n && k->n <= KEY_BLOCK && k->bytes <= coded_max(run->words));
	r->n = r->at = 0;
	if (scratch_trouble(r->s) || !scratch_read(r->s, &run->file, r->raw, k->bytes, k->offset))
		return false;
	if (crc32_z(0, r->raw, k->bytes) != k->crc)
		return scratch_fail(r->s, SCRATCH_DAMAGED, 0);
	memcpy(r->decoded, run->first + b * run->words, run->words * sizeof *r->decoded);
	const unsigned char *end = run->words == 1 ? decode1(r->raw, k->n, r->decoded)
	                                           : decode_wide(r->raw, k->n, run->words, r->decoded);
	assert(end == r->raw + k->bytes);
	(void)end;
	r->keys = r->decoded;
	if (r->converted)
		convert(r, k->n);
	r->n = k->n;
	r->next = b + 1;
	return true;
}

bool key_reader_next(struct key_reader *r)
{
	if (r->run)
		return r->next < r->run->nblocks && key_reader_block(r, r->next);
	assert(r->next <= r->narray);
	uint64_t left = r->narray - r->next;
	r->keys = r->array + r->next * r->words;
	r->n = left < KEY_BLOCK ? left : KEY_BLOCK;
	r->at = 0;
	r->next += r->n;
	return r->n != 0;
}

bool key_reader_seek(struct key_reader *r, const uint64_t *key)
{
	while (!r->n || state_run_compare(r->keys + (r->n - 1) * r->words, key, r->words) < 0) {
		uint64_t b = r->next;
		bool known = r->run && !r->converted; /* the first keys of the blocks are */
		while (known && b + 1 < r->run->nblocks &&
		       state_run_compare(r->run->first + (b + 1) * r->words, key, r->words) <= 0)
			b++;
		r->next = b;
		if (!key_reader_next(r)) {
			r->n = r->at = 0;
			return false;
		}
	}
	return true;
}
