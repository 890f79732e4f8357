/*
 * server: the life of a session, and which handler gets a message.
 *
 * Order: before initialize only that is answered; after shutdown nothing but exit. Notifications that cannot be obeyed are dropped, as the
 * protocol asks; requests always get an answer.
 */
#include "lsp/server.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "version.h"

/* ---- documents ---------------------------------------------------------------------------------- */

static uint32_t place_of(const struct lsp *s, const char *uri)
{
	uint32_t i = 0;
	while (i < s->ndocs && strcmp(s->docs[i]->uri, uri) != 0)
		i++;
	return i;
}

struct document *find_document(const struct lsp *s, const char *uri)
{
	uint32_t i = uri ? place_of(s, uri) : s->ndocs;
	return i < s->ndocs ? s->docs[i] : NULL;
}

static void set_version(struct document *d, const json_t *doc)
{
	const json_t *v = json_object_get(doc, "version");
	d->has_version = json_is_integer(v);
	d->version = json_integer_value(v);
}

static void set_text(struct lsp *s, struct document *d, const json_t *text)
{
	d->too_large = !text_set(&d->text, json_string_value(text), json_string_length(text));
	if (d->too_large) {
		text_set(&d->text, "", 0);
		show_message(s, SEVERITY_ERROR, "%s is larger than 8 MiB: it is not analysed", d->name);
	}
	document_changed(d);
}

static void on_open(struct lsp *s, const struct lsp_call *c)
{
	const json_t *doc = json_object_get(c->params, "textDocument"), *text = json_object_get(doc, "text");
	const char *uri = json_string_value(json_object_get(doc, "uri"));
	const char *language = json_string_value(json_object_get(doc, "languageId"));
	if (!uri || !json_is_string(text))
		return;
	struct document *d = find_document(s, uri);
	if (!d) {
		if (s->ndocs >= LSP_MAX_DOCUMENTS) {
			show_message(s, SEVERITY_ERROR, "more than %d files are open: %s is not analysed", LSP_MAX_DOCUMENTS, uri);
			return;
		}
		if (!GROW(s->docs, s->capdocs, s->ndocs + 1ull) || !(d = document_new(uri, language ? language : "")))
			return;
		s->docs[s->ndocs++] = d;
	}
	cancel_checks_of(s, d);
	set_version(d, doc);
	set_text(s, d, text);
}

static bool read_position(const json_t *p, struct text_pos *at)
{
	const json_t *line = json_object_get(p, "line"), *unit = json_object_get(p, "character");
	if (!json_is_integer(line) || !json_is_integer(unit) || json_integer_value(line) < 0 || json_integer_value(unit) < 0)
		return false;
	json_int_t l = json_integer_value(line), u = json_integer_value(unit);
	at->line = l > UINT32_MAX ? UINT32_MAX : (uint32_t)l;
	at->unit = u > UINT32_MAX ? UINT32_MAX : (uint32_t)u;
	return true;
}

/* One element of contentChanges; false when it is none. */
static bool apply_change(struct lsp *s, struct document *d, const json_t *change)
{
	const json_t *text = json_object_get(change, "text"), *range = json_object_get(change, "range");
	struct text_pos from, to;
	if (!json_is_string(text))
		return false;
	if (!range || json_is_null(range)) {
		set_text(s, d, text);
		return true;
	}
	if (!read_position(json_object_get(range, "start"), &from) || !read_position(json_object_get(range, "end"), &to))
		return false;
	if (d->too_large)
		return true;
	uint32_t start = text_offset(&d->text, from), end = text_offset(&d->text, to);
	if (end < start) {
		uint32_t swap = start;
		start = end;
		end = swap;
	}
	document_changed(d); /* the analysis refers to the text */
	if (!text_edit(&d->text, start, end, json_string_value(text), json_string_length(text))) {
		d->too_large = true;
		text_set(&d->text, "", 0);
		show_message(s, SEVERITY_ERROR, "%s is larger than 8 MiB: it is not analysed", d->name);
	}
	return true;
}

