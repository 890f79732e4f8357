/* document: struct intact_document of include/intact/intact.h: a result, its answers (report/issue.h) and renderings. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/document_text.h"
#include "base/invariant.h"
#include "base/source.h"
#include "report/doc.h"
#include "report/issue.h"
#include "report/render.h"
#include "verify/verify.h"

#define PAGE_WIDTH 100

struct intact_document {
	json_t *doc;          /* NULL: nothing is loaded */
	struct issues issues; /* of doc */
	struct buf json;      /* its bytes */
	struct buf rendered, messages;
};

API_EXPORT struct intact_document *intact_document_new(void)
{
	struct intact_document *d = calloc(1, sizeof *d);
	if (!d)
		return NULL;
	buf_init(&d->json);
	buf_init(&d->rendered);
	buf_init(&d->messages);
	return d;
}

static void forget(struct intact_document *d)
{
	if (d->doc) {
		issues_free(&d->issues);
		json_decref(d->doc);
	}
	d->doc = NULL;
	buf_clear(&d->json);
	buf_clear(&d->rendered);
	buf_clear(&d->messages);
	assert(!d->doc && !d->json.len && !d->messages.len);
}

API_EXPORT void intact_document_free(struct intact_document *d)
{
	if (!d)
		return;
	forget(d);
	buf_free(&d->json);
	buf_free(&d->rendered);
	buf_free(&d->messages);
	free(d);
}

enum intact_status api_document_set(struct intact_document *d, const char *name, const char *text, size_t len)
{
	assert(name && text);
	struct buf why;
	forget(d);
	buf_init(&why);
	buf_add(&d->json, text, len);
	if (d->json.failed) {
		buf_free(&d->json);
		return INTACT_NO_MEMORY;
	}
	d->doc = doc_parse(text, len, &why);
	if (d->doc && !issues_try(&d->issues, d->doc)) {
		forget(d);
		buf_free(&why);
		return INTACT_NO_MEMORY;
	}
	if (!d->doc) {
		bool placed = why.len && why.data[0] >= '0' && why.data[0] <= '9'; /* "12:3: ..." goes on with the place */
		buf_safe(&d->messages, name, strlen(name));
		buf_printf(&d->messages, "%s%s\n", placed ? ":" : ": error: ", buf_cstr(&why));
	}
	buf_free(&why);
	return d->doc ? INTACT_OK : INTACT_INVALID;
}

API_EXPORT enum intact_status intact_document_load_text(struct intact_document *d, const char *text, size_t len)
{
	return api_document_set(d, "document", text ? text : "", text ? len : 0);
}

static bool read_file(const char *path, struct arena *a, struct source *src, struct why *why, bool *nomem)
{
	jmp_buf oom;
	a->oom = &oom;
	if (setjmp(oom)) {
		why_set(why, "out of memory");
		*nomem = true;
		return false;
	}
	return source_read(src, a, path, why);
}

API_EXPORT enum intact_status intact_document_load(struct intact_document *d, const char *path)
{
	struct arena a;
	struct source src;
	struct why why;
	bool nomem = false;
	enum intact_status status;
	arena_init(&a, 0);
	forget(d);
	if (read_file(path, &a, &src, &why, &nomem)) {
		status = api_document_set(d, path, src.text, src.len);
	} else {
		buf_safe(&d->messages, path, strlen(path));
		buf_printf(&d->messages, ": cannot read: %s\n", why.text);
		status = nomem ? INTACT_NO_MEMORY : INTACT_INVALID;
	}
	arena_free(&a);
	return status;
}

