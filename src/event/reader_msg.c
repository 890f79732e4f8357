/*
 * reader_msg: messages about traces as text: the place, what is wrong, the line
 * with a caret, the hint.
 */
#include <string.h>

#include "base/utf8.h"
#include "event/reader.h"

#define SHOW_MAX 100 /* bytes of a line that are shown */

static void excerpt(const struct trace_msg *m, struct buf *out)
{
	size_t from = 0, len = m->source_len;
	while (len && (m->source[len - 1] == '\r' || m->source[len - 1] == '\n'))
		len--;
	if (m->col > SHOW_MAX)
		from = m->col - SHOW_MAX / 2;
	size_t shown = len - from < SHOW_MAX ? len - from : SHOW_MAX;
	struct buf before;
	buf_init(&before);
	buf_printf(out, "%6llu | ", (unsigned long long)m->line);
	buf_safe(out, m->source + from, shown);
	buf_char(out, '\n');
	if (m->col) {
		size_t at = m->col - 1 - from;
		buf_safe(&before, m->source + from, at < shown ? at : shown);
		buf_str(out, "       | ");
		buf_repeat(out, ' ', utf8_columns(buf_cstr(&before), before.len));
		buf_char(out, '^');
		size_t w = m->width < shown - at ? m->width : shown - at;
		if (at < shown && w > 1)
			buf_repeat(out, '~', w - 1);
		buf_char(out, '\n');
	}
	buf_free(&before);
}

void trace_msg_render(const struct trace_msg *m, struct buf *out, bool color)
{
	if (m->file)
		buf_safe(out, m->file, strlen(m->file));
	if (m->line)
		buf_printf(out, ":%llu", (unsigned long long)m->line);
	if (m->col)
		buf_printf(out, ":%u", m->col);
	if (m->event && !m->line)
		buf_printf(out, ": event %llu", (unsigned long long)m->event);
	buf_str(out, ": ");
	if (color)
		buf_str(out, m->error ? "\033[1;31m" : "\033[1;35m");
	buf_str(out, m->error ? "error" : "warning");
	if (color)
		buf_str(out, "\033[0m");
	buf_str(out, ": ");
	buf_safe(out, m->text, strlen(m->text));
	if (m->code)
		buf_printf(out, " [%s]", m->code);
	buf_char(out, '\n');
	if (m->source)
		excerpt(m, out);
	if (m->hint)
		buf_printf(out, "  hint: %s\n", m->hint);
}

void msgs_add(void *ctx, const struct trace_msg *m)
{
	struct msgs *x = ctx;
	x->errors += m->error;
	x->nomem |= m->error && m->code && !strcmp(m->code, "memory");
	if (!x->silent)
		trace_msg_render(m, x->err, x->color);
}
