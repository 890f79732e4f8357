/*
 * junit: issues as JUnit XML: one suite per file, one case per question. What
 * is violated fails; what is not decided is an error, for it is no pass; what
 * is suppressed, or could not be judged at all, is skipped.
 */
#include <string.h>

#include "base/utf8.h"
#include "report/issue.h"
#include "report/render.h"

/* As XML 1.0 can carry it; other characters are shown as \x1B, \u{202E}. */
static void xml(struct buf *out, const char *s)
{
	size_t len = strlen(s), i = 0;
	while (i < len) {
		uint32_t cp = 0;
		unsigned n = utf8_decode(s + i, len - i, &cp);
		if (!n)
			buf_printf(out, "\\x%02X", (unsigned char)s[i]);
		else if (cp == '<')
			buf_str(out, "&lt;");
		else if (cp == '>')
			buf_str(out, "&gt;");
		else if (cp == '&')
			buf_str(out, "&amp;");
		else if (cp == '"')
			buf_str(out, "&quot;");
		else if (cp == '\n')
			buf_str(out, "&#10;");
		else if (cp < 0x20 || cp == 0x7F)
			buf_printf(out, "\\x%02X", cp);
		else if (cp == 0xFFFE || cp == 0xFFFF || (cp >= 0x80 && cp < 0xA0) || utf8_is_deceptive(cp))
			buf_printf(out, "\\u{%X}", cp);
		else
			buf_add(out, s + i, n);
		i += n ? n : 1;
	}
}

static void attribute(struct buf *out, const char *name, const char *value)
{
	buf_printf(out, " %s=\"", name);
	xml(out, value);
	buf_char(out, '"');
}

enum { MAX_STEPS = 200 };

static void story(const struct issue *i, struct buf *out)
{
	xml(out, i->message);
	buf_char(out, '\n');
	if (i->at.file && i->at.line) {
		xml(out, i->at.file);
		buf_printf(out, ":%u\n", i->at.line);
	}
	for (uint32_t k = 0; k < i->steps.len; k++) {
		const struct flow_step *f = &i->steps.data[k];
		if (i->steps.len > MAX_STEPS && k == MAX_STEPS / 2) {
			buf_printf(out, "  ... %u steps ...\n", i->steps.len - MAX_STEPS);
			k = i->steps.len - MAX_STEPS / 2;
			f = &i->steps.data[k];
		}
		buf_printf(out, "%s %u. ", f->essential ? "&gt;" : " ", k + 1);
		xml(out, i->flows.data[f->flow]);
		buf_str(out, ": ");
		xml(out, f->text);
		if (f->at.line) {
			buf_str(out, " (");
			xml(out, f->at.file ? f->at.file : "line");
			buf_printf(out, ":%u)", f->at.line);
		}
		buf_char(out, '\n');
	}
	if (i->next) {
		buf_str(out, "next: ");
		xml(out, i->next);
		buf_char(out, '\n');
	}
}

static void test_case(const struct issues *s, const struct issue *i, struct buf *out)
{
	bool bad = !strcmp(i->verdict, "violated"), open = !strcmp(i->verdict, "unknown");
	buf_str(out, "    <testcase");
	attribute(out, "classname", s->kind);
	attribute(out, "name", i->name);
	if (i->at.file)
		attribute(out, "file", i->at.file);
	if (i->at.line)
		buf_printf(out, " line=\"%u\"", i->at.line);
	if (!bad && !open) {
		buf_str(out, "/>\n");
		return;
	}
	const char *skipped = i->suppressed ? i->suppressed : i->skipped;
	const char *tag = skipped ? "skipped" : bad ? "failure" : "error";
	buf_printf(out, ">\n      <%s", tag);
	attribute(out, "message", skipped ? skipped : i->title);
	if (!skipped)
		attribute(out, "type", i->rule ? i->rule->id : "unknown");
	buf_char(out, '>');
	story(i, out);
	buf_printf(out, "</%s>\n    </testcase>\n", tag);
}

static void counts(const struct issues *s, uint32_t from, uint32_t to, struct buf *out)
{
	unsigned n[4] = { 0 };
	for (uint32_t k = from; k < to; k++) {
		const struct issue *i = s->list.data[k];
		n[0]++;
		if (i->suppressed || i->skipped)
			n[3]++;
		else
			n[!strcmp(i->verdict, "violated")  ? 1
			  : !strcmp(i->verdict, "unknown") ? 2
			                                   : 0] += strcmp(i->verdict, "holds") != 0;
	}
	buf_printf(out, " tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\"", n[0], n[1], n[2], n[3]);
}

void render_junit(const json_t *doc, struct buf *out)
{
	struct issues s;
	issues_init(&s, doc);
	buf_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
	attribute(out, "name", "intact");
	counts(&s, 0, s.list.len, out);
	buf_str(out, ">\n");
	for (uint32_t a = 0, b; a < s.list.len; a = b) {
		for (b = a; b < s.list.len && !strcmp(s.list.data[a]->subject, s.list.data[b]->subject); b++)
			;
		buf_str(out, "  <testsuite");
		attribute(out, "name", s.list.data[a]->subject);
		counts(&s, a, b, out);
		buf_str(out, ">\n");
		for (uint32_t k = a; k < b; k++)
			test_case(&s, s.list.data[k], out);
		buf_str(out, "  </testsuite>\n");
	}
	buf_str(out, "</testsuites>\n");
	issues_free(&s);
}
