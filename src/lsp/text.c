#include "lsp/text.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "base/utf8.h"

void text_free(struct doc_text *t)
{
	buf_free(&t->bytes);
	free(t->lines);
	memset(t, 0, sizeof *t);
}

static bool push_line(struct doc_text *t, uint32_t start)
{
	if (!GROW_RAW(t->lines, t->caplines, t->nlines + 1ull))
		return false;
	t->lines[t->nlines++] = start;
	return true;
}

/* The lines behind line `from`, which stays. */
static bool find_lines(struct doc_text *t, uint32_t from)
{
	const char *s = buf_cstr(&t->bytes);
	if (!t->nlines && !push_line(t, 0))
		return false;
	assert(from < t->nlines);
	t->nlines = from + 1;
	for (size_t i = t->lines[from]; i < t->bytes.len; i++)
		if ((s[i] == '\n' || (s[i] == '\r' && s[i + 1] != '\n')) && !push_line(t, (uint32_t)i + 1))
			return false;
	return true;
}

bool text_set(struct doc_text *t, const char *s, size_t len)
{
	struct doc_text made = { 0 };
	if (len > TEXT_MAX)
		return false;
	buf_add(&made.bytes, s, len);
	if (made.bytes.failed || !find_lines(&made, 0)) {
		text_free(&made);
		return false;
	}
	text_free(t);
	*t = made;
	return true;
}

static uint32_t line_of(const struct doc_text *t, uint32_t offset)
{
	uint32_t lo = 0, hi = t->nlines;
	assert(hi);
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (t->lines[mid] <= offset)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

bool text_edit(struct doc_text *t, uint32_t start, uint32_t end, const char *s, size_t len)
{
	assert(start <= end && end <= t->bytes.len);
	size_t rest = t->bytes.len - end, all = start + len + rest;
	struct buf *b = &t->bytes;
	if (all > TEXT_MAX)
		return false;
	uint32_t line = line_of(t, start);
	line -= line > 0; /* a \r before the place and a \n at it are one line end */
	if (all > b->len) {
		buf_repeat(b, ' ', all - b->len);
		if (b->failed) {
			b->failed = false;
			return false;
		}
	}
	if (all) {
		memmove(b->data + start + len, b->data + end, rest);
		memcpy(b->data + start, s, len);
		b->len = all;
		b->data[all] = 0;
	} else {
		buf_clear(b);
	}
	return find_lines(t, line);
}

uint32_t text_line_end(const struct doc_text *t, uint32_t line)
{
	assert(line < t->nlines);
	const char *s = buf_cstr(&t->bytes);
	uint32_t end = line + 1 < t->nlines ? t->lines[line + 1] : (uint32_t)t->bytes.len;
	if (line + 1 < t->nlines) {
		end--;
		if (s[end] == '\n' && end > t->lines[line] && s[end - 1] == '\r')
			end--;
	}
	return end;
}

uint32_t text_offset(const struct doc_text *t, struct text_pos at)
{
	assert(t->nlines && t->lines[0] == 0);
	if (at.line >= t->nlines)
		return (uint32_t)t->bytes.len;
	const char *s = buf_cstr(&t->bytes);
	uint32_t i = t->lines[at.line], end = text_line_end(t, at.line), unit = 0;
	while (i < end && unit < at.unit) {
		uint32_t cp = 0;
		unsigned n = utf8_decode(s + i, end - i, &cp);
		unsigned units = cp > 0xFFFF ? 2 : 1;
		if (unit + units > at.unit)
			break;
		unit += units;
		i += n ? n : 1;
	}
	assert(unit <= at.unit && i <= end);
	return i;
}

struct text_pos text_pos(const struct doc_text *t, uint32_t offset)
{
	if (offset > t->bytes.len)
		offset = (uint32_t)t->bytes.len;
	const char *s = buf_cstr(&t->bytes);
	struct text_pos p = { line_of(t, offset), 0 };
	uint32_t end = text_line_end(t, p.line);
	if (offset > end)
		offset = end; /* inside a line end */
	for (uint32_t i = t->lines[p.line]; i < offset;) {
		uint32_t cp = 0;
		unsigned n = utf8_decode(s + i, t->bytes.len - i, &cp);
		p.unit += cp > 0xFFFF ? 2 : 1;
		i += n ? n : 1;
	}
	return p;
}
