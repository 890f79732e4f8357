/* navigate: from an occurrence of a name to its declaration and to the others. */
#include "base/invariant.h"
#include "lsp/server.h"

void on_definition(struct lsp *s, const struct lsp_call *c)
{
	const struct use *u = symbols_at(&c->a->symbols, c->offset);
	uint32_t at = u ? u->declared : UINT32_MAX;
	if (at == UINT32_MAX) {
		reply_null(s, c->id);
		return;
	}
	put_location(reply_begin(s, c->id), "result", c->doc, c->a->symbols.uses.data[at].span);
	reply_end(s);
}

static bool same_symbol(const struct use *a, const struct use *b)
{
	return a == b || (a->decl && a->decl == b->decl);
}

void on_references(struct lsp *s, const struct lsp_call *c)
{
	const struct doc_symbols *all = &c->a->symbols;
	const struct use *u = symbols_at(all, c->offset);
	const json_t *context = json_object_get(c->params, "context"), *with = json_object_get(context, "includeDeclaration");
	bool declaration = !with || json_is_true(with);
	struct json_out *j = reply_begin(s, c->id);
	json_begin_array(j, "result");
	for (uint32_t i = 0; u && u->decl && i < all->uses.len; i++)
		if (all->uses.data[i].decl == u->decl && (declaration || all->uses.data[i].kind != USE_DECLARES))
			put_location(j, NULL, c->doc, all->uses.data[i].span);
	json_end(j);
	reply_end(s);
}

void on_highlight(struct lsp *s, const struct lsp_call *c)
{
	enum { HIGHLIGHT_TEXT = 1, HIGHLIGHT_READ, HIGHLIGHT_WRITE };
	const struct doc_symbols *all = &c->a->symbols;
	const struct use *u = symbols_at(all, c->offset);
	struct json_out *j = reply_begin(s, c->id);
	json_begin_array(j, "result");
	for (uint32_t i = 0; u && i < all->uses.len; i++) {
		const struct use *o = &all->uses.data[i];
		if (!same_symbol(u, o))
			continue;
		json_begin_object(j, NULL);
		put_range(j, "range", &c->doc->text, o->span);
		json_int(j, "kind",
		         o->kind == USE_READS    ? HIGHLIGHT_READ
		         : o->kind == USE_WRITES ? HIGHLIGHT_WRITE
		                                 : HIGHLIGHT_TEXT);
		json_end(j);
	}
	json_end(j);
	reply_end(s);
	assert(!u || u->span.end <= c->a->len);
}
