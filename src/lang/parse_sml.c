/*
 * parse_sml: .sml files, the grammar of Fig. 2 of the causal-atomicity paper,
 * into the tree the .atm parser makes.
 *
 *   P      := defn thlist
 *   defn   := "int" Y | "lock" l | defn ";" defn
 *   thlist := null | stmt "||" thlist
 *
 * Taken as printed, with the freedom its own figures take: the last thread
 * may omit `||`, and there may be one after the definitions (Fig. 5), a list
 * of definitions or statements may end in `;`, and `;` may be missing at the
 * end of a line (Fig. 5; a warning). Names that are not declared are locals:
 * each thread gets a declaration of them, in the order in which they first
 * appear, that has no text of its own. Threads are called T1, T2, ...
 */
#include <string.h>

#include "lang/parse_sml.h"

static struct stmt *parse_stmt(struct sml *s);

static struct stmt *stmt_new(struct sml *s, enum stmt_kind kind)
{
	struct stmt *st = arena_new(s->p.arena, struct stmt);
	st->kind = kind;
	st->head = st->span = tok_span(peek(&s->p));
	return st;
}

/* ---- recovery ----------------------------------------------------------- */

static bool begins_stmt(enum tok k)
{
	switch (k) {
	case T_NAME:
	case T_WHILE:
	case T_IF:
	case T_BEGIN:
	case T_SKIP:
	case T_ACQUIRE:
	case T_RELEASE:
		return true;
	default:
		return false;
	}
}

static bool ends_list(enum tok k)
{
	return k == T_RBRACE || k == T_END || k == T_OROR || k == T_EOF;
}

/* Skips to a ';', to the end of the list, or to a statement on a new line. */
static void recover(struct sml *s)
{
	struct parser *p = &s->p;
	uint32_t open = 0, start = p->pos;
	for (;; p->pos++) {
		enum tok k = peek_kind(p);
		if (k == T_EOF || (!open && (k == T_SEMI || ends_list(k))))
			return;
		if (!open && p->pos > start && peek(p)->line_start && begins_stmt(k))
			return;
		if (k == T_LBRACE)
			open++;
		else if (k == T_RBRACE)
			open--;
	}
}

/* ---- statements --------------------------------------------------------- */

/* Words of .atm and C. They are ordinary names here, so what follows decides
 * whether one was meant as a statement. */
static bool foreign_word(struct sml *s)
{
	static const struct {
		const char *word, *hint;
	} foreign[] = {
		{ "atomic", "a block is written begin ... end" },
		{ "thread", "threads are separated by ||" },
		{ "proc", "write the statements out, or write the model as an .atm file" },
		{ "bool", "every variable is an int; keep a truth value as 0 or 1" },
		{ "for", "use while" },
		{ "do", "use while" },
		{ "repeat", "use while" },
		{ "assume", "wait with while (!b) { skip }, or write an .atm file" },
		{ "assert", "assertions are written in .atm files" },
		{ "commit", "commit points are written in .atm files" },
		{ "return", "end the thread by reaching its end" },
		{ "break", "make it part of the loop's condition" },
		{ "continue", "make the rest of the loop's body an if" },
		{ "either", "nondeterministic choice is written in .atm files" },
		{ "unlock", "use release(l)" },
		{ "const", "write the number itself" },
		{ "Begin", "the keyword is begin" },
	};
	struct parser *p = &s->p;
	if (peek_kind(p) != T_NAME || peek_at(p, 1) == T_WALRUS || peek_at(p, 1) == T_ASSIGN)
		return false;
	const char *name = intern_str(p->names, peek(p)->value);
	for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
		if (strcmp(name, foreign[i].word))
			continue;
		diag_error(p->d, "foreign-word", p->src, tok_span(peek(p)), "SML has no '%s'", name);
		diag_hint(p->d, "%s", foreign[i].hint);
		p->panic = true;
		return true;
	}
	return false;
}

