/*
 * parse_atm: types and declarations of .atm (docs/language.md), one function a
 * production, the production above it. Recursive descent, errors collected.
 */
#include <string.h>

#include "lang/parse_atm.h"
#include "base/invariant.h"
#include "lang/parse_foreign.h"

/* ---- types -------------------------------------------------------------- */

static struct decl *parse_enumerators(struct parser *p)
{
	assert(peek_kind(p) == T_LBRACE);
	const struct token *open = tok_next(p);
	struct decl *first = NULL, **tail = &first;
	while (peek_kind(p) != T_RBRACE) {
		const struct token *t = tok_expect(p, T_NAME, "(an enumerator)");
		if (!t)
			break;
		struct decl *m = arena_new(p->arena, struct decl);
		m->kind = D_ENUMERATOR;
		m->name = t->value;
		m->span = m->name_span = tok_span(t);
		*tail = m;
		tail = &m->next;
		if (peek_kind(p) == T_ASSIGN) {
			diag_error(p->d, "syntax", p->src, tok_span(peek(p)),
			           "enumerators are numbered from 0; their values "
			           "cannot be chosen");
			tok_next(p);
			parse_expr(p);
		}
		if (!tok_accept(p, T_COMMA))
			break;
	}
	tok_close(p, T_RBRACE, open);
	if (!first && !p->panic)
		diag_error(p->d, "syntax", p->src, tok_span(open), "an enum needs a member");
	return first;
}

/* `wrap` and `chan` are words before a type only: wrap u8 x, wrap int[0..3] x, wrap u8 &x */
static bool at_before_type(const struct parser *p, const char *word)
{
	if (peek_kind(p) != T_NAME || strcmp(intern_str(p->names, peek(p)->value), word))
		return false;
	enum tok next = peek_at(p, 1);
	return next == T_INT_TYPE || next == T_BOOL || next == T_ENUM || next == T_LOCK ||
	       (next == T_NAME && (peek_at(p, 2) == T_NAME || peek_at(p, 2) == T_AMP));
}

/* type := "chan" type | [ "wrap" ] "bool" | "int" [ "[" expr ".." expr "]" ] | "lock" | "void"
 *       | "enum" NAME [ "{" NAME { "," NAME } "}" ] | struct | [ "spurious" ] NAME */
struct type_ref *parse_type(struct parser *p)
{
	if (at_struct(p))
		return parse_struct(p);
	const struct token *first = peek(p);
	if (at_before_type(p, "chan") && nest(p)) {
		struct type_ref *chan = arena_new(p->arena, struct type_ref);
		tok_next(p);
		chan->kind = TY_CHAN;
		chan->of = parse_type(p);
		chan->span = span_from(p, first->start);
		unnest(p);
		return chan;
	}
	bool wrap = at_before_type(p, "wrap");
	if (wrap)
		tok_next(p);
	const struct token *t = tok_next(p);
	struct type_ref *ty = arena_new(p->arena, struct type_ref);
	ty->wrap = wrap;
	ty->wrap_span = tok_span(first);
	switch (t->kind) {
	case T_BOOL:
		ty->kind = TY_BOOL;
		break;
	case T_LOCK:
		ty->kind = TY_LOCK;
		break;
	case T_VOID:
		ty->kind = TY_VOID;
		break;
	case T_INT_TYPE:
		ty->kind = TY_INT;
		if (peek_kind(p) == T_LBRACK) {
			const struct token *open = tok_next(p);
			ty->ranged = true;
			ty->lo = parse_expr(p);
			if (peek_kind(p) == T_RBRACK && !p->panic) {
				diag_error(p->d, "syntax", p->src, span_from(p, open->start),
				           "expected a range lo..hi between the brackets");
				diag_hint(p->d, "a range is int[0..3]; an array is written after the name: int a[4]");
				p->panic = true;
				ty->ranged = false;
			} else {
				tok_expect(p, T_DOTDOT, "in a range, as in int[0..3]");
				ty->hi = parse_expr(p);
			}
			tok_close(p, T_RBRACK, open);
		}
		break;
	case T_ENUM: {
		ty->kind = TY_ENUM;
		const struct token *n = tok_expect(p, T_NAME, "of the enum");
		if (n) {
			ty->name = n->value;
			ty->name_span = tok_span(n);
		}
		if (peek_kind(p) == T_LBRACE) {
			struct decl *d = arena_new(p->arena, struct decl);
			d->kind = D_ENUM;
			d->name = ty->name;
			d->name_span = ty->name_span;
			d->members = parse_enumerators(p);
			d->span = span_from(p, t->start);
			ty->enum_def = d;
		}
		break;
	}
	default: /* T_NAME: the name of an enum, a struct or of a synchronisation object's type, alone */
		ty->kind = TY_ENUM;
		ty->name = t->value;
		ty->name_span = tok_span(t);
		if (peek_kind(p) == T_NAME && peek_at(p, 1) == T_NAME && !strcmp(intern_str(p->names, t->value), "spurious")) {
			ty->spurious = true;
			ty->name = peek(p)->value;
			ty->name_span = tok_span(tok_next(p));
		}
		break;
	}
	ty->span = span_from(p, first->start);
	return ty;
}

