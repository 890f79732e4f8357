/* outline: the declarations of a file as a tree (documentSymbol), and the lenses above its blocks. */
#include <string.h>

#include "base/invariant.h"
#include "lsp/server.h"

enum symbol_kind { /* of the protocol */
	           KIND_CLASS = 5,
	           KIND_METHOD = 6,
	           KIND_FIELD = 8,
	           KIND_ENUM = 10,
	           KIND_FUNCTION = 12,
	           KIND_VARIABLE = 13,
	           KIND_CONSTANT = 14,
	           KIND_KEY = 20,
	           KIND_ENUM_MEMBER = 22,
	           KIND_STRUCT = 23,
	           KIND_EVENT = 24,
};

struct outline {
	struct json_out *j;
	const struct document *d;
	const struct intern *names;
	bool tree; /* children inside; else a flat list */
	const char *container;
};

static enum symbol_kind kind_of(const struct decl *d)
{
	switch (d->kind) {
	case D_VAR:
		return d->type && d->type->kind >= TY_LOCK ? KIND_KEY : d->is_field || d->is_member ? KIND_FIELD : KIND_VARIABLE;
	case D_CONST:
		return KIND_CONSTANT;
	case D_ENUM:
		return KIND_ENUM;
	case D_ENUMERATOR:
		return KIND_ENUM_MEMBER;
	case D_PROC:
		return KIND_FUNCTION;
	case D_STRUCT:
		return KIND_STRUCT;
	case D_THREAD:
		return KIND_EVENT;
	default:
		return KIND_CLASS;
	}
}

/* The common part of a symbol; it stays open when there is a tree. */
static void open_symbol(struct outline *o, const char *name, enum symbol_kind kind, struct span all, struct span at)
{
	uint32_t len = (uint32_t)o->d->text.bytes.len;
	at.end = at.end > len ? len : at.end;
	at.start = at.start > at.end ? at.end : at.start;
	if (all.start > at.start)
		all.start = at.start;
	if (all.end < at.end || all.end > len)
		all.end = all.end > len ? len : at.end;
	assert(all.start <= at.start && at.end <= all.end && all.end <= len); /* the protocol asks for it */
	json_begin_object(o->j, NULL);
	json_text(o->j, "name", name);
	json_int(o->j, "kind", kind);
	if (o->tree) {
		put_range(o->j, "range", &o->d->text, all);
		put_range(o->j, "selectionRange", &o->d->text, at);
		json_begin_array(o->j, "children");
		return;
	}
	put_location(o->j, "location", o->d, all);
	json_text_if(o->j, "containerName", o->container);
	json_end(o->j);
}

static void close_symbol(struct outline *o)
{
	if (!o->tree)
		return;
	json_end(o->j);
	json_end(o->j);
}

/* Atomic blocks; they do not nest, so what is inside of one is not looked at. */
static void put_blocks(struct outline *o, const struct stmt *s)
{
	for (; s; s = s->next) {
		if (s->kind == S_ATOMIC) {
			open_symbol(o, s->name ? intern_str(o->names, s->name) : "atomic", KIND_EVENT, s->span,
			            s->name ? s->name_span : s->head);
			close_symbol(o);
			continue;
		}
		if (s->body)
			put_blocks(o, s->body);
		if (s->other)
			put_blocks(o, s->other);
	}
}

static void put_decl(struct outline *o, const struct decl *d);

static void put_members(struct outline *o, const struct decl *d, const char *name)
{
	const char *outer = o->container;
	o->container = name;
	for (const struct decl *m = d->kind == D_ENUM ? d->members : d->fields; m; m = m->next)
		put_decl(o, m);
	for (const struct decl *m = d->methods; m; m = m->next)
		put_decl(o, m);
	if (d->body)
		put_blocks(o, d->body);
	o->container = outer;
}

static void put_decl(struct outline *o, const struct decl *d)
{
	const char *name = d->name ? intern_str(o->names, d->name) : NULL;
	if (d->type && d->type->enum_def && d->first_of_group)
		put_decl(o, d->type->enum_def);
	if (d->type && d->type->struct_def && d->first_of_group)
		put_decl(o, d->type->struct_def);
	if (!name)
		return;
	open_symbol(o, name, kind_of(d), d->span, d->name_span);
	put_members(o, d, name);
	close_symbol(o);
}

void on_symbols(struct lsp *s, const struct lsp_call *c)
{
	const struct unit *u = analysis_tree(c->a);
	struct outline o = { .j = reply_begin(s, c->id), .d = c->doc, .names = analysis_names(c->a), .tree = s->hierarchical };
	json_begin_array(o.j, "result");
	for (const struct decl *d = u ? u->decls : NULL; d; d = d->next)
		put_decl(&o, d);
	json_end(o.j);
	reply_end(s);
}

/* ---- lenses ------------------------------------------------------------------------------------------ */

static void put_lens(struct json_out *j, const struct document *d, struct span at, const char *title, const char *command,
                     const char *block)
{
	json_begin_object(j, NULL);
	put_range(j, "range", &d->text, at);
	json_begin_object(j, "command");
	json_text(j, "title", title);
	json_text(j, "command", command);
	json_begin_array(j, "arguments");
	json_text(j, NULL, d->uri);
	if (block)
		json_text(j, NULL, block);
	json_end(j);
	json_end(j);
	json_end(j);
}

/* How many blocks of the program are at this place: one for each thread that comes there. */
static uint32_t blocks_at(const struct ir *p, uint32_t start)
{
	uint32_t n = 0;
	for (uint32_t b = 0; b < p->nblocks; b++)
		n += p->blocks[b].span.start == start;
	return n;
}

void on_lenses(struct lsp *s, const struct lsp_call *c)
{
	enum { MAX_LENSES = 500 };
	const struct ir *p = c->doc->language == DOCUMENT_SPEC || c->a->out_of_memory ? NULL : c->a->lang.ir;
	struct json_out *j = reply_begin(s, c->id);
	json_begin_array(j, "result");
	if (p && p->nblocks)
		put_lens(j, c->doc, (struct span){ 0, 0 }, "check this model", command_check_model, NULL);
	for (uint32_t b = 0; p && b < p->nblocks && b < MAX_LENSES; b++) {
		struct buf name, title;
		bool one = blocks_at(p, p->blocks[b].span.start) == 1;
		buf_init(&name);
		buf_init(&title);
		buf_printf(&name, "%s.%s", p->templates[p->blocks[b].tmpl].name, p->blocks[b].name);
		buf_printf(&title, "check %s", one ? "this block" : buf_cstr(&name));
		put_lens(j, c->doc, p->blocks[b].span, buf_cstr(&title), command_check_block, buf_cstr(&name));
		buf_clear(&title);
		buf_printf(&title, "show the run%s%s", one ? "" : " of ", one ? "" : buf_cstr(&name));
		put_lens(j, c->doc, p->blocks[b].span, buf_cstr(&title), command_show_run, buf_cstr(&name));
		buf_free(&name);
		buf_free(&title);
	}
	json_end(j);
	reply_end(s);
	assert(!p || p->src);
}