API_EXPORT const char *intact_document_messages(const struct intact_document *d)
{
	return buf_cstr(&d->messages);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static const char *text_or_empty(const char *s)
{
	return s ? s : "";
}

static enum intact_verdict verdict_of(const char *word)
{
	return !strcmp(word, "holds") ? INTACT_HOLDS : !strcmp(word, "violated") ? INTACT_VIOLATED : INTACT_UNKNOWN;
}

API_EXPORT const char *intact_document_kind(const struct intact_document *d)
{
	return d->doc ? text_or_empty(d->issues.kind) : "";
}

API_EXPORT enum intact_verdict intact_document_verdict(const struct intact_document *d)
{
	return d->doc ? verdict_of(text_or_empty(d->issues.verdict)) : INTACT_UNKNOWN;
}

/* ---- the answers ----------------------------------------------------------------------------- */

API_EXPORT size_t intact_document_answers(const struct intact_document *d)
{
	return d->doc ? d->issues.list.len : 0;
}

static const struct issue *answer(const struct intact_document *d, size_t i)
{
	assert(d);
	return i < intact_document_answers(d) ? d->issues.list.data[i] : NULL;
}

API_EXPORT const char *intact_answer_name(const struct intact_document *d, size_t i)
{
	const struct issue *a = answer(d, i);
	return a ? text_or_empty(a->name) : "";
}

API_EXPORT enum intact_verdict intact_answer_verdict(const struct intact_document *d, size_t i)
{
	const struct issue *a = answer(d, i);
	return a ? verdict_of(text_or_empty(a->verdict)) : INTACT_UNKNOWN;
}

API_EXPORT const char *intact_answer_engine(const struct intact_document *d, size_t i)
{
	const struct issue *a = answer(d, i);
	return a ? doc_text(a->result, "engine") : "";
}

API_EXPORT const char *intact_answer_title(const struct intact_document *d, size_t i)
{
	const struct issue *a = answer(d, i);
	return a ? text_or_empty(a->title) : "";
}

API_EXPORT const char *intact_answer_message(const struct intact_document *d, size_t i)
{
	const struct issue *a = answer(d, i);
	return a ? text_or_empty(a->message) : "";
}

API_EXPORT const char *intact_answer_file(const struct intact_document *d, size_t i)
{
	const struct issue *a = answer(d, i);
	return a ? text_or_empty(a->at.file) : "";
}

API_EXPORT uint32_t intact_answer_line(const struct intact_document *d, size_t i)
{
	const struct issue *a = answer(d, i);
	return a ? a->at.line : 0;
}

API_EXPORT const char *intact_answer_schedule(const struct intact_document *d, size_t i)
{
	const struct issue *a = answer(d, i);
	const char *own = a ? doc_text(json_object_get(a->result, "counterexample"), "schedule") : "";
	return a && !*own ? doc_text(json_object_get(a->result, "causal"), "schedule") : own;
}

API_EXPORT size_t intact_answer_steps(const struct intact_document *d, size_t i)
{
	const struct issue *a = answer(d, i);
	return a ? a->steps.len : 0;
}

static const struct flow_step *step_of(const struct intact_document *d, size_t i, size_t step)
{
	return step < intact_answer_steps(d, i) ? &answer(d, i)->steps.data[step] : NULL;
}

API_EXPORT const char *intact_step_thread(const struct intact_document *d, size_t i, size_t step)
{
	const struct flow_step *s = step_of(d, i, step);
	return s && s->flow < answer(d, i)->flows.len ? answer(d, i)->flows.data[s->flow] : "";
}

API_EXPORT const char *intact_step_text(const struct intact_document *d, size_t i, size_t step)
{
	const struct flow_step *s = step_of(d, i, step);
	return s ? text_or_empty(s->text) : "";
}

API_EXPORT uint32_t intact_step_line(const struct intact_document *d, size_t i, size_t step)
{
	const struct flow_step *s = step_of(d, i, step);
	return s ? s->at.line : 0;
}

/* ---- renderings --------------------------------------------------------------------------------- */

API_EXPORT const char *intact_document_render(struct intact_document *d, enum intact_format f, size_t *len)
{
	static const int numbers[] = { [INTACT_HTML] = RENDER_HTML,
		                       [INTACT_SARIF] = RENDER_SARIF,
		                       [INTACT_JUNIT] = RENDER_JUNIT,
		                       [INTACT_GITHUB] = RENDER_GITHUB,
		                       [INTACT_DOT] = RENDER_DOT };
	const struct render_text_options plain = { .width = PAGE_WIDTH };
	const struct buf *out = f == INTACT_JSON ? &d->json : &d->rendered;
	if (!d->doc || f < INTACT_JSON || f > INTACT_DOT)
		return NULL;
	buf_clear(&d->rendered);
	if (f == INTACT_TEXT)
		document_text(d->doc, &plain, &d->rendered);
	else if (f != INTACT_JSON)
		renderers[numbers[f]].render(d->doc, &d->rendered);
	if (out->failed)
		return NULL;
	if (len)
		*len = out->len;
	return buf_cstr(out);
}

API_EXPORT enum intact_status intact_document_verify(struct intact_document *d, const char *about, struct intact_document *answer)
{
	enum intact_status status = INTACT_INVALID;
	struct buf *err = &d->messages, doc;
	json_t *root = d->doc;
	struct claim_list l;
	buf_clear(err);
	if (!root || d == answer) {
		buf_str(err, root ? "the answer must be another document" : "no document is loaded");
		return INTACT_INVALID;
	}
	buf_init(&doc);
	claim_list_init(&l, err, "result", verify_kind(root));
	assert(root && d != answer);
	int end = verify_result(&l, root, about, VERIFY_STATES, err);
	if (claim_list_document(&l, end, &doc))
		status = doc.failed ? INTACT_NO_MEMORY : api_document_set(answer, "the answer", buf_cstr(&doc), doc.len);
	else if (end == CLAIM_INTERNAL)
		status = INTACT_INTERNAL;
	claim_list_free(&l);
	buf_free(&doc);
	return status;
}
