/*
 * issue_text: issues as a list: one line per question, then what is wrong with each.
 * For a document that does not agree with itself; what agrees is told as the
 * command tells it (api/document_text.h).
 */
#include <string.h>

#include "base/utf8.h"
#include "report/issue.h"
#include "report/line.h"
#include "report/render.h"

struct issue_writer {
	const struct render_text_options *o;
	struct buf *out;
};

static const char *color_of(const struct issue *i)
{
	return i->suppressed || i->skipped       ? DIM
	       : !strcmp(i->verdict, "holds")    ? "\033[1;32m"
	       : !strcmp(i->verdict, "violated") ? "\033[1;31m"
	                                         : "\033[1;33m";
}

/* Words of `s` on lines of the width, each after the indent. */
static void wrapped(struct issue_writer *w, const char *s, unsigned indent)
{
	struct buf safe;
	unsigned at = 0, width = w->o->width > indent + 20 ? w->o->width : indent + 20;
	buf_init(&safe);
	buf_safe(&safe, s, strlen(s));
	for (const char *p = buf_cstr(&safe); *p;) {
		size_t n = strcspn(p, " ");
		unsigned cols = (unsigned)utf8_columns(p, n);
		if (at && at + 1 + cols > width) {
			buf_char(w->out, '\n');
			at = 0;
		}
		if (at) {
			buf_char(w->out, ' ');
			at++;
		} else {
			buf_repeat(w->out, ' ', indent);
			at = indent;
		}
		buf_add(w->out, p, n);
		at += cols;
		p += n;
		while (*p == ' ')
			p++;
	}
	buf_char(w->out, '\n');
	buf_free(&safe);
}

static void summary(struct issue_writer *w, const struct issues *s)
{
	const char *dots = w->o->utf8 ? "…" : "...";
	for (uint32_t k = 0; k < s->list.len; k++) {
		const struct issue *i = s->list.data[k];
		struct line l = { w->out, w->o->color, 0, 0 };
		struct buf safe;
		buf_init(&safe);
		buf_safe(&safe, i->title, strlen(i->title));
		const char *word = i->suppressed ? "suppressed" : i->word ? i->word : i->verdict;
		line_put(&l, color_of(i), word, strlen(word));
		line_pad(&l, 11);
		line_fit(&l, NULL, buf_cstr(&safe), safe.len, w->o->width > 40 ? w->o->width - 12 : 28, dots);
		buf_char(w->out, '\n');
		buf_free(&safe);
	}
}

static void one(struct issue_writer *w, const struct issue *i)
{
	struct line l = { w->out, w->o->color, 0, 0 };
	struct buf b;
	buf_char(w->out, '\n');
	buf_init(&b);
	if (i->at.file && i->at.line) {
		buf_safe(&b, i->at.file, strlen(i->at.file));
		buf_printf(&b, ":%u: ", i->at.line);
	}
	line_put(&l, NULL, buf_cstr(&b), b.len);
	buf_clear(&b);
	buf_safe(&b, i->title, strlen(i->title));
	line_put(&l, color_of(i), buf_cstr(&b), b.len);
	buf_char(w->out, '\n');
	buf_free(&b);
	if (*i->message)
		wrapped(w, i->message, 2);
}

void render_list(const json_t *doc, const struct render_text_options *o, struct buf *out)
{
	struct issues s;
	struct issue_writer w = { o, out };
	issues_init(&s, doc);
	summary(&w, &s);
	for (uint32_t k = 0; k < s.list.len; k++)
		if (strcmp(s.list.data[k]->verdict, "holds"))
			one(&w, s.list.data[k]);
	issues_free(&s);
}
