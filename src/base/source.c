#include "base/source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/invariant.h"
#include "base/utf8.h"

void source_from_text(struct source *src, struct arena *a, const char *name, const char *text, size_t len)
{
	assert(len <= SOURCE_MAX);
	AVEC(uint32_t) lines = { 0 };
	avec_push(a, &lines, 0u);
	for (const char *p = text; (p = memchr(p, '\n', len - (size_t)(p - text)));) {
		p++;
		avec_push(a, &lines, (uint32_t)(p - text));
	}
	src->name = name;
	src->text = text;
	src->len = (uint32_t)len;
	src->lines = lines.data;
	src->nlines = lines.len;
	src->line0 = 0;
	assert(src->nlines >= 1 && src->lines[src->nlines - 1] <= src->len);
}

static bool read_all(struct arena *a, FILE *f, char **text, size_t *len, struct why *why)
{
	size_t cap = 64 << 10, n = 0;
	char *p = arena_alloc(a, cap + 1);
	for (;;) {
		size_t got = fread(p + n, 1, cap - n, f);
		n += got;
		if (n < cap)
			break;
		if (cap >= SOURCE_MAX) {
			return why_set(why, "larger than 256 MiB");
		}
		char *q = arena_alloc(a, cap * 2 + 1);
		memcpy(q, p, n);
		p = q;
		cap *= 2;
	}
	if (ferror(f)) {
		return why_set(why, "%s", strerror(errno));
	}
	assert(n < cap && n < SOURCE_MAX);
	p[n] = 0;
	*text = p;
	*len = n;
	return true;
}

bool source_read(struct source *src, struct arena *a, const char *path, struct why *why)
{
	bool in = strcmp(path, "-") == 0;
	FILE *f = in ? stdin : fopen(path, "rb");
	if (!f) {
		return why_set(why, "%s", strerror(errno));
	}
	char *text = NULL;
	size_t len = 0;
	errno = 0;
	bool ok = read_all(a, f, &text, &len, why);
	if (!in)
		fclose(f);
	if (ok)
		source_from_text(src, a, in ? "<stdin>" : arena_strdup(a, path), text, len);
	return ok;
}

uint32_t source_line_of(const struct source *src, uint32_t offset)
{
	assert(src->nlines && offset <= src->len);
	uint32_t lo = 0, hi = src->nlines;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (src->lines[mid] <= offset)
			lo = mid;
		else
			hi = mid;
	}
	assert(src->lines[lo] <= offset && (lo + 1 == src->nlines || src->lines[lo + 1] > offset));
	return lo + 1;
}

struct source_pos source_pos(const struct source *src, uint32_t offset)
{
	if (offset > src->len)
		offset = src->len;
	uint32_t line = source_line_of(src, offset), column = 1;
	for (uint32_t i = src->lines[line - 1]; i < offset; column++) {
		uint32_t cp;
		unsigned n = utf8_decode(src->text + i, src->len - i, &cp);
		i += n ? n : 1;
	}
	return (struct source_pos){ src->line0 + line, column };
}

const char *source_line(const struct source *src, uint32_t line, size_t *len)
{
	assert(line > src->line0 && line - src->line0 <= src->nlines);
	line -= src->line0;
	uint32_t start = src->lines[line - 1];
	uint32_t end = line < src->nlines ? src->lines[line] - 1 : src->len;
	if (end > start && src->text[end - 1] == '\r')
		end--;
	assert(start <= end && end <= src->len);
	*len = end - start;
	return src->text + start;
}
