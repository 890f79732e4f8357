/*
 * text: see text.h.
 */
#include "cc/text.h"

#include <string.h>

#include "base/invariant.h"

bool span_starts(struct text_span l, const char *word)
{
	assert(l.s <= l.end);
	size_t n = strlen(word);
	return (size_t)(l.end - l.s) >= n && !memcmp(l.s, word, n);
}

bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '$' ||
	       c == '-';
}

const char *skip_string(const char *p, const char *end)
{
	assert(p < end);
	for (p++; p < end && *p != '"'; p++)
		;
	assert(p <= end);
	return p < end ? p + 1 : end;
}

const char *skip_name(const char *p, const char *end)
{
	assert(p <= end);
	if (p < end && *p == '"')
		return skip_string(p, end);
	while (p < end && is_name_char(*p))
		p++;
	assert(p <= end);
	return p;
}

const char *skip_group(const char *p, const char *end)
{
	assert(p <= end);
	int depth = 0;
	while (p < end) {
		if (*p == '"') {
			p = skip_string(p, end);
			continue;
		}
		if (*p == '(' || *p == '[' || *p == '{')
			depth++;
		else if ((*p == ')' || *p == ']' || *p == '}') && --depth == 0)
			return p + 1;
		p++;
	}
	return end;
}

struct text_span span_part(struct text_span *l)
{
	assert(l->s <= l->end);
	struct text_span r = { l->s, l->s };
	const char *p = l->s;
	int angle = 0;
	while (p < l->end && (*p != ',' || angle)) {
		angle += (*p == '<') - (*p == '>');
		if (*p == '"')
			p = skip_string(p, l->end);
		else if (*p == '(' || *p == '[' || *p == '{')
			p = skip_group(p, l->end);
		else
			p++;
	}
	r.end = p;
	assert(r.s <= r.end && r.end <= l->end);
	l->s = p < l->end ? p + 1 : p;
	return r;
}

struct text_span span_value(struct text_span l)
{
	assert(l.s <= l.end);
	while (l.end > l.s && l.end[-1] == ' ')
		l.end--;
	const char *p = l.end;
	if (p > l.s && p[-1] == '"')
		for (p--; p > l.s && p[-1] != '"'; p--)
			;
	while (p > l.s && p[-1] != ' ')
		p--;
	assert(l.s <= p && p <= l.end);
	return (struct text_span){ p, l.end };
}

bool span_has(struct text_span l, const char *word)
{
	assert(l.s <= l.end);
	return memmem(l.s, (size_t)(l.end - l.s), word, strlen(word)) != NULL;
}