/* In place of a type that is missing. */
static struct type_ref *int_type(struct parser *p)
{
	struct type_ref *ty = arena_new(p->arena, struct type_ref);
	ty->kind = TY_INT;
	ty->span = tok_span(peek(p));
	return ty;
}

bool at_type(const struct parser *p)
{
	switch (peek_kind(p)) {
	case T_BOOL:
	case T_INT_TYPE:
	case T_ENUM:
	case T_LOCK:
	case T_SAFE:
	case T_REGULAR:
	case T_VOID:
		return true;
	case T_NAME:
		return peek_at(p, 1) == T_NAME || at_struct(p) || at_before_type(p, "wrap") || at_before_type(p, "chan");
	default:
		return false;
	}
}

/* ---- declarations ------------------------------------------------------- */

static struct decl *decl_new(struct parser *p, enum decl_kind kind, const struct token *name)
{
	struct decl *d = arena_new(p->arena, struct decl);
	d->kind = kind;
	if (name) {
		d->name = name->value;
		d->span = d->name_span = tok_span(name);
	} else {
		d->span = d->name_span = tok_span(peek(p));
	}
	return d;
}

/* { "[" expr "]" } */
static void parse_lengths(struct parser *p, struct decl *d)
{
	for (struct expr **len = &d->length; peek_kind(p) == T_LBRACK; len = &(*len)->next) {
		const struct token *open = tok_next(p);
		d->is_array = true;
		if (peek_kind(p) == T_RBRACK) {
			tok_expected(p, "the array's length");
			p->panic = false;
			*len = expr_new(p, E_ERROR, tok_span(open));
		} else {
			*len = parse_expr(p);
		}
		tok_close(p, T_RBRACK, open);
	}
}

/* The & of a parameter; C's * is told. */
static bool parse_reference(struct parser *p)
{
	if (peek_kind(p) == T_AMP) {
		p->toks.list[p->pos].kind = T_REF;
		tok_next(p);
		return true;
	}
	if (peek_kind(p) != T_STAR)
		return false;
	diag_error(p->d, "foreign-word", p->src, tok_span(peek(p)), "the model language has no pointers");
	diag_hint(p->d, "pass it by reference: & before the name here, the variable itself in the call");
	while (peek_kind(p) == T_STAR)
		p->pos++;
	return true;
}

/* declarators := declarator { "," declarator } ";"
 * declarator := NAME { "[" expr "]" } [ "=" init ] */
struct decl *parse_declarators(struct parser *p, struct type_ref *ty, struct span cls_span, enum var_class cls, bool shared,
                               bool field)
{
	struct decl *first = NULL, **tail = &first;
	do {
		foreign_pointer(p);
		const struct token *t = tok_expect(p, T_NAME, "(of the variable)");
		if (!t)
			break;
		struct decl *d = decl_new(p, D_VAR, t);
		d->type = ty;
		d->var_class = cls;
		d->class_span = cls_span;
		d->is_shared = shared;
		d->is_field = field;
		d->first_of_group = !first;
		parse_lengths(p, d);
		if (peek_kind(p) == T_WALRUS) {
			diag_error(p->d, "walrus", p->src, tok_span(peek(p)), "an initialiser is written with '='");
			tok_next(p);
			parse_init(p, d);
		} else if (tok_accept(p, T_ASSIGN)) {
			parse_init(p, d);
		}
		d->span = span_from(p, t->start);
		*tail = d;
		tail = &d->next;
	} while (tok_accept(p, T_COMMA));
	semicolon(p, "after the declaration");
	return first;
}

