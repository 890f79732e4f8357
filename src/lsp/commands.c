/*
 * commands: "check this block", "check this model", "show the run": checks in child processes (job.h), their results as diagnostics, a
 * message and the answer of the request; the run as a page in a directory of the session's own.
 *
 * A check is about the text as it was when it was asked for: an edit ends it (ContentModified).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/invariant.h"
#include "base/replace.h"
#include "lsp/server.h"

const char command_check_block[] = "intact.checkBlock", command_check_model[] = "intact.checkModel",
	   command_show_run[] = "intact.showRun";

static const char *const verdict_words[] = {
	[INTACT_HOLDS] = "holds", [INTACT_VIOLATED] = "violated", [INTACT_MISUSED] = "unknown", [INTACT_UNKNOWN] = "unknown"
};

/* ---- pages ------------------------------------------------------------------------------------------ */

static bool make_page_dir(struct lsp *s, struct why *why)
{
	const char *tmp = getenv("TMPDIR");
	struct buf name;
	if (s->page_dir)
		return true;
	buf_init(&name);
	buf_printf(&name, "%s/intact-lsp-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
	if (!name.failed && mkdtemp(name.data)) {
		s->page_dir = name.data;
		return true;
	}
	why_set(why, "no directory for the page: %s", strerror(errno));
	buf_free(&name);
	return false;
}

/* Writes the page; its path in `path`. */
static bool write_page(struct lsp *s, struct intact_document *r, struct buf *path, struct why *why)
{
	size_t len;
	const char *html = intact_document_render(r, INTACT_HTML, &len);
	if (!html)
		return why_set(why, "the page cannot be made: %s", intact_document_messages(r));
	if (!make_page_dir(s, why))
		return false;
	buf_printf(path, "%s/run-%u.html", s->page_dir, ++s->pages);
	FILE *f = fopen(buf_cstr(path), "we");
	if (!f)
		return why_set(why, "%s: %s", buf_cstr(path), strerror(errno));
	bool ok = fwrite(html, 1, len, f) == len;
	ok &= !fclose(f);
	return ok ? true : why_set(why, "%s: %s", buf_cstr(path), strerror(errno));
}

void remove_pages(struct lsp *s)
{
	assert(!s->pages || s->page_dir);
	for (uint32_t i = 1; i <= s->pages; i++) {
		struct buf path;
		buf_init(&path);
		buf_printf(&path, "%s/run-%u.html", s->page_dir, i);
		unlink(buf_cstr(&path));
		buf_free(&path);
	}
	if (s->page_dir)
		rmdir(s->page_dir);
	free(s->page_dir);
	s->page_dir = NULL;
}

static void put_file_uri(struct json_out *j, const char *path)
{
	struct buf uri;
	buf_init(&uri);
	buf_str(&uri, "file://");
	for (const char *c = path; *c; c++)
		if ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || strchr("/-_.~", *c))
			buf_char(&uri, *c);
		else
			buf_printf(&uri, "%%%02X", (unsigned char)*c);
	json_text_buf(j, "uri", &uri);
	buf_free(&uri);
}

/* ---- results ------------------------------------------------------------------------------------------ */

static void put_result(struct json_out *j, const struct intact_document *r, const char *page)
{
	json_text(j, "verdict", verdict_words[intact_document_verdict(r)]);
	json_begin_array(j, "answers");
	for (size_t i = 0; i < intact_document_answers(r); i++) {
		json_begin_object(j, NULL);
		json_text(j, "name", intact_answer_name(r, i));
		json_text(j, "verdict", verdict_words[intact_answer_verdict(r, i)]);
		json_text(j, "title", intact_answer_title(r, i));
		json_text(j, "message", intact_answer_message(r, i));
		json_uint(j, "line", intact_answer_line(r, i));
		json_text(j, "schedule", intact_answer_schedule(r, i));
		json_end(j);
	}
	json_end(j);
	if (page) {
		json_text(j, "path", page);
		put_file_uri(j, page);
	}
}

