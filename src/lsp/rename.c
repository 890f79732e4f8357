/*
 * rename: another name for what is declared, everywhere it is used.
 *
 * What must not change is which declaration each occurrence means. So the edited text is analysed as well and compared: the same
 * occurrences at the places where they belong, each with the same declaration, and no error that was not there before. That refuses
 * every kind of capture: a local that would hide a global, a procedure called like a primitive that is used, a local of SML that
 * another one exists for.
 */
#include <string.h>

#include "base/invariant.h"
#include "lang/lex.h"
#include "lsp/server.h"

/* What is at the cursor and can be renamed, or NULL. */
static const struct use *renamable(const struct lsp_call *c)
{
	const struct use *u = symbols_at(&c->a->symbols, c->offset);
	if (!u || (!u->decl && u->kind != USE_LABEL))
		return NULL;
	return u->kind == USE_LABEL || u->declared != UINT32_MAX ? u : NULL;
}

static bool is_renamed(const struct use *u, const struct use *o)
{
	return u->decl ? o->decl == u->decl : o == u;
}

void on_prepare_rename(struct lsp *s, const struct lsp_call *c)
{
	const struct use *u = renamable(c);
	if (!u) {
		reply_null(s, c->id);
		return;
	}
	struct json_out *j = reply_begin(s, c->id);
	json_begin_object(j, "result");
	put_range(j, "range", &c->doc->text, u->span);
	json_text_n(j, "placeholder", buf_cstr(&c->doc->text.bytes) + u->span.start, u->span.end - u->span.start);
	json_end(j);
	reply_end(s);
}

static const char not_a_name[] = "the new name is not a name: letters, digits and '_', not beginning with a digit";

/* Working memory comes from `a`. */
static const char *wrong_token(const char *name, size_t len, bool sml, struct arena *a)
{
	struct source src;
	struct diags d;
	struct intern names;
	jmp_buf oom;
	if (setjmp(oom))
		return "out of memory";
	a->oom = &oom;
	diags_init(&d, a);
	intern_init(&names, a);
	source_from_text(&src, a, "name", name, len);
	struct tokens t = lex(&src, sml, &names, a, &d);
	if (d.errors || t.n != 2 || t.list[0].end - t.list[0].start != len)
		return not_a_name;
	if (t.list[0].kind >= T_BOOL && t.list[0].kind <= T_END)
		return "the new name is a word of the language";
	return t.list[0].kind == T_NAME ? NULL : not_a_name;
}

/* Is this one name? NULL, or what is wrong with it. */
static const char *wrong_name(const char *name, size_t len, bool sml)
{
	struct arena a;
	if (len > 200 || strlen(name) != len)
		return not_a_name;
	arena_init(&a, 0);
	const char *wrong = wrong_token(name, len, sml, &a);
	arena_free(&a);
	return wrong;
}

/* The text with the new name. */
static void edited_text(const struct lsp_call *c, const struct use *u, const char *name, struct buf *out)
{
	const char *text = buf_cstr(&c->doc->text.bytes);
	uint32_t at = 0;
	for (uint32_t i = 0; i < c->a->symbols.uses.len; i++) {
		const struct use *o = &c->a->symbols.uses.data[i];
		if (!is_renamed(u, o))
			continue;
		assert(at <= o->span.start);
		buf_add(out, text + at, o->span.start - at);
		buf_str(out, name);
		at = o->span.end;
	}
	buf_add(out, text + at, c->doc->text.bytes.len - at);
}

/* Does each occurrence mean in `b` what it means in `a`? *at: the first that does not, in `a`. */
static bool same_meaning(const struct doc_symbols *a, const struct doc_symbols *b, const struct use *u, size_t len, struct span *at)
{
	int64_t shift = 0;
	for (uint32_t i = 0; i < a->uses.len; i++) {
		const struct use *x = &a->uses.data[i];
		const struct use *y = i < b->uses.len ? &b->uses.data[i] : NULL;
		*at = x->span;
		if (!y || (int64_t)y->span.start != (int64_t)x->span.start + shift || x->kind != y->kind)
			return false;
		if (!x->decl != !y->decl || x->declared != y->declared)
			return false;
		if (is_renamed(u, x))
			shift += (int64_t)len - (int64_t)(x->span.end - x->span.start);
	}
	return a->uses.len == b->uses.len;
}

static void reply_edits(struct lsp *s, const struct lsp_call *c, const struct use *u, const char *name)
{
	struct json_out *j = reply_begin(s, c->id);
	json_begin_object(j, "result");
	json_begin_object(j, "changes");
	json_begin_array(j, c->doc->uri);
	for (uint32_t i = 0; i < c->a->symbols.uses.len; i++) {
		const struct use *o = &c->a->symbols.uses.data[i];
		if (!is_renamed(u, o))
			continue;
		json_begin_object(j, NULL);
		put_range(j, "range", &c->doc->text, o->span);
		json_text(j, "newText", name);
		json_end(j);
	}
	json_end(j);
	json_end(j);
	json_end(j);
	reply_end(s);
}

static const char *first_error(const struct doc_analysis *a)
{
	const struct diags *d = &a->lang.diags;
	for (uint32_t i = 1; i < d->list.len; i++)
		if (d->list.data[i].level == DIAG_ERROR)
			return d->list.data[i].text;
	return "the model would have an error";
}

void on_rename(struct lsp *s, const struct lsp_call *c)
{
	const json_t *given = json_object_get(c->params, "newName");
	const char *name = json_string_value(given), *wrong;
	const struct use *u = renamable(c);
	struct doc_analysis after;
	struct buf text;
	struct span at = { 0, 0 };
	if (!name) {
		reply_error(s, c->id, ERROR_PARAMS, "newName is missing");
		return;
	}
	if (!u) {
		reply_error(s, c->id, ERROR_FAILED, "there is no name here that is declared in the file");
		return;
	}
	wrong = wrong_name(name, json_string_length(given), c->doc->language == DOCUMENT_SML);
	if (wrong) {
		reply_error(s, c->id, ERROR_FAILED, "%s", wrong);
		return;
	}
	buf_init(&text);
	edited_text(c, u, name, &text);
	if (text.failed || text.len > TEXT_MAX) {
		reply_error(s, c->id, ERROR_FAILED, "the file would be larger than 8 MiB");
		buf_free(&text);
		return;
	}
	analysis_of_text(&after, c->doc->name, c->doc->language, buf_cstr(&text), text.len);
	if (after.out_of_memory)
		reply_error(s, c->id, ERROR_FAILED, "out of memory");
	else if (after.lang.diags.errors > c->a->lang.diags.errors)
		reply_error(s, c->id, ERROR_FAILED, "cannot rename to '%s': %s", name, first_error(&after));
	else if (!same_meaning(&c->a->symbols, &after.symbols, u, strlen(name), &at))
		reply_error(s, c->id, ERROR_FAILED, "cannot rename to '%s': a name on line %u would mean something else", name,
		            text_pos(&c->doc->text, at.start).line + 1);
	else
		reply_edits(s, c, u, name);
	analysis_free(&after);
	buf_free(&text);
}