/* params := [ param { "," param } ]
 * param := type NAME | type "&" NAME { "[" expr "]" } */
static void parse_params(struct parser *p, struct decl *proc)
{
	const struct token *open = tok_expect(p, T_LPAREN, "with the parameters");
	if (!open)
		return;
	struct decl **tail = &proc->params;
	if (peek_kind(p) == T_VOID && peek_at(p, 1) == T_RPAREN)
		tok_next(p); /* f(void), as in C */
	while (peek_kind(p) != T_RPAREN) {
		bool named = peek_kind(p) == T_NAME && (peek_at(p, 1) == T_AMP || peek_at(p, 1) == T_STAR);
		bool typed = (named || at_type(p)) && peek_kind(p) != T_SAFE && peek_kind(p) != T_REGULAR;
		if (!typed) {
			tok_expected(p, "a parameter's type");
			if (peek_kind(p) != T_NAME)
				break;
			diag_hint(p->d, "write it before the name: int %s", intern_str(p->names, peek(p)->value));
			p->panic = false;
		}
		struct type_ref *ty = typed ? parse_type(p) : int_type(p);
		bool ref = parse_reference(p);
		const struct token *t = tok_expect(p, T_NAME, "of the parameter");
		if (!t)
			break;
		struct decl *d = decl_new(p, D_VAR, t);
		d->type = ty;
		d->is_ref = ref;
		parse_lengths(p, d);
		if (d->is_array && !ref) {
			diag_error(p->d, "syntax", p->src, span_from(p, t->start), "an array is passed by reference");
			diag_hint(p->d, "write & before the name: int &%s[4]", intern_str(p->names, t->value));
			d->is_ref = true;
		}
		d->is_param = true;
		d->first_of_group = true;
		d->span = span_from(p, ty->span.start);
		*tail = d;
		tail = &d->next;
		proc->nparams++;
		if (!tok_accept(p, T_COMMA))
			break;
	}
	tok_close(p, T_RPAREN, open);
}

/* procedure := ("proc" | type) NAME params block */
static struct decl *parse_proc(struct parser *p, struct type_ref *result, const struct token *name, uint32_t start)
{
	struct decl *d = decl_new(p, D_PROC, name);
	d->result = result && result->kind == TY_VOID ? NULL : result;
	parse_params(p, d);
	if (peek_kind(p) == T_LBRACE) {
		d->body = parse_block(p);
	} else {
		tok_expect(p, T_LBRACE, "with the procedure's body");
		tok_recover(p);
		p->panic = false;
		d->body = stmt_new(p, S_BLOCK);
	}
	d->span = span_from(p, start);
	return d;
}

/* thread := "thread" NAME [ "*" expr ] block */
static struct decl *parse_thread(struct parser *p)
{
	assert(peek_kind(p) == T_THREAD);
	uint32_t start = tok_next(p)->start;
	const struct token *t = tok_expect(p, T_NAME, "of the thread");
	struct decl *d = decl_new(p, D_THREAD, t);
	if (tok_accept(p, T_STAR))
		d->count = parse_expr(p);
	if ((peek_kind(p) == T_LPAREN || peek_kind(p) == T_LBRACK) && !p->panic) {
		diag_error(p->d, "syntax", p->src, tok_span(peek(p)),
		           peek_kind(p) == T_LPAREN ? "threads take no parameters"
		                                    : "threads are not an array: write their number with '*'");
		diag_hint(p->d, "thread name * 3 { ... } makes three of them");
		p->panic = true;
		while (peek_kind(p) != T_LBRACE && peek_kind(p) != T_EOF)
			p->pos++;
		p->panic = false;
	}
	d->body = parse_block(p);
	d->span = span_from(p, start);
	return d;
}

