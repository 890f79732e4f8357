/*
 * html: a document as one page that needs nothing else.
 *
 * The page is fixed: style and script are compiled in, and a
 * Content-Security-Policy allows only those two to run (by their hashes) and
 * nothing to be fetched. The document travels as data; the script puts text
 * on the page as text only. Every `<` of the data is written as \u003c, so it
 * cannot end its element.
 */
#include <stdlib.h>
#include <string.h>

#include "report/doc.h"
#include "report/embed.h"
#include "report/render.h"

static void escaped(struct buf *out, const char *s)
{
	for (; *s; s++)
		if (*s == '&')
			buf_str(out, "&amp;");
		else if (*s == '<')
			buf_str(out, "&lt;");
		else if (*s == '>')
			buf_str(out, "&gt;");
		else if (*s == '"')
			buf_str(out, "&quot;");
		else
			buf_char(out, *s);
}

static const char *subject(const json_t *doc)
{
	const char *s = doc_text(json_object_get(doc, "model"), "name");
	if (!*s)
		s = doc_text(json_array_get(json_object_get(doc, "results"), 0), "file");
	return *s ? s : doc_text(doc, "program");
}

static int put(const char *text, size_t len, void *ctx)
{
	struct buf *out = ctx;
	size_t from = 0;
	for (size_t i = 0; i < len; i++)
		if (text[i] == '<') {
			buf_add(out, text + from, i - from);
			buf_str(out, "\\u003c");
			from = i + 1;
		}
	buf_add(out, text + from, len - from);
	return 0;
}

/* ---- very large results ---------------------------------------------------- */

#define PAGE_MAX   ((size_t)18 << 20) /* bytes of data on a page */
#define PAGE_STEPS 200                /* of a long cycle of transactions */
#define PAGE_TXNS  1000               /* those of its steps and of their reasons */

static int measure(const char *text, size_t len, void *ctx)
{
	(void)text;
	*(size_t *)ctx += len;
	return 0;
}

static bool fits(const json_t *doc)
{
	size_t n = 0;
	json_dump_callback(doc, measure, &n, JSON_COMPACT | JSON_ENSURE_ASCII);
	return n <= PAGE_MAX;
}

/* Takes members out of a history's log, or of a run; says so in "left_out". */
static bool leave_out(json_t *o, const char *const *names)
{
	bool any = false;
	for (; *names; names++) {
		json_t *columns = json_object_get(o, "columns"), *said = json_object_get(o, "left_out");
		if (json_object_del(o, *names) && json_object_del(columns, *names))
			continue;
		if (!said)
			json_object_set_new(o, "left_out", said = json_array());
		json_array_append_new(said, json_string(*names));
		any = true;
	}
	return any;
}

/* Of a long cycle of transactions a page draws and lists the first steps; how many more there are stands in "more_steps". */
static void shorten(json_t *level)
{
	json_t *cycle = json_object_get(level, "cycle"), *txns = json_object_get(level, "transactions");
	size_t n = json_array_size(cycle);
	if (n <= PAGE_STEPS)
		return;
	while (json_array_size(cycle) > PAGE_STEPS)
		json_array_remove(cycle, json_array_size(cycle) - 1);
	while (json_array_size(txns) > PAGE_TXNS)
		json_array_remove(txns, json_array_size(txns) - 1);
	json_object_set_new(level, "more_steps", json_integer((json_int_t)(n - PAGE_STEPS)));
}

static void shorten_levels(json_t *result)
{
	static const char *const names[] = { "proof", "events", "order", NULL };
	size_t i;
	json_t *level;
	json_array_foreach(json_object_get(result, "levels"), i, level)
	{
		leave_out(level, names);
		shorten(level);
	}
}

/* What can be missed goes first; the last of it leaves the verdicts alone. */
static json_t *cut_down(const json_t *doc)
{
	static const char *const rounds[][6] = {
		{ "order", "order_lengths", NULL },
		{ "orders", NULL },
		{ "values", NULL },
		{ "a", "b", NULL },
		{ "line", "result", NULL },
		{ "steps", NULL },
		{ "process", "key", "function", "call", "span", NULL },
		{ "findings", "parts", "stack", "sources", "net", NULL },
	};
	json_t *copy = json_deep_copy(doc), *r;
	size_t k;
	for (size_t i = 0; copy && i < sizeof rounds / sizeof *rounds && !fits(copy); i++) {
		leave_out(copy, rounds[i]);
		json_array_foreach(json_object_get(copy, "results"), k, r)
		{
			json_t *log = json_object_get(r, "log"), *run = json_object_get(r, "counterexample");
			json_t *parts[] = { log, run, json_object_get(r, "serial"), r };
			for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
				if (parts[p])
					leave_out(parts[p], rounds[i]);
			if (!i)
				shorten_levels(r);
		}
	}
	return copy;
}

void render_html(const json_t *whole, struct buf *out)
{
	json_t *cut = fits(whole) ? NULL : cut_down(whole);
	const json_t *doc = cut ? cut : whole;
	struct buf title;
	buf_init(&title);
	buf_safe(&title, subject(doc), strnlen(subject(doc), 200));
	buf_str(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Intact: ");
	escaped(out, buf_cstr(&title));
	buf_printf(out,
	           "</title>\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	           "style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'\">\n"
	           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	           "<meta name=\"color-scheme\" content=\"light dark\">\n<style>",
	           embed_style_hash, embed_script_hash);
	buf_add(out, (const char *)embed_style, embed_style_len);
	buf_str(out, "</style>\n</head>\n<body>\n<main id=\"page\"><noscript>This report needs its embedded script; "
	             "nothing is loaded from elsewhere. Allow scripts for it, or read it with 'intact report FILE.json "
	             "--text'.</noscript></main>\n<script type=\"application/json\" id=\"document\">");
	json_dump_callback(doc, put, out, JSON_COMPACT | JSON_ENSURE_ASCII);
	buf_str(out, "</script>\n<script>");
	buf_add(out, (const char *)embed_script, embed_script_len);
	buf_str(out, "</script>\n</body>\n</html>\n");
	buf_free(&title);
	json_decref(cut);
}
