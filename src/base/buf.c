#include "base/buf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/utf8.h"

void buf_init(struct buf *b)
{
	memset(b, 0, sizeof *b);
}

void buf_free(struct buf *b)
{
	free(b->data);
	buf_init(b);
}

void buf_clear(struct buf *b)
{
	assert(b->len <= b->cap && !b->data == !b->cap);
	b->len = 0;
	if (b->data)
		b->data[0] = 0;
}

static bool reserve(struct buf *b, size_t more)
{
	assert(!b->cap || b->len < b->cap); /* room for the NUL */
	if (more < b->cap - b->len)
		return true;
	size_t cap = b->cap ? b->cap : 256;
	while (cap - b->len <= more) {
		if (cap > SIZE_MAX / 2) {
			b->failed = true;
			return false;
		}
		cap *= 2;
	}
	char *p = realloc(b->data, cap);
	if (!p) {
		b->failed = true;
		return false;
	}
	b->data = p;
	b->cap = cap;
	assert(b->cap - b->len > more);
	return true;
}

void buf_add(struct buf *b, const char *s, size_t len)
{
	if (!reserve(b, len))
		return;
	if (len)
		memcpy(b->data + b->len, s, len);
	b->len += len;
	b->data[b->len] = 0;
}

void buf_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_char(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_repeat(struct buf *b, char c, size_t n)
{
	if (!reserve(b, n))
		return;
	memset(b->data + b->len, c, n);
	b->len += n;
	b->data[b->len] = 0;
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list ap2;
	va_copy(ap2, ap);
	int n = vsnprintf(NULL, 0, fmt, ap2);
	va_end(ap2);
	if (n < 0 || !reserve(b, (size_t)n + 1)) {
		b->failed = true;
		return;
	}
	vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	b->len += (size_t)n;
	assert(b->len < b->cap && !b->data[b->len]);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void buf_safe(struct buf *b, const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		uint32_t cp = 0;
		unsigned n = utf8_decode(s + i, len - i, &cp);
		if (!n) {
			buf_printf(b, "\\x%02X", (unsigned char)s[i]);
			i++;
			continue;
		}
		if (cp == '\t')
			buf_char(b, ' ');
		else if (cp < 0x20 || cp == 0x7F)
			buf_printf(b, "\\x%02X", (unsigned)cp);
		else if (utf8_is_deceptive(cp))
			buf_printf(b, "\\u{%04X}", (unsigned)cp);
		else
			buf_add(b, s + i, n);
		i += n;
	}
}

void buf_json(struct buf *b, const char *s, size_t len)
{
	buf_char(b, '"');
	for (size_t i = 0; i < len;) {
		size_t plain = i; /* mostly it is */
		while (plain < len && s[plain] >= 0x20 && s[plain] < 0x7F && s[plain] != '"' && s[plain] != '\\')
			plain++;
		if (plain > i) {
			buf_add(b, s + i, plain - i);
			i = plain;
			continue;
		}
		uint32_t cp = 0;
		unsigned n = utf8_decode(s + i, len - i, &cp);
		if (!n || !cp) {
			buf_str(b, "\xEF\xBF\xBD");
			i++;
			continue;
		}
		if (cp == '"' || cp == '\\') {
			buf_char(b, '\\');
			buf_char(b, (char)cp);
		} else if (cp == '\n') {
			buf_str(b, "\\n");
		} else if (cp == '\t') {
			buf_str(b, "\\t");
		} else if (cp < 0x20 || cp == 0x7F || cp == 0x2028 || cp == 0x2029) {
			buf_printf(b, "\\u%04x", (unsigned)cp);
		} else {
			buf_add(b, s + i, n);
		}
		i += n;
	}
	buf_char(b, '"');
}

const char *buf_cstr(const struct buf *b)
{
	return b->data ? b->data : "";
}

bool buf_flush(struct buf *b, FILE *f)
{
	assert(!b->len || b->len < b->cap);
	bool ok = !b->failed;
	if (b->len && fwrite(b->data, 1, b->len, f) != b->len)
		ok = false;
	if (fflush(f) != 0)
		ok = false;
	buf_clear(b);
	return ok;
}

bool why_set(struct why *w, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(w->text, sizeof w->text, fmt, ap);
	va_end(ap);
	assert(n >= 0);
	if ((size_t)n >= sizeof w->text)
		memcpy(w->text + sizeof w->text - 4, "...", 4);
	return false;
}
