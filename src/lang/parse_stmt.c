/*
 * parse_stmt: the statements of .atm (docs/language.md), one function a
 * production, the production above it. Recursive descent, errors collected.
 */
#include <string.h>

#include "base/invariant.h"
#include "lang/parse_atm.h"
#include "lang/parse_foreign.h"

struct stmt *stmt_new(struct parser *p, enum stmt_kind kind)
{
	struct stmt *s = arena_new(p->arena, struct stmt);
	s->kind = kind;
	s->head = s->span = tok_span(peek(p));
	return s;
}

void semicolon(struct parser *p, const char *behind)
{
	if (tok_expect(p, T_SEMI, behind))
		return;
	if (!peek(p)->line_start)
		tok_recover(p);
	p->panic = false;
}

/* block := "{" { stmt } "}" */
struct stmt *parse_block(struct parser *p)
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
			p->pos++; /* always advance */
		p->panic = false;
		if (peek_kind(p) == T_THREAD || peek_kind(p) == T_PROC || peek_kind(p) == T_OBJECT)
			break; /* a brace is missing before this declaration */
	}
	s->close = peek(p)->start;
	tok_close(p, T_RBRACE, open);
	s->span = span_from(p, open->start);
	return s;
}

/* condition := "(" expr ")" */
struct expr *parse_condition(struct parser *p, const char *word)
{
	char where[48];
	snprintf(where, sizeof where, "behind '%s'", word);
	const struct token *open = tok_expect(p, T_LPAREN, where);
	if (!open)
		return expr_new(p, E_ERROR, tok_span(peek(p)));
	struct expr *e = parse_expr(p);
	if ((peek_kind(p) == T_ASSIGN || peek_kind(p) == T_WALRUS) && !p->panic) {
		diag_error(p->d, "assign-in-condition", p->src, tok_span(peek(p)), "%s assigns, but this is a condition",
		           token_text(peek_kind(p)));
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
	assert(peek_kind(p) == T_IF);
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
	assert(peek_kind(p) == T_EITHER);
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
	assert(peek_kind(p) == T_ACQUIRE || peek_kind(p) == T_RELEASE);
	struct stmt *s = stmt_new(p, peek_kind(p) == T_ACQUIRE ? S_ACQUIRE : S_RELEASE);
	tok_next(p);
	const struct token *open = tok_expect(p, T_LPAREN, NULL);
	if (!open)
		return s;
	s->target = parse_name_or_element(p, "a lock");
	tok_close(p, T_RPAREN, open);
	s->span = span_from(p, s->head.start);
	semicolon(p, "after the statement");
	return s;
}

/* atomic := "atomic" [ NAME ] block */
static struct stmt *parse_atomic(struct parser *p)
{
	assert(peek_kind(p) == T_ATOMIC);
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
	case T_PLUS_EQ:
		return OP_ADD;
	case T_MINUS_EQ:
		return OP_SUB;
	case T_STAR_EQ:
		return OP_MUL;
	case T_SLASH_EQ:
		return OP_DIV;
	case T_PERCENT_EQ:
		return OP_MOD;
	case T_AMP_EQ:
		return OP_AND;
	case T_PIPE_EQ:
		return OP_OR;
	case T_CARET_EQ:
		return OP_XOR;
	case T_SHL_EQ:
		return OP_SHL;
	case T_SHR_EQ:
		return OP_SHR;
	default:
		return OP_NONE;
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

bool at_statement_word(const struct parser *p)
{
	enum tok next = peek_at(p, 1);
	return peek_kind(p) == T_NAME && next != T_ASSIGN && next != T_DOT && next != T_LBRACK &&
	       !(next >= T_INC && next <= T_SHR_EQ);
}

/* Words of other languages that begin a statement and do not exist here. What
 * follows them is read as far as possible. */
static struct stmt *foreign_word(struct parser *p)
{
	static const struct {
		const char *word, *hint;
	} foreign[] = {
		{ "goto", "use while, break and continue" },
		{ "begin", "blocks are written atomic { ... }; begin ... end is SML (.sml)" },
		{ "end", "blocks are written atomic { ... }; begin ... end is SML (.sml)" },
	};
	if (!at_statement_word(p))
		return NULL;
	const char *name = intern_str(p->names, peek(p)->value);
	size_t i = 0, n = sizeof foreign / sizeof *foreign;
	while (i < n && strcmp(name, foreign[i].word))
		i++;
	if (i == n)
		return NULL;
	diag_error(p->d, "foreign-word", p->src, tok_span(peek(p)), "the model language has no '%s'", name);
	diag_hint(p->d, "%s", foreign[i].hint);
	struct stmt *s = stmt_new(p, S_EMPTY);
	p->pos++;
	skip_parentheses(p);
	if (!strcmp(name, "begin"))
		s = parse_stmt(p);
	else if (peek_kind(p) == T_LBRACE || !peek(p)->line_start)
		tok_recover(p);
	return s;
}

/* simple := place assign-op expr | place "++" | "++" place | call | expr */
struct stmt *parse_simple(struct parser *p)
{
	struct stmt *s = stmt_new(p, S_EXPR);
	if (peek_kind(p) == T_INC || peek_kind(p) == T_DEC) { /* ++x; */
		s->kind = S_ASSIGN;
		s->form = peek_kind(p) == T_INC ? ASSIGN_INC : ASSIGN_DEC;
		tok_next(p);
		s->target = parse_name_or_element(p, "a variable");
		s->span = span_from(p, s->head.start);
		return s;
	}
	struct expr *e = parse_expr(p);
	enum tok k = peek_kind(p);
	if (k == T_WALRUS && !p->panic) {
		diag_error(p->d, "walrus", p->src, tok_span(peek(p)), "':=' assigns in SML; in .atm files it is '='");
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
	if (s->kind == S_ASSIGN && !is_place(e) && e->kind != E_ERROR) {
		diag_error(p->d, "not-a-variable", p->src, e->span, "only a variable, an array element or a field can be assigned");
		s->target = expr_new(p, E_ERROR, e->span);
	}
	if (s->value && (peek_kind(p) == T_INC || peek_kind(p) == T_DEC))
		report_increment(p);
	if (s->value && s->value->kind != E_ERROR && peek_kind(p) == T_ASSIGN && !p->panic) {
		diag_error(p->d, "syntax", p->src, tok_span(peek(p)), "assignments cannot be chained");
		diag_hint(p->d, "write two statements");
		p->panic = true;
	}
	s->span = span_from(p, s->head.start);
	return s;
}

/* local := [class] type declarators ";" */
struct stmt *parse_local(struct parser *p)
{
	struct stmt *s = stmt_new(p, S_DECL);
	struct span cls = { 0, 0 };
	if (peek_kind(p) == T_SAFE || peek_kind(p) == T_REGULAR) {
		cls = tok_span(tok_next(p));
		diag_error(p->d, "misplaced", p->src, cls, "only shared variables can be safe or regular");
		diag_hint(p->d, "declare it at the top level or in an object");
	}
	struct type_ref *ty = parse_type(p);
	if (ty->kind == TY_LOCK)
		diag_error(p->d, "misplaced", p->src, ty->span, "locks are shared: declare them at the top level");
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
	semicolon(p, kind == S_ASSUME || kind == S_ASSERT ? "after the statement" : where);
	return s;
}

/* stmt := block | if | while | repeat | either | atomic | step | for | do | switch | simple ";" | ... */
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
		           peek_kind(p) == T_ELSE ? "'else' without an 'if' before it" : "'or' without an 'either' before it");
		tok_next(p);
		return parse_stmt(p);
	case T_THREAD:
	case T_PROC:
	case T_OBJECT:
	case T_CONST:
		diag_error(p->d, "misplaced", p->src, tok_span(peek(p)), "%s declarations belong at the top level",
		           token_text(peek_kind(p)));
		diag_hint(p->d, peek_kind(p) == T_CONST ? "move it there" : "is a '}' missing before this line?");
		p->panic = true;
		return stmt_new(p, S_EMPTY);
	case T_LOCK:
		if (peek_at(p, 1) == T_LPAREN) {
			diag_error(p->d, "foreign-word", p->src, tok_span(peek(p)),
			           "'lock' declares a lock; to take one, write acquire(l)");
			s = stmt_new(p, S_EMPTY);
			tok_recover(p);
			return s;
		}
		return parse_local(p);
	default:
		s = parse_control(p);
		if (!s)
			s = foreign_word(p);
		if (s)
			return s;
		if (foreign_declaration(p))
			return stmt_new(p, S_EMPTY);
		foreign_qualifiers(p);
		if (at_type(p))
			return parse_local(p);
		s = parse_simple(p);
		semicolon(p, "after the statement");
		return s;
	}
}

struct stmt *parse_stmt(struct parser *p)
{
	if (!nest(p))
		return stmt_new(p, S_EMPTY);
	uint32_t start = peek(p)->start;
	struct stmt *s = parse_stmt_inner(p);
	if (s->span.end <= s->head.end)
		s->span = span_from(p, start);
	unnest(p);
	assert(s->span.start <= s->span.end);
	return s;
}
