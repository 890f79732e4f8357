/*
 * parse: what the two parsers share: a cursor over the tokens, messages that
 * say what was expected and where the other end is, and recovery.
 *
 * Errors do not stop the parse: after one, tokens are skipped to a place
 * where a statement or declaration can begin, and `panic` keeps the same
 * mistake from being reported twice. Nesting is bounded by PARSE_DEPTH.
 */
#ifndef INTACT_LANG_PARSE_H
#define INTACT_LANG_PARSE_H

#include "base/invariant.h"
#include "lang/ast.h"
#include "lang/lex.h"

#define PARSE_DEPTH 400   /* nested statements and parentheses */
#define EXPR_HEIGHT 2000u /* of a tree: a chain a + b + ... is as high as long */

struct parser {
	const struct source *src;
	struct tokens toks;
	uint32_t pos;
	struct arena *arena;
	struct diags *d;
	struct intern *names;
	uint32_t depth;
	bool too_deep;                /* reported once */
	bool gave_up;                 /* the rest of the file was skipped: no more messages */
	uint32_t odd_open, odd_close; /* braces whose indentation disagrees, or 0 */
	uint32_t asked_types;         /* parse_property.c: how often a word was looked for among the types */
	bool panic;                   /* an error was reported and nothing was parsed since */
};

/* text -> tree; the tree is usable (for further messages) even on errors. */
struct unit *parse_atm(const struct source *src, struct intern *names, struct arena *a, struct diags *d, struct tokens *toks);
struct unit *parse_sml(const struct source *src, struct intern *names, struct arena *a, struct diags *d, struct tokens *toks);

/* ---- shared by parse_*.c (parse_util.c) --------------------------------- */

static inline const struct token *peek(const struct parser *p)
{
	assert(p->pos < p->toks.n);
	return &p->toks.list[p->pos];
}
static inline enum tok peek_kind(const struct parser *p)
{
	return p->toks.list[p->pos].kind;
}
static inline enum tok peek_at(const struct parser *p, uint32_t ahead)
{
	uint32_t i = p->pos + ahead;
	return i < p->toks.n ? (enum tok)p->toks.list[i].kind : T_EOF;
}
static inline struct span tok_span(const struct token *t)
{
	return (struct span){ t->start, t->end };
}
/* The span from `start` to the end of the token before the cursor. */
struct span span_from(const struct parser *p, uint32_t start);
const struct token *tok_next(struct parser *p);
bool tok_accept(struct parser *p, enum tok kind);
/* The token, or a message "expected X, found Y" and NULL. */
const struct token *tok_expect(struct parser *p, enum tok kind, const char *where);
/* Like expect for the closing mark of a pair: the note names the opening. */
bool tok_close(struct parser *p, enum tok kind, const struct token *open);
/* "expected WHAT, found Y" at the cursor. */
void tok_expected(struct parser *p, const char *what);
/* False (and one message) when nesting is too deep. Pair with unnest(). */
bool nest(struct parser *p);
static inline void unnest(struct parser *p)
{
	assert(p->depth);
	p->depth--;
}
/* Skips to just after the next ';' or to a '}' or a word that begins a
 * statement or declaration on a new line, over balanced braces. */
void tok_recover(struct parser *p);

struct expr *expr_new(struct parser *p, enum expr_kind kind, struct span span);
/* Sets e's height from its children. Everything after the parsers walks
 * expressions recursively, so a tree that grew too high is reported (once)
 * and an E_ERROR returned in its place. */
struct expr *expr_grown(struct parser *p, struct expr *e);
/* parse_expr.c: the expression grammar of .atm */
struct expr *parse_expr(struct parser *p);
/* ++ or -- at the cursor, where an expression goes on. */
void report_increment(struct parser *p);
/* A constant expression or range bound: no assignment, no comma. */
struct expr *parse_name_or_element(struct parser *p, const char *what);

#endif
