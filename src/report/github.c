/*
 * github: issues as annotations, as GitHub's workflow commands have them:
 *   ::error file=a.c,line=3,title=...::message
 */
#include <string.h>

#include "base/buf.h"
#include "report/issue.h"
#include "report/render.h"

/* Line ends and percent signs, and in a property commas and colons too. */
static void data(struct buf *out, const char *s, bool property)
{
	struct buf safe;
	buf_init(&safe);
	/* a line break inside a message is wanted; other controls are shown */
	for (const char *line = s; *line;) {
		size_t n = strcspn(line, "\n");
		buf_safe(&safe, line, n);
		if (line[n])
			buf_char(&safe, '\n');
		line += n + (line[n] != 0);
	}
	for (const char *p = buf_cstr(&safe); *p; p++) {
		if (*p == '%')
			buf_str(out, "%25");
		else if (*p == '\n')
			buf_str(out, "%0A");
		else if (property && *p == ':')
			buf_str(out, "%3A");
		else if (property && *p == ',')
			buf_str(out, "%2C");
		else
			buf_char(out, *p);
	}
	buf_free(&safe);
}

void render_github(const json_t *doc, struct buf *out)
{
	struct issues s;
	issues_init(&s, doc);
	for (uint32_t k = 0; k < s.list.len; k++) {
		const struct issue *i = s.list.data[k];
		bool bad = !strcmp(i->verdict, "violated");
		if (i->suppressed || i->skipped || (!bad && strcmp(i->verdict, "unknown")))
			continue;
		buf_printf(out, "::%s ",
		           !bad                                         ? (s.failed ? "error" : "notice")
		           : i->rule && strcmp(i->rule->level, "error") ? "warning"
		                                                        : "error");
		if (i->at.file && *i->at.file) {
			const char *file = i->at.file;
			while (file[0] == '.' && file[1] == '/')
				file += 2;
			buf_str(out, "file=");
			data(out, file, true);
			if (i->at.line)
				buf_printf(out, ",line=%u", i->at.line);
			if (i->at.column)
				buf_printf(out, ",col=%u", i->at.column);
			buf_char(out, ',');
		}
		buf_str(out, "title=");
		data(out, i->title, true);
		buf_str(out, "::");
		data(out, *i->message ? i->message : i->title, false);
		if (i->next) {
			buf_str(out, "%0Anext: ");
			data(out, i->next, false);
		}
		buf_char(out, '\n');
	}
	issues_free(&s);
}