/* object := "object" NAME [ ":" NAME "(" type ")" [ "=" expr ] ] "{" {member} "}" */
static struct decl *parse_object(struct parser *p)
{
	assert(peek_kind(p) == T_OBJECT);
	uint32_t start = tok_next(p)->start;
	const struct token *t = tok_expect(p, T_NAME, "of the object");
	struct decl *d = decl_new(p, D_OBJECT, t);
	d->no_spec = t && peek_kind(p) == T_LBRACE;
	if (!d->no_spec && tok_expect(p, T_COLON, "and what it implements, as in ': register(bool)'")) {
		const struct token *spec = tok_expect(p, T_NAME, "of a specification, as in register(bool)");
		if (spec) {
			d->spec = spec->value;
			d->spec_span = tok_span(spec);
		}
		const struct token *open = spec ? tok_expect(p, T_LPAREN, NULL) : NULL;
		if (open && (at_type(p) || peek_kind(p) == T_NAME)) {
			d->spec_type = parse_type(p);
		} else if (open) {
			tok_expected(p, "a type");
			while (peek_kind(p) != T_RPAREN && peek_kind(p) != T_LBRACE && peek_kind(p) != T_EOF)
				p->pos++;
		}
		if (open)
			tok_close(p, T_RPAREN, open);
		if (tok_accept(p, T_ASSIGN))
			d->init = parse_expr(p);
	}
	const struct token *open = tok_expect(p, T_LBRACE, "with the object's fields and operations");
	if (!open) {
		tok_recover(p);
		p->panic = false;
		return d;
	}
	if (d->no_spec)
		d->spec_span = tok_span(open);
	struct decl **field = &d->fields, **method = &d->methods;
	while (peek_kind(p) != T_RBRACE && peek_kind(p) != T_EOF) {
		uint32_t before = p->pos, from = peek(p)->start;
		enum var_class cls = VAR_PLAIN;
		struct span cls_span = { 0, 0 };
		if (peek_kind(p) == T_SAFE || peek_kind(p) == T_REGULAR) {
			cls = peek_kind(p) == T_SAFE ? VAR_SAFE : VAR_REGULAR;
			cls_span = tok_span(tok_next(p));
		}
		struct type_ref *ty = NULL;
		if (peek_kind(p) == T_PROC)
			tok_next(p);
		else if (at_type(p))
			ty = parse_type(p);
		else
			tok_expected(p, "a field or an operation");
		if (!p->panic && peek_kind(p) == T_NAME && peek_at(p, 1) == T_LPAREN) {
			*method = parse_proc(p, ty, tok_next(p), from);
			method = &(*method)->next;
		} else if (!p->panic && ty) {
			*field = parse_declarators(p, ty, cls_span, cls, true, true);
			while (*field)
				field = &(*field)->next;
		} else if (!p->panic) {
			tok_expected(p, "an operation's name");
		}
		if (p->panic)
			tok_recover(p);
		p->panic = false;
		if (p->pos == before)
			p->pos++;
	}
	tok_close(p, T_RBRACE, open);
	d->span = span_from(p, start);
	return d;
}

/* const := "const" NAME "=" expr ";" */
static struct decl *parse_const(struct parser *p)
{
	assert(peek_kind(p) == T_CONST);
	uint32_t start = tok_next(p)->start;
	if (peek_kind(p) == T_INT_TYPE || peek_kind(p) == T_BOOL)
		tok_next(p); /* const int N = 4, as in C */
	const struct token *t = tok_expect(p, T_NAME, "of the constant");
	struct decl *d = decl_new(p, D_CONST, t);
	if (t && tok_expect(p, T_ASSIGN, "and the constant's value"))
		d->init = parse_expr(p);
	d->span = span_from(p, start);
	semicolon(p, "after the declaration");
	return d;
}

/* Does a statement begin here, where only declarations may? */
static bool at_statement(const struct parser *p)
{
	enum tok next = peek_at(p, 1);
	switch (peek_kind(p)) {
	case T_ATOMIC:
	case T_WHILE:
	case T_IF:
	case T_LBRACE:
	case T_ACQUIRE:
	case T_RELEASE:
	case T_REPEAT:
	case T_EITHER:
	case T_ASSUME:
	case T_ASSERT:
	case T_SKIP:
	case T_STEP:
	case T_COMMIT:
	case T_RETURN:
	case T_INC:
	case T_DEC:
		return true;
	case T_NAME:
		return next == T_ASSIGN || next == T_WALRUS || next == T_LPAREN || next == T_LBRACK || next == T_DOT ||
		       (next >= T_INC && next <= T_SHR_EQ);
	default:
		return false;
	}
}