static void on_change(struct lsp *s, const struct lsp_call *c)
{
	size_t i;
	json_t *change;
	struct document *d = c->doc;
	if (!d)
		return;
	cancel_checks_of(s, d);
	set_version(d, json_object_get(c->params, "textDocument"));
	json_array_foreach(json_object_get(c->params, "contentChanges"), i, change) if (!apply_change(s, d, change))
		show_message(s, SEVERITY_ERROR, "a change of %s cannot be read: close the file and open it again", d->name);
}

static void on_close(struct lsp *s, const struct lsp_call *c)
{
	if (!c->doc)
		return;
	uint32_t i = place_of(s, c->doc->uri);
	assert(i < s->ndocs && s->docs[i] == c->doc);
	cancel_checks_of(s, c->doc);
	publish_nothing(s, c->doc);
	document_free(c->doc);
	s->docs[i] = s->docs[--s->ndocs];
}

static void on_save(struct lsp *s, const struct lsp_call *c)
{
	const json_t *text = json_object_get(c->params, "text");
	if (c->doc && json_is_string(text))
		set_text(s, c->doc, text);
	else if (c->doc)
		c->doc->dirty = true; /* published once more */
}

/* ---- the life of the session -------------------------------------------------------------------- */

static const json_t *path(const json_t *j, const char *const *keys)
{
	for (; *keys && j; keys++)
		j = json_object_get(j, *keys);
	return j;
}
#define PATH(j, ...) path(j, (const char *const[]){ __VA_ARGS__, NULL })

static bool has_text(const json_t *array, const char *text)
{
	size_t i;
	json_t *v;
	json_array_foreach(array, i, v) if (json_is_string(v) && !strcmp(json_string_value(v), text)) return true;
	return false;
}

static void put_capabilities(struct json_out *j)
{
	json_begin_object(j, "capabilities");
	json_text(j, "positionEncoding", "utf-16");
	json_begin_object(j, "textDocumentSync");
	json_bool(j, "openClose", true);
	json_int(j, "change", 2); /* incremental */
	json_begin_object(j, "save");
	json_bool(j, "includeText", false);
	json_end(j);
	json_end(j);
	static const char *const simple[] = { "hoverProvider",          "definitionProvider",
		                              "referencesProvider",     "documentHighlightProvider",
		                              "documentSymbolProvider", "documentFormattingProvider" };
	for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
		json_bool(j, simple[i], true);
	json_begin_object(j, "renameProvider");
	json_bool(j, "prepareProvider", true);
	json_end(j);
	json_begin_object(j, "completionProvider");
	json_begin_array(j, "triggerCharacters");
	json_text(j, NULL, ".");
	json_end(j);
	json_end(j);
	json_begin_object(j, "codeLensProvider");
	json_bool(j, "resolveProvider", false);
	json_end(j);
	json_begin_object(j, "executeCommandProvider");
	json_begin_array(j, "commands");
	json_text(j, NULL, command_check_block);
	json_text(j, NULL, command_check_model);
	json_text(j, NULL, command_show_run);
	json_end(j);
	json_bool(j, "workDoneProgress", true);
	json_end(j);
	json_end(j);
}

static void on_initialize(struct lsp *s, const struct lsp_call *c)
{
	const json_t *can = json_object_get(c->params, "capabilities");
	s->can_show_document = json_is_true(PATH(can, "window", "showDocument", "support"));
	s->can_refresh_lenses = json_is_true(PATH(can, "workspace", "codeLens", "refreshSupport"));
	s->markdown = has_text(PATH(can, "textDocument", "hover", "contentFormat"), "markdown");
	s->hierarchical = json_is_true(PATH(can, "textDocument", "documentSymbol", "hierarchicalDocumentSymbolSupport"));
	s->state = LSP_RUNNING;
	struct json_out *j = reply_begin(s, c->id);
	json_begin_object(j, "result");
	put_capabilities(j);
	json_begin_object(j, "serverInfo");
	json_text(j, "name", "intact");
	json_text(j, "version", INTACT_VERSION);
	json_end(j);
	json_end(j);
	reply_end(s);
}

