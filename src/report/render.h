/*
 * render: a document (doc.h) as something else. A renderer sees the document
 * and nothing besides; it never fails, for the document is valid.
 */
#ifndef INTACT_REPORT_RENDER_H
#define INTACT_REPORT_RENDER_H

#include <jansson.h>

#include "base/buf.h"

void render_sarif(const json_t *doc, struct buf *out);
void render_html(const json_t *doc, struct buf *out);
void render_junit(const json_t *doc, struct buf *out);
void render_github(const json_t *doc, struct buf *out);
/* The net, or its prefix, for graphviz; a comment when there is none. */
void render_dot(const json_t *doc, struct buf *out);

/* All of them but text, which has options; the order is that in which a command writes them. */
enum render_format { RENDER_SARIF, RENDER_HTML, RENDER_JUNIT, RENDER_GITHUB, RENDER_DOT, RENDERERS };
struct renderer {
	const char *mark; /* stands at the beginning of what it makes: such a file may be replaced */
	void (*render)(const json_t *doc, struct buf *out);
};
extern const struct renderer renderers[RENDERERS];
extern const char render_json_mark[]; /* of a document itself */

struct render_text_options {
	unsigned width;
	bool color, utf8;
	unsigned max_rows; /* of a table; 0: all */
};
/* A result of `intact history`, of `intact net` as the command prints it (history_json.c, net_text.c). */
void history_result_text(const json_t *result, bool color, struct buf *out);
void net_result_text(const json_t *result, struct buf *out);
/* The answers as a list, whatever the kind. */
void render_list(const json_t *doc, const struct render_text_options *o, struct buf *out);

#endif
