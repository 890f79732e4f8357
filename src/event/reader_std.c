/*
 * reader_std: the lines of a text trace (std.h) as events. The text is scanned
 * where it was read to; a line is never longer than the buffer.
 */
#include <string.h>

#include "base/invariant.h"
#include "event/reader_int.h"
#include "event/std.h"

static void tell_line(struct trace_reader *r, const char *s, const char *end, const struct std_error *e)
{
	reader_tell(r, (struct trace_msg){
			       .error = true,
			       .code = e->code,
			       .line = r->line,
			       .col = (uint32_t)e->at + 1,
			       .width = (uint32_t)e->width,
			       .source = s,
			       .source_len = (size_t)(end - s),
			       .text = e->text,
			       .hint = e->hint,
		       });
}

/* The end of the line at pos, refilling as needed; NULL at the end of the
 * text or when a line is too long. */
static char *line_end(struct trace_reader *r)
{
	assert(r->pos <= r->len);
	char *nl = memchr(r->text + r->pos, '\n', r->len - r->pos);
	if (nl)
		return nl;
	reader_refill(r);
	nl = memchr(r->text + r->pos, '\n', r->len - r->pos);
	if (nl)
		return nl;
	if (r->pos == r->len)
		return NULL;
	if (r->len - r->pos > STD_LINE_MAX)
		return r->text + r->len;
	r->text[r->len] = '\n'; /* the last line need not have one */
	return r->text + r->len;
}

size_t reader_next_std(struct trace_reader *r)
{
	size_t n = 0;
	while (n < READER_BATCH) {
		assert(n < r->events_cap || !r->events_cap);
		char *nl = line_end(r);
		if (!nl)
			break;
		char *s = r->text + r->pos;
		struct std_error err;
		r->line++;
		if ((size_t)(nl - s) > STD_LINE_MAX) {
			err = (struct std_error){ 0, 1, "line-too-long", "a line of more than 16 KiB: this is not a trace", NULL };
			tell_line(r, s, s + 80, &err);
			break;
		}
		bool last = trace_input_error(r->in) && nl == r->text + r->len;
		struct event *e = &r->events[n];
		enum std_result rc = last ? STD_SKIP : std_scan(s, nl, &r->names, e, &err);
		if (rc == STD_BAD) {
			tell_line(r, s, nl, &err);
			break;
		}
		if (rc == STD_NOMEM) {
			reader_tell_plain(r, true, "memory", "out of memory for names", NULL);
			break;
		}
		r->pos = (size_t)(nl - r->text) + 1;
		if (r->pos > r->len)
			r->pos = r->len;
		if (rc == STD_SKIP)
			continue;
		e->index = r->next_index++;
		e->line = r->line;
		lines_add(&r->names.lines, e->index, r->line);
		e->flags = 0;
		n++;
	}
	return n;
}