/* assign := (x | Y) ":=" e */
static struct stmt *parse_assign(struct sml *s)
{
	struct parser *p = &s->p;
	struct stmt *st = stmt_new(s, S_ASSIGN);
	const char *name = intern_str(p->names, peek(p)->value);
	st->target = sml_variable(s);
	st->form = ASSIGN_PLAIN;
	enum tok k = peek_kind(p);
	if (k == T_ASSIGN || k == T_EQ) {
		diag_error(p->d, "assign-form", p->src, tok_span(peek(p)), "%s compares; to assign, write ':='", token_text(k));
		k = T_WALRUS;
	} else if (k == T_INC || k == T_DEC || (k >= T_PLUS_EQ && k <= T_SHR_EQ)) {
		diag_error(p->d, "assign-form", p->src, tok_span(peek(p)), "SML has no %s", token_text(k));
		diag_hint(p->d, "write it out: %s := %s %c %s", name, name, k == T_DEC || k == T_MINUS_EQ ? '-' : '+',
		          k == T_INC || k == T_DEC ? "1" : "...");
		p->panic = true;
	} else if (k != T_WALRUS) {
		tok_expected(p, "':=' after the variable");
	}
	if (k == T_WALRUS) {
		tok_next(p);
		st->value = sml_expr(s);
		sml_need_number(s, st->value);
	} else {
		st->value = expr_new(p, E_ERROR, tok_span(peek(p)));
	}
	st->span = span_from(p, st->head.start);
	return st;
}

/* A missing ';' where the next statement begins on its own line (or after a
 * closing brace) is what the paper's figures have. */
static void missing_semicolon(struct sml *s)
{
	struct parser *p = &s->p;
	const struct token *before = &p->toks.list[p->pos - 1];
	struct span at = { before->end, before->end };
	if (peek(p)->line_start || before->kind == T_RBRACE || before->kind == T_END)
		diag_warn(p->d, "missing-semicolon", p->src, at, "';' is missing between two statements");
	else
		diag_error(p->d, "syntax", p->src, at, "expected ';' between two statements");
}

/* list := stmt { ";" stmt } [ ";" ] */
static struct stmt *parse_list(struct sml *s)
{
	struct parser *p = &s->p;
	struct stmt *first = NULL, **tail = &first;
	for (;;) {
		uint32_t before = p->pos;
		struct stmt *st = parse_stmt(s);
		*tail = st;
		tail = &st->next;
		if (!p->panic && !begins_stmt(peek_kind(p)) && !ends_list(peek_kind(p)) && peek_kind(p) != T_SEMI)
			tok_expected(p, "';' or the end of the thread");
		if (p->panic) {
			if (p->pos == before && !ends_list(peek_kind(p)) && peek_kind(p) != T_LBRACE)
				p->pos++;
			recover(s);
			p->panic = false;
		}
		if (tok_accept(p, T_SEMI)) {
			if (ends_list(peek_kind(p)))
				return first;
		} else if (ends_list(peek_kind(p))) {
			return first;
		} else if (p->pos > before) {
			missing_semicolon(s);
		}
	}
}

/* A list between two marks, with what is said when it is empty. */
static struct stmt *parse_body(struct sml *s, const struct token *open, enum tok close)
{
	struct parser *p = &s->p;
	struct stmt *b = arena_new(p->arena, struct stmt);
	b->kind = S_BLOCK;
	b->head = tok_span(open);
	if (peek_kind(p) == close) {
		diag_error(p->d, "syntax", p->src, tok_span(peek(p)), "expected a statement, found %s", token_text(close));
		diag_hint(p->d, "skip is the statement that does nothing");
	} else {
		b->body = parse_list(s);
	}
	b->close = peek(p)->start;
	tok_close(p, close, open);
	b->span = span_from(p, open->start);
	return b;
}

/* branch := "{" stmt "}" */
static struct stmt *parse_braces(struct sml *s, const char *behind)
{
	struct parser *p = &s->p;
	const struct token *open = tok_expect(p, T_LBRACE, behind);
	if (open)
		return parse_body(s, open, T_RBRACE);
	struct stmt *b = stmt_new(s, S_BLOCK);
	b->close = b->span.start;
	return b;
}

