/*
 * parse_atm: declarations and statements of .atm (LANGUAGE.md), one function
 * a production, the production above it. Recursive descent, errors collected.
 */
#include <string.h>

#include "lang/parse.h"

static struct stmt *parse_stmt(struct parser *p);
static struct decl *parse_declarators(struct parser *p, struct type_ref *ty,
                                      struct span cls_span, enum var_class cls,
                                      bool shared, bool field);

/* ---- types -------------------------------------------------------------- */

static struct decl *parse_enumerators(struct parser *p)
{
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

/* type := "bool" | "int" [ "[" expr ".." expr "]" ] | "lock" | "void"
 *       | "enum" NAME [ "{" NAME { "," NAME } "}" ] | NAME */
static struct type_ref *parse_type(struct parser *p)
{
	const struct token *t = tok_next(p);
	struct type_ref *ty = arena_new(p->arena, struct type_ref);
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
				diag_hint(p->d, "a range is int[0..3]; an array is "
				                "written behind the name: int a[4]");
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
	default: /* T_NAME: an enum's name alone */
		ty->kind = TY_ENUM;
		ty->name = t->value;
		ty->name_span = tok_span(t);
		break;
	}
	ty->span = span_from(p, t->start);
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

/* Does a declaration begin here? A bare name followed by a name does. */
static bool at_type(const struct parser *p)
{
	switch (peek_kind(p)) {
	case T_BOOL: case T_INT_TYPE: case T_ENUM: case T_LOCK: case T_SAFE:
	case T_REGULAR: case T_VOID:
		return true;
	case T_NAME:
		return peek_at(p, 1) == T_NAME;
	default:
		return false;
	}
}

/* ---- statements --------------------------------------------------------- */

static struct stmt *stmt_new(struct parser *p, enum stmt_kind kind)
{
	struct stmt *s = arena_new(p->arena, struct stmt);
	s->kind = kind;
	s->head = s->span = tok_span(peek(p));
	return s;
}

/* A missing one at the end of a line is taken as written; in the middle of a
 * line the rest of the statement is skipped. */
static void semicolon(struct parser *p, const char *behind)
{
	if (tok_expect(p, T_SEMI, behind))
		return;
	if (!peek(p)->line_start)
		tok_recover(p);
	p->panic = false;
}

/* block := "{" { stmt } "}" */
static struct stmt *parse_block(struct parser *p)
{
	struct stmt *s = stmt_new(p, S_BLOCK);
	const struct token *open = tok_expect(p, T_LBRACE, NULL);
	if (!open)
		return s;
	struct stmt **tail = &s->body;
	while (peek_kind(p) != T_RBRACE && peek_kind(p) != T_EOF) {
		uint32_t before = p->pos;
		struct stmt *inner = parse_stmt(p);
		*tail = inner;
		tail = &inner->next;
		if (p->panic)
			tok_recover(p);
		if (p->pos == before)
			p->pos++; /* never stand still */
		p->panic = false;
		if (peek_kind(p) == T_THREAD || peek_kind(p) == T_PROC ||
		    peek_kind(p) == T_OBJECT)
			break; /* a brace is missing before this declaration */
	}
	s->close = peek(p)->start;
	tok_close(p, T_RBRACE, open);
	s->span = span_from(p, open->start);
	return s;
}

/* condition := "(" expr ")" */
static struct expr *parse_condition(struct parser *p, const char *word)
{
	char where[48];
	snprintf(where, sizeof where, "behind '%s'", word);
	const struct token *open = tok_expect(p, T_LPAREN, where);
	if (!open)
		return expr_new(p, E_ERROR, tok_span(peek(p)));
	struct expr *e = parse_expr(p);
	if ((peek_kind(p) == T_ASSIGN || peek_kind(p) == T_WALRUS) && !p->panic) {
		diag_error(p->d, "assign-in-condition", p->src, tok_span(peek(p)),
		           "%s assigns, but this is a condition", token_text(peek_kind(p)));
		diag_hint(p->d, "to compare, write ==");
		tok_next(p);
		parse_expr(p);
	}
	tok_close(p, T_RPAREN, open);
	return e;
}

/* if := "if" condition stmt [ "else" stmt ] */
static struct stmt *parse_if(struct parser *p)
{
	struct stmt *s = stmt_new(p, S_IF);
	tok_next(p);
	s->value = parse_condition(p, "if");
	s->body = parse_stmt(p);
	if (tok_accept(p, T_ELSE))
		s->other = parse_stmt(p);
	return s;
}

/* either := "either" block { "or" block } */
static struct stmt *parse_either(struct parser *p)
{
	struct stmt *s = stmt_new(p, S_EITHER);
	tok_next(p);
	s->body = parse_block(p);
	struct stmt **tail = &s->body->next;
	while (tok_accept(p, T_OR_WORD)) {
		*tail = parse_block(p);
		tail = &(*tail)->next;
	}
	if (s->body->next == NULL && !p->panic) {
		diag_error(p->d, "syntax", p->src, s->head, "'either' needs at least one 'or'");
		diag_hint(p->d, "either { ... } or { ... }");
	}
	return s;
}

/* lock-stmt := ("acquire" | "release") "(" place ")" ";" */
static struct stmt *parse_lock_stmt(struct parser *p)
{
	struct stmt *s = stmt_new(p, peek_kind(p) == T_ACQUIRE ? S_ACQUIRE : S_RELEASE);
	tok_next(p);
	const struct token *open = tok_expect(p, T_LPAREN, NULL);
	if (!open)
		return s;
	s->target = parse_name_or_element(p, "a lock");
	tok_close(p, T_RPAREN, open);
	s->span = span_from(p, s->head.start);
	semicolon(p, "behind the statement");
	return s;
}

/* atomic := "atomic" [ NAME ] block */
static struct stmt *parse_atomic(struct parser *p)
{
	struct stmt *s = stmt_new(p, S_ATOMIC);
	tok_next(p);
	if (peek_kind(p) == T_NAME) {
		const struct token *t = tok_next(p);
		s->name = t->value;
		s->name_span = tok_span(t);
	}
	s->body = parse_block(p);
	return s;
}

static enum op assign_op(enum tok k)
{
	switch (k) {
	case T_PLUS_EQ: return OP_ADD;
	case T_MINUS_EQ: return OP_SUB;
	case T_STAR_EQ: return OP_MUL;
	case T_SLASH_EQ: return OP_DIV;
	case T_PERCENT_EQ: return OP_MOD;
	case T_AMP_EQ: return OP_AND;
	case T_PIPE_EQ: return OP_OR;
	case T_CARET_EQ: return OP_XOR;
	case T_SHL_EQ: return OP_SHL;
	case T_SHR_EQ: return OP_SHR;
	default: return OP_NONE;
	}
}

/* Skips "(" ... ")" at the cursor, if it is one. */
static void skip_parentheses(struct parser *p)
{
	uint32_t open = 0;
	if (peek_kind(p) != T_LPAREN)
		return;
	do {
		enum tok k = peek_kind(p);
		if (k == T_EOF || k == T_LBRACE || k == T_RBRACE)
			return;
		open += k == T_LPAREN;
		open -= k == T_RPAREN;
		p->pos++;
	} while (open);
}

/* Words of other languages that begin a statement and do not exist here. What
 * stands behind them is read as far as it can be. */
static struct stmt *foreign_word(struct parser *p)
{
	static const struct {
		const char *word, *hint;
	} foreign[] = {
		{ "for", "use repeat (n) { ... } or while" },
		{ "do", "use while (true) { ...; if (!e) break; }" },
		{ "switch", "use if ... else if" },
		{ "goto", "use while, break and continue" },
		{ "begin", "blocks are written atomic { ... }; begin ... end is SML (.sml)" },
		{ "end", "blocks are written atomic { ... }; begin ... end is SML (.sml)" },
	};
	enum tok next = peek_at(p, 1);
	if (peek_kind(p) != T_NAME || next == T_ASSIGN || next == T_DOT || next == T_LBRACK ||
	    (next >= T_INC && next <= T_SHR_EQ))
		return NULL; /* a variable of that name */
	const char *name = intern_str(p->names, peek(p)->value);
	size_t i = 0, n = sizeof foreign / sizeof *foreign;
	while (i < n && strcmp(name, foreign[i].word))
		i++;
	if (i == n)
		return NULL;
	diag_error(p->d, "foreign-word", p->src, tok_span(peek(p)),
	           "there is no '%s' in the model language", name);
	diag_hint(p->d, "%s", foreign[i].hint);
	struct stmt *s = stmt_new(p, S_EMPTY);
	p->pos++;
	skip_parentheses(p);
	if (!strcmp(name, "for") || !strcmp(name, "do") || !strcmp(name, "begin")) {
		s = parse_stmt(p);
	} else {
		if (peek_kind(p) == T_LBRACE || !peek(p)->line_start)
			tok_recover(p);
	}
	if (!strcmp(name, "do") && peek_kind(p) == T_WHILE) {
		p->pos++;
		skip_parentheses(p);
		tok_accept(p, T_SEMI);
	}
	return s;
}

/* simple := place assign-op expr ";" | place "++" ";" | call ";" | expr ";" */
static struct stmt *parse_simple(struct parser *p)
{
	struct stmt *s = stmt_new(p, S_EXPR);
	if (peek_kind(p) == T_INC || peek_kind(p) == T_DEC) { /* ++x; */
		s->kind = S_ASSIGN;
		s->form = peek_kind(p) == T_INC ? ASSIGN_INC : ASSIGN_DEC;
		tok_next(p);
		s->target = parse_name_or_element(p, "a variable");
		s->span = span_from(p, s->head.start);
		semicolon(p, "behind the statement");
		return s;
	}
	struct expr *e = parse_expr(p);
	enum tok k = peek_kind(p);
	if (k == T_WALRUS && !p->panic) {
		diag_error(p->d, "walrus", p->src, tok_span(peek(p)),
		           "':=' assigns in SML; in .atm files it is '='");
		diag_hint(p->d, "write = instead, or name the file .sml");
		k = T_ASSIGN;
	}
	if (k == T_ASSIGN || assign_op(k) != OP_NONE) {
		s->kind = S_ASSIGN;
		s->form = k == T_ASSIGN ? ASSIGN_PLAIN : ASSIGN_OP;
		s->op = assign_op(k);
		tok_next(p);
		s->target = e;
		s->value = parse_expr(p);
	} else if (k == T_INC || k == T_DEC) {
		s->kind = S_ASSIGN;
		s->form = k == T_INC ? ASSIGN_INC : ASSIGN_DEC;
		tok_next(p);
		s->target = e;
	} else {
		s->value = e;
	}
	if (s->kind == S_ASSIGN && e->kind != E_NAME && e->kind != E_INDEX &&
	    e->kind != E_ERROR) {
		diag_error(p->d, "not-a-variable", p->src, e->span,
		           "only a variable or an array element can be assigned");
		s->target = expr_new(p, E_ERROR, e->span);
	}
	if (s->value && (peek_kind(p) == T_INC || peek_kind(p) == T_DEC))
		report_increment(p);
	if (s->value && s->value->kind != E_ERROR && peek_kind(p) == T_ASSIGN && !p->panic) {
		diag_error(p->d, "syntax", p->src, tok_span(peek(p)),
		           "assignments cannot be chained");
		diag_hint(p->d, "write two statements");
		p->panic = true;
	}
	s->span = span_from(p, s->head.start);
	semicolon(p, "behind the statement");
	return s;
}

/* local := [class] type declarators ";" */
static struct stmt *parse_local(struct parser *p)
{
	struct stmt *s = stmt_new(p, S_DECL);
	struct span cls = { 0, 0 };
	if (peek_kind(p) == T_SAFE || peek_kind(p) == T_REGULAR) {
		cls = tok_span(tok_next(p));
		diag_error(p->d, "misplaced", p->src, cls,
		           "only shared variables can be safe or regular");
		diag_hint(p->d, "declare it at the top level or in an object");
	}
	struct type_ref *ty = parse_type(p);
	if (ty->kind == TY_LOCK)
		diag_error(p->d, "misplaced", p->src, ty->span,
		           "locks are shared: declare them at the top level");
	s->decls = parse_declarators(p, ty, cls, VAR_PLAIN, false, false);
	s->span = span_from(p, s->head.start);
	return s;
}

/* A statement that is one word and a semicolon, or a word and a condition. */
static struct stmt *parse_word(struct parser *p, enum stmt_kind kind, const char *word)
{
	struct stmt *s = stmt_new(p, kind);
	tok_next(p);
	if (kind == S_ASSUME || kind == S_ASSERT)
		s->value = parse_condition(p, word);
	else if (kind == S_RETURN && peek_kind(p) != T_SEMI)
		s->value = parse_expr(p);
	s->span = span_from(p, s->head.start);
	char where[48];
	snprintf(where, sizeof where, "behind '%s'", word);
	semicolon(p, kind == S_ASSUME || kind == S_ASSERT ? "behind the statement" : where);
	return s;
}

/* stmt := block | if | while | repeat | either | atomic | step | simple | ... */
static struct stmt *parse_stmt_inner(struct parser *p)
{
	struct stmt *s;
	switch (peek_kind(p)) {
	case T_LBRACE:
		return parse_block(p);
	case T_SEMI:
		s = stmt_new(p, S_EMPTY);
		tok_next(p);
		return s;
	case T_IF:
		return parse_if(p);
	case T_WHILE:
	case T_REPEAT:
		s = stmt_new(p, peek_kind(p) == T_WHILE ? S_WHILE : S_REPEAT);
		tok_next(p);
		s->value = parse_condition(p, s->kind == S_WHILE ? "while" : "repeat");
		s->body = parse_stmt(p);
		return s;
	case T_EITHER:
		return parse_either(p);
	case T_ATOMIC:
		return parse_atomic(p);
	case T_STEP:
		s = stmt_new(p, S_STEP);
		tok_next(p);
		s->body = parse_block(p);
		return s;
	case T_ACQUIRE:
	case T_RELEASE:
		return parse_lock_stmt(p);
	case T_BREAK:
		return parse_word(p, S_BREAK, "break");
	case T_CONTINUE:
		return parse_word(p, S_CONTINUE, "continue");
	case T_RETURN:
		return parse_word(p, S_RETURN, "return");
	case T_ASSUME:
		return parse_word(p, S_ASSUME, "assume");
	case T_ASSERT:
		return parse_word(p, S_ASSERT, "assert");
	case T_SKIP:
		return parse_word(p, S_SKIP, "skip");
	case T_COMMIT:
		return parse_word(p, S_COMMIT, "commit");
	case T_ELSE:
	case T_OR_WORD:
		diag_error(p->d, "syntax", p->src, tok_span(peek(p)),
		           peek_kind(p) == T_ELSE ? "'else' without an 'if' before it"
		                                  : "'or' without an 'either' before it");
		tok_next(p);
		return parse_stmt(p);
	case T_THREAD:
	case T_PROC:
	case T_OBJECT:
	case T_CONST:
		diag_error(p->d, "misplaced", p->src, tok_span(peek(p)),
		           "%s declarations stand at the top level",
		           token_text(peek_kind(p)));
		diag_hint(p->d, peek_kind(p) == T_CONST ? "move it there"
		                                        : "is a '}' missing before this line?");
		p->panic = true;
		return stmt_new(p, S_EMPTY);
	default:
		s = foreign_word(p);
		if (s)
			return s;
		return at_type(p) ? parse_local(p) : parse_simple(p);
	}
}

static struct stmt *parse_stmt(struct parser *p)
{
	if (!nest(p))
		return stmt_new(p, S_EMPTY);
	uint32_t start = peek(p)->start;
	struct stmt *s = parse_stmt_inner(p);
	if (s->span.end <= s->head.end)
		s->span = span_from(p, start);
	unnest(p);
	return s;
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

/* init := expr | "{" [ expr { "," expr } ] "}" */
static void parse_init(struct parser *p, struct decl *d)
{
	if (peek_kind(p) != T_LBRACE) {
		d->init = parse_expr(p);
		return;
	}
	const struct token *open = tok_next(p);
	struct expr **tail = &d->init;
	d->init_list = true;
	while (peek_kind(p) != T_RBRACE) {
		*tail = parse_expr(p);
		tail = &(*tail)->next;
		if (!tok_accept(p, T_COMMA))
			break;
	}
	tok_close(p, T_RBRACE, open);
}

/* declarators := declarator { "," declarator } ";"
 * declarator := NAME [ "[" expr "]" ] [ "=" init ] */
static struct decl *parse_declarators(struct parser *p, struct type_ref *ty,
                                      struct span cls_span, enum var_class cls,
                                      bool shared, bool field)
{
	struct decl *first = NULL, **tail = &first;
	do {
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
		if (peek_kind(p) == T_LBRACK) {
			const struct token *open = tok_next(p);
			d->is_array = true;
			d->length = parse_expr(p);
			tok_close(p, T_RBRACK, open);
			while (peek_kind(p) == T_LBRACK) {
				diag_error(p->d, "syntax", p->src, tok_span(peek(p)),
				           "arrays have one dimension");
				diag_hint(p->d, "put row i, column j at index i * columns + j");
				open = tok_next(p);
				parse_expr(p);
				tok_close(p, T_RBRACK, open);
			}
		}
		if (peek_kind(p) == T_WALRUS) {
			diag_error(p->d, "walrus", p->src, tok_span(peek(p)),
			           "an initialiser is written with '='");
			tok_next(p);
			parse_init(p, d);
		} else if (tok_accept(p, T_ASSIGN)) {
			parse_init(p, d);
		}
		d->span = span_from(p, t->start);
		*tail = d;
		tail = &d->next;
	} while (tok_accept(p, T_COMMA));
	semicolon(p, "behind the declaration");
	return first;
}

/* params := [ type NAME { "," type NAME } ] */
static void parse_params(struct parser *p, struct decl *proc)
{
	const struct token *open = tok_expect(p, T_LPAREN, "with the parameters");
	if (!open)
		return;
	struct decl **tail = &proc->params;
	if (peek_kind(p) == T_VOID && peek_at(p, 1) == T_RPAREN)
		tok_next(p); /* f(void), as in C */
	while (peek_kind(p) != T_RPAREN) {
		bool typed = at_type(p) && peek_kind(p) != T_SAFE && peek_kind(p) != T_REGULAR;
		if (!typed) {
			tok_expected(p, "a parameter's type");
			if (peek_kind(p) != T_NAME)
				break;
			diag_hint(p->d, "write it before the name: int %s",
			          intern_str(p->names, peek(p)->value));
			p->panic = false;
		}
		struct type_ref *ty = typed ? parse_type(p) : int_type(p);
		const struct token *t = tok_expect(p, T_NAME, "of the parameter");
		if (!t)
			break;
		struct decl *d = decl_new(p, D_VAR, t);
		d->type = ty;
		d->is_param = true;
		d->first_of_group = true;
		d->span = (struct span){ ty->span.start, t->end };
		*tail = d;
		tail = &d->next;
		proc->nparams++;
		if (!tok_accept(p, T_COMMA))
			break;
	}
	tok_close(p, T_RPAREN, open);
}

/* procedure := ("proc" | type) NAME params block */
static struct decl *parse_proc(struct parser *p, struct type_ref *result,
                               const struct token *name, uint32_t start)
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
	uint32_t start = tok_next(p)->start;
	const struct token *t = tok_expect(p, T_NAME, "of the thread");
	struct decl *d = decl_new(p, D_THREAD, t);
	if (tok_accept(p, T_STAR))
		d->count = parse_expr(p);
	if (peek_kind(p) == T_LPAREN && !p->panic) {
		diag_error(p->d, "syntax", p->src, tok_span(peek(p)),
		           "threads take no parameters");
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

/* object := "object" NAME ":" NAME "(" type ")" [ "=" expr ] "{" {member} "}" */
static struct decl *parse_object(struct parser *p)
{
	uint32_t start = tok_next(p)->start;
	const struct token *t = tok_expect(p, T_NAME, "of the object");
	struct decl *d = decl_new(p, D_OBJECT, t);
	if (tok_expect(p, T_COLON, "and what it implements, as in ': register(bool)'")) {
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
			while (peek_kind(p) != T_RPAREN && peek_kind(p) != T_LBRACE &&
			       peek_kind(p) != T_EOF)
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
	uint32_t start = tok_next(p)->start;
	if (peek_kind(p) == T_INT_TYPE || peek_kind(p) == T_BOOL)
		tok_next(p); /* const int N = 4, as in C */
	const struct token *t = tok_expect(p, T_NAME, "of the constant");
	struct decl *d = decl_new(p, D_CONST, t);
	if (t && tok_expect(p, T_ASSIGN, "and the constant's value"))
		d->init = parse_expr(p);
	d->span = span_from(p, start);
	semicolon(p, "behind the declaration");
	return d;
}

/* Does a statement begin here, where only declarations may? */
static bool at_statement(const struct parser *p)
{
	enum tok next = peek_at(p, 1);
	switch (peek_kind(p)) {
	case T_ATOMIC: case T_WHILE: case T_IF: case T_LBRACE: case T_ACQUIRE:
	case T_RELEASE: case T_REPEAT: case T_EITHER: case T_ASSUME: case T_ASSERT:
	case T_SKIP: case T_STEP: case T_COMMIT: case T_RETURN: case T_INC: case T_DEC:
		return true;
	case T_NAME:
		return next == T_ASSIGN || next == T_WALRUS || next == T_LPAREN ||
		       next == T_LBRACK || next == T_DOT ||
		       (next >= T_INC && next <= T_SHR_EQ);
	default:
		return false;
	}
}

/* top := const | thread | object | procedure | [class] type declarators ";" */
static struct decl *parse_top(struct parser *p)
{
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
			           "statements stand inside a thread or a procedure");
			diag_hint(p->d, "thread name { ... }");
			p->panic = true;
		} else if (peek_kind(p) == T_RBRACE) {
			diag_error(p->d, "syntax", p->src, tok_span(peek(p)),
			           "'}' closes nothing");
			p->pos++;
		} else {
			tok_expected(p, cls == VAR_PLAIN
			                        ? "a declaration (a type, const, lock, "
			                          "proc, thread or object)"
			                        : "a type (as in safe bool x)");
		}
		return NULL;
	}
	struct type_ref *ty = parse_type(p);
	if (ty->enum_def && cls == VAR_PLAIN && tok_accept(p, T_SEMI))
		return ty->enum_def; /* enum e { A, B }; */
	if (peek_kind(p) == T_NAME && peek_at(p, 1) == T_LPAREN)
		return parse_proc(p, ty, tok_next(p), start);
	return parse_declarators(p, ty, cls_span, cls, true, false);
}

struct unit *parse_atm(const struct source *src, struct intern *names,
                       struct arena *a, struct diags *d, struct tokens *toks)
{
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
