#include "lsp/symbols.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/invariant.h"

struct symbols_walk {
	struct doc_symbols *s;
	const struct unit *u;
	uint32_t len;
	uint32_t scope_end; /* of the innermost scope */
	bool inner;         /* not at the top level */
};

static void walk_decl(struct symbols_walk *w, const struct decl *d);
static void walk_stmt(struct symbols_walk *w, const struct stmt *s);

static void add(struct symbols_walk *w, struct span at, const struct decl *d, enum use_kind kind)
{
	struct use u = { at, d, kind, UINT32_MAX };
	if (at.start < at.end && at.end <= w->len)
		avec_push(w->s->arena, &w->s->uses, u);
}

static void show(struct symbols_walk *w, const struct decl *d, uint32_t from, uint32_t to)
{
	struct visible v = { d, { from, to } };
	if (d->name && from < to)
		avec_push(w->s->arena, &w->s->visible, v);
}

/* ---- expressions and types -------------------------------------------------------------------- */

static void walk_expr(struct symbols_walk *w, const struct expr *e, enum use_kind kind);

static void walk_exprs(struct symbols_walk *w, const struct expr *e)
{
	for (; e; e = e->next) {
		if (e->designator)
			add(w, (struct span){ e->designator_span.start + 1, e->designator_span.end }, e->designated, USE_WRITES);
		walk_expr(w, e, USE_READS);
	}
}

/* The variable of which this is a part. */
static const struct decl *variable_of(const struct decl *d)
{
	return d && d->whole ? d->whole : d;
}

static void walk_type(struct symbols_walk *w, const struct type_ref *t)
{
	if (!t)
		return;
	if (t->of) {
		walk_type(w, t->of);
		return;
	}
	if (t->enum_def)
		walk_decl(w, t->enum_def);
	else if (t->struct_def)
		walk_decl(w, t->struct_def);
	else if (t->name && t->name_span.end)
		add(w, t->name_span, t->struct_decl ? t->struct_decl : t->enum_decl, USE_TYPE);
	if (t->ranged && t->lo)
		walk_expr(w, t->lo, USE_READS);
	if (t->ranged && t->hi)
		walk_expr(w, t->hi, USE_READS);
}

/* The object of R.method(), also where there is no such method. */
static const struct decl *object_of(const struct symbols_walk *w, const struct expr *e)
{
	if (e->decl && e->decl->owner)
		return e->decl->owner;
	for (const struct decl *d = w->u->decls; d; d = d->next)
		if (d->kind == D_OBJECT && d->name == e->name)
			return d;
	return NULL;
}

static void walk_expr(struct symbols_walk *w, const struct expr *e, enum use_kind kind)
{
	if (!e)
		return;
	switch (e->kind) {
	case E_NAME:
		add(w, e->name_span, e->decl, kind);
		break;
	case E_INDEX:
		add(w, e->name_span, e->decl, kind);
		walk_expr(w, e->a, USE_READS);
		break;
	case E_PATH:
		add(w, e->name_span, variable_of(e->decl), kind);
		for (const struct expr *sel = e->args; sel; sel = sel->next) {
			if (sel->kind == E_FIELD)
				add(w, sel->name_span, sel->decl, kind);
			walk_expr(w, sel->a, USE_READS);
		}
		break;
	case E_CALL:
		add(w, e->name_span.end ? e->name_span : e->op_span, e->sync == SYNC_NONE ? e->decl : NULL, USE_CALLS);
		walk_exprs(w, e->args);
		break;
	case E_METHOD:
		add(w, e->name_span, object_of(w, e), USE_READS);
		add(w, e->method_span, e->decl, USE_CALLS);
		walk_exprs(w, e->args);
		break;
	case E_ANY:
		walk_type(w, e->any_type);
		walk_expr(w, e->a, USE_READS);
		walk_expr(w, e->b, USE_READS);
		break;
	case E_CAS:
	case E_XCHG:
	case E_FADD:
		walk_expr(w, e->a, USE_WRITES);
		walk_expr(w, e->b, USE_READS);
		walk_expr(w, e->c, USE_READS);
		break;
	default:
		walk_expr(w, e->a, USE_READS);
		walk_expr(w, e->b, USE_READS);
		walk_expr(w, e->c, USE_READS);
		walk_exprs(w, e->args);
		break;
	}
}

/* ---- statements --------------------------------------------------------------------------------- */

static void walk_stmts(struct symbols_walk *w, const struct stmt *s)
{
	for (; s; s = s->next)
		walk_stmt(w, s);
}

/* In a scope of its own, which ends where the statement ends. */
static void walk_scope(struct symbols_walk *w, const struct stmt *s, uint32_t end)
{
	uint32_t outer = w->scope_end;
	w->scope_end = end;
	walk_stmts(w, s);
	w->scope_end = outer;
}

static void walk_block(struct symbols_walk *w, const struct stmt *s)
{
	if (s->name)
		add(w, s->name_span, NULL, USE_LABEL);
	avec_push(w->s->arena, &w->s->blocks, s);
	walk_scope(w, s->body, s->span.end);
}

static void walk_stmt(struct symbols_walk *w, const struct stmt *s)
{
	uint32_t outer = w->scope_end;
	switch (s->kind) {
	case S_DECL:
		for (const struct decl *d = s->decls; d; d = d->next)
			walk_decl(w, d);
		return;
	case S_ATOMIC:
		walk_block(w, s);
		return;
	case S_FOR:
		w->scope_end = s->span.end;
		walk_stmts(w, s->init);
		walk_expr(w, s->value, USE_READS);
		walk_stmts(w, s->advance);
		walk_stmts(w, s->body);
		w->scope_end = outer;
		return;
	default:
		break;
	}
	walk_expr(w, s->target, s->kind == S_ASSIGN ? USE_WRITES : USE_READS);
	walk_expr(w, s->value, USE_READS);
	walk_exprs(w, s->labels);
	walk_scope(w, s->body, s->span.end);
	if (s->other)
		walk_stmt(w, s->other);
}

