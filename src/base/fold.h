/*
 * fold: lines broken for a page of some width. A line is broken at blanks; what
 * follows is indented two columns deeper than it. Words that are too long stay
 * whole; colours (CSI sequences) take no columns. Lines that users copy or
 * programs read are not broken: commands ("replay: ...", "as a page: ...") and
 * annotations ("::error ...").
 */
#ifndef INTACT_BASE_FOLD_H
#define INTACT_BASE_FOLD_H

#include "base/buf.h"

/* Appends the text to out. Width 0: as it is. */
void fold_lines(struct buf *out, const char *text, size_t len, unsigned width);

#endif
