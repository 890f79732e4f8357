/*
 * diagnostics: what the front end and the checks say about a file, for the editor: the messages of `intact check` (of `intact history
 * --spec` for a specification), in the same order and words; notes with a place are related information, other notes and hints
 * further lines of the message. Verdicts of checks are added: violated blocks with the steps of the run.
 */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/utf8.h"
#include "lsp/server.h"

enum { MAX_STEPS = 60 }; /* of a run */

/* The place of a message in the text, at least one character wide where there is one: as the caret. */
static struct span place(const struct document *d, const struct diag *m)
{
	uint32_t len = (uint32_t)d->text.bytes.len, cp;
	struct span at = m->src ? m->span : (struct span){ 0, 0 };
	if (at.start > len)
		at.start = len;
	if (at.end > len)
		at.end = len;
	if (at.end <= at.start) {
		unsigned n = at.start < len ? utf8_decode(buf_cstr(&d->text.bytes) + at.start, len - at.start, &cp) : 0;
		at.end = at.start + (m->src ? n : 0);
	}
	return at;
}

static void put_message(struct json_out *j, const struct diags *all, const struct diag *m)
{
	struct buf text;
	buf_init(&text);
	buf_safe(&text, m->text, strlen(m->text));
	for (uint32_t c = m->first_child; c; c = all->list.data[c].next) {
		const struct diag *n = &all->list.data[c];
		if (n->src)
			continue;
		buf_str(&text, n->level == DIAG_HINT ? "\nhint: " : "\nnote: ");
		buf_safe(&text, n->text, strlen(n->text));
	}
	json_text_buf(j, "message", &text);
	buf_free(&text);
}

static void put_related(struct json_out *j, const struct document *d, const struct diags *all, const struct diag *m)
{
	bool any = false;
	for (uint32_t c = m->first_child; c; c = all->list.data[c].next) {
		const struct diag *n = &all->list.data[c];
		struct buf text;
		if (!n->src)
			continue;
		if (!any)
			json_begin_array(j, "relatedInformation");
		any = true;
		buf_init(&text);
		buf_safe(&text, n->text, strlen(n->text));
		json_begin_object(j, NULL);
		put_location(j, "location", d, place(d, n));
		json_text_buf(j, "message", &text);
		json_end(j);
		buf_free(&text);
	}
	if (any)
		json_end(j);
}

static void put_diagnostic(struct json_out *j, const struct document *d, const struct diags *all, const struct diag *m)
{
	json_begin_object(j, NULL);
	put_range(j, "range", &d->text, place(d, m));
	json_int(j, "severity", m->level == DIAG_ERROR ? SEVERITY_ERROR : SEVERITY_WARNING);
	json_text_if(j, "code", m->code);
	json_text(j, "source", "intact");
	put_message(j, all, m);
	if (m->code && !strcmp(m->code, "unused")) {
		json_begin_array(j, "tags");
		json_int(j, NULL, 1); /* unnecessary */
		json_end(j);
	}
	put_related(j, d, all, m);
	json_end(j);
}

/* What `intact check` would print for the text; of a specification only if it has errors, as `intact history` does. */
static void put_front_end(struct json_out *j, const struct document *d, const struct doc_analysis *a)
{
	const struct diags *all = &a->lang.diags;
	uint32_t n = 0, *ids = NULL;
	if (!a->out_of_memory && !d->too_large && (d->language != DOCUMENT_SPEC || all->errors))
		ids = diags_in_order(all, &n);
	for (uint32_t i = 0; i < n; i++)
		put_diagnostic(j, d, all, &all->list.data[ids[i]]);
	free(ids);
	if (a->out_of_memory || d->too_large) {
		json_begin_object(j, NULL);
		put_range(j, "range", &d->text, (struct span){ 0, 0 });
		json_int(j, "severity", SEVERITY_ERROR);
		json_text(j, "source", "intact");
		json_text(j, "message",
		          d->too_large ? "the file is larger than 8 MiB: it is not analysed"
		                       : "out of memory: the file is not analysed");
		json_end(j);
	}
}

/* ---- verdicts ------------------------------------------------------------------------------------- */

/* The text of a line (from 1) without the blanks around it. */
static struct span line_span(const struct document *d, uint32_t line)
{
	const char *s = buf_cstr(&d->text.bytes);
	if (!line || line > d->text.nlines)
		return (struct span){ 0, 0 };
	struct span at = { d->text.lines[line - 1], text_line_end(&d->text, line - 1) };
	while (at.start < at.end && (s[at.start] == ' ' || s[at.start] == '\t'))
		at.start++;
	while (at.end > at.start && (s[at.end - 1] == ' ' || s[at.end - 1] == '\t'))
		at.end--;
	return at;
}

static void put_steps(struct json_out *j, const struct document *d, const struct intact_document *r, size_t i)
{
	size_t n = intact_answer_steps(r, i);
	json_begin_array(j, "relatedInformation");
	for (size_t k = 0; k < n && k < MAX_STEPS; k++) {
		struct buf text;
		buf_init(&text);
		buf_printf(&text, "%zu. %s: %s", k + 1, step_who(r, i, k), intact_step_text(r, i, k));
		if (k + 1 == MAX_STEPS && n > MAX_STEPS)
			buf_printf(&text, " (%zu more steps: show the run)", n - MAX_STEPS);
		json_begin_object(j, NULL);
		put_location(j, "location", d, line_span(d, intact_step_line(r, i, k)));
		json_text_buf(j, "message", &text);
		json_end(j);
		buf_free(&text);
	}
	json_end(j);
}

static void put_verdicts(struct json_out *j, const struct document *d, const struct intact_document *r)
{
	for (size_t i = 0; i < intact_document_answers(r); i++) {
		enum intact_verdict v = intact_answer_verdict(r, i);
		if (v == INTACT_HOLDS)
			continue;
		struct buf text;
		buf_init(&text);
		buf_printf(&text, "%s%s%s", intact_answer_title(r, i), *intact_answer_message(r, i) ? ": " : "",
		           intact_answer_message(r, i));
		json_begin_object(j, NULL);
		put_range(j, "range", &d->text, line_span(d, intact_answer_line(r, i)));
		json_int(j, "severity", v == INTACT_VIOLATED ? SEVERITY_ERROR : SEVERITY_WARNING);
		json_text(j, "code", v == INTACT_VIOLATED ? "violated" : "unknown");
		json_text(j, "source", "intact check");
		json_text_buf(j, "message", &text);
		if (intact_answer_steps(r, i))
			put_steps(j, d, r, i);
		json_end(j);
		buf_free(&text);
	}
}

/* ---- publishing ----------------------------------------------------------------------------------- */

static struct json_out *publish_begin(struct lsp *s, const struct document *d)
{
	struct json_out *j = notify_begin(s, "textDocument/publishDiagnostics");
	json_text(j, "uri", d->uri);
	if (d->has_version)
		json_int(j, "version", d->version);
	json_begin_array(j, "diagnostics");
	return j;
}

void publish_diagnostics(struct lsp *s, struct document *d)
{
	const struct doc_analysis *a = document_analyse(d);
	struct json_out *j = publish_begin(s, d);
	put_front_end(j, d, a);
	for (uint32_t i = 0; i < d->nresults; i++)
		put_verdicts(j, d, d->results[i].doc);
	json_end(j);
	notify_end(s);
	d->dirty = false;
	assert(a->done);
}

void publish_nothing(struct lsp *s, const struct document *d)
{
	json_end(publish_begin(s, d));
	notify_end(s);
}