/* condition := "(" b ")" */
static struct expr *parse_condition(struct sml *s, const char *behind)
{
	struct parser *p = &s->p;
	const struct token *open = tok_expect(p, T_LPAREN, behind);
	if (!open)
		return expr_new(p, E_ERROR, tok_span(peek(p)));
	s->parens++;
	struct expr *e = sml_expr(s);
	s->parens--;
	if (peek_kind(p) == T_WALRUS && !p->panic) {
		diag_error(p->d, "assign-in-condition", p->src, tok_span(peek(p)), "':=' assigns, but this is a condition");
		diag_hint(p->d, "to compare, write =");
		tok_next(p);
		sml_expr(s);
	} else if (!p->panic) {
		sml_need_bool(s, e);
	}
	tok_close(p, T_RPAREN, open);
	return e;
}

/* if := "if" condition branch "else" branch */
static struct stmt *parse_if(struct sml *s)
{
	struct parser *p = &s->p;
	struct stmt *st = stmt_new(s, S_IF);
	const struct token *head = tok_next(p);
	st->value = parse_condition(s, "behind 'if'");
	st->body = parse_braces(s, "after the condition");
	if (p->panic)
		return st;
	if (!tok_accept(p, T_ELSE)) {
		uint32_t end = p->toks.list[p->pos - 1].end;
		diag_error(p->d, "missing-else", p->src, (struct span){ end, end }, "expected 'else' after the first branch");
		diag_note(p->d, p->src, tok_span(head), "the 'if' it belongs to");
		diag_hint(p->d, "every if of SML has two branches; write else { skip }");
		return st;
	}
	st->other = parse_braces(s, "behind 'else'");
	return st;
}

/* while := "while" condition branch */
static struct stmt *parse_while(struct sml *s)
{
	struct stmt *st = stmt_new(s, S_WHILE);
	tok_next(&s->p);
	st->value = parse_condition(s, "behind 'while'");
	st->body = parse_braces(s, "after the condition");
	return st;
}

/* lock-stmt := ("acquire" | "release") "(" l ")" */
static struct stmt *parse_lock_stmt(struct sml *s)
{
	struct parser *p = &s->p;
	struct stmt *st = stmt_new(s, peek_kind(p) == T_ACQUIRE ? S_ACQUIRE : S_RELEASE);
	const char *word = st->kind == S_ACQUIRE ? "acquire" : "release";
	char where[48];
	snprintf(where, sizeof where, "behind '%s'", word);
	tok_next(p);
	const struct token *open = tok_expect(p, T_LPAREN, where);
	const struct token *t = open ? tok_expect(p, T_NAME, "of a lock") : NULL;
	struct span at = tok_span(t ? t : peek(p));
	st->target = expr_new(p, E_ERROR, at);
	if (!t)
		return st;
	const char *name = intern_str(p->names, t->value);
	if (s->kind[t->value] == SML_LOCK) {
		struct expr *e = expr_new(p, E_NAME, at);
		e->name = t->value;
		e->name_span = at;
		st->target = expr_grown(p, e);
	} else if (s->kind[t->value] == SML_GLOBAL) {
		diag_error(p->d, "type", p->src, at, "'%s' is a variable, not a lock", name);
		diag_hint(p->d, "locks are declared with lock: lock %s;", name);
	} else {
		diag_error(p->d, "undeclared-name", p->src, at, "the lock '%s' is not declared", name);
		if (!sml_suggest(s, t->value, TY_LOCK))
			diag_hint(p->d, "declare it before the first thread: lock %s;", name);
	}
	tok_close(p, T_RPAREN, open);
	return st;
}

/* block := "begin" stmt "end" */
static struct stmt *parse_block(struct sml *s)
{
	struct stmt *st = stmt_new(s, S_ATOMIC);
	const struct token *open = tok_next(&s->p);
	st->body = parse_body(s, open, T_END);
	return st;
}

