/* fmt_layout: where the lines of a formatted unit begin; see fmt.h. */
#ifndef INTACT_LANG_FMT_LAYOUT_H
#define INTACT_LANG_FMT_LAYOUT_H

#include "lang/ast.h"
#include "lang/lex.h"

enum {
	LAY_LINE = 1,  /* the token begins a line, at its level */
	LAY_CLOSE = 2, /* it closes a block: comments before it are inside */
	LAY_OPEN = 4,  /* it opens a block: no blank line after it */
	LAY_LEVEL = 8, /* when a comment or the author breaks the line before it,
	                  * it is at its level, not a continuation */
	LAY_LIST = 16, /* a member of a list over several lines: as LAY_LEVEL,
	                  and the author's breaks are kept */
};

struct fmt_layout {
	uint8_t *flags;  /* a token */
	uint16_t *level; /* meaningful with LAY_LINE, LAY_LEVEL, LAY_LIST */
};

struct fmt_layout layout_unit(const struct unit *u, const struct tokens *toks, struct arena *a);

#endif
