/*
 * lex: text to tokens, for .atm and .sml alike.
 *
 * The whole file becomes one array of 16-byte tokens before parsing, so the
 * parsers look ahead as they like. Comments are kept aside for the formatter.
 * Bytes that are not a token (NUL, invalid UTF-8, a stray quote) are reported
 * once per run and skipped. Linear in the text.
 */
#ifndef INTACT_LANG_LEX_H
#define INTACT_LANG_LEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/intern.h"
#include "base/source.h"

enum tok {
	T_EOF,
	T_NAME,
	T_INT,
	/* words */
	T_BOOL,
	T_INT_TYPE,
	T_ENUM,
	T_CONST,
	T_LOCK,
	T_SAFE,
	T_REGULAR,
	T_PROC,
	T_VOID,
	T_THREAD,
	T_OBJECT,
	T_IF,
	T_ELSE,
	T_WHILE,
	T_REPEAT,
	T_BREAK,
	T_CONTINUE,
	T_RETURN,
	T_ACQUIRE,
	T_RELEASE,
	T_EITHER,
	T_OR_WORD,
	T_ASSUME,
	T_ASSERT,
	T_SKIP,
	T_ATOMIC,
	T_COMMIT,
	T_STEP,
	T_TRUE,
	T_FALSE,
	T_CAS,
	T_EXCHANGE,
	T_FETCH_ADD,
	T_ANY,
	T_BEGIN,
	T_END,
	/* words only where such a statement begins: the lexer says T_NAME, the parser changes it */
	T_FOR,
	T_DO,
	T_SWITCH,
	T_CASE,
	T_DEFAULT,
	T_STRUCT, /* likewise, where a type begins */
	/* marks */
	T_LBRACE,
	T_RBRACE,
	T_LPAREN,
	T_RPAREN,
	T_LBRACK,
	T_RBRACK,
	T_SEMI,
	T_COMMA,
	T_DOT,
	T_DOTDOT,
	T_COLON,
	T_LABEL_COLON, /* behind a case; the parser changes T_COLON */
	T_REF,         /* before a parameter; the parser changes T_AMP */
	T_QUESTION,
	T_ASSIGN,
	T_WALRUS,
	T_PLUS,
	T_MINUS,
	T_STAR,
	T_SLASH,
	T_PERCENT,
	T_AMP,
	T_PIPE,
	T_CARET,
	T_TILDE,
	T_BANG,
	T_LT,
	T_GT,
	T_LE,
	T_GE,
	T_EQ,
	T_NE,
	T_SHL,
	T_SHR,
	T_ANDAND,
	T_OROR,
	T_INC,
	T_DEC,
	T_PLUS_EQ,
	T_MINUS_EQ,
	T_STAR_EQ,
	T_SLASH_EQ,
	T_PERCENT_EQ,
	T_AMP_EQ,
	T_PIPE_EQ,
	T_CARET_EQ,
	T_SHL_EQ,
	T_SHR_EQ,
	T_COUNT
};
_Static_assert(T_COUNT <= UINT8_MAX, "token.kind is a byte");

struct token {
	uint8_t kind;
	bool line_start; /* the first token of its line */
	uint32_t start, end;
	uint32_t value; /* T_NAME: interned id; T_INT: the value */
};

struct comment {
	uint32_t start, end; /* with its marks, without the line end */
	bool line;           /* // to the end of the line */
};

struct tokens {
	struct token *list; /* ends with T_EOF */
	uint32_t n;
	struct comment *comments;
	uint32_t ncomments;
};

/* Never fails: what is not a token is reported in d and left out. */
struct tokens lex(const struct source *src, bool sml, struct intern *names, struct arena *a, struct diags *d);

/* How a token is written, in quotes where it is a mark: "';'", "a name". */
const char *token_text(enum tok kind);
/* The reserved words of the language, from 0; NULL after the last. */
const char *lex_word(uint32_t i, bool sml);

#endif
