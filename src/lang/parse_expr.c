/*
 * parse_expr: the expressions of .atm, C's grammar with C's precedences.
 *
 * One function per production for what is not a binary operator; those climb
 * a table. expr_grown bounds the height of every tree.
 */
#include "base/invariant.h"
#include "lang/parse_foreign.h"

/* args := expr { "," expr } */
static void parse_args(struct parser *p, struct expr *call)
{
	assert(call->kind == E_CALL || call->kind == E_METHOD);
	const struct token *open = tok_expect(p, T_LPAREN, NULL);
	struct expr **tail = &call->args;
	if (!open)
		return;
	if (!tok_accept(p, T_RPAREN)) {
		do {
			struct expr *arg = parse_expr(p);
			*tail = arg;
			tail = &arg->next;
			call->nargs++;
		} while (tok_accept(p, T_COMMA));
		tok_close(p, T_RPAREN, open);
	}
	call->span.end = p->toks.list[p->pos - 1].end;
}

/* a->b, which would else be two operators */
static bool at_arrow(const struct parser *p)
{
	return peek_kind(p) == T_MINUS && peek_at(p, 1) == T_GT && peek(p)->end == p->toks.list[p->pos + 1].start &&
	       peek_at(p, 2) == T_NAME;
}

/* selector := "[" expr "]" | "." NAME */
static struct expr *parse_selector(struct parser *p)
{
	struct expr *e = expr_new(p, peek_kind(p) == T_LBRACK ? E_AT : E_FIELD, tok_span(peek(p)));
	if (at_arrow(p)) {
		diag_error(p->d, "foreign-word", p->src, (struct span){ peek(p)->start, p->toks.list[p->pos + 1].end },
		           "the model language has no pointers");
		diag_hint(p->d, "a field is written with '.', as in n.%s", intern_str(p->names, p->toks.list[p->pos + 2].value));
		p->pos++;
	}
	const struct token *open = tok_next(p);
	if (e->kind == E_AT) {
		e->a = parse_expr(p);
		tok_close(p, T_RBRACK, open);
	} else {
		const struct token *t = tok_expect(p, T_NAME, "(a field or an operation) after '.'");
		e->name = t ? t->value : 0;
		e->name_span = t ? tok_span(t) : e->span;
		if (!t)
			e->kind = E_ERROR;
	}
	e->span = span_from(p, e->span.start);
	return expr_grown(p, e);
}

/* place := NAME { "[" expr "]" | "." NAME } */
struct expr *parse_name_or_element(struct parser *p, const char *what)
{
	const struct token *t = peek(p);
	if (t->kind != T_NAME) {
		tok_expected(p, what);
		return expr_new(p, E_ERROR, tok_span(t));
	}
	tok_next(p);
	struct expr *e = expr_new(p, E_NAME, tok_span(t)), **tail = &e->args, *last = NULL;
	e->name = t->value;
	e->name_span = tok_span(t);
	while ((peek_kind(p) == T_LBRACK || peek_kind(p) == T_DOT || at_arrow(p)) && !p->panic) {
		last = *tail = parse_selector(p);
		tail = &last->next;
		e->nargs++;
		if (last->kind == E_ERROR)
			return expr_new(p, E_ERROR, span_from(p, t->start));
	}
	e->kind = last ? E_PATH : E_NAME;
	if (e->nargs == 1 && last->kind == E_AT) { /* a[i] */
		e->kind = E_INDEX;
		e->a = last->a;
		e->args = NULL;
		e->nargs = 0;
	}
	e->span = span_from(p, t->start);
	return expr_grown(p, e);
}

/* name := place | NAME "(" args ")" | NAME "." NAME "(" args ")" */
static struct expr *parse_name(struct parser *p)
{
	assert(peek_kind(p) == T_NAME);
	const struct token *t = peek(p);
	if (peek_at(p, 1) == T_LPAREN) {
		tok_next(p);
		struct expr *e = expr_new(p, E_CALL, tok_span(t));
		e->name = t->value;
		e->name_span = tok_span(t);
		parse_args(p, e);
		return expr_grown(p, e);
	}
	if (peek_at(p, 1) == T_DOT && peek_at(p, 2) == T_NAME && peek_at(p, 3) == T_LPAREN) {
		tok_next(p);
		tok_next(p);
		const struct token *m = tok_next(p);
		struct expr *e = expr_new(p, E_METHOD, tok_span(t));
		e->name = t->value;
		e->name_span = tok_span(t);
		e->method = m->value;
		e->method_span = tok_span(m);
		parse_args(p, e);
		return expr_grown(p, e);
	}
	return parse_name_or_element(p, "a name");
}