/* ( "ghost" | "thread_local" ) type declarators ";" */
static struct decl *parse_qualified(struct parser *p)
{
	const struct token *word = tok_next(p);
	bool ghost = !strcmp(intern_str(p->names, word->value), "ghost");
	struct type_ref *ty = parse_type(p);
	if (peek_kind(p) == T_NAME && peek_at(p, 1) == T_LPAREN) {
		diag_error(p->d, "syntax", p->src, tok_span(word), "%s is for variables, not for procedures",
		           ghost ? "'ghost'" : "'thread_local'");
		p->panic = true;
		return NULL;
	}
	struct decl *first = parse_declarators(p, ty, tok_span(word), VAR_PLAIN, ghost, false);
	for (struct decl *d = first; d; d = d->next) {
		d->is_ghost = ghost;
		d->is_thread_local = !ghost;
	}
	return first;
}

/* top := const | thread | object | procedure | property | [class] type declarators ";" */
static struct decl *parse_top(struct parser *p)
{
	if (foreign_declaration(p))
		return NULL;
	if (at_property(p))
		return parse_property(p);
	if (at_ghost(p))
		return parse_qualified(p);
	if (at_pool(p))
		return parse_pool(p);
	if (at_reserved_name(p))
		return NULL;
	foreign_qualifiers(p);
	uint32_t start = peek(p)->start;
	enum var_class cls = VAR_PLAIN;
	struct span cls_span = { 0, 0 };
	switch (peek_kind(p)) {
	case T_CONST:
		return parse_const(p);
	case T_THREAD:
		return parse_thread(p);
	case T_OBJECT:
		return parse_object(p);
	case T_PROC: {
		tok_next(p);
		const struct token *t = tok_expect(p, T_NAME, "of the procedure");
		return t ? parse_proc(p, NULL, t, start) : NULL;
	}
	case T_SAFE:
	case T_REGULAR:
		cls = peek_kind(p) == T_SAFE ? VAR_SAFE : VAR_REGULAR;
		cls_span = tok_span(tok_next(p));
		break;
	default:
		break;
	}
	if (!at_type(p)) {
		if (cls == VAR_PLAIN && at_statement(p)) {
			diag_error(p->d, "misplaced", p->src, tok_span(peek(p)),
			           "statements belong inside a thread or a procedure");
			diag_hint(p->d, "thread name { ... }");
			p->panic = true;
		} else if (peek_kind(p) == T_RBRACE) {
			diag_error(p->d, "syntax", p->src, tok_span(peek(p)), "'}' closes nothing");
			p->pos++;
		} else {
			tok_expected(p, cls == VAR_PLAIN ? "a declaration (a type, const, lock, "
			                                   "proc, thread or object)"
			                                 : "a type (as in safe bool x)");
		}
		return NULL;
	}
	struct type_ref *ty = parse_type(p);
	if (ty->enum_def && cls == VAR_PLAIN && tok_accept(p, T_SEMI))
		return ty->enum_def;                                        /* enum e { A, B }; */
	if (ty->struct_def && cls == VAR_PLAIN && peek_kind(p) != T_NAME) { /* struct s { int x; }; */
		semicolon(p, "after the struct");
		return ty->struct_def;
	}
	if (peek_kind(p) == T_NAME && peek_at(p, 1) == T_LPAREN)
		return parse_proc(p, ty, tok_next(p), start);
	return parse_declarators(p, ty, cls_span, cls, true, false);
}

struct unit *parse_atm(const struct source *src, struct intern *names, struct arena *a, struct diags *d, struct tokens *toks)
{
	assert(src && names && d);
	struct parser p = { .src = src, .arena = a, .d = d, .names = names };
	struct unit *u = arena_new(a, struct unit);
	p.toks = lex(src, false, names, a, d);
	u->src = src;
	struct decl **tail = &u->decls;
	while (peek_kind(&p) != T_EOF) {
		uint32_t before = p.pos;
		*tail = parse_top(&p);
		while (*tail)
			tail = &(*tail)->next;
		if (p.panic) {
			tok_recover(&p);
			tok_accept(&p, T_RBRACE);
		}
		p.panic = false;
		if (p.pos == before)
			p.pos++;
	}
	if (toks)
		*toks = p.toks;
	return u;
}
