/*
 * fmt: a model in its canonical layout.
 *
 * The tokens are printed as they were written; only the white space between
 * them is new. The tree says where lines begin and how deep (fmt_layout.c),
 * the neighbours determine what is between two tokens of a line (fmt.c), and
 * comments keep their place in the sequence. So nothing can get lost or
 * change its meaning: parsing the result gives the same tree, and formatting
 * it again the same text.
 *
 * Layout: 2 spaces per level, one statement per line, braces as in K&R, `{
 * }` when empty; at most one blank line where there were any; trailing
 * comments stay trailing, two spaces off, and line up with those of the
 * lines above and below; comments on their own lines move with what follows
 * them. A line broken by its author inside an expression or a list stays
 * broken, indented by four. Linear in the text, apart from a binary search a
 * statement.
 */
#ifndef INTACT_LANG_FMT_H
#define INTACT_LANG_FMT_H

#include "base/buf.h"
#include "base/diag.h"
#include "base/intern.h"
#include "lang/ast.h"
#include "lang/lex.h"

/* Appends the text of a unit that was parsed without errors, with the tokens
 * it was parsed from. Working memory comes from `a`. */
void fmt_unit(const struct unit *u, const struct tokens *toks, struct arena *a, struct buf *out);

enum fmt_status {
	FMT_SAME, /* it has its canonical layout */
	FMT_CHANGED,
	FMT_BAD_INPUT, /* *d says why */
	FMT_INTERNAL,  /* the text would mean something else, or out of memory: not to be used */
};

/* The canonical text of `src`, which has been parsed again and means the same. Everything else lives in `a`. */
enum fmt_status fmt_source(const struct source *src, bool sml, struct arena *a, struct diags *d, struct buf *text);

/* Are two trees the same, places apart? Their names must come from the same
 * table. Resolved fields are not looked at. */
bool ast_equal(const struct unit *a, const struct unit *b);

#endif