/* ---- declarations -------------------------------------------------------------------------------- */

static void walk_proc(struct symbols_walk *w, const struct decl *d)
{
	uint32_t outer = w->scope_end;
	bool inner = w->inner;
	walk_type(w, d->result);
	walk_expr(w, d->count, USE_READS);
	w->inner = true;
	w->scope_end = d->span.end;
	for (const struct decl *p = d->params; p; p = p->next)
		walk_decl(w, p);
	if (d->body)
		walk_stmts(w, d->body->body);
	w->scope_end = outer;
	w->inner = inner;
}

static void walk_object(struct symbols_walk *w, const struct decl *d)
{
	uint32_t outer = w->scope_end;
	walk_type(w, d->spec_type);
	walk_expr(w, d->init, USE_READS);
	w->scope_end = d->span.end;
	w->inner = true;
	for (const struct decl *f = d->fields; f; f = f->next) {
		walk_decl(w, f);
		show(w, f, d->span.start, f->name_span.end);
	}
	for (const struct decl *m = d->methods; m; m = m->next) {
		add(w, m->name_span, m, USE_DECLARES);
		walk_proc(w, m);
	}
	w->scope_end = outer;
	w->inner = false;
}

static void walk_decl(struct symbols_walk *w, const struct decl *d)
{
	if (d->name && !(d->kind == D_THREAD && w->u->sml)) { /* SML's T1, T2, ... are not in the text */
		add(w, d->name_span, d, USE_DECLARES);
		if (!d->is_member)
			show(w, d, w->inner ? d->name_span.end : 0, w->scope_end);
	}
	switch (d->kind) {
	case D_VAR:
		if (d->first_of_group || d->is_param)
			walk_type(w, d->type);
		walk_exprs(w, d->length);
		walk_exprs(w, d->init);
		break;
	case D_CONST:
	case D_PROPERTY:
		walk_type(w, d->type);
		walk_expr(w, d->init, USE_READS);
		break;
	case D_ENUM:
		if (d->is_pool)
			walk_exprs(w, d->length);
		for (const struct decl *f = d->is_pool ? d->fields : NULL; f; f = f->next)
			walk_decl(w, f);
		for (const struct decl *m = d->members; m; m = m->next)
			walk_decl(w, m);
		break;
	case D_STRUCT:
		for (const struct decl *f = d->fields; f; f = f->next)
			walk_decl(w, f);
		break;
	case D_PROC:
	case D_THREAD:
		walk_proc(w, d);
		break;
	case D_OBJECT:
		walk_object(w, d);
		break;
	case D_ENUMERATOR:
		break;
	}
}

static int by_place(const void *pa, const void *pb)
{
	const struct use *a = pa, *b = pb;
	if (a->span.start != b->span.start)
		return a->span.start < b->span.start ? -1 : 1;
	return a->kind < b->kind ? -1 : a->kind > b->kind;
}

static int by_decl(const void *pa, const void *pb)
{
	const struct use *a = *(const struct use *const *)pa, *b = *(const struct use *const *)pb;
	uintptr_t x = (uintptr_t)a->decl, y = (uintptr_t)b->decl;
	return x != y ? (x < y ? -1 : 1) : a->kind != b->kind ? (a->kind < b->kind ? -1 : 1) : a < b ? -1 : a > b;
}

/* For each occurrence, the one that declares it. */
static void link_declarations(struct doc_symbols *s)
{
	uint32_t n = s->uses.len, declared = UINT32_MAX;
	struct use **order = arena_array(s->arena, struct use *, n + 1ull);
	for (uint32_t i = 0; i < n; i++)
		order[i] = &s->uses.data[i];
	qsort(order, n, sizeof *order, by_decl);
	for (uint32_t i = 0; i < n; i++) {
		if (!i || order[i]->decl != order[i - 1]->decl) /* what declares comes first */
			declared = order[i]->decl && order[i]->kind == USE_DECLARES ? (uint32_t)(order[i] - s->uses.data)
			                                                            : UINT32_MAX;
		assert(declared == UINT32_MAX || s->uses.data[declared].decl == order[i]->decl);
		order[i]->declared = declared;
	}
}

void symbols_build(struct doc_symbols *s, const struct unit *u, const struct decl *extra, uint32_t len, struct arena *a)
{
	*s = (struct doc_symbols){ .arena = a };
	struct symbols_walk w = { s, u, len, len, false };
	for (const struct decl *d = u ? u->decls : NULL; d; d = d->next)
		walk_decl(&w, d);
	if (extra)
		add(&w, extra->name_span, extra, USE_DECLARES);
	if (s->uses.len)
		qsort(s->uses.data, s->uses.len, sizeof *s->uses.data, by_place);
	uint32_t n = 0; /* the first use of a local of SML declares it */
	for (uint32_t i = 0; i < s->uses.len; i++)
		if (!n || s->uses.data[n - 1].span.start != s->uses.data[i].span.start)
			s->uses.data[n++] = s->uses.data[i];
	s->uses.len = n;
	assert(!n || s->uses.data[n - 1].span.end <= len);
	link_declarations(s);
}

const struct use *symbols_at(const struct doc_symbols *s, uint32_t offset)
{
	uint32_t lo = 0, hi = s->uses.len;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (s->uses.data[mid].span.start <= offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	assert(lo <= s->uses.len);
	return lo && offset <= s->uses.data[lo - 1].span.end ? &s->uses.data[lo - 1] : NULL;
}