/* stmt := assign | while | if | block | lock-stmt | "skip" */
static struct stmt *parse_stmt_inner(struct sml *s)
{
	struct parser *p = &s->p;
	struct stmt *st;
	switch (peek_kind(p)) {
	case T_WHILE:
		return parse_while(s);
	case T_IF:
		return parse_if(s);
	case T_BEGIN:
		return parse_block(s);
	case T_ACQUIRE:
	case T_RELEASE:
		return parse_lock_stmt(s);
	case T_SKIP:
		st = stmt_new(s, S_SKIP);
		tok_next(p);
		return st;
	case T_NAME:
		st = stmt_new(s, S_EMPTY);
		return foreign_word(s) ? st : parse_assign(s);
	case T_INT_TYPE:
	case T_LOCK:
		diag_error(p->d, "misplaced", p->src, tok_span(peek(p)), "definitions must precede the first thread");
		diag_hint(p->d, "local variables begin with a lower-case letter and need no definition");
		break;
	case T_ELSE:
		diag_error(p->d, "syntax", p->src, tok_span(peek(p)), "'else' without an 'if' before it");
		break;
	case T_LBRACE:
		diag_error(p->d, "syntax", p->src, tok_span(peek(p)), "braces belong to 'while', 'if' and 'else'");
		diag_hint(p->d, "a block that must be atomic is written begin ... end");
		break;
	default:
		tok_expected(p, "a statement");
		break;
	}
	p->panic = true;
	return stmt_new(s, S_EMPTY);
}

static struct stmt *parse_stmt(struct sml *s)
{
	if (!nest(&s->p))
		return stmt_new(s, S_EMPTY);
	uint32_t start = peek(&s->p)->start;
	struct stmt *st = parse_stmt_inner(s);
	if (st->span.end <= st->head.end)
		st->span = span_from(&s->p, start);
	unnest(&s->p);
	return st;
}

/* ---- threads ------------------------------------------------------------ */

/* The declarations of the thread's locals, as a statement before the others. */
static struct stmt *implicit_locals(struct sml *s, struct decl *locals, struct stmt *rest)
{
	if (!locals)
		return rest;
	struct stmt *st = arena_new(s->p.arena, struct stmt);
	st->kind = S_DECL;
	st->head = st->span = locals->span;
	st->decls = locals;
	st->next = rest;
	return st;
}

/* thread := list */
static struct decl *parse_thread(struct sml *s)
{
	struct parser *p = &s->p;
	struct decl *locals = NULL, *d = arena_new(p->arena, struct decl);
	char name[16];
	s->thread++;
	s->local = &locals;
	uint32_t start = peek(p)->start;
	d->kind = D_THREAD;
	d->name = intern_add(p->names, name, (size_t)snprintf(name, sizeof name, "T%u", s->thread));
	d->name_span = tok_span(peek(p));
	d->body = stmt_new(s, S_BLOCK);
	struct stmt **tail = &d->body->body;
	while (peek_kind(p) != T_OROR && peek_kind(p) != T_EOF) {
		if (ends_list(peek_kind(p))) {
			diag_error(p->d, "syntax", p->src, tok_span(peek(p)), "%s closes nothing", token_text(peek_kind(p)));
			tok_next(p);
			tok_accept(p, T_SEMI);
			continue;
		}
		*tail = parse_list(s);
		while (*tail)
			tail = &(*tail)->next;
	}
	d->body->close = p->pos ? p->toks.list[p->pos - 1].end : 0;
	d->body->body = implicit_locals(s, locals, d->body->body);
	d->span = d->body->span = span_from(p, start);
	return d;
}

/* thlist := null | stmt "||" thlist */
static void parse_threads(struct sml *s, struct decl **tail)
{
	struct parser *p = &s->p;
	tok_accept(p, T_OROR); /* as Fig. 5 has it after the definitions */
	while (peek_kind(p) != T_EOF) {
		if (peek_kind(p) == T_OROR) {
			diag_error(p->d, "syntax", p->src, tok_span(peek(p)), "expected a thread before '||'");
			diag_hint(p->d, "skip is the statement that does nothing");
			tok_next(p);
			continue;
		}
		if (peek_kind(p) == T_NAME && peek_at(p, 1) == T_EOF && !strcmp(intern_str(p->names, peek(p)->value), "null")) {
			tok_next(p); /* the figure's word for the empty list */
			break;
		}
		*tail = parse_thread(s);
		tail = &(*tail)->next;
		tok_accept(p, T_OROR);
	}
}