static void end_jobs(struct lsp *s)
{
	for (unsigned i = 0; i < LSP_MAX_JOBS; i++) {
		if (s->jobs[i].pid)
			reply_error(s, s->jobs[i].id, ERROR_CANCELLED, "the server was shut down");
		job_free(&s->jobs[i]);
	}
}

static void on_shutdown(struct lsp *s, const struct lsp_call *c)
{
	end_jobs(s);
	s->state = LSP_SHUT_DOWN;
	reply_null(s, c->id);
}

static void on_exit_notification(struct lsp *s, const struct lsp_call *c)
{
	(void)c;
	s->exit_code = s->state == LSP_SHUT_DOWN ? 0 : 1;
	s->state = LSP_ENDED;
}

static void on_cancel(struct lsp *s, const struct lsp_call *c)
{
	cancel_request(s, json_object_get(c->params, "id"));
}

static void on_nothing(struct lsp *s, const struct lsp_call *c)
{
	(void)s;
	(void)c;
}

/* ---- dispatch ------------------------------------------------------------------------------------- */

enum method_needs { NEEDS_NOTHING, NEEDS_DOCUMENT, NEEDS_POSITION };

static const struct lsp_method {
	const char *name;
	bool request;
	enum method_needs needs;
	void (*handle)(struct lsp *s, const struct lsp_call *c);
} methods[] = {
	{ "initialize", true, NEEDS_NOTHING, on_initialize },
	{ "initialized", false, NEEDS_NOTHING, on_nothing },
	{ "shutdown", true, NEEDS_NOTHING, on_shutdown },
	{ "exit", false, NEEDS_NOTHING, on_exit_notification },
	{ "$/cancelRequest", false, NEEDS_NOTHING, on_cancel },
	{ "textDocument/didOpen", false, NEEDS_NOTHING, on_open },
	{ "textDocument/didChange", false, NEEDS_DOCUMENT, on_change },
	{ "textDocument/didClose", false, NEEDS_DOCUMENT, on_close },
	{ "textDocument/didSave", false, NEEDS_DOCUMENT, on_save },
	{ "textDocument/formatting", true, NEEDS_DOCUMENT, on_formatting },
	{ "textDocument/definition", true, NEEDS_POSITION, on_definition },
	{ "textDocument/references", true, NEEDS_POSITION, on_references },
	{ "textDocument/documentHighlight", true, NEEDS_POSITION, on_highlight },
	{ "textDocument/prepareRename", true, NEEDS_POSITION, on_prepare_rename },
	{ "textDocument/rename", true, NEEDS_POSITION, on_rename },
	{ "textDocument/hover", true, NEEDS_POSITION, on_hover },
	{ "textDocument/documentSymbol", true, NEEDS_DOCUMENT, on_symbols },
	{ "textDocument/completion", true, NEEDS_POSITION, on_completion },
	{ "textDocument/codeLens", true, NEEDS_DOCUMENT, on_lenses },
	{ "workspace/executeCommand", true, NEEDS_NOTHING, on_execute },
};

static const struct lsp_method *find_method(const char *name)
{
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
		if (!strcmp(methods[i].name, name))
			return &methods[i];
	return NULL;
}

/* Finds the document and the place of a call; false after an answer. */
static bool resolve(struct lsp *s, const struct lsp_method *m, struct lsp_call *c)
{
	if (m->needs == NEEDS_NOTHING)
		return true;
	const char *uri = json_string_value(PATH(c->params, "textDocument", "uri"));
	c->doc = find_document(s, uri);
	if (!m->request)
		return true;
	if (!c->doc) {
		reply_error(s, c->id, ERROR_PARAMS, "%s%s", uri ? "the file is not open: " : "textDocument.uri is missing",
		            uri ? uri : "");
		return false;
	}
	if (m->needs == NEEDS_POSITION) {
		struct text_pos at;
		if (!read_position(json_object_get(c->params, "position"), &at)) {
			reply_error(s, c->id, ERROR_PARAMS, "position is missing or is not a line and a character");
			return false;
		}
		c->offset = text_offset(&c->doc->text, at);
	}
	c->a = document_analyse(c->doc);
	return true;
}

