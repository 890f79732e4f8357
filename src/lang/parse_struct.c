/*
 * parse_struct: structs and initialisers, one function a production.
 *
 * `struct` is not reserved: it is a word where a type begins and a name or a brace follows, as for, do and switch are.
 */
#include <string.h>

#include "base/invariant.h"
#include "lang/parse_atm.h"
#include "lang/parse_foreign.h"

bool at_struct(const struct parser *p)
{
	if (peek_kind(p) == T_STRUCT)
		return true;
	if (peek_kind(p) != T_NAME || strcmp(intern_str(p->names, peek(p)->value), "struct"))
		return false;
	enum tok then = peek_at(p, 2);
	return peek_at(p, 1) == T_LBRACE || (peek_at(p, 1) == T_NAME && (then == T_LBRACE || then == T_NAME || then == T_STAR));
}

/* field := type declarators ";" */
static struct decl *parse_fields(struct parser *p)
{
	foreign_qualifiers(p);
	if (peek_kind(p) == T_SAFE || peek_kind(p) == T_REGULAR) {
		diag_error(p->d, "misplaced", p->src, tok_span(peek(p)), "a field cannot be safe or regular by itself");
		diag_hint(p->d, "write it before the variable: safe point p;");
		tok_next(p);
	}
	if (!at_type(p)) {
		tok_expected(p, "a field, as in int x;");
		return NULL;
	}
	struct type_ref *ty = parse_type(p);
	if (peek_kind(p) == T_NAME && peek_at(p, 1) == T_LPAREN && !p->panic) {
		diag_error(p->d, "syntax", p->src, tok_span(peek(p)), "a struct has no procedures");
		diag_hint(p->d, "declare it at the top level");
		p->panic = true;
		return NULL;
	}
	struct decl *first = parse_declarators(p, ty, (struct span){ 0, 0 }, VAR_PLAIN, false, false);
	for (struct decl *d = first; d; d = d->next) {
		d->is_member = true;
		if (!d->init)
			continue;
		diag_error(p->d, "syntax", p->src, d->init->span, "a field has no initial value of its own");
		diag_hint(p->d, "give it where the variable is declared: struct s v = { .%s = ... };",
		          intern_str(p->names, d->name));
		d->init = NULL;
		d->init_list = false;
	}
	return first;
}

/* { field } "}" */
static struct decl *parse_field_list(struct parser *p, const struct token *open, const char *what)
{
	struct decl *first = NULL, **tail = &first;
	uint32_t before_fields = p->d->errors;
	while (peek_kind(p) != T_RBRACE && peek_kind(p) != T_EOF) {
		uint32_t before = p->pos;
		*tail = parse_fields(p);
		while (*tail)
			tail = &(*tail)->next;
		if (p->panic)
			tok_recover(p);
		p->panic = false;
		if (p->pos == before)
			p->pos++;
		if (peek_kind(p) == T_THREAD || peek_kind(p) == T_PROC || peek_kind(p) == T_OBJECT)
			break; /* a brace is missing before this declaration */
	}
	if (!first && p->d->errors == before_fields)
		diag_error(p->d, "syntax", p->src, tok_span(open), "%s needs a field", what);
	tok_close(p, T_RBRACE, open);
	return first;
}

/* struct := "struct" [ NAME ] "{" { field } "}" | "struct" NAME */
struct type_ref *parse_struct(struct parser *p)
{
	assert(at_struct(p));
	struct type_ref *ty = arena_new(p->arena, struct type_ref);
	p->toks.list[p->pos].kind = T_STRUCT;
	const struct token *word = tok_next(p), *name = peek_kind(p) == T_NAME ? tok_next(p) : NULL;
	ty->kind = TY_STRUCT;
	ty->name = name ? name->value : 0;
	ty->name_span = name ? tok_span(name) : tok_span(word);
	ty->span = span_from(p, word->start);
	if (peek_kind(p) != T_LBRACE || !nest(p))
		return ty;
	struct decl *d = arena_new(p->arena, struct decl);
	const struct token *open = tok_next(p);
	d->kind = D_STRUCT;
	d->name = ty->name;
	d->name_span = ty->name_span;
	ty->struct_def = d;
	d->fields = parse_field_list(p, open, "a struct");
	d->span = span_from(p, word->start);
	unnest(p);
	return ty;
}

/* pool := "pool" NAME "[" expr "]" "{" { field } "}" ";" */
struct decl *parse_pool(struct parser *p)
{
	const struct token *word = tok_next(p), *name = tok_next(p), *bracket = tok_next(p);
	struct decl *pool = arena_new(p->arena, struct decl), *cells = arena_new(p->arena, struct decl);
	struct decl *s = arena_new(p->arena, struct decl);
	struct type_ref *ty = arena_new(p->arena, struct type_ref);
	assert(name->kind == T_NAME && bracket->kind == T_LBRACK);
	pool->kind = D_ENUM;
	pool->is_pool = true;
	pool->name = s->name = cells->name = name->value;
	pool->name_span = s->name_span = cells->name_span = ty->name_span = tok_span(name);
	pool->length = cells->length = parse_expr(p);
	tok_close(p, T_RBRACK, bracket);
	const struct token *open = tok_expect(p, T_LBRACE, "with the fields of a cell");
	if (open)
		pool->fields = s->fields = parse_field_list(p, open, "a pool");
	pool->span = s->span = cells->span = span_from(p, word->start);
	semicolon(p, "after the pool");
	s->kind = D_STRUCT;
	s->declared = true; /* it has no name of its own */
	ty->kind = TY_STRUCT;
	ty->struct_def = s;
	ty->span = tok_span(name);
	cells->kind = D_VAR;
	cells->type = ty;
	cells->is_array = cells->is_shared = cells->first_of_group = true;
	cells->pool = pool;
	pool->cells = cells;
	return pool;
}

/* ---- initialisers ------------------------------------------------------- */

/* list := "{" [ element { "," element } [ "," ] ] "}"
 * element := [ "." NAME "=" ] ( expr | list ) */
static struct expr *parse_elements(struct parser *p, uint32_t *n)
{
	const struct token *open = tok_next(p);
	struct expr *first = NULL, **tail = &first;
	assert(open->kind == T_LBRACE);
	while (peek_kind(p) != T_RBRACE && nest(p)) {
		const struct token *dot = peek(p), *name = NULL;
		if (tok_accept(p, T_DOT) && (name = tok_expect(p, T_NAME, "(a field) after '.'")))
			tok_expect(p, T_ASSIGN, "and the field's value");
		struct expr *e;
		if (peek_kind(p) == T_LBRACE) {
			uint32_t start = peek(p)->start;
			e = expr_new(p, E_LIST, tok_span(peek(p)));
			e->args = parse_elements(p, &e->nargs);
			e->span = span_from(p, start);
			e = expr_grown(p, e);
		} else {
			e = parse_expr(p);
		}
		e->designator = name ? name->value : 0;
		e->designator_span = name ? (struct span){ dot->start, name->end } : e->span;
		*tail = e;
		tail = &e->next;
		++*n;
		unnest(p);
		if (!tok_accept(p, T_COMMA))
			break;
	}
	tok_close(p, T_RBRACE, open);
	return first;
}

/* init := expr | list */
void parse_init(struct parser *p, struct decl *d)
{
	uint32_t n = 0;
	if (peek_kind(p) != T_LBRACE) {
		d->init = parse_expr(p);
		return;
	}
	d->init_list = true;
	d->init = parse_elements(p, &n);
}