static void tell(struct lsp *s, const struct intact_document *r)
{
	enum intact_verdict v = intact_document_verdict(r);
	size_t n = intact_document_answers(r), shown = 0;
	struct buf text;
	buf_init(&text);
	for (size_t i = 0; i < n && shown < 5; i++) {
		bool holds = intact_answer_verdict(r, i) == INTACT_HOLDS;
		if (holds != (v == INTACT_HOLDS))
			continue;
		buf_printf(&text, "%s%s", shown++ ? "; " : "", intact_answer_title(r, i));
		if (!holds && *intact_answer_message(r, i) && n == 1)
			buf_printf(&text, ": %s", intact_answer_message(r, i));
	}
	show_message(s,
	             v == INTACT_HOLDS      ? SEVERITY_INFORMATION
	             : v == INTACT_VIOLATED ? SEVERITY_ERROR
	                                    : SEVERITY_WARNING,
	             "%s", text.len ? buf_cstr(&text) : verdict_words[v]);
	buf_free(&text);
}

/* Answers a request to show the run. */
static void show_run(struct lsp *s, const json_t *id, struct intact_document *r)
{
	struct buf path;
	struct why why;
	buf_init(&path);
	if (!write_page(s, r, &path, &why)) {
		reply_error(s, id, ERROR_FAILED, "%s", why.text);
		buf_free(&path);
		return;
	}
	if (s->can_show_document) {
		struct json_out *j = request_begin(s, "window/showDocument");
		put_file_uri(j, buf_cstr(&path));
		json_bool(j, "external", true);
		notify_end(s);
	}
	struct json_out *j = reply_begin(s, id);
	json_begin_object(j, "result");
	put_result(j, r, buf_cstr(&path));
	json_end(j);
	reply_end(s);
	buf_free(&path);
}

/* ---- checks in progress --------------------------------------------------------------------------------- */

static void progress(struct lsp *s, const struct lsp_job *b, const char *kind, const char *text)
{
	if (!b->token)
		return;
	struct json_out *j = notify_begin(s, "$/progress");
	if (json_is_string(b->token))
		json_text(j, "token", json_string_value(b->token));
	else
		json_int(j, "token", json_integer_value(b->token));
	json_begin_object(j, "value");
	json_text(j, "kind", kind);
	if (!strcmp(kind, "begin")) {
		json_text(j, "title", text);
		json_bool(j, "cancellable", true);
	} else {
		json_text(j, "message", text);
	}
	json_end(j);
	notify_end(s);
}

static void end_job(struct lsp *s, struct lsp_job *b, enum lsp_error code, const char *why)
{
	assert(b->pid && b->id && b->uri);
	progress(s, b, "end", why);
	reply_error(s, b->id, code, "%s", why);
	job_free(b);
}

void cancel_request(struct lsp *s, const json_t *id)
{
	for (unsigned i = 0; i < LSP_MAX_JOBS; i++)
		if (s->jobs[i].pid && id && json_equal((json_t *)id, s->jobs[i].id))
			end_job(s, &s->jobs[i], ERROR_CANCELLED, "the check was cancelled");
}

void cancel_checks_of(struct lsp *s, const struct document *d)
{
	for (unsigned i = 0; i < LSP_MAX_JOBS; i++)
		if (s->jobs[i].pid && !strcmp(s->jobs[i].uri, d->uri))
			end_job(s, &s->jobs[i], ERROR_MODIFIED, "the file was changed while it was checked");
}

/* The result goes to the document, its diagnostics, the client's lenses and the request. */
static void deliver(struct lsp *s, struct lsp_job *b, struct document *d, struct intact_document *r)
{
	document_add_result(d, b->block, r);
	assert(d->nresults); /* r is the document's now */
	progress(s, b, "end", verdict_words[intact_document_verdict(r)]);
	publish_diagnostics(s, d);
	if (s->can_refresh_lenses) {
		request_begin(s, "workspace/codeLens/refresh");
		notify_end(s);
	}
	if (b->show) {
		show_run(s, b->id, r);
	} else {
		tell(s, r);
		struct json_out *j = reply_begin(s, b->id);
		json_begin_object(j, "result");
		put_result(j, r, NULL);
		json_end(j);
		reply_end(s);
	}
	job_free(b);
}