/* Is the session in a state for it? False after an answer. */
static bool in_order(struct lsp *s, const struct lsp_method *m, const json_t *id)
{
	bool first = !strcmp(m->name, "initialize");
	if (!strcmp(m->name, "exit"))
		return true;
	if (s->state == LSP_RUNNING ? !first : s->state == LSP_NEW && first)
		return true;
	if (!id)
		return false;
	if (s->state == LSP_NEW)
		reply_error(s, id, ERROR_NOT_INITIALIZED, "the first request must be initialize");
	else
		reply_error(s, id, ERROR_REQUEST,
		            s->state == LSP_RUNNING ? "initialize was sent already" : "the server is shut down");
	return false;
}

static void dispatch(struct lsp *s, const json_t *message)
{
	const json_t *id = json_object_get(message, "id"), *method = json_object_get(message, "method");
	if (!json_is_object(message)) {
		reply_error(s, NULL, ERROR_REQUEST, "a message is a JSON object");
		return;
	}
	if (!method && (json_object_get(message, "result") || json_object_get(message, "error")))
		return; /* the client's answer to a request of ours */
	if (!json_is_string(method) || (id && !json_is_integer(id) && !json_is_string(id))) {
		reply_error(s, json_is_integer(id) || json_is_string(id) ? id : NULL, ERROR_REQUEST,
		            json_is_string(method) ? "id must be an integer or a string" : "method is missing");
		return;
	}
	const char *name = json_string_value(method);
	const struct lsp_method *m = find_method(name);
	struct lsp_call c = { .id = id, .params = json_object_get(message, "params") };
	if (!m) {
		if (id)
			reply_error(s, id, ERROR_METHOD, "the method is not supported: %.100s", name);
		return;
	}
	if (m->request != (id != NULL)) {
		if (id)
			reply_error(s, id, ERROR_REQUEST, "%s is a notification: it has no id", name);
		return;
	}
	assert(s->state != LSP_ENDED);
	if (in_order(s, m, id) && resolve(s, m, &c))
		m->handle(s, &c);
}

/* ---- the session ---------------------------------------------------------------------------------- */

struct lsp *lsp_new(const struct lsp_options *o)
{
	struct lsp *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->o = *o;
	frame_init(&s->in);
	buf_init(&s->out);
	buf_init(&s->message);
	return s;
}

void lsp_free(struct lsp *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < LSP_MAX_JOBS; i++)
		job_free(&s->jobs[i]);
	remove_pages(s);
	for (uint32_t i = 0; i < s->ndocs; i++)
		document_free(s->docs[i]);
	free(s->docs);
	frame_free(&s->in);
	buf_free(&s->out);
	buf_free(&s->message);
	free(s);
}

static void take_message(struct lsp *s)
{
	json_error_t e;
	json_t *message = json_loadb(buf_cstr(&s->in.body), s->in.body.len, JSON_ALLOW_NUL | JSON_DECODE_ANY, &e);
	if (!message) {
		reply_error(s, NULL, ERROR_PARSE, "the message is not JSON: %s (byte %d)", e.text, e.position);
		return;
	}
	dispatch(s, message);
	json_decref(message);
}

void lsp_receive(struct lsp *s, const char *bytes, size_t len)
{
	size_t used = 0;
	for (enum frame_kind k = FRAME_MESSAGE; k != FRAME_NONE && s->state != LSP_ENDED; bytes += used, len -= used) {
		k = frame_next(&s->in, bytes, len, &used);
		if (k == FRAME_MESSAGE)
			take_message(s);
		else if (k == FRAME_BAD)
			reply_error(s, NULL, ERROR_PARSE, "%s", s->in.why);
	}
}

void lsp_idle(struct lsp *s)
{
	for (uint32_t i = 0; i < s->ndocs && s->state == LSP_RUNNING; i++)
		if (s->docs[i]->dirty)
			publish_diagnostics(s, s->docs[i]);
}

struct buf *lsp_output(struct lsp *s)
{
	return &s->out;
}

bool lsp_ended(const struct lsp *s, int *code)
{
	*code = s->exit_code;
	return s->state == LSP_ENDED;
}
