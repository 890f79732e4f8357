#include "report/line.h"

#include <stdio.h>
#include <string.h>

#include "base/invariant.h"
#include "base/utf8.h"

void line_pad(struct line *l, unsigned column)
{
	if (column > l->at + l->pending)
		l->pending = column - l->at;
	assert(l->at + l->pending >= column);
}

void line_put(struct line *l, const char *style, const char *s, size_t len)
{
	if (!len)
		return;
	buf_repeat(l->out, ' ', l->pending);
	l->at += l->pending + (unsigned)utf8_columns(s, len);
	l->pending = 0;
	if (style && l->color)
		buf_str(l->out, style);
	buf_add(l->out, s, len);
	if (style && l->color)
		buf_str(l->out, RESET);
}

void line_fit(struct line *l, const char *style, const char *s, size_t len, unsigned width, const char *dots)
{
	unsigned mark = (unsigned)utf8_columns(dots, strlen(dots)), used = 0;
	size_t i = 0;
	if (utf8_columns(s, len) <= width) {
		line_put(l, style, s, len);
		return;
	}
	while (i < len) {
		uint32_t cp = 0;
		unsigned n = utf8_decode(s + i, len - i, &cp), w = n ? utf8_width(cp) : 1;
		if (used + w + mark > width)
			break;
		used += w;
		i += n ? n : 1;
	}
	while (i > 0 && s[i - 1] == ' ')
		i--;
	struct buf cut;
	buf_init(&cut);
	buf_add(&cut, s, i);
	if (mark <= width)
		buf_str(&cut, dots);
	line_put(l, style, buf_cstr(&cut), cut.len);
	buf_free(&cut);
}

void line_tail(struct line *l, const char *style, const char *s, size_t len, size_t tail, unsigned width, const char *dots)
{
	assert(tail <= len);
	unsigned need = (unsigned)utf8_columns(s + len - tail, tail);
	if (tail && utf8_columns(s, len) > width && need + 4 <= width) {
		line_fit(l, style, s, len - tail, width - need, dots);
		line_put(l, style, s + len - tail, tail);
	} else {
		line_fit(l, style, s, len, width, dots);
	}
}

void line_number(struct line *l, const char *style, uint32_t n, unsigned width)
{
	char text[16];
	int len = snprintf(text, sizeof text, "%*u", (int)width, n);
	line_put(l, style, text, (size_t)len);
	assert(len > 0 && len < (int)sizeof text);
}