/* builtin := ("cas" | "exchange" | "fetch_add") "(" place { "," expr } ")" */
static struct expr *parse_builtin(struct parser *p)
{
	const struct token *t = tok_next(p);
	bool cas = t->kind == T_CAS;
	assert(cas || t->kind == T_EXCHANGE || t->kind == T_FETCH_ADD);
	const char *shape = cas ? "cas(x, expected, new)" : t->kind == T_EXCHANGE ? "exchange(x, value)" : "fetch_add(x, value)";
	struct expr *e = expr_new(p, cas ? E_CAS : t->kind == T_EXCHANGE ? E_XCHG : E_FADD, tok_span(t));
	e->op_span = tok_span(t);
	const struct token *open = tok_expect(p, T_LPAREN, NULL);
	if (!open)
		return expr_new(p, E_ERROR, e->span);
	if (peek_kind(p) != T_NAME) {
		tok_expected(p, "a shared variable");
		diag_hint(p->d, "%s changes the variable x in one step", shape);
	}
	e->a = parse_name_or_element(p, "a shared variable");
	bool ok = tok_accept(p, T_COMMA);
	if (ok) {
		e->b = parse_expr(p);
		if (cas && (ok = tok_accept(p, T_COMMA)))
			e->c = parse_expr(p);
	}
	if (!ok) {
		if (!p->panic) {
			tok_expected(p, "','");
			diag_hint(p->d, "it is written %s", shape);
		}
		while (peek_kind(p) != T_SEMI && peek_kind(p) != T_RBRACE && peek_kind(p) != T_RPAREN && peek_kind(p) != T_EOF)
			p->pos++;
		tok_accept(p, T_RPAREN);
		return expr_new(p, E_ERROR, span_from(p, t->start));
	}
	tok_close(p, T_RPAREN, open);
	e->span = span_from(p, t->start);
	return expr_grown(p, e);
}

/* any := "any" "(" ( "bool" | NAME | "enum" NAME | expr ".." expr ) ")" */
static struct expr *parse_any(struct parser *p)
{
	const struct token *t = tok_next(p);
	assert(t->kind == T_ANY);
	struct expr *e = expr_new(p, E_ANY, tok_span(t));
	e->op_span = tok_span(t);
	const struct token *open = tok_expect(p, T_LPAREN, NULL);
	if (!open)
		return expr_new(p, E_ERROR, e->span);
	if (peek_kind(p) == T_BOOL || peek_kind(p) == T_ENUM || (peek_kind(p) == T_NAME && peek_at(p, 1) == T_RPAREN)) {
		struct type_ref *ty = arena_new(p->arena, struct type_ref);
		const struct token *w = tok_next(p);
		ty->kind = w->kind == T_BOOL ? TY_BOOL : TY_ENUM;
		if (w->kind == T_ENUM)
			w = tok_expect(p, T_NAME, "of an enum");
		ty->name = w && ty->kind == TY_ENUM ? w->value : 0;
		ty->span = ty->name_span = span_from(p, open->end);
		if (w)
			ty->span = ty->name_span = tok_span(w);
		e->any_type = ty;
	} else if (peek_kind(p) == T_INT_TYPE) {
		tok_expected(p, "bool, an enum or a range");
		diag_hint(p->d, "there are too many ints to try; write any(0..3)");
		p->pos++;
		e->kind = E_ERROR;
	} else {
		e->a = parse_expr(p);
		if (tok_accept(p, T_DOTDOT)) {
			e->b = parse_expr(p);
		} else {
			if (!p->panic) {
				tok_expected(p, "'..'");
				diag_hint(p->d, "any(bool) or any(lo..hi)");
			}
			e->kind = E_ERROR;
		}
	}
	tok_close(p, T_RPAREN, open);
	e->span = span_from(p, t->start);
	return expr_grown(p, e);
}

void report_increment(struct parser *p)
{
	if (p->panic)
		return;
	diag_error(p->d, "syntax", p->src, tok_span(peek(p)), "%s is a statement here, not part of an expression",
	           token_text(peek_kind(p)));
	diag_hint(p->d, "write `x++;` on its own, or fetch_add(x, 1) for one step that "
	                "returns the old value");
	p->panic = true;
}

static struct expr *parse_unary(struct parser *p);

