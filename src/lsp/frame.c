#include "lsp/frame.h"

#include <string.h>
#include <strings.h>

#include "base/invariant.h"

void frame_init(struct frame_reader *f)
{
	memset(f, 0, sizeof *f);
}

void frame_free(struct frame_reader *f)
{
	buf_free(&f->line);
	buf_free(&f->body);
}

/* The next header begins. */
static void start_header(struct frame_reader *f)
{
	f->has_length = f->in_body = f->header = false;
	f->length = 0;
}

static enum frame_kind bad(struct frame_reader *f, const char *why)
{
	bool told = f->lost;
	start_header(f);
	f->lost = true;
	f->why = why;
	return told ? FRAME_NONE : FRAME_BAD;
}

/* The digits behind "Content-Length:"; false: they are none. */
static bool read_length(const char *s, unsigned long long *n)
{
	s += strspn(s, " \t");
	size_t digits = strspn(s, "0123456789");
	if (!digits || s[digits + strspn(s + digits, " \t")])
		return false;
	*n = 0;
	for (size_t i = 0; i < digits; i++)
		*n = *n > 1ull << 50 ? *n : *n * 10 + (unsigned)(s[i] - '0');
	return true;
}

static enum frame_kind end_header(struct frame_reader *f)
{
	assert(f->has_length && !f->in_body);
	f->lost = false;
	buf_clear(&f->body);
	if (f->length > FRAME_MAX) {
		f->skip = f->length;
		start_header(f);
		f->why = "the message is longer than 32 MiB";
		return FRAME_BAD;
	}
	f->in_body = true;
	return FRAME_NONE;
}

/* A line without its end. */
static enum frame_kind take_line(struct frame_reader *f)
{
	const char *s = buf_cstr(&f->line);
	static const char name[] = "Content-Length:";
	if (strlen(s) != f->line.len)
		return bad(f, "the header has a NUL byte");
	if (!*s) {
		if (f->has_length)
			return end_header(f);
		return f->header ? bad(f, "the header has no Content-Length") : FRAME_NONE;
	}
	if (!strncasecmp(s, name, sizeof name - 1)) {
		if (!read_length(s + sizeof name - 1, &f->length))
			return bad(f, "Content-Length is not a number");
		f->has_length = f->header = true;
		return FRAME_NONE;
	}
	if (!strchr(s, ':'))
		return bad(f, "expected a header line: Content-Length: NUMBER");
	f->header = true;
	return FRAME_NONE;
}

static enum frame_kind header_byte(struct frame_reader *f, char c)
{
	if (c != '\n') {
		if (f->line.len < FRAME_LINE_MAX)
			buf_char(&f->line, c);
		return FRAME_NONE;
	}
	if (f->line.len && f->line.data[f->line.len - 1] == '\r')
		f->line.data[--f->line.len] = 0;
	enum frame_kind k = f->line.len >= FRAME_LINE_MAX ? bad(f, "a line of the header is longer than 1024 bytes") : take_line(f);
	buf_clear(&f->line);
	return k;
}

enum frame_kind frame_next(struct frame_reader *f, const char *bytes, size_t len, size_t *used)
{
	size_t at = 0;
	assert(f->length <= FRAME_MAX || !f->in_body);
	if (f->ready) {
		f->ready = false;
		buf_clear(&f->body);
		start_header(f);
	}
	*used = 0;
	while (at < len || (f->in_body && !f->length)) {
		enum frame_kind k = FRAME_NONE;
		if (f->skip) {
			size_t n = f->skip < len - at ? (size_t)f->skip : len - at;
			f->skip -= n;
			at += n;
		} else if (f->in_body) {
			size_t want = (size_t)f->length - f->body.len, n = want < len - at ? want : len - at;
			buf_add(&f->body, bytes + at, n);
			at += n;
			assert(f->body.len <= f->length || f->body.failed);
			if (f->body.failed) {
				f->body.failed = false;
				f->skip = want - n;
				start_header(f);
				f->why = "out of memory for the message";
				k = FRAME_BAD;
			} else if (f->body.len == f->length) {
				f->ready = true;
				k = FRAME_MESSAGE;
			}
		} else {
			k = header_byte(f, bytes[at++]);
		}
		*used = at;
		if (k != FRAME_NONE)
			return k;
	}
	*used = at;
	return FRAME_NONE;
}

void frame_write(struct buf *out, const struct buf *message)
{
	assert(message->len && !message->failed);
	buf_printf(out, "Content-Length: %zu\r\n\r\n", message->len);
	buf_add(out, buf_cstr(message), message->len);
}
