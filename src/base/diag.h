/*
 * diag: located messages, collected, then rendered.
 *
 * What can fail in the library returns a status and leaves the detail here.
 * A message has a stable code (a short slug such as `undeclared-name`, the
 * word `intact explain` takes), a place, and any number of notes (another
 * place: where the unclosed brace was opened) and hints (what to do).
 *
 * Bounded: after `max_errors` errors further ones are only counted.
 */
#ifndef INTACT_BASE_DIAG_H
#define INTACT_BASE_DIAG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/source.h"

enum diag_level { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE, DIAG_HINT };

struct diag {
	enum diag_level level;
	const char *code;         /* NULL for notes and hints */
	const struct source *src; /* NULL: no place */
	struct span span;
	const char *text;
	uint32_t first_child, next; /* notes and hints; 0 = none */
};

struct diags {
	struct arena *arena;
	AVEC(struct diag) list; /* index 0 unused */
	uint32_t errors, warnings, max_errors;
	uint32_t last; /* the message that notes attach to; 0: dropped */
};

void diags_init(struct diags *d, struct arena *a);

/* A message at a place. Formats like printf; text from the input should go
 * through %.*s: the renderer makes it safe. */
void diag_error(struct diags *d, const char *code, const struct source *src, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
void diag_warn(struct diags *d, const char *code, const struct source *src, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Belong to the message before; src may be NULL for no place. */
void diag_note(struct diags *d, const struct source *src, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void diag_hint(struct diags *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Has a message of this code been given at this place already? */
bool diag_is_at(const struct diags *d, const char *code, uint32_t start);

/* The errors and warnings, as indices into the list, in the order of their places (stable); malloc'ed, NULL: out of memory. */
uint32_t *diags_in_order(const struct diags *d, uint32_t *n);

/*
 * All messages in that order, each as
 *   file:line:col: error: text [code]
 *      12 | source line
 *         |     ^~~~
 *     note: file:line:col: ...
 *     hint: ...
 * and a closing count when there are errors. Colours when `color`.
 */
void diags_render(const struct diags *d, struct buf *out, bool color);

/* The nearest of `n` names to `name` by edit distance, when near enough to
 * be a likely slip of the pen; -1 when none is. */
int nearest_name(const char *name, const char *const *names, int n);
/* The distance itself (insert, delete, replace, swap), at most `limit` + 1. */
unsigned edit_distance(const char *a, const char *b, unsigned limit);
/* How far a name of this length may be from what was meant. */
unsigned edit_slack(size_t len);

#endif
