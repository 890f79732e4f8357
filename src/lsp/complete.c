/*
 * complete: the words of the language and the names that can be used at a place; behind `object.` its operations. The client filters by
 * what is typed. Nothing inside comments.
 */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "lang/words.h"
#include "lsp/server.h"

enum { MAX_ITEMS = 1000 };
enum item_kind { /* of the protocol */
	         ITEM_METHOD = 2,
	         ITEM_FUNCTION = 3,
	         ITEM_FIELD = 5,
	         ITEM_VARIABLE = 6,
	         ITEM_CLASS = 7,
	         ITEM_ENUM = 13,
	         ITEM_KEYWORD = 14,
	         ITEM_ENUM_MEMBER = 20,
	         ITEM_CONSTANT = 21,
};

static bool name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool in_comment(const struct doc_analysis *a, uint32_t offset)
{
	const struct tokens *t = &a->lang.tokens;
	for (uint32_t i = 0; i < t->ncomments; i++)
		if (offset > t->comments[i].start &&
		    (offset < t->comments[i].end || (t->comments[i].line && offset == t->comments[i].end)))
			return true;
	return false;
}

static void put_item(struct json_out *j, const char *label, size_t len, enum item_kind kind, const char *detail)
{
	json_begin_object(j, NULL);
	json_text_n(j, "label", label, len);
	json_int(j, "kind", kind);
	json_text_if(j, "detail", detail);
	json_end(j);
}

static enum item_kind kind_of(const struct decl *d)
{
	switch (d->kind) {
	case D_VAR:
		return d->is_field ? ITEM_FIELD : ITEM_VARIABLE;
	case D_CONST:
		return ITEM_CONSTANT;
	case D_ENUM:
		return ITEM_ENUM;
	case D_ENUMERATOR:
		return ITEM_ENUM_MEMBER;
	case D_PROC:
		return d->owner ? ITEM_METHOD : ITEM_FUNCTION;
	default:
		return ITEM_CLASS;
	}
}

static void put_decl(struct json_out *j, const struct document *d, const struct decl *x)
{
	static const char *const details[] = {
		[D_VAR] = "variable",   [D_CONST] = "constant", [D_ENUM] = "enum",     [D_ENUMERATOR] = "enumerator",
		[D_PROC] = "procedure", [D_THREAD] = "thread",  [D_OBJECT] = "object", [D_STRUCT] = "struct",
	};
	bool lock = x->kind == D_VAR && x->type && x->type->kind >= TY_LOCK;
	put_item(j, buf_cstr(&d->text.bytes) + x->name_span.start, x->name_span.end - x->name_span.start, kind_of(x),
	         lock ? "synchronisation object" : details[x->kind]);
}

/* The object before the '.' that the word at the cursor follows, or NULL; *dot: there is such a '.'. */
static const struct decl *object_before(const struct lsp_call *c, bool *dot)
{
	const char *s = buf_cstr(&c->doc->text.bytes);
	uint32_t at = c->offset, end;
	while (at && name_byte(s[at - 1]))
		at--;
	*dot = at && s[at - 1] == '.' && !(at > 1 && s[at - 2] == '.');
	if (!*dot)
		return NULL;
	end = --at;
	while (at && name_byte(s[at - 1]))
		at--;
	for (const struct decl *d = c->a->lang.unit ? c->a->lang.unit->decls : NULL; d; d = d->next)
		if (d->kind == D_OBJECT && d->name_span.end - d->name_span.start == end - at && d->name_span.end <= c->a->len &&
		    !memcmp(s + d->name_span.start, s + at, end - at))
			return d;
	return NULL;
}

static int by_nearness(const void *pa, const void *pb)
{
	const struct visible *a = *(const struct visible *const *)pa, *b = *(const struct visible *const *)pb;
	uint32_t x = a->in.end - a->in.start, y = b->in.end - b->in.start;
	return x != y ? (x < y ? -1 : 1) : a < b ? -1 : a > b;
}

/* The names that mean something here: the innermost of each. */
static void put_names(struct json_out *j, const struct lsp_call *c, uint32_t *room)
{
	const struct doc_symbols *all = &c->a->symbols;
	const struct visible **list = calloc(all->visible.len + 1ull, sizeof *list);
	uint32_t n = 0, names = c->a->lang.names.strs.len;
	bool *seen = calloc(names + 1ull, 1);
	for (uint32_t i = 0; list && seen && i < all->visible.len; i++) {
		const struct visible *v = &all->visible.data[i];
		if (v->in.start <= c->offset && c->offset <= v->in.end && v->decl->name_span.end <= c->a->len &&
		    v->decl->kind != D_THREAD)
			list[n++] = v;
	}
	if (n)
		qsort(list, n, sizeof *list, by_nearness);
	for (uint32_t i = 0; i < n && *room; i++) {
		assert(list[i]->decl->name < names);
		if (seen[list[i]->decl->name])
			continue;
		seen[list[i]->decl->name] = true;
		put_decl(j, c->doc, list[i]->decl);
		--*room;
	}
	free(list);
	free(seen);
}

static void put_words(struct json_out *j, bool sml)
{
	static const char *const details[] = { [WORD_RESERVED] = "word",
		                               [WORD_STATEMENT] = "statement",
		                               [WORD_TYPE] = "synchronisation object",
		                               [WORD_CALL] = "call" };
	struct lang_word w;
	for (uint32_t i = 0; lang_word(i, sml, &w); i++)
		put_item(j, w.text, strlen(w.text), ITEM_KEYWORD, details[w.kind]);
}

void on_completion(struct lsp *s, const struct lsp_call *c)
{
	uint32_t room = MAX_ITEMS;
	bool dot, quiet = c->a->out_of_memory || in_comment(c->a, c->offset);
	const struct decl *object = quiet ? NULL : object_before(c, &dot);
	struct json_out *j = reply_begin(s, c->id);
	json_begin_object(j, "result");
	json_bool(j, "isIncomplete", false);
	json_begin_array(j, "items");
	for (const struct decl *m = object ? object->methods : NULL; m; m = m->next)
		put_decl(j, c->doc, m);
	if (!quiet && !dot) {
		put_names(j, c, &room);
		put_words(j, c->doc->language == DOCUMENT_SML);
	}
	json_end(j);
	json_end(j);
	reply_end(s);
}
