/*
 * std: the STD text format, as RAPID and other tools write it.
 *
 *   thread|op(target)|place        T1|w(V12.f[0])|345
 *
 * op is r w acq rel fork join begin end; begin and end may do without a
 * target (with one it is the block's label). The place may be missing. Blank
 * lines, lines that start with # and `dummy` events are ignored. Spaces
 * around the fields do not count.
 */
#ifndef INTACT_EVENT_STD_H
#define INTACT_EVENT_STD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "event/event.h"
#include "event/names.h"

#define STD_LINE_MAX ((size_t)16 << 10)

struct std_error {
	size_t at, width; /* in the line, bytes */
	const char *code, *text, *hint;
};

enum std_result { STD_EVENT, STD_SKIP, STD_BAD, STD_NOMEM };

/*
 * Scans the line [s, end): *end must be '\n', and 8 more bytes after it
 * must be readable. Fills thread, target, loc, kind of *ev.
 */
enum std_result std_scan(const char *s, const char *end, struct trace_names *t, struct event *ev, struct std_error *err);
/* A name as it can appear in a line: blanks, bars and what is no letter
 * become '_'; of several lines the first. Different names may become the
 * same. */
void std_name(const struct names *n, uint32_t id, struct buf *out);
/* One line with its newline. Names are written so that they read back: the
 * bytes the format uses itself become '_'. `numeric` keeps places to numbers,
 * which is all some readers take. */
void std_print(const struct event *ev, const struct trace_names *t, bool numeric, struct buf *out);

#endif