/* ---- definitions -------------------------------------------------------- */

/* What C has after a declared name and SML does not; skipped. */
static void foreign_definition(struct sml *s)
{
	struct parser *p = &s->p;
	switch (peek_kind(p)) {
	case T_ASSIGN:
	case T_WALRUS:
		diag_error(p->d, "syntax", p->src, tok_span(peek(p)),
		           "definitions have no initial value: all variables start at 0");
		diag_hint(p->d, "assign it in a thread");
		break;
	case T_LBRACK:
		diag_error(p->d, "syntax", p->src, tok_span(peek(p)), "SML has no arrays");
		diag_hint(p->d, "a model that needs them can be written as an .atm file");
		break;
	default:
		return;
	}
	recover(s);
}

/* defn := "int" Y | "lock" l; at the name */
static struct decl *parse_definition(struct sml *s, const struct token *word)
{
	struct parser *p = &s->p;
	bool lock = word->kind == T_LOCK;
	const struct token *t = tok_expect(p, T_NAME, lock ? "of a lock" : "of a variable");
	if (!t) {
		recover(s);
		return NULL;
	}
	struct decl *d = arena_new(p->arena, struct decl);
	const char *name = intern_str(p->names, t->value);
	d->kind = D_VAR;
	d->name = t->value;
	d->name_span = tok_span(t);
	d->span = span_from(p, word->start);
	d->type = arena_new(p->arena, struct type_ref);
	d->type->kind = lock ? TY_LOCK : TY_INT;
	d->type->span = tok_span(word);
	d->is_shared = d->first_of_group = true;
	if (!lock && !(name[0] >= 'A' && name[0] <= 'Z')) {
		char upper = name[0] >= 'a' && name[0] <= 'z' ? (char)(name[0] - 32) : 'X';
		diag_error(p->d, "name-case", p->src, tok_span(t), "global variables begin with a capital letter");
		diag_hint(p->d, "call it '%c%s', or omit the definition to make it a local of each thread that uses it", upper,
		          name + 1);
	}
	s->kind[t->value] = lock ? SML_LOCK : SML_GLOBAL;
	foreign_definition(s);
	return d;
}

static bool at_definition(const struct sml *s)
{
	return peek_kind(&s->p) == T_INT_TYPE || peek_kind(&s->p) == T_LOCK;
}

/* defn := defn ";" defn */
static struct decl **parse_definitions(struct sml *s)
{
	struct parser *p = &s->p;
	struct decl **tail = &s->unit->decls;
	const struct token *word = NULL;
	while (at_definition(s) || (word && peek_kind(p) == T_COMMA)) {
		if (peek_kind(p) == T_COMMA) {
			diag_error(p->d, "syntax", p->src, tok_span(peek(p)), "one definition defines one name");
			diag_hint(p->d, "separate them by ';': %s", word->kind == T_LOCK ? "lock a; lock b" : "int X; int Y");
			tok_next(p);
		} else {
			word = tok_next(p);
		}
		*tail = parse_definition(s, word);
		if (*tail)
			tail = &(*tail)->next;
		if (peek_kind(p) == T_COMMA)
			continue;
		word = NULL;
		if (!tok_accept(p, T_SEMI) && at_definition(s))
			tok_expect(p, T_SEMI, "between two definitions");
		p->panic = false;
	}
	return tail;
}

struct unit *parse_sml(const struct source *src, struct intern *names, struct arena *a, struct diags *d, struct tokens *toks)
{
	struct sml s = { .p = { .src = src, .arena = a, .d = d, .names = names } };
	s.unit = arena_new(a, struct unit);
	s.unit->src = src;
	s.unit->sml = true;
	s.p.toks = lex(src, true, names, a, d);
	s.kind = arena_array(a, uint8_t, names->strs.len);
	s.seen = arena_array(a, uint32_t, names->strs.len);
	parse_threads(&s, parse_definitions(&s));
	if (toks)
		*toks = s.p.toks;
	return s.unit;
}