void job_ended(struct lsp *s, struct lsp_job *b)
{
	struct document *d = find_document(s, b->uri);
	const char *text = buf_cstr(&b->answer);
	if (b->late) {
		end_job(s, b, ERROR_FAILED, "the check did not end within its time limit");
	} else if (b->answer.failed || b->answer.len > JOB_ANSWER_MAX) {
		end_job(s, b, ERROR_FAILED, "the result is too large");
	} else if (!d || (*text != 'D' && *text != 'M')) {
		end_job(s, b, ERROR_FAILED, "the process of the check ended without a result (out of memory?)");
	} else if (*text == 'M') {
		struct why why;
		why_set(&why, "%s", text + 1);
		end_job(s, b, ERROR_FAILED, why.text);
	} else {
		struct intact_document *r = intact_document_new();
		if (r && intact_document_load_text(r, text + 1, b->answer.len - 1) == INTACT_OK) {
			deliver(s, b, d, r);
			return;
		}
		end_job(s, b, ERROR_FAILED, r ? intact_document_messages(r) : "out of memory");
		intact_document_free(r);
	}
}

/* ---- the request ------------------------------------------------------------------------------------------ */

/* What was found out about this block (or the model) already, with a run if there is one; or NULL. */
static struct intact_document *known_result(const struct document *d, const char *block)
{
	for (uint32_t k = d->nresults; k-- > 0;)
		if (block ? d->results[k].block && !strcmp(d->results[k].block, block) : !d->results[k].block)
			return d->results[k].doc;
	return NULL;
}

static void start_check(struct lsp *s, const struct lsp_call *c, struct document *d, const char *block, bool show)
{
	struct lsp_job *b = s->jobs;
	struct why why;
	const json_t *token = json_object_get(c->params, "workDoneToken");
	struct job_question q = { .name = d->name,
		                  .text = buf_cstr(&d->text.bytes),
		                  .len = d->text.bytes.len,
		                  .sml = d->language == DOCUMENT_SML,
		                  .block = block,
		                  .timeout = s->o.timeout,
		                  .max_memory = s->o.max_memory };
	while (b < s->jobs + LSP_MAX_JOBS && b->pid)
		b++;
	if (b == s->jobs + LSP_MAX_JOBS) {
		reply_error(s, c->id, ERROR_FAILED, "%d checks are running already", LSP_MAX_JOBS);
		return;
	}
	if (s->o.no_checks || !job_start(b, &q, &why)) {
		reply_error(s, c->id, ERROR_FAILED, "%s", s->o.no_checks ? "checks are switched off" : why.text);
		return;
	}
	b->id = json_deep_copy(c->id);
	b->token = json_is_string(token) || json_is_integer(token) ? json_deep_copy(token) : NULL;
	b->uri = strdup(d->uri);
	b->block = block ? strdup(block) : NULL;
	b->show = show;
	if (!b->id || !b->uri || (block && !b->block)) {
		reply_error(s, c->id, ERROR_FAILED, "out of memory");
		job_free(b);
		return;
	}
	progress(s, b, "begin", block ? block : "check");
}

static const char *argument(const struct lsp_call *c, size_t i)
{
	return json_string_value(json_array_get(json_object_get(c->params, "arguments"), i));
}

void on_execute(struct lsp *s, const struct lsp_call *c)
{
	const char *name = json_string_value(json_object_get(c->params, "command"));
	const char *uri = argument(c, 0), *block = argument(c, 1);
	bool show = name && !strcmp(name, command_show_run), one = name && !strcmp(name, command_check_block);
	if (!name || (!show && !one && strcmp(name, command_check_model) != 0)) {
		reply_error(s, c->id, ERROR_PARAMS, "no such command: %.100s", name ? name : "(none)");
		return;
	}
	struct document *d = find_document(s, uri);
	if (!d || (one && !block)) {
		reply_error(s, c->id, ERROR_PARAMS,
		            d ? "the arguments are the URI of an open file and the name of a block"
		              : "the first argument must be the URI of an open file");
		return;
	}
	if (d->language == DOCUMENT_SPEC) {
		reply_error(s, c->id, ERROR_FAILED, "a specification is not checked itself: intact history --spec uses it");
		return;
	}
	const struct doc_analysis *a = document_analyse(d);
	if (a->out_of_memory || !a->lang.ir) {
		reply_error(s, c->id, ERROR_FAILED, "the model has errors: it cannot be checked");
		return;
	}
	if (strcmp(name, command_check_model) == 0)
		block = NULL;
	struct intact_document *known = show ? known_result(d, block) : NULL;
	if (known)
		show_run(s, c->id, known);
	else
		start_check(s, c, d, block, show);
}
