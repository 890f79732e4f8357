/*
 * issue_text: issues as text: a line a question, then each violation with its
 * sentence and its story as a table of one column a thread. Tables fit the
 * width; the middle of a long story is left out, with a count, except for the
 * steps the explanation speaks of.
 */
#include <string.h>

#include "base/utf8.h"
#include "report/issue.h"
#include "report/line.h"
#include "report/render.h"

enum { MIN_COLUMN = 14, NUMBER = 6 };

struct issue_writer {
	const struct render_text_options *o;
	struct buf *out;
};

static const char *color_of(const struct issue *i)
{
	return i->suppressed || i->skipped           ? DIM
	       : !strcmp(i->verdict, "holds")        ? "\033[1;32m"
	       : !strcmp(i->verdict, "violated")     ? "\033[1;31m"
	                                             : "\033[1;33m";
}

/* Words of `s` on lines of the width, each behind the indent. */
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

/* One step in its thread's column. */
static void row(struct issue_writer *w, const struct issue *i, uint32_t k, unsigned column, bool lanes)
{
	const struct flow_step *f = &i->steps.data[k];
	const char *dots = w->o->utf8 ? "…" : "...", *style = f->essential ? RED : NULL;
	struct line l = { w->out, w->o->color, 0, 0 };
	struct buf text;
	buf_init(&text);
	line_put(&l, style, f->essential ? ">" : " ", 1);
	line_number(&l, style ? style : DIM, k + 1, NUMBER - 2);
	line_pad(&l, NUMBER);
	if (!lanes) {
		buf_safe(&text, i->flows.data[f->flow], strlen(i->flows.data[f->flow]));
		line_fit(&l, CYAN, buf_cstr(&text), text.len, column, dots);
		line_pad(&l, NUMBER + column + 1);
		buf_clear(&text);
	} else {
		line_pad(&l, NUMBER + f->flow * column);
	}
	buf_safe(&text, f->text, strlen(f->text));
	line_fit(&l, style, buf_cstr(&text), text.len, lanes ? column - 1 : w->o->width - NUMBER - column - 12, dots);
	if (!lanes && f->at.line) {
		buf_clear(&text);
		buf_printf(&text, " line %u", f->at.line);
		line_put(&l, DIM, buf_cstr(&text), text.len);
	}
	buf_char(w->out, '\n');
	buf_free(&text);
}

static void table(struct issue_writer *w, const struct issue *i)
{
	unsigned width = w->o->width > 60 ? w->o->width : 60, flows = i->flows.len;
	bool lanes = flows && (width - NUMBER) / flows >= MIN_COLUMN;
	unsigned column = lanes ? (width - NUMBER) / flows : 20;
	uint32_t n = i->steps.len, max = w->o->max_rows ? w->o->max_rows : n, hidden = 0;
	if (lanes) {
		struct line l = { w->out, w->o->color, 0, 0 };
		for (uint32_t t = 0; t < flows; t++) {
			struct buf name;
			buf_init(&name);
			buf_safe(&name, i->flows.data[t], strlen(i->flows.data[t]));
			line_pad(&l, NUMBER + t * column);
			line_fit(&l, BOLD, buf_cstr(&name), name.len, column - 1, w->o->utf8 ? "…" : "...");
			buf_free(&name);
		}
		buf_char(w->out, '\n');
	}
	for (uint32_t k = 0; k < n; k++) {
		bool middle = n > max && k >= max / 2 && k + max / 2 < n && !i->steps.data[k].essential;
		if (middle) {
			hidden++;
			continue;
		}
		if (hidden)
			buf_printf(w->out, "      ... %u steps left out (--full shows them)\n", hidden);
		hidden = 0;
		row(w, i, k, column, lanes);
	}
}

/* `again`: the same story was told before. */
static void one(struct issue_writer *w, const struct issue *i, bool again)
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
	if (again) {
		buf_str(w->out, "  The run is the one above.\n");
		return;
	}
	if (i->steps.len) {
		buf_char(w->out, '\n');
		table(w, i);
	}
	if (i->next) {
		struct buf next;
		buf_init(&next);
		buf_safe(&next, i->next, strlen(i->next));
		buf_printf(w->out, "\nnext: %s\n", buf_cstr(&next));
		buf_free(&next);
	}
}

static bool told(const struct issues *s, uint32_t k)
{
	const struct issue *i = s->list.data[k];
	for (uint32_t j = 0; j < k && i->next && i->steps.len; j++)
		if (s->list.data[j]->next && !strcmp(s->list.data[j]->next, i->next))
			return true;
	return false;
}

void render_text(const json_t *doc, const struct render_text_options *o, struct buf *out)
{
	struct issues s;
	struct issue_writer w = { o, out };
	issues_init(&s, doc);
	summary(&w, &s);
	for (uint32_t k = 0; k < s.list.len; k++) {
		const struct issue *i = s.list.data[k];
		if (!i->suppressed && !i->skipped && (strcmp(i->verdict, "holds") || (!strcmp(s.kind, "sim") && i->steps.len)))
			one(&w, i, told(&s, k));
	}
	issues_free(&s);
}
