/*
 * text: the tokens of clang's intermediate code: names, strings, brackets,
 * lists. Nothing here reads past a span's end, regardless of the text.
 */
#ifndef INTACT_CC_TEXT_H
#define INTACT_CC_TEXT_H

#include <stdbool.h>

struct text_span {
	const char *s, *end;
};

bool span_starts(struct text_span l, const char *word);
bool span_has(struct text_span l, const char *word);
/* Behind the string that begins at p. */
const char *skip_string(const char *p, const char *end);
/* After the name (plain or quoted) that begins at p. */
const char *skip_name(const char *p, const char *end);
/* Behind the bracket that closes the one at p; end when none does. */
const char *skip_group(const char *p, const char *end);
/* The next part of a list separated by commas; l moves after it. */
struct text_span span_part(struct text_span *l);
/* The last word of a part: its value, after type and attributes. */
struct text_span span_value(struct text_span l);
bool is_name_char(char c);

#endif
