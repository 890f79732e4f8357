#include "base/fold.h"

#include <string.h>

#include "base/invariant.h"
#include "base/utf8.h"

/* Columns of a word, without its colours. */
static size_t columns(const char *s, size_t len)
{
	size_t n = 0, plain = 0;
	for (size_t i = 0; i < len; i++) {
		if (s[i] != '\033')
			continue;
		n += utf8_columns(s + plain, i - plain);
		while (i < len && s[i] != 'm')
			i++;
		plain = i < len ? i + 1 : len;
	}
	return n + utf8_columns(s + plain, len - plain);
}

static bool verbatim(const char *s, size_t len)
{
	static const char *const begins[] = { "replay: ", "next: ", "as a page: ", "intact ", "::" };
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (len >= strlen(begins[i]) && !memcmp(s, begins[i], strlen(begins[i])))
			return true;
	return false;
}

static void fold_line(struct buf *out, const char *s, size_t len, unsigned width)
{
	size_t indent = 0, at = 0;
	while (indent < len && s[indent] == ' ')
		indent++;
	if (columns(s, len) <= width || indent + 2 >= width || verbatim(s + indent, len - indent)) {
		buf_add(out, s, len);
		return;
	}
	buf_repeat(out, ' ', indent);
	at = indent;
	for (size_t i = indent; i < len;) {
		size_t blanks = i, end;
		while (blanks < len && s[blanks] == ' ')
			blanks++;
		for (end = blanks; end < len && s[end] != ' ';)
			end++;
		size_t w = columns(s + blanks, end - blanks), gap = blanks - i;
		if (at > indent + 2 && at + gap + w > width) {
			buf_char(out, '\n');
			buf_repeat(out, ' ', indent + 2);
			at = indent + 2;
			gap = 0;
		}
		buf_repeat(out, ' ', gap);
		buf_add(out, s + blanks, end - blanks);
		at += gap + w;
		assert(blanks >= i && end > i); /* each turn takes a word or the blanks at the end */
		i = end;
	}
}

void fold_lines(struct buf *out, const char *text, size_t len, unsigned width)
{
	for (size_t i = 0; i < len && width;) {
		const char *nl = memchr(text + i, '\n', len - i);
		size_t n = nl ? (size_t)(nl - text) - i : len - i;
		fold_line(out, text + i, n, width);
		if (nl)
			buf_char(out, '\n');
		i += n + (nl != NULL);
	}
	if (!width)
		buf_add(out, text, len);
}