/* primary := INT | "true" | "false" | name | builtin | any | "(" expr ")" */
static struct expr *parse_primary(struct parser *p)
{
	const struct token *t = peek(p);
	struct expr *e;
	switch (t->kind) {
	case T_INT:
		tok_next(p);
		e = expr_new(p, E_INT, tok_span(t));
		e->value = t->value;
		return expr_grown(p, e);
	case T_TRUE:
	case T_FALSE:
		tok_next(p);
		e = expr_new(p, E_BOOL, tok_span(t));
		e->value = t->kind == T_TRUE;
		return expr_grown(p, e);
	case T_NAME:
		return parse_name(p);
	case T_CAS:
	case T_EXCHANGE:
	case T_FETCH_ADD:
		return parse_builtin(p);
	case T_ANY:
		return parse_any(p);
	case T_LPAREN:
		tok_next(p);
		e = parse_expr(p);
		if (peek_kind(p) == T_ASSIGN && !p->panic) {
			diag_error(p->d, "assign-in-condition", p->src, tok_span(peek(p)),
			           "'=' assigns; it is not allowed inside an expression");
			diag_hint(p->d, "to compare, write ==");
			tok_next(p);
			parse_expr(p);
		}
		tok_close(p, T_RPAREN, t);
		e->parens = true;
		e->span = span_from(p, t->start);
		return e;
	case T_INC:
	case T_DEC:
		report_increment(p);
		p->pos++;
		return expr_new(p, E_ERROR, tok_span(t));
	default:
		tok_expected(p, "an expression");
		return expr_new(p, E_ERROR, tok_span(t));
	}
}

/* unary := { "!" | "-" | "+" | "~" } primary */
static struct expr *parse_unary(struct parser *p)
{
	const struct token *t = peek(p);
	enum op op;
	switch (t->kind) {
	case T_BANG:
		op = OP_NOT;
		break;
	case T_MINUS:
		op = OP_NEG;
		break;
	case T_PLUS:
		op = OP_PLUS;
		break;
	case T_TILDE:
		op = OP_BITNOT;
		break;
	case T_AMP:
		foreign_address(p);
		return parse_primary(p);
	default:
		return parse_primary(p);
	}
	if (!nest(p))
		return expr_new(p, E_ERROR, tok_span(t));
	tok_next(p);
	struct expr *e = expr_new(p, E_UNARY, tok_span(t));
	e->op = op;
	e->op_span = tok_span(t);
	e->a = parse_unary(p);
	unnest(p);
	if (op == OP_NEG && e->a->kind == E_INT && !e->a->parens) {
		/* -2147483648 is one number */
		e->a->value = -e->a->value;
		e->a->span = span_from(p, t->start);
		return e->a;
	}
	e->span = span_from(p, t->start);
	return expr_grown(p, e);
}

static const struct {
	uint8_t op, prec;
} binary[T_COUNT] = {
	[T_OROR] = { OP_LOR, 1 },   [T_ANDAND] = { OP_LAND, 2 },  [T_PIPE] = { OP_OR, 3 },   [T_CARET] = { OP_XOR, 4 },
	[T_AMP] = { OP_AND, 5 },    [T_EQ] = { OP_EQ, 6 },        [T_NE] = { OP_NE, 6 },     [T_LT] = { OP_LT, 7 },
	[T_LE] = { OP_LE, 7 },      [T_GT] = { OP_GT, 7 },        [T_GE] = { OP_GE, 7 },     [T_SHL] = { OP_SHL, 8 },
	[T_SHR] = { OP_SHR, 8 },    [T_PLUS] = { OP_ADD, 9 },     [T_MINUS] = { OP_SUB, 9 }, [T_STAR] = { OP_MUL, 10 },
	[T_SLASH] = { OP_DIV, 10 }, [T_PERCENT] = { OP_MOD, 10 },
};

/* binary := unary { OP binary-of-higher-precedence } */
static struct expr *parse_binary(struct parser *p, unsigned min)
{
	assert(min >= 1);
	struct expr *left = parse_unary(p);
	for (;;) {
		const struct token *t = peek(p);
		unsigned prec = binary[t->kind].prec;
		if (prec < min || !prec)
			return left;
		tok_next(p);
		struct expr *e = expr_new(p, E_BINARY, tok_span(t));
		e->op = (enum op)binary[t->kind].op;
		e->op_span = tok_span(t);
		e->a = left;
		e->b = parse_binary(p, prec + 1);
		e->span = (struct span){ left->span.start, e->b->span.end };
		left = expr_grown(p, e);
	}
}

/* expr := binary [ "?" expr ":" expr ] */
struct expr *parse_expr(struct parser *p)
{
	if (!nest(p))
		return expr_new(p, E_ERROR, tok_span(peek(p)));
	struct expr *e = parse_binary(p, 1);
	if (peek_kind(p) == T_QUESTION) {
		const struct token *q = tok_next(p);
		struct expr *c = expr_new(p, E_COND, e->span);
		c->op_span = tok_span(q);
		c->a = e;
		c->b = parse_expr(p);
		tok_expect(p, T_COLON, "between the two values of ?:");
		c->c = parse_expr(p);
		c->span = (struct span){ e->span.start, c->c->span.end };
		e = expr_grown(p, c);
	}
	unnest(p);
	return e;
}
