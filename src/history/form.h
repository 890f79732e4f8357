/*
 * form: values written as EDN or JSON.
 *
 *   form := nil | null | true | false | number | string | :keyword | symbol
 *         | [ form* ] | ( form* ) | { (form form)* } | #{ form* } | #tag form
 *
 * One scanner for both: JSON differs in requiring `:` after a key and `,`
 * between elements, EDN has comments (;) and treats commas as space. The text
 * ends with a NUL; running into it means "not all here yet" (FORM_MORE) while
 * the input has not ended. Nesting is bounded by FORM_DEPTH.
 */
#ifndef INTACT_HISTORY_FORM_H
#define INTACT_HISTORY_FORM_H

#include "history/value.h"

#define FORM_DEPTH     64
#define FORM_MAX_ELEMS (1u << 22)

enum form_status { FORM_OK, FORM_MORE, FORM_BAD };

struct form {
	const char *p, *end; /* the rest of the text; *end is NUL */
	bool json;
	bool last; /* nothing follows end */
	struct values *vals;
	const char *why;   /* FORM_BAD: what was expected */
	const char *at;    /* and where */
	uint32_t newlines; /* passed by form_space */
};

/* Skips space, commas (EDN) and comments. */
void form_space(struct form *f);
/* One value at f->p. A map becomes the list of its keys and values. */
enum form_status form_value(struct form *f, val *v, int depth);
/* Like form_value, without keeping it. */
enum form_status form_skip(struct form *f, int depth);
/* A name: keyword, symbol or string; the slice points into the text and is
 * not unescaped. */
enum form_status form_name(struct form *f, const char **s, size_t *len);
enum form_status form_int(struct form *f, int64_t *n);
enum form_status form_fail(struct form *f, const char *at, const char *why);

static inline bool form_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

#endif
