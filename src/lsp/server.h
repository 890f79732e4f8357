/*
 * server: what the files of the server share: the session, calls and answers.
 *
 * A handler gets a call and answers a request exactly once: with reply_begin ... reply_end, reply_null or reply_error. An answer that
 * comes later (of a check) keeps a copy of the id.
 */
#ifndef INTACT_LSP_SERVER_H
#define INTACT_LSP_SERVER_H

#include <jansson.h>

#include "base/json_out.h"
#include "lsp/document.h"
#include "lsp/frame.h"
#include "lsp/job.h"
#include "lsp/lsp.h"

enum lsp_error { /* of the protocol */
	         ERROR_PARSE = -32700,
	         ERROR_REQUEST = -32600,
	         ERROR_METHOD = -32601,
	         ERROR_PARAMS = -32602,
	         ERROR_INTERNAL = -32603,
	         ERROR_NOT_INITIALIZED = -32002,
	         ERROR_CANCELLED = -32800,
	         ERROR_MODIFIED = -32801,
	         ERROR_FAILED = -32803,
};

enum lsp_severity { SEVERITY_ERROR = 1, SEVERITY_WARNING, SEVERITY_INFORMATION, SEVERITY_HINT };

enum lsp_state { LSP_NEW, LSP_RUNNING, LSP_SHUT_DOWN, LSP_ENDED };

struct lsp {
	struct lsp_options o;
	struct frame_reader in;
	struct buf out, message;
	struct json_out j; /* of `message` */
	enum lsp_state state;
	int exit_code;
	struct document **docs;
	uint32_t ndocs, capdocs;
	struct lsp_job jobs[LSP_MAX_JOBS];
	/* what the client can do */
	bool can_show_document, can_refresh_lenses, markdown, hierarchical;
	uint32_t requests; /* sent to the client */
	char *page_dir;
	uint32_t pages;
};

struct lsp_call {
	const json_t *id; /* NULL: a notification */
	const json_t *params;
	struct document *doc;         /* of textDocument.uri */
	const struct doc_analysis *a; /* of doc, up to date; not for notifications */
	uint32_t offset;              /* of position, when there is one */
};

/* ---- answers (answer.c) ---- */

/* Writes {"jsonrpc", "id", "result": ; the caller writes one value with the key "result". */
struct json_out *reply_begin(struct lsp *s, const json_t *id);
void reply_end(struct lsp *s);
void reply_null(struct lsp *s, const json_t *id);
void reply_error(struct lsp *s, const json_t *id, enum lsp_error code, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* {"jsonrpc", "method", "params": { ; the caller writes members and calls notify_end. */
struct json_out *notify_begin(struct lsp *s, const char *method);
/* The same for a request of the server's own; answers to them are not waited for. */
struct json_out *request_begin(struct lsp *s, const char *method);
void notify_end(struct lsp *s);
/* window/showMessage */
void show_message(struct lsp *s, enum lsp_severity type, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

void put_position(struct json_out *j, const char *key, struct text_pos p);
void put_range(struct json_out *j, const char *key, const struct doc_text *t, struct span at);
/* {"uri", "range"} */
void put_location(struct json_out *j, const char *key, const struct document *d, struct span at);

/* Whose step it is: "worker 1". */
const char *step_who(const struct intact_document *r, size_t answer, size_t step);

/* ---- handlers ---- */

/* diagnostics.c */
void publish_diagnostics(struct lsp *s, struct document *d);
void publish_nothing(struct lsp *s, const struct document *d);
/* navigate.c */
void on_definition(struct lsp *s, const struct lsp_call *c);
void on_references(struct lsp *s, const struct lsp_call *c);
void on_highlight(struct lsp *s, const struct lsp_call *c);
/* rename.c */
void on_prepare_rename(struct lsp *s, const struct lsp_call *c);
void on_rename(struct lsp *s, const struct lsp_call *c);
/* hover.c */
void on_hover(struct lsp *s, const struct lsp_call *c);
/* outline.c */
void on_symbols(struct lsp *s, const struct lsp_call *c);
void on_lenses(struct lsp *s, const struct lsp_call *c);
/* complete.c */
void on_completion(struct lsp *s, const struct lsp_call *c);
/* format.c */
void on_formatting(struct lsp *s, const struct lsp_call *c);
/* commands.c */
void on_execute(struct lsp *s, const struct lsp_call *c);
void cancel_request(struct lsp *s, const json_t *id);
/* Its checks end: the text has changed or is closed. */
void cancel_checks_of(struct lsp *s, const struct document *d);
/* A child has written its answer, or its time is up. */
void job_ended(struct lsp *s, struct lsp_job *b);
void remove_pages(struct lsp *s);
extern const char command_check_block[], command_check_model[], command_show_run[];

struct document *find_document(const struct lsp *s, const char *uri);

#endif
